"""The version, which records and reports name, and what a citation says of it; CITATION.cff says the same."""

__version__ = "0.1.0"
TITLE = "RoPE Lab: rotary position embedding to learn, check and measure"
RELEASED = "2026-11-21"
LICENCE = "CC BY 4.0"
"""Of texts and pictures."""
