"""Compiles calls of every Triton kernel for a Hopper GPU that is not there, and prints what they became.

Run by kernels/test_inspection.py in a process of its own, which has no driver afterwards.
"""
# Triton reads a kernel's source: its annotations are its own and no types of Python's.
# mypy: ignore-errors

import dataclasses
import json

import torch
import triton
import triton.language as tl

from rope_core.kernels import gpu, gpu_norm
from rope_core.kernels.inspection import inspect
from rope_core.kernels.task import Turn
from rope_core.lrpe.arguments import plan
from rope_core.lrpe.gpu import TRITON


@triton.jit
def scalar_kernel(q, cos, sin, out, PAIRS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, PAIRS)
    a = tl.load(q + row * 2 * PAIRS + 2 * i).to(tl.float32)
    b = tl.load(q + row * 2 * PAIRS + 2 * i + 1).to(tl.float32)
    c, s = tl.load(cos + i), tl.load(sin + i)
    tl.store(out + row * 2 * PAIRS + 2 * i, (a * c - b * s).to(out.dtype.element_ty))
    tl.store(out + row * 2 * PAIRS + 2 * i + 1, (a * s + b * c).to(out.dtype.element_ty))


SEQ, meta = 8192, {"device": "meta"}


def rotation(dim=128, half=True, heads_first=False, back=False, steps=False, packed=False, gap=0):
    def tensor(heads):
        strides = (dim, SEQ * dim) if heads_first else (heads * dim + gap, dim)
        return torch.empty_strided((4, SEQ, heads, dim), (SEQ * heads * dim, *strides, 1), dtype=torch.bfloat16, **meta)

    cos, step = torch.empty(SEQ, dim // 2, **meta), torch.empty(dim // 2, dtype=torch.int64, **meta)
    borders = torch.empty(5, dtype=torch.int32, **meta) if packed else None
    tables = (None, None, step) if steps else (cos, cos, None)
    both = tensor(32), tensor(8)
    gpu.run_triton(both, Turn(*tables, 1.0, None, borders, None, 0, half, back), both)


def normed(half, whole):
    x = torch.empty(4, SEQ, 32, 128, dtype=torch.bfloat16, **meta)
    table, weight = torch.empty(1, SEQ, 64, **meta), torch.empty(32 * 128 if whole else 128, **meta)
    gpu_norm.forward(x, weight, table, table, half, 1e-6, 0.0, whole)
    gpu_norm.backward(x, x, weight, table, table, half, 1e-6, 0.0, whole)


def lrpe(act, dim=None, heads=1, lengths=(64,), offsets=(0,)):
    for length in lengths:
        x, theta = torch.empty(2, length, 32, 128, dtype=torch.bfloat16, **meta), torch.empty(heads, 64, **meta)
        for offset in offsets:
            p = plan(x.shape, (heads, 64) if heads > 1 else (64,), act, dim)
            TRITON.forward(x, theta, offset, p)
            TRITON.backward(x, theta, offset, x, p, True, True)


def scalar():
    q, cos = torch.empty(9, 128, dtype=torch.bfloat16, **meta), torch.empty(64, **meta)
    scalar_kernel[(9,)](q, cos, cos, q, PAIRS=64)


CALLS = {
    "half": lambda: rotation(),
    "half, heads first, back": lambda: rotation(heads_first=True, back=True),
    "interleaved": lambda: rotation(half=False),
    "interleaved 256, heads first": lambda: rotation(256, False, True),
    "64": lambda: rotation(64),
    "angles": lambda: rotation(steps=True),
    "packed": lambda: rotation(packed=True),
    "72": lambda: rotation(72),
    "norm": lambda: (normed(True, True), normed(False, False)),
    "lrpe": lambda: (lrpe("silu"), lrpe("softmax", -1, 32), lrpe("softmax", 1)),
    "lrpe decoding": lambda: lrpe("silu", None, 1, (1, 16, 17), (0, 1, 16, 2**31 - 65)),
    "strides without a hint": lambda: rotation(gap=1),
    "one element a thread": scalar,
}
if __name__ == "__main__":
    print(
        json.dumps(
            {
                name: {kernel: [dataclasses.asdict(seen) for seen in each] for kernel, each in inspect(call).items()}
                for name, call in CALLS.items()
            }
        )
    )
