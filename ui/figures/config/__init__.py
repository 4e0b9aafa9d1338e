"""Figures of the config page."""
