"""The inv_freq buffers of a torch module, a state dict or a safetensors file, as float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.checks.arrays import FLOATS, entries_of
from rope_core.errors import reject
from rope_core.rope import MAX_DIM, Array

SUFFIX = "inv_freq"
MAX_BUFFERS = 4096


@dataclass(frozen=True, eq=False)
class Buffer:
    """A buffer of frequencies: its dotted name, dtype, float64 values (None on the meta device), attention scaling."""

    name: str
    dtype: str
    values: Array | None
    attention: float | None = None


def is_buffer(name: str) -> bool:
    """Whether a tensor's name is that of frequencies in use; copies kept aside do not count."""
    last = name.rpartition(".")[2]
    return last.endswith(SUFFIX) and "original" not in last


def as_buffer(name: str, tensor: Any, attention: float | None = None) -> Buffer:
    """Return a torch tensor or numpy array as a Buffer."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if getattr(tensor, "is_meta", False):
        return Buffer(name, dtype, None, attention)
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().double().numpy()
    return Buffer(name, dtype, np.asarray(tensor, dtype=np.float64), attention)


def in_module(module: Any) -> list[Buffer]:
    """Return the buffers of a torch module, with the attention scaling of the submodule that holds them."""
    buffers = []
    owners = dict(module.named_modules())
    for name, tensor in module.named_buffers():
        if not is_buffer(name):
            continue
        place, _, last = name.rpartition(".")
        owner = owners.get(place, module)
        own = getattr(owner, last.removesuffix(SUFFIX) + "attention_scaling", getattr(owner, "attention_scaling", None))
        buffers.append(as_buffer(name, tensor, float(own) if isinstance(own, int | float) else None))
    return buffers


def in_mapping(state: Mapping[Any, Any]) -> list[Buffer]:
    """Return the buffers of a state dict."""
    if not state or not all(isinstance(name, str) and hasattr(value, "dtype") for name, value in state.items()):
        raise reject("model_or_file", "a state dict of tensors by name", list(state)[:3])
    return [as_buffer(name, value) for name, value in state.items() if is_buffer(name)]


def in_file(path: Path) -> list[Buffer]:
    """Return the buffers stored in a safetensors file, or in all such files of a folder; only their bytes are read."""
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        if not files:
            raise reject("model_or_file", "a folder with safetensors files", str(path))
        return [buffer for file in files for buffer in in_file(file)]
    entries = entries_of(path, "model_or_file", is_buffer)
    if len(entries) > MAX_BUFFERS:
        raise reject("model_or_file", f"a safetensors file of at most {MAX_BUFFERS} frequency buffers", len(entries))
    for entry in entries:
        if entry.dtype not in FLOATS or entry.size > MAX_DIM:
            raise reject(entry.name, f"a safetensors entry of at most {MAX_DIM} floats", (entry.dtype, entry.shape))
    return [Buffer(entry.name, FLOATS[entry.dtype], entry.floats().ravel()) for entry in entries]
