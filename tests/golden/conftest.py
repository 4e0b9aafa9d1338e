"""The generators need transformers or diffusers and write files: they are no tests."""

collect_ignore = ["generate.py", "diffusers_axes.py"]
