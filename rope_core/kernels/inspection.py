"""What a Triton kernel becomes on a Hopper GPU, found out without one: access widths, registers, spills.

Triton compiles for any target, and the ptxas inside its wheel reports what it assigns.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction, MockTensor

CAPABILITY = 90
GLOBAL = re.compile(r"\b(ld|st)\.global((?:\.[\w:]+)*)\s")


@dataclass(frozen=True)
class Inspection:
    """A compiled kernel.

    Attributes:
        registers: per thread.
        spills: bytes of spill stores and loads per thread.
        stack: bytes of local memory per thread.
        loads, stores: width in bits -> how many instructions touch global memory so.
    """

    registers: int
    spills: int
    stack: int
    loads: dict[int, int]
    stores: dict[int, int]


class _NoDevice:
    """A driver that names a Hopper GPU, for which Triton compiles."""

    get_current_target = staticmethod(lambda: GPUTarget("cuda", CAPABILITY, 32))
    get_current_device = staticmethod(lambda: 0)
    get_current_stream = staticmethod(lambda device: 0)


def inspect(call: Callable[[], object]) -> dict[str, list[Inspection]]:
    """Return what every kernel that ``call`` launches becomes for sm_90, by name; nothing is launched.

    The process gives up its own driver: nothing can be launched in it afterwards. Tensors may be "meta".
    """
    compiled: dict[str, dict[int, Any]] = {}
    launch = JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        mocked = [MockTensor(a.dtype) if isinstance(a, Tensor) else a for a in args]
        kernel = launch(self, *mocked, grid=grid, warmup=True, **options)
        compiled.setdefault(self.fn.__name__, {})[id(kernel)] = kernel
        return kernel

    driver.set_active(_NoDevice())
    JITFunction.run = run
    try:
        call()
    finally:
        JITFunction.run = launch
    return {name: [_inspected(kernel.asm["ptx"]) for kernel in kernels.values()] for name, kernels in compiled.items()}


def _inspected(ptx: str) -> Inspection:
    loads, stores = widths(ptx)
    registers, spills, stack = _assembled(ptx)
    return Inspection(registers, spills, stack, loads, stores)


def widths(ptx: str) -> tuple[dict[int, int], dict[int, int]]:
    """Return the widths of global loads and stores in PTX, in bits, and how many instructions have each.

    >>> widths("ld.global.L1::evict_first.v4.b32 {a}, [b];  st.global.b16 [c], d;")
    ({128: 1}, {16: 1})
    """
    counts: dict[str, Counter[int]] = {"ld": Counter(), "st": Counter()}
    for kind, suffix in GLOBAL.findall(ptx):
        parts = suffix.split(".")
        vector = next((int(p[1:]) for p in parts if re.fullmatch(r"v\d", p)), 1)
        bits = next(int(p[1:]) for p in reversed(parts) if re.fullmatch(r"[bufs]\d+", p))
        counts[kind][vector * bits] += 1
    return dict(counts["ld"]), dict(counts["st"])


def _assembled(ptx: str) -> tuple[int, int, int]:
    """Return registers, spilled bytes and stack bytes per thread, as the triton wheel's ptxas reports them."""
    program = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
    arch = re.search(r"\.target (sm_\w+)", ptx)
    assert arch is not None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(ptx, encoding="utf-8")
        command = [str(program), "-v", f"--gpu-name={arch[1]}", str(file), "-o", str(Path(folder) / "out.cubin")]
        messages = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    numbers = {
        name: [int(n) for n in re.findall(pattern, messages)]
        for name, pattern in (
            ("registers", r"Used (\d+) registers"),
            ("stack", r"(\d+) bytes stack frame"),
            ("spills", r"(\d+) bytes spill (?:stores|loads)"),
        )
    }
    return max(numbers["registers"]), sum(numbers["spills"]), max(numbers["stack"], default=0)
