"""Measuring rotations: the answer first, then time beside the copy of the same bytes, and a record of every run."""
