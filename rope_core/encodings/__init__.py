"""Position encodings side by side: vectors, biases and rotations, their scores, and how relative each one is."""

from rope_core.encodings.digits import (
    beta_digits,
    changed_base,
    digit_phases,
    digits_needed,
    extended_digits,
    rope_beta,
)

__all__ = [
    "beta_digits",
    "changed_base",
    "digit_phases",
    "digits_needed",
    "extended_digits",
    "rope_beta",
]
