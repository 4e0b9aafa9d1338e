"""Figures of the clock page."""
