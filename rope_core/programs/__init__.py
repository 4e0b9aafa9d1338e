"""What seven programs compute of a config, and the commands that start them."""
