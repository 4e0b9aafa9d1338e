"""Position encodings side by side: vectors, biases and rotations, their scores, and how relative each one is."""
