"""The inv_freq buffers of a torch module, a state dict or a safetensors file, as float64."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.errors import reject
from rope_core.hf.read import open_regular
from rope_core.rope import MAX_DIM, Array

SUFFIX = "inv_freq"
# JSON takes forty times its bytes once it is parsed; a header of 16 MiB names 100,000 tensors.
MAX_HEADER, MAX_BUFFERS = 16 * 2**20, 4096
WIDTHS = {"F64": ("<f8", "float64"), "F32": ("<f4", "float32"), "F16": ("<f2", "float16"), "BF16": ("<u2", "bfloat16")}


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
    try:
        with open_regular(path, "model_or_file") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(MAX_HEADER, size - 8):
                raise reject("model_or_file", "a safetensors file", str(path))
            entries = read_header(file.read(length))
            if entries is None:
                raise reject("model_or_file", "a readable safetensors file", str(path))
            spans = sorted(span(name, entry, size - 8 - length) for name, entry in entries.items())
            for (_, end, name), (begin, _, other) in pairwise(spans):
                if begin < end:
                    raise reject(other, f"a safetensors entry with bytes of its own, apart from those of {name}", begin)
            return [read_entry(file, name, entry, 8 + length) for name, entry in entries.items()]
    except OSError:
        raise reject("model_or_file", "a readable safetensors file", str(path)) from None


def read_header(text: bytes) -> dict[str, Any] | None:
    """Return the buffers' entries in a safetensors header; None where it is none, or names more than any model has."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict):
        return None
    entries = {name: entry for name, entry in header.items() if is_buffer(name)}
    return entries if len(entries) <= MAX_BUFFERS else None


def span(name: str, entry: Any, room: int) -> tuple[int, int, str]:
    """Where an entry's bytes begin and end among the ``room`` bytes of data, and its name."""
    try:
        width = np.dtype(WIDTHS[entry["dtype"]][0]).itemsize
        (low, high), shape = entry["data_offsets"], entry["shape"]
        whole = all(type(value) is int and 0 <= value < 2**63 for value in (low, high, *shape))
        fits = (
            whole
            and len(shape) <= 8
            and low <= high <= room
            and high - low == math.prod(shape) * width <= MAX_DIM * width
        )
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise reject(name, "a safetensors entry with dtype, shape and data_offsets within the file", entry)
    return low, high, name


def read_entry(file: Any, name: str, entry: Any, start: int) -> Buffer:
    """One tensor by its header entry, whose ``span`` is within the file."""
    kind, dtype = WIDTHS[entry["dtype"]]
    low, high = entry["data_offsets"]
    file.seek(start + low)
    raw = np.frombuffer(file.read(high - low), dtype=kind)
    if dtype == "bfloat16":
        # bfloat16 is the upper half of float32's bits.
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    return Buffer(name, dtype, raw.astype(np.float64))
