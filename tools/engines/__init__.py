"""Runs inference engines' own rotary code beside rope_core.programs.engines; `python -m tools.engines` says how."""
