"""Presenting a page: stage display, lessons and talks, predictions, tally, room."""
