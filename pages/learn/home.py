"""The front door."""

from ui.frame import Page

page = Page("home", geometry=False)
