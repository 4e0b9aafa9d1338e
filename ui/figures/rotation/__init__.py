"""The figures of the rotation page."""
