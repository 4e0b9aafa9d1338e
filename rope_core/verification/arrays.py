"""Arrays of .npy, safetensors and JSON files: each size is checked before anything of that size is read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import ArgumentError, argument_error
from rope_core.hf.read import MAX_BYTES, load_json, open_regular
from rope_core.rope import Array

# JSON takes forty times its bytes once it is parsed; a header of 16 MiB names 100,000 tensors.
MAX_HEADER = 16 * 2**20
MAX_AXES = 8
# All arrays of a file together: 65,536 cached keys of 8 heads, width 128 and 4 bytes, before and after a move.
MAX_ARRAYS = 512 * 2**20
FLOATS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
# Types of safetensors by name: bits of a number, and numpy's type of the same bytes, None where it has none.
# https://github.com/huggingface/safetensors/blob/v0.6.2/safetensors/src/tensor.rs#L736
_TYPES: dict[str, tuple[int, str | None]] = {
    "F64": (64, "<f8"), "F32": (32, "<f4"), "F16": (16, "<f2"), "BF16": (16, "<u2"), "BOOL": (8, "?"),
    "F8_E5M2": (8, "u1"), "F8_E4M3": (8, "u1"), "F8_E8M0": (8, None), "F4": (4, None), "F6_E2M3": (6, None),
    "F6_E3M2": (6, None), "C64": (64, "<c8"), "F8_E4M3FNUZ": (8, None), "F8_E5M2FNUZ": (8, None),
} | {f"{sign}{bits}": (bits, f"<{sign.lower()}{bits // 8}") for sign in "IU" for bits in (8, 16, 32, 64)}  # fmt: skip
_BYTE = np.arange(128, dtype=np.int64)
_E4M3 = np.where(_BYTE < 8, _BYTE / 512.0, (8 + _BYTE % 8) * 2.0 ** (_BYTE // 8 - 10.0))
_E4M3[127] = np.nan


@dataclass(frozen=True, eq=False)
class SafetensorsEntry:
    """A tensor of a safetensors file, its bytes known to be there: name, type, shape, and where they begin."""

    path: Path
    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    def read(self, first: int = 0, last: int | None = None) -> npt.NDArray[Any]:
        """Return its numbers, or its rows from ``first`` to before ``last``; only their bytes are read.

        Raises ValueError on a type that numpy cannot say, and on a file that has shrunk.
        """
        kind = _TYPES[self.dtype][1]
        if kind is None:
            raise argument_error(self.name, "array_type", self.dtype)
        shape = self.shape if last is None else (last - first, *self.shape[1:])
        width, item = math.prod(self.shape[1:]), np.dtype(kind).itemsize
        values = np.fromfile(self.path, kind, math.prod(shape), offset=self.start + first * width * item)
        if values.size != math.prod(shape):
            raise argument_error(self.name, "safetensors_file", self.path.name)
        return _decoded(values, self.dtype).reshape(shape)

    def read_floats(self, first: int = 0, last: int | None = None) -> Array:
        """Return what ``read`` does as float64."""
        with np.errstate(invalid="ignore"):  # a signalling NaN stays one
            return self.read(first, last).astype(np.float64)


def _decoded(values: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Return the numbers of a type that numpy does not have."""
    if dtype == "BF16":  # the upper half of float32's bits
        return (values.astype(np.uint32) << 16).view(np.float32)
    if dtype == "F8_E5M2":  # the upper half of float16's
        return (values.astype(np.uint16) << 8).view(np.float16)
    if dtype == "F8_E4M3":
        return np.asarray(np.where(values < 128, 1.0, -1.0) * _E4M3[values % 128])
    return values


def list_safetensors_entries(
    path: Path, argument: str, is_wanted: Callable[[str], bool] | None = None
) -> list[SafetensorsEntry]:
    """Return the tensors of a safetensors file whose name is wanted, in the header's order; none of them is read.

    Raises ValueError that names ``argument`` on a file that is none, and that names an entry whose bytes are not the
    file's, or another entry's.
    """
    try:
        with open_regular(path, argument) as file:
            room = os.fstat(file.fileno()).st_size - 8
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if 2 <= length <= min(MAX_HEADER, room) else None
    except ArgumentError:
        raise
    except (ValueError, OSError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise argument_error(argument, "safetensors_file", path.name)
    header.pop("__metadata__", None)
    chosen = {name: entry for name, entry in header.items() if is_wanted is None or is_wanted(name)}
    spans = {name: _span(name, entry, room - length) for name, entry in chosen.items()}
    for (_, (_, end)), (name, (begin, _)) in pairwise(sorted(spans.items(), key=lambda span: span[1])):
        if begin < end:
            raise argument_error(name, "safetensors_bytes", begin)
    return [
        SafetensorsEntry(path, name, entry["dtype"], tuple(entry["shape"]), 8 + length + spans[name][0])
        for name, entry in chosen.items()
    ]


def _span(name: str, entry: Any, room: int) -> tuple[int, int]:
    """Return where an entry's bytes begin and end among the ``room`` bytes of data."""
    try:
        bits, shape, (low, high) = _TYPES[entry["dtype"]][0], entry["shape"], entry["data_offsets"]
        fits = (
            all(type(value) is int and 0 <= value < 2**63 for value in (low, high, *shape))
            and isinstance(shape, list)
            and len(shape) <= MAX_AXES
            and low <= high <= room
            and (high - low) * 8 == math.prod(shape) * bits
        )
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise argument_error(name, "safetensors_entry", entry)
    return low, high


def read_arrays(source: str, names: Sequence[str], single_name: str) -> dict[str, Any]:
    """Return the arrays that a file holds, by name: .npy or a JSON list that named ``single_name``, others ``names``.

    Raises ValueError that names "file" on a file that is damaged or too large, or that holds another name.
    """
    path, values = Path(source), dict[str, Any]()
    if path.suffix == ".npy":
        return {single_name: _npy(path)}
    if path.suffix == ".safetensors":
        entries = list_safetensors_entries(path, "file")
        _known([entry.name for entry in entries], names, single_name)
        _small(sum(entry.size * _TYPES[entry.dtype][0] // 8 for entry in entries))
        return {entry.name: entry.read() for entry in entries}
    try:
        with open_regular(path, "file") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError:
        raise argument_error("file", "readable_file" if path.exists() else "existing_file", source) from None
    given = load_json(text, argument="file")
    values = {single_name: given} if isinstance(given, list) else given
    if not isinstance(values, Mapping):
        raise argument_error("file", "json_object", given)
    _known(list(values), names, single_name)
    return dict(values)


def _npy(path: Path) -> npt.NDArray[Any]:
    """Return the array of an .npy file; nothing in it is unpickled."""
    try:
        with open_regular(path, "file"):
            pass
        held = np.lib.format.open_memmap(path, mode="r")
    except OSError:
        raise argument_error("file", "readable_file" if path.exists() else "existing_file", str(path)) from None
    except ArgumentError:
        raise
    except Exception:  # a header is a Python literal, which fails in a dozen ways
        raise argument_error("file", "npy_file", path.name) from None
    if held.dtype.kind not in "biuf":
        raise argument_error("file", "npy_file", path.name)
    _small(held.nbytes)
    return np.array(held)


def _small(size: int) -> None:
    if size > MAX_ARRAYS:
        raise argument_error("file", "array_bytes", size, limit=MAX_ARRAYS)


def _known(given: Sequence[str], names: Sequence[str], single: str) -> None:
    for name in given:
        if name not in names:
            raise argument_error("file", "one_of", name, names=names)
    if single not in given:
        raise argument_error("file", "file_with", sorted(given), name=single)
