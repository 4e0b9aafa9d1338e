"""What the server needs around the app: the origin gate, small packets, imports ahead of the first visitor."""
