"""Measurements of the app, each beside its floor in the same run."""
