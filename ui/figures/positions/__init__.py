"""Figures of the page "Which position?"."""
