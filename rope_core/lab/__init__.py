"""A small language model of our own, trained here, and what every scheme does to it past its trained length."""
