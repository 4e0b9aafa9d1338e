"""A config's findings and curves as one HTML file."""
