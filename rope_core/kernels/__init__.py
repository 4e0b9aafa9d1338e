"""Backends of the rotation behind one signature, and the tables of cos and sin they read."""
