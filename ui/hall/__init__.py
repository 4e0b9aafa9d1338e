"""The hall: one process that serves the book's files, and rooms in which a class answers on its phones."""
