"""From a Hugging Face config to its ropes: read, parameters of each layer, geometry; families, catalogue, hub."""
