"""Figures of the extrapolation page."""
