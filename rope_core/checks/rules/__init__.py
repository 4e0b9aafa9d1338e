"""The rules of the config check, by what they look at."""
