"""Ways to reach a length, as blocks of a config; each keeps what the model's own scaling has."""
