"""What the Triton kernels become on sm_90: 128-bit accesses, no spills, registers; and a scalar kernel that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import torch

from rope_core.kernels.inspection import Inspection, widths
from tests.support import ROOT

HEAD: dict[str, Any] = {"dim": 128, "pairs": 64, "half": True, "order": "bshd"}
WIDTHS = ((64, False), (96, False), (128, False), (128, True), (256, False))
# Every width in both layouts, and every width and layout in both orders of memory.
CASES: dict[str, dict[str, Any]] = {
    f"{order} {'half' if half else 'interleaved'} {dim}{' back' if back else ''}": {
        "dim": dim, "pairs": dim // 2, "half": half, "order": order, "back": back
    }
    for half in (True, False)
    for order, (dim, back) in zip(("bshd", "bhsd") * 3 if half else ("bhsd", "bshd") * 3, WIDTHS, strict=False)
}  # fmt: skip
CASES |= {
    "angles": HEAD | {"steps": True},
    "packed": HEAD | {"packed": True},
    "float16": HEAD | {"dtype": "float16"},
    "float32": HEAD | {"dtype": "float32"},
    "partial": HEAD | {"pairs": 48},
    "in place": HEAD | {"inplace": True},
}
ODD = {"width 72": HEAD | {"dim": 72, "pairs": 36}, "width 80, 40 turn": HEAD | {"dim": 80, "pairs": 20}}
SCALAR = {"strides without a hint": HEAD | {"odd_strides": True}, "one element a thread": HEAD | {"scalar": True}}

SCRIPT = """
import dataclasses, json, sys
import torch, triton, triton.language as tl
from rope_core.kernels import gpu, gpu_kernels, gpu_norm_kernels, inspection
from rope_core.kernels.task import Turn

@triton.jit
def scalar_kernel(q, cos, sin, out, PAIRS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, PAIRS)
    a = tl.load(q + row * 2 * PAIRS + 2 * i).to(tl.float32)
    b = tl.load(q + row * 2 * PAIRS + 2 * i + 1).to(tl.float32)
    c, s = tl.load(cos + i), tl.load(sin + i)
    tl.store(out + row * 2 * PAIRS + 2 * i, (a * c - b * s).to(out.dtype.element_ty))
    tl.store(out + row * 2 * PAIRS + 2 * i + 1, (a * s + b * c).to(out.dtype.element_ty))

def look(dim, pairs, half, order, back=False, steps=False, packed=False, dtype="bfloat16", inplace=False,
         odd_strides=False, scalar=False):
    seq, kind = 8192, getattr(torch, dtype)
    def tensor(heads):
        gap = 1 if odd_strides else 0
        bshd, bhsd = (seq * heads * dim, heads * dim + gap, dim, 1), (seq * heads * dim, dim, seq * dim, 1)
        strides = bshd if order == "bshd" else bhsd
        return torch.empty_strided((4, seq, heads, dim), strides, dtype=kind, device="meta")
    cos, step = torch.empty(seq, pairs, device="meta"), torch.empty(pairs, dtype=torch.int64, device="meta")
    q, k = tensor(32), tensor(8)
    if scalar:
        return inspection.inspect(scalar_kernel, (q, cos, cos, q), {"PAIRS": pairs})
    borders = torch.empty(5, dtype=torch.int32, device="meta") if packed else None
    tables = (None, None, step) if steps else (cos, cos, None)
    turn = Turn(*tables, 1.0, None, borders, None, 0, half, back)
    cut = gpu.choose_tiles(q, 8, False)
    arguments, constants = gpu.launch_arguments(q, k, q, k, 8, turn, cut)
    return inspection.inspect(gpu_kernels.turn_kernel, arguments, constants | {"COPY": not inplace}, cut.warps)

def look_normed(half, whole, back):
    batch, seq, heads, dim = 4, 8192, 32, 128
    x = torch.empty(batch, seq, heads, dim, dtype=torch.bfloat16, device="meta")
    table, weight = torch.empty(1, seq, 64, device="meta"), torch.empty(dim, device="meta")
    constants = {"HEAD_COUNT": heads, "PAIRS": 64, "LANES": 64, "DIM": dim, "REST": 1, "HALF": half, "WHOLE": whole,
                 "COMPUTE": tl.float32, "TOKENS": 1, "HEADS": 32}
    strides = x.stride() * (3 if back else 2)
    tensors = (x, x, x, weight, weight, table, table, batch, seq) if back else (x, x, weight, table, table, seq)
    kernel = gpu_norm_kernels.normed_backward if back else gpu_norm_kernels.normed_forward
    return inspection.inspect(kernel, (*tensors, *strides, 0, 0.0, 1e-6), constants)

