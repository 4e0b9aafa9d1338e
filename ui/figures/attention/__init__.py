"""Figures of the attention page."""
