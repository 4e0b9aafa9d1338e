"""The figures of the page that looks inside the small model."""
