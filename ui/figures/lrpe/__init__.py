"""Figures of the lrpe page."""
