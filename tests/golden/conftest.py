"""The generator needs transformers and writes files: it is no test."""

collect_ignore = ["generate.py"]
