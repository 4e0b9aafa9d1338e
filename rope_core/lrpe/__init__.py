"""LRPE rotate: an activation and a rotation as one op, for numpy and torch, with their backward.

Importing this loads numpy only; torch and triton are loaded by the first call that runs on them.
"""

from rope_core.lrpe.arguments import ACTIVATIONS
from rope_core.lrpe.op import BACKENDS, lrpe_rotate, lrpe_rotate_backward

__all__ = ["ACTIVATIONS", "BACKENDS", "lrpe_rotate", "lrpe_rotate_backward"]
