"""What the Triton kernels become on sm_90, and a scalar kernel that fails the same measure: all in one child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from rope_core.kernels.inspection import Inspection, widths
from tests.support import ROOT

WIDE = ("half", "half, heads first, back", "interleaved", "interleaved 256, heads first", "64", "angles")
SCALAR = ("strides without a hint", "one element a thread")


@pytest.fixture(scope="module")
def compiled() -> dict[str, dict[str, list[Inspection]]]:
    """All calls, compiled in a process that does not interpret."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.support.hopper"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]

    def read(body: dict[str, Any]) -> Inspection:
        counts = {kind: {int(width): n for width, n in body[kind].items()} for kind in ("loads", "stores")}
        return Inspection(**body | counts)

    return {
        name: {kernel: [read(body) for body in each] for kernel, each in kernels.items()}
        for name, kernels in json.loads(done.stdout).items()
    }


def faults(seen: Inspection) -> list[str]:
    """Return what keeps a rotation from the speed of memory; the tables, read once a program, may be 64 bits wide."""
    text = []
    if set(seen.stores) != {128}:
        text.append(f"stores of {sorted(seen.stores)} bits")
    if not seen.loads.get(128) or min(seen.loads) < 64:
        text.append(f"loads of {sorted(seen.loads)} bits")
    if seen.registers > 96:
        text.append(f"{seen.registers} registers, fewer than five programs on an SM of 65,536")
    return text


def test_no_kernel_spills(compiled: dict[str, dict[str, list[Inspection]]]) -> None:
    for name in compiled.keys() - set(SCALAR):
        for kernel, each in compiled[name].items():
            assert all(seen.spills == seen.stack == 0 for seen in each), (name, kernel, each)


def test_every_access_to_q_and_k_is_128_bits_wide(compiled: dict[str, dict[str, list[Inspection]]]) -> None:
    for name in WIDE:
        assert faults(*compiled[name]["turn_kernel"]) == [], name
    for name in SCALAR:
        ((seen,),) = compiled[name].values()
        assert {text.split()[0] for text in faults(seen)} >= {"stores", "loads"}, name
    # The search for a sequence reads its borders, a width of 72 has no whole number of 128 bits in a half.
    assert set(compiled["packed"]["turn_kernel"][0].stores) == {128}
    assert min(compiled["72"]["turn_kernel"][0].stores) >= 64
    for each in compiled["norm"].values():
        assert all(seen.stores.get(128) and seen.loads.get(128) for seen in each)
    for kernel in ("forward", "backward"):
        assert all({128} == set(seen.stores) and min(seen.loads) >= 64 for seen in compiled["lrpe"][kernel])


def test_decoding_compiles_once(compiled: dict[str, dict[str, list[Inspection]]]) -> None:
    assert {kernel: len(each) for kernel, each in compiled["lrpe decoding"].items()} == {
        "forward": 1, "backward": 1, "sums": 1
    }  # fmt: skip


def test_widths_are_read_from_ptx() -> None:
    ptx = """
    @%p1 ld.global.L1::evict_last.L2::cache_hint.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ], %rd2;
    ld.global.v2.b64 {%a, %b}, [%c];
    st.global.b16 [ %rd1 ], {%h1};
    ld.param.b64 %rd1, [x];
    st.shared.v4.b32 [%r1], {};
    """
    assert widths(ptx) == ({128: 2}, {16: 1})
