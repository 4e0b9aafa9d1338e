"""A page: its fields, values and URL, its controls, and the frame of its figures."""
