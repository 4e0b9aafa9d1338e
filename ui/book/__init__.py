"""The book: the same pages as plain files, drawn as HTML at build time and by a worker in the reader's browser."""
