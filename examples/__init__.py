"""Short scripts that use rope_core, each run by tests/examples."""
