"""The generators need transformers or diffusers and write files: they are no tests."""

collect_ignore = ["authors.py", "generate.py", "diffusers_axes.py"]
