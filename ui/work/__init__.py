"""What stands between a page and long work: records to show, jobs to start, how they are doing."""
