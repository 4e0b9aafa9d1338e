"""Ways to move bytes: they move all of them, and a run holds a sample of each in every round."""

from dataclasses import replace

import pytest
import torch

from rope_core.bench import harness
from rope_core.bench.answers import random_inputs
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import all_implementations
from rope_core.bench.movers import NAMES, copy_steps
from rope_core.cli.bench import results_table

CASE = BenchmarkCase("cpu", "float32", 1, 520, 8, 8, 64, 64)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("memory", ["bhsd", "bshd"])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_byte_is_moved(dtype: str, memory: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    case = replace(CASE, dtype=dtype, memory=memory)
    sets = [random_inputs(case, 0, False, seed) for seed in range(2)]
    steps = copy_steps(case, sets)
    assert tuple(steps) == NAMES
    for name in ("memcpy", "streamed"):
        for out in sets[1].out:
            out.fill_(torch.nan)
        steps[name](1)
        assert torch.equal(sets[1].out[0], sets[1].q) and torch.equal(sets[1].out[1], sets[1].k)
        assert sets[0].out[0].isnan().all(), "the other set is left alone"
    steps["fill"](0)
    assert not any(out.isnan().any() for out in sets[0].out)


def test_a_run_holds_them_in_the_rounds_of_the_copy() -> None:
    ours = [each for each in all_implementations() if each.name == "numba"]
    (result,) = harness.measure_case(CASE, ours, rounds=5)
    assert {name: len(samples) for name, samples in result.data["movers"].items()} == dict.fromkeys(NAMES, 5)
    assert all(sample > 0 for samples in result.data["movers"].values() for sample in samples)
    assert all(f"({name})" in results_table([result]) for name in NAMES)
    (small,) = harness.measure_case(replace(CASE, seq=1), ours, rounds=5)
    assert small.data["movers"] == {} and "(memcpy" not in results_table([small])
