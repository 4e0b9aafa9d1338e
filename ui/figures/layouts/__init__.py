"""Figures of the layouts page."""
