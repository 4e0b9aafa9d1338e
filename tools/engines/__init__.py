"""Runs inference engines' own rotary code beside rope_core.checks.engines; `python -m tools.engines` says how."""
