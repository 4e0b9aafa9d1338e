"""The inv_freq buffers of a torch module, a state dict or a safetensors file, and stored tables of cos and sin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.errors import argument_error
from rope_core.rope import MAX_DIM, Array
from rope_core.verification.arrays import FLOATS, SafetensorsEntry, list_safetensors_entries

SUFFIX = "inv_freq"
MAX_BUFFERS = 4096
TABLES = ("cos_cached", "sin_cached", "rotary_cos", "rotary_sin", "cos_cache", "sin_cache", "freqs_cis")
# Rows of a table that are read; of the others nothing is.
MOST_ROWS = 2048


@dataclass(frozen=True, eq=False)
class RotaryBuffer:
    """A buffer: its dotted name, dtype, float64 values (None on the meta device), attention scaling.

    Values are frequencies (pairs,), or a table's first rows, (rows, columns), complex of ``freqs_cis``.
    """

    name: str
    dtype: str
    values: Array | None
    attention: float | None = None


def is_buffer(name: str) -> bool:
    """Whether a tensor's name is that of frequencies in use; copies kept aside do not count."""
    last = name.rpartition(".")[2]
    return last.endswith(SUFFIX) and "original" not in last


def is_cos_sin_table(name: str) -> bool:
    """Whether a tensor's name is that of a table of cos, sin or e^{i angle}, a row a position."""
    return name.rpartition(".")[2] in TABLES


def as_table(name: str, tensor: Any) -> RotaryBuffer:
    """Return the first rows of a torch tensor or numpy array as a Buffer: axes of one are left out."""
    if hasattr(tensor, "detach"):
        kind = str(tensor.dtype).removeprefix("torch.")
        rows = tensor.detach().squeeze()[:MOST_ROWS].cpu()
        values = (rows.cfloat() if rows.is_complex() else rows.double()).numpy()
        return RotaryBuffer(name, kind, values)
    return RotaryBuffer(name, str(tensor.dtype), np.squeeze(np.asarray(tensor))[:MOST_ROWS])


def as_buffer(name: str, tensor: Any, attention: float | None = None) -> RotaryBuffer:
    """Return a torch tensor or numpy array as a Buffer."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if getattr(tensor, "is_meta", False):
        return RotaryBuffer(name, dtype, None, attention)
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().double().numpy()
    return RotaryBuffer(name, dtype, np.asarray(tensor, dtype=np.float64), attention)


def buffers_in_module(module: Any) -> list[RotaryBuffer]:
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


def buffers_in_state_dict(state: Mapping[Any, Any]) -> list[RotaryBuffer]:
    """Return the buffers of a state dict."""
    if not state or not all(isinstance(name, str) and hasattr(value, "dtype") for name, value in state.items()):
        raise argument_error("model_or_file", "a state dict of tensors by name", list(state)[:3])
    buffers = [as_buffer(name, value) for name, value in state.items() if is_buffer(name)]
    tables = {
        name: value for name, value in state.items() if is_cos_sin_table(name) and not getattr(value, "is_meta", False)
    }
    return buffers + [as_table(name, value) for name, value in tables.items()]


def buffers_in_file(path: Path) -> list[RotaryBuffer]:
    """Return the buffers stored in a safetensors file, or in all such files of a folder; only their bytes are read."""
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        if not files:
            raise argument_error("model_or_file", "a folder with safetensors files", str(path))
        return [buffer for file in files for buffer in buffers_in_file(file)]
    entries = list_safetensors_entries(path, "model_or_file", lambda name: is_buffer(name) or is_cos_sin_table(name))
    if len(entries) > MAX_BUFFERS:
        raise argument_error(
            "model_or_file", f"a safetensors file of at most {MAX_BUFFERS} frequency buffers", len(entries)
        )
    for entry in entries:
        numbers = (*FLOATS, "C64") if is_cos_sin_table(entry.name) else (*FLOATS,)
        rows = next((size for size in entry.shape if size > 1), 1) if is_cos_sin_table(entry.name) else 1
        columns = entry.size // rows
        if entry.dtype not in numbers or columns > MAX_DIM:
            raise argument_error(
                entry.name, f"a safetensors entry of at most {MAX_DIM} floats", (entry.dtype, entry.shape)
            )
    return [_of_table(entry) if is_cos_sin_table(entry.name) else _of_buffer(entry) for entry in entries]


def _of_buffer(entry: SafetensorsEntry) -> RotaryBuffer:
    """Return the frequencies of a file's entry."""
    return RotaryBuffer(entry.name, FLOATS[entry.dtype], entry.read_floats().ravel())


def _of_table(entry: SafetensorsEntry) -> RotaryBuffer:
    """Return the first rows of a file's table."""
    flat = replace(entry, shape=tuple(size for size in entry.shape if size != 1) or (1,))
    rows = min(flat.shape[0], MOST_ROWS)
    values = flat.read(0, rows) if entry.dtype == "C64" else flat.read_floats(0, rows)
    return RotaryBuffer(entry.name, FLOATS.get(entry.dtype, "complex64"), values)
