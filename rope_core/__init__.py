"""Rotary position embedding: frequencies, context extension, layouts and rotation, as numbers.

``import rope_core as rc`` loads numpy and nothing heavier; ``rc.kernels``, ``rc.lrpe`` and ``rc.ledger`` are loaded at
their first use.

The idea is at the root, in the order of import: languages, errors, rope, layout, schemes, spectrum, rotation, findings.
The rest is in rooms, each of which imports the root and rooms above it in this list only:

    hf       a Hugging Face config, resolved once: its models > their layer types > HfRope; catalogue, schemas, hub
    theory   what follows from the formulas: clock, attention, precision, extension, encodings, block
    verification  loaded models, kernels, checkpoints, positions and caches against a config
    extension ways to reach a length, as blocks of a config
    programs what seven programs compute of a config, and the commands that start them
    checks   the rules of the config check
    report   a config's findings and curves as one HTML file
    kernels  the rotation on CPU and GPU
    jobs     long work in processes of its own
    bench    timing of kernels
    lrpe     linearised attention with rotation: reference, kernels, explanation
    lab      a small language model, trained and measured past its length
    evaluate any transformers model under every scheme, on any text
    ledger   the claims of the source documents and of papers, decided
    grade    a student's own functions, stage by stage, in a child process
    comparisons  schemes side by side: shipped, of configs, one's own; margins of checks
    cli      the command ``rope``, one file for each subcommand
    notebook the app's films and figures in a notebook; the only room that names the app

``checks``, ``jobs`` and ``comparisons`` are plural so that no function covers a module: ``rc.check``, ``rc.extend``,
``rc.verify`` and ``rc.engines`` are functions, their modules are in the rooms. The one exception is
``rc.spectrum``: the function is the attribute, and ``from rope_core.spectrum import position_angles`` reads the module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from rope_core.checks.check import Finding, check
from rope_core.comparisons.compare import compare
from rope_core.comparisons.rows import ComparedColumn as Compared
from rope_core.errors import ArgumentError, ConfigError
from rope_core.extension.extend import ContextExtension as Way
from rope_core.extension.extend import extend
from rope_core.hf.axial import AxialRope
from rope_core.hf.axial import axial_ropes as axial
from rope_core.hf.catalogue import ReleasedModel as Model
from rope_core.hf.catalogue import released_model as model
from rope_core.hf.catalogue import released_models as models
from rope_core.hf.families import ValueOrigin as Origin
from rope_core.hf.places import multimodal_positions
from rope_core.hf.resolve import from_hf, layer_types
from rope_core.hf.resolve import rotary_part_names as parts
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import to_v4, to_v5
from rope_core.layout import HALF, INTERLEAVED, Layout, convert, convert_projection
from rope_core.programs.engines import EngineResult as Engine
from rope_core.programs.engines import engines
from rope_core.rope import Rope
from rope_core.rotation import rotate, rotation_matrix
from rope_core.schemes import SCHEMES, Param, Scheme
from rope_core.spectrum import Request, Spectrum, cos_sin, spectrum
from rope_core.verification.cache import check_cache
from rope_core.verification.kernel import check_kernel
from rope_core.verification.positions import check_positions
from rope_core.verification.verify import check_conversion, verify
from rope_core.version import __version__ as __version__

if TYPE_CHECKING:
    from types import ModuleType

    from rope_core import kernels as kernels
    from rope_core import ledger as ledger
    from rope_core import lrpe as lrpe
else:

    def __getattr__(name: str) -> ModuleType:
        if name in ("kernels", "ledger", "lrpe"):
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "HALF",
    "INTERLEAVED",
    "SCHEMES",
    "ArgumentError",
    "AxialRope",
    "Compared",
    "ConfigError",
    "Engine",
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
    "Way",
    "axial",
    "check",
    "check_cache",
    "check_conversion",
    "check_kernel",
    "check_positions",
    "compare",
    "convert",
    "convert_projection",
    "cos_sin",
    "engines",
    "extend",
    "from_hf",
    "layer_types",
    "model",
    "models",
    "multimodal_positions",
    "parts",
    "rotate",
    "rotation_matrix",
    "spectrum",
    "to_v4",
    "to_v5",
    "verify",
]
