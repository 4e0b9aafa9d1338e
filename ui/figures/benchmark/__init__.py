"""Figures of the benchmark page."""
