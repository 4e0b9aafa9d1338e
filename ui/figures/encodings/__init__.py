"""Figures of the encodings page."""
