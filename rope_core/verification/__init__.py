"""What a loaded model, a kernel, a checkpoint, position ids and a cache really do, against a config's rotation."""
