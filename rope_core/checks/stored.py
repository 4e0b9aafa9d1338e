"""The inv_freq buffers of a torch module, a state dict or a safetensors file, as float64."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.errors import reject
from rope_core.hf.read import open_regular
from rope_core.rope import MAX_DIM, Array

SUFFIX = "inv_freq"
MAX_HEADER = 64 * 2**20
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
    """A torch tensor or numpy array as a Buffer."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if getattr(tensor, "is_meta", False):
        return Buffer(name, dtype, None, attention)
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().double().numpy()
    return Buffer(name, dtype, np.asarray(tensor, dtype=np.float64), attention)


def in_module(module: Any) -> list[Buffer]:
    """The buffers of a torch module, with the attention scaling of the submodule that holds them."""
    found = []
    owners = dict(module.named_modules())
    for name, tensor in module.named_buffers():
        if not is_buffer(name):
            continue
        place, _, last = name.rpartition(".")
        owner = owners.get(place, module)
        own = getattr(owner, last.removesuffix(SUFFIX) + "attention_scaling", getattr(owner, "attention_scaling", None))
        found.append(as_buffer(name, tensor, float(own) if isinstance(own, int | float) else None))
    return found


def in_mapping(state: Mapping[Any, Any]) -> list[Buffer]:
    """The buffers of a state dict."""
    if not state or not all(isinstance(name, str) and hasattr(value, "dtype") for name, value in state.items()):
        raise reject("model_or_file", "a state dict of tensors by name", list(state)[:3])
    return [as_buffer(name, value) for name, value in state.items() if is_buffer(name)]


def in_file(path: Path) -> list[Buffer]:
    """The buffers stored in a safetensors file, or in all such files of a folder; only their bytes are read."""
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
            header = json.loads(file.read(length))
            entries = {name: entry for name, entry in header.items() if is_buffer(name)}
            return [read_entry(file, name, entry, 8 + length, size) for name, entry in entries.items()]
    except (OSError, RecursionError, UnicodeDecodeError, json.JSONDecodeError, AttributeError):
        raise reject("model_or_file", "a readable safetensors file", str(path)) from None


def read_entry(file: Any, name: str, entry: Any, start: int, size: int) -> Buffer:
    """One tensor by its header entry."""
    rule = "a safetensors entry with dtype, shape and data_offsets within the file"
    try:
        kind, dtype = WIDTHS[entry["dtype"]]
        low, high = entry["data_offsets"]
        count = int(np.prod(entry["shape"], dtype=np.int64))
        width = np.dtype(kind).itemsize
        fits = 0 <= low <= high <= size - start and high - low == count * width and count <= MAX_DIM
    except (KeyError, TypeError, ValueError):
        raise reject(name, rule, entry) from None
    if not fits:
        raise reject(name, rule, entry)
    file.seek(start + low)
    raw = np.frombuffer(file.read(high - low), dtype=kind)
    if dtype == "bfloat16":
        # bfloat16 is the upper half of float32's bits.
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    return Buffer(name, dtype, raw.astype(np.float64))
