"""What the pages teach: clock, attention, interpolation, precision, softmax, extension, encodings, the block."""
