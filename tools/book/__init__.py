"""Writes the book: every page as plain files, live in the reader's browser."""
