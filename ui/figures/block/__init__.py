"""Figures of the block page."""
