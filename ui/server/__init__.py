"""What the server needs around the app: the origin gate, bounds, imports ahead of the first visitor."""
