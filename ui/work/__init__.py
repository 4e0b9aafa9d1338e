"""Between a page and long work: records to show, jobs to start, their status."""
