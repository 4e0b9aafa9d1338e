"""The version, which records and reports name."""

__version__ = "0.1.0"