normed = {f"normed {half} {whole} {back}": look_normed(half, whole, back)
          for half, whole in ((True, True), (False, False)) for back in (True, False)}
cases = json.load(sys.stdin)
seen = normed | {name: look(**case) for name, case in cases.items()}
print(json.dumps({name: dataclasses.asdict(found) for name, found in seen.items()}))
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Inspection]:
    """All cases, compiled in a process that does not interpret."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    root = str(ROOT)
    script = tmp_path_factory.mktemp("inspection") / "look.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps(CASES | ODD | SCALAR),
        env=environment | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout)
    for body in result.values():
        for kind in ("loads", "stores"):
            body[kind] = {int(width): count for width, count in body[kind].items()}
    return {name: Inspection(**body) for name, body in result.items()}


def faults(seen: Inspection, table_width: int = 64) -> list[str]:
    """Return what keeps a kernel from the speed of memory; the tables, read once a program, may use half the width."""
    text = []
    if set(seen.stores) != {128}:
        text.append(f"stores of {sorted(seen.stores)} bits")
    narrow = {width: count for width, count in seen.loads.items() if width != 128}
    if not seen.loads.get(128) or min(seen.loads) < table_width or sum(narrow.values()) > 2:
        text.append(f"loads of {sorted(seen.loads)} bits")
    if seen.spills or seen.stack:
        text.append(f"{seen.spills} bytes spilled, {seen.stack} on the stack")
    if seen.registers > 96:
        text.append(f"{seen.registers} registers")
    return text


@pytest.mark.parametrize("name", [name for name in CASES if name != "packed"])
def test_every_access_to_q_and_k_is_128_bits_wide_and_nothing_spills(
    name: str, compiled: dict[str, Inspection]
) -> None:
    # A program of float32 takes half the tokens, and each thread half the table.
    assert faults(compiled[name], 32 if name == "float32" else 64) == []


def test_the_search_for_a_packed_sequence_costs_narrow_loads_of_borders_only(compiled: dict[str, Inspection]) -> None:
    seen = compiled["packed"]
    assert set(seen.stores) == {128} and seen.loads[128] >= seen.stores[128]
    assert not seen.spills and not seen.stack and seen.registers <= 96


@pytest.mark.parametrize("name", list(ODD))
def test_odd_widths_keep_vectors_and_registers(name: str, compiled: dict[str, Inspection]) -> None:
    seen = compiled[name]
    assert min(seen.stores) >= 64 and min(seen.loads) >= 32
    assert not seen.spills and not seen.stack and seen.registers <= 96


@pytest.mark.parametrize("back", [False, True])
def test_norm_and_rotation_read_and_write_128_bits_and_spill_nothing(
    back: bool, compiled: dict[str, Inspection]
) -> None:
    for name in (f"normed True True {back}", f"normed False False {back}"):
        seen = compiled[name]
        assert seen.stores.get(128) and seen.loads.get(128), seen
        assert not seen.spills and not seen.stack, seen


def test_the_measure_fails_on_scalar_kernels(compiled: dict[str, Inspection]) -> None:
    for name in SCALAR:
        text = faults(compiled[name])
        assert any("stores" in s for s in text) and any("loads" in s for s in text), (name, compiled[name])
        assert min(compiled[name].stores) <= 32


def test_half_the_occupancy_of_an_sm_or_more(compiled: dict[str, Inspection]) -> None:
    """65,536 registers an SM (CUDA programming guide, compute capability 9.0) in programs of 128 threads."""
    for name in CASES:
        programs = 65_536 // (128 * compiled[name].registers)
        assert programs >= 5, name


def test_widths_are_read_from_ptx() -> None:
    ptx = """
    @%p1 ld.global.L1::evict_last.L2::cache_hint.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ], %rd2;
    ld.global.v2.b64 {%a, %b}, [%c];
    st.global.b16 [ %rd1 ], {%h1};
    ld.param.b64 %rd1, [x];
    st.shared.v4.b32 [%r1], {};
    """
    assert widths(ptx) == ({128: 2}, {16: 1})
    assert torch.bfloat16.itemsize == 2
