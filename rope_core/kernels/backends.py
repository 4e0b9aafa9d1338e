"""The backends by name: what runs them, and why one cannot run here."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from rope_core.errors import argument_error
from rope_core.kernels import torch_ops
from rope_core.kernels.task import RotationSpec

# Looked up once: a look-up takes a microsecond of every call.
INSTALLED = {module for module in ("numba", "triton") if importlib.util.find_spec(module) is not None}

RotateTensors = Callable[[tuple[Tensor, ...], RotationSpec, tuple[Tensor, ...] | None], tuple[Tensor, ...]]


@dataclass(frozen=True)
class KernelBackend:
    """One way to turn tensors.

    Attributes:
        name: its name in ``apply``.
        run: (tensors (B, S, heads, D), turn, out or None) -> results; ``out`` may be the tensors themselves.
        missing: device type -> why it cannot run there, or None.
    """

    name: str
    run: RotateTensors
    missing: Callable[[str], str | None]


def _anywhere(_: str) -> str | None:
    return None


def _without_compiler(device: str) -> str | None:
    if device == "cpu" and not any(shutil.which(c) for c in (os.environ.get("CXX", "g++"), "g++", "clang++")):
        return "torch.compile needs a C++ compiler and found none"
    return None


def _without_numba(device: str) -> str | None:
    if device != "cpu":
        return f"it runs on the CPU only, and the tensors are on {device}"
    if "numba" not in INSTALLED:
        return "numba is not installed"
    return None


def _without_triton(device: str) -> str | None:
    if "triton" not in INSTALLED:
        return "triton is not installed"
    if device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        return "it needs a GPU, or TRITON_INTERPRET=1 before the first import to interpret it on the CPU"
    return None


@functools.cache
def _loaded(module: str, function: str) -> RotateTensors:
    """Return a function of a module that is loaded when a backend first runs."""
    return getattr(importlib.import_module(f"rope_core.kernels.{module}"), function)  # type: ignore[no-any-return]


def _numba(tensors: tuple[Tensor, ...], turn: RotationSpec, out: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
    return _loaded("cpu", "run_numba")(tensors, turn, out)


def _triton(tensors: tuple[Tensor, ...], turn: RotationSpec, out: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
    return _loaded("gpu", "run_triton")(tensors, turn, out)


BACKENDS = {
    backend.name: backend
    for backend in (
        KernelBackend("reference", torch_ops.run_reference, _anywhere),
        KernelBackend("eager", torch_ops.run_eager, _anywhere),
        KernelBackend("complex", torch_ops.run_complex, _anywhere),
        KernelBackend("compiled", torch_ops.run_compiled, _without_compiler),
        KernelBackend("numba", _numba, _without_numba),
        KernelBackend("triton", _triton, _without_triton),
    )
}
DEFAULTS = {"cpu": "numba", "cuda": "triton"}


def choose_backend(name: Any, device: torch.device) -> KernelBackend:
    """Return the backend called ``name``, or the device's own for None; ValueError says why one cannot run."""
    wanted = DEFAULTS.get(device.type, "eager") if name is None else name
    if not isinstance(wanted, str) or wanted not in BACKENDS:
        raise argument_error("backend", "one_of", name, names=BACKENDS)
    reason = BACKENDS[wanted].missing(device.type)
    if reason is not None:
        raise ValueError(f"backend must be available on {device.type}, got {wanted!r}: {reason}")
    return BACKENDS[wanted]
