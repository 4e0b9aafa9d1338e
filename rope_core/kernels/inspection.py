"""What a Triton kernel becomes on a Hopper GPU, found out without one: access widths, registers, spills.

triton.compile makes PTX for any target, and the ptxas inside the triton wheel reports what it assigns.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

CAPABILITY = 90
POINTERS = {
    torch.float32: "*fp32",
    torch.float64: "*fp64",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int32: "*i32",
    torch.int64: "*i64",
}
GLOBAL = re.compile(r"\b(ld|st)\.global((?:\.[\w:]+)*)\s")


@dataclass(frozen=True)
class Inspection:
    """A compiled kernel.

    Attributes:
        registers: per thread.
        spills: bytes of spill stores and loads per thread.
        stack: bytes of local memory per thread.
        loads, stores: width in bits -> how many instructions touch global memory so.
        shared: bytes of shared memory per program.
    """

    registers: int
    spills: int
    stack: int
    loads: dict[int, int]
    stores: dict[int, int]
    shared: int


def source(kernel: Any, arguments: tuple[Any, ...], constants: Mapping[str, Any]) -> Any:
    """Return what triton.compile takes, specialised as a launch on these arguments would be.

    Pointers and integers divisible by 16 are known to be so, and an integer 1 is a constant.
    """
    signature: dict[str, str] = {}
    fixed: dict[tuple[int, ...], Any] = {}
    hints: dict[tuple[int, ...], list[list[Any]]] = {}
    names = kernel.arg_names
    given = dict(zip(names, arguments, strict=False)) | dict(constants)
    for index, name in enumerate(names):
        value = given[name]
        if name in constants or (isinstance(value, int) and value == 1):
            signature[name], fixed[(index,)] = "constexpr", value
            continue
        if isinstance(value, Tensor):
            signature[name] = POINTERS[value.dtype]
            divisible = value.data_ptr() % 16 == 0
        elif isinstance(value, float):
            signature[name], divisible = "fp32", False
        else:
            signature[name] = "i32" if -(2**31) <= value < 2**31 else "i64"
            divisible = value % 16 == 0
        if divisible:
            hints[(index,)] = [["tt.divisibility", 16]]
    return ASTSource(fn=kernel, signature=signature, constexprs=fixed, attrs=hints)


def inspect(kernel: Any, arguments: tuple[Any, ...], constants: Mapping[str, Any], warps: int = 4) -> Inspection:
    """Compile ``kernel`` for sm_90 as a launch on these CPU tensors would be, and return what it became."""
    target = GPUTarget("cuda", CAPABILITY, 32)
    built = triton.compile(source(kernel, arguments, constants), target=target, options={"num_warps": warps})
    ptx = built.asm["ptx"]
    loads, stores = widths(ptx)
    registers, spills, stack = _assembled(ptx)
    return Inspection(registers, spills, stack, loads, stores, int(built.metadata.shared))


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
