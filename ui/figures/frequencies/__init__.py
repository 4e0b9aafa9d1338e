"""Figures of the frequencies page."""
