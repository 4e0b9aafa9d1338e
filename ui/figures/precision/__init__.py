"""The figures of the precision page."""
