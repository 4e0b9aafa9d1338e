"""Fuzz the reader of safetensors headers with atheris: nothing but ValueError may come out, whatever a file holds."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["rope_core.verification.arrays", "rope_core.verification.stored"]):
    from rope_core.verification.stored import buffers_in_file

FILE = Path(tempfile.mkdtemp()) / "fuzzed.safetensors"
DTYPES = ("F64", "F32", "F16", "BF16", "I64", "", None)


def number(data: Any) -> Any:
    """Return an offset or a size, mostly a small one."""
    kind = data.ConsumeIntInRange(0, 9)
    odd: tuple[Any, ...] = (data.ConsumeFloat(), data.ConsumeInt(9), -1, True, None, "8", [])
    return odd[kind] if kind < len(odd) else data.ConsumeIntInRange(0, 64)


def header(data: Any) -> Any:
    """Entries of buffers, each with some of its fields wrong."""
    built: dict[str, Any] = {}
    for k in range(data.ConsumeIntInRange(0, 4)):
        low, count = data.ConsumeIntInRange(0, 32), data.ConsumeIntInRange(0, 8)
        entry: dict[str, Any] = {"dtype": "F32", "shape": [count], "data_offsets": [low, low + 4 * count]}
        for _ in range(data.ConsumeIntInRange(0, 2)):
            name = data.PickValueInList(["dtype", "shape", "data_offsets", "other"])
            numbers = [number(data) for _ in range(data.ConsumeIntInRange(0, 3))]
            entry[name] = data.PickValueInList([data.PickValueInList(list(DTYPES)), numbers, number(data)])
        built[f"{k}.inv_freq"] = data.PickValueInList([entry, number(data)])
    return built


def one_input(raw: bytes) -> None:
    """One execution: raw bytes as a file, or a header that is nearly right before some data."""
    if raw[:1] and raw[0] < 64:
        FILE.write_bytes(raw[1:])
    else:
        data = atheris.FuzzedDataProvider(raw[1:])
        text = data.ConsumeBytes(64) if raw[:1] and raw[0] < 96 else json.dumps(header(data)).encode()
        FILE.write_bytes(len(text).to_bytes(8, "little") + text + bytes(data.ConsumeIntInRange(0, 64)))
    try:
        buffers_in_file(FILE)
    except ValueError as error:
        assert "\n" not in str(error)
    except Exception:
        os.rename(FILE, "crash.safetensors")
        raise


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
