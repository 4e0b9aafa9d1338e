"""Rotary position embedding: frequencies, context extension, layouts and rotation, as numbers.

``import rope_core as rc`` loads numpy and nothing heavier.
"""

from rope_core.checks.findings import Finding, check
from rope_core.checks.verify import verify
from rope_core.errors import ConfigError
from rope_core.hf.catalogue import Model, model, models
from rope_core.hf.families import Origin
from rope_core.hf.ropes import HfRope, from_hf, layer_types
from rope_core.layout import HALF, INTERLEAVED, Layout, convert, convert_projection
from rope_core.rope import Rope
from rope_core.rotation import rotate, rotation_matrix
from rope_core.schemes import SCHEMES, Param, Scheme
from rope_core.spectrum import Request, Spectrum, cos_sin, spectrum

__version__ = "0.1.0"

__all__ = [
    "HALF",
    "INTERLEAVED",
    "SCHEMES",
    "ConfigError",
    "Finding",
    "HfRope",
    "Layout",
    "Model",
    "Origin",
    "Param",
    "Request",
    "Rope",
    "Scheme",
    "Spectrum",
    "check",
    "convert",
    "convert_projection",
    "cos_sin",
    "from_hf",
    "layer_types",
    "model",
    "models",
    "rotate",
    "rotation_matrix",
    "spectrum",
    "verify",
]
