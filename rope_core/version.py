"""The version, which records and reports name, and the licence of texts and pictures."""

__version__ = "0.1.0"
LICENCE = "CC BY 4.0"
