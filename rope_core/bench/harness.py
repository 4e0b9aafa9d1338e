"""One case: check every contestant's answer, then time those that are right beside the copy floor, round by round."""

from __future__ import annotations

import gc
import random
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from rope_core.bench.answers import call_implementation, check_full_size, largest_error_and_first_seconds, random_inputs
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import Implementation, RotationInputs
from rope_core.bench.environment import buffer_set_count, cache_bytes, clock_resolution
from rope_core.bench.movers import copy_steps
from rope_core.bench.records import CaseResult
from rope_core.errors import argument_error
from rope_core.kernels.task import available_memory

ROUNDS = 25
# A sample is at least this many ticks of the clock long.
TICKS = 1000
# CUDA events tick at half a microsecond (CUDA runtime API, cudaEventElapsedTime).
EVENT_TICK = 0.5e-6


@dataclass
class _Entry:
    """A contestant with its buffers and samples."""

    contestant: Implementation
    step: Callable[[int], Any]
    calls: int
    seconds: list[float]
    faults: list[float]
    data: dict[str, Any]


def case_buffer_set_count(case: BenchmarkCase) -> int:
    """Return how many buffer sets to rotate through: more than the cache holds, within a quarter of free memory."""
    per_set = case.tensor_bytes * (2 if case.direction == "forward" else 4)
    cache, free = cache_and_free_bytes(case.device)
    if 2 * per_set > free:
        raise argument_error("case", "free_bytes", f"{2 * per_set:,} bytes: {case.title}", free=free)
    return buffer_set_count(per_set, cache, free)


def cache_and_free_bytes(device: str) -> tuple[int, int]:
    """Return the bytes of a device's last-level cache and of its free memory."""
    if device == "cpu":
        return cache_bytes(), available_memory()
    return torch.cuda.get_device_properties(0).L2_cache_size, torch.cuda.mem_get_info()[0]


def timed_step(contestant: Implementation, case: BenchmarkCase, sets: list[RotationInputs]) -> Callable[[int], Any]:
    """Return the function that is timed: one call on set i."""
    own = [replace(s, extra=contestant.prepare(s, case)) for s in sets]
    grads = [s.out for s in sets]
    if case.direction == "forward":
        return lambda i: contestant.call(own[i], case)
    if contestant.raw_backward is not None:
        backward = contestant.raw_backward
        # The forward's results serve as gradients, so that the backward reads memory of the same size and age.
        if case.direction == "backward":
            return lambda i: backward(own[i], (own[i].q, own[i].k), case)

        def both(i: int) -> Any:
            contestant.call(own[i], case)
            return backward(_replace_out(own[i]), own[i].out, case)

        return both
    leaves = [replace(s, q=s.q.detach().requires_grad_(), k=s.k.detach().requires_grad_()) for s in own]
    if case.direction == "both":
        return lambda i: torch.autograd.grad(
            call_implementation(contestant, leaves[i], case), (leaves[i].q, leaves[i].k), grads[i]
        )
    graphs = [call_implementation(contestant, s, case) for s in leaves]
    return lambda i: torch.autograd.grad(graphs[i], (leaves[i].q, leaves[i].k), grads[i], retain_graph=True)


def _replace_out(inputs: RotationInputs) -> RotationInputs:
    """Return the inputs with their own q and k as the place for gradients."""
    return replace(inputs, out=(inputs.q, inputs.k))


def floor_step(case: BenchmarkCase, sets: list[RotationInputs]) -> Callable[[int], Any]:
    """Return the floor: q and k copied into the results, twice for forward and backward."""

    def copy(i: int) -> None:
        for _ in range(case.memory_passes):
            sets[i].out[0].copy_(sets[i].q)
            sets[i].out[1].copy_(sets[i].k)

    return copy


class _CpuClock:
    """Wall time of ``calls`` calls."""

    def __init__(self) -> None:
        self.tick = clock_resolution()

    def sample(self, step: Callable[[int], Any], order: list[int]) -> tuple[float, float]:
        """Return seconds and minor page faults per call."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        start = time.perf_counter_ns()
        for i in order:
            step(i)
        took = time.perf_counter_ns() - start
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        return took * 1e-9 / len(order), faults / len(order)


class _GpuClock:
    """Time between two CUDA events around ``calls`` calls."""

    tick = EVENT_TICK

    def sample(self, step: Callable[[int], Any], order: list[int]) -> tuple[float, float]:
        """Return seconds per call; a GPU has no minor faults."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        begin.record()
        for i in order:
            step(i)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / len(order), 0.0


SampleTimer = _CpuClock | _GpuClock


def device_timer(device: str) -> SampleTimer:
    """Return what samples a step on "cpu" or "cuda"."""
    return _CpuClock() if device == "cpu" else _GpuClock()


def first_call_seconds(step: Callable[[int], Any], case: BenchmarkCase) -> float:
    """Return the seconds that the first call takes: compilation, caches, allocation."""
    start = time.perf_counter()
    step(0)
    if case.device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def _calls_for(clock: SampleTimer, step: Callable[[int], Any], sets: int) -> int:
    """Return how many calls make a sample that is long against the clock's tick."""
    calls = 1
    while calls < 2**20:
        took = clock.sample(step, [i % sets for i in range(calls)])[0] * calls
        if took >= TICKS * clock.tick:
            return calls
        calls *= 4
    raise argument_error("step", "long enough for the clock to see", f"{took:.2g} s for {calls} calls")


def peak_memory_bytes(step: Callable[[int], Any], case: BenchmarkCase) -> int | None:
    """Return the bytes that one call holds at its peak beyond what was held before, or None where nobody counts."""
    if case.device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step(0)
        torch.cuda.synchronize()
        return int(torch.cuda.max_memory_allocated() - before)
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
            reset.write("5")
    except OSError:
        return None
    before = _status("VmRSS")
    step(0)
    return max(0, _status("VmHWM") - before)


def _status(name: str) -> int:
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0


_compiled_for: list[BenchmarkCase | None] = [None]


def renew_compiler(case: BenchmarkCase) -> None:
    """Forget what torch.compile made for other cases, which would count against the graphs it makes of a function.

    On a CPU every shape has a graph of its own; on a GPU the lengths of a sweep share one, or compiling would take
    longer than all measurements.
    """
    group = case if case.device == "cpu" else replace(case, batch=1, seq=1)
    if case.device == "cpu" or _compiled_for[0] != group:
        torch._dynamo.reset()
    _compiled_for[0] = group


def measure_case(
    case: BenchmarkCase,
    implementations: list[Implementation],
    rounds: int = ROUNDS,
    progress: Callable[[float, str], None] = lambda share, note: None,
) -> list[CaseResult]:
    """Measure one case: answers first, then ``rounds`` interleaved rounds beside the copy floor.

    A wrong or absent contestant gets a result without times. Raises ValueError where the case does not fit in memory.
    """
    results: list[CaseResult] = []
    right: list[tuple[Implementation, float, float]] = []
    count = case_buffer_set_count(case)
    renew_compiler(case)
    for contestant in implementations:
        reason = contestant.missing(case)
        if reason is not None:
            results.append(CaseResult(case, contestant.name, "unavailable", reason, {}))
            continue
        try:
            right.append((contestant, *largest_error_and_first_seconds(contestant, case)))
        except ValueError as error:
            results.append(CaseResult(case, contestant.name, "wrong", str(error), {}))
        except Exception as error:
            results.append(CaseResult(case, contestant.name, "error", f"{type(error).__name__}: {error}"[:500], {}))
    if right:
        renew_compiler(case)
        results += _time_rounds(case, right, count, rounds, progress)
    return results


def _time_rounds(
    case: BenchmarkCase,
    right: list[tuple[Implementation, float, float]],
    count: int,
    rounds: int,
    progress: Callable[[float, str], None],
) -> list[CaseResult]:
    """Time contestants whose answers are right, each round in another order."""
    sets = [random_inputs(case, 0, False, seed) for seed in range(count)]
    clock = device_timer(case.device)
    entries: list[_Entry] = []
    failed: list[CaseResult] = []
    for contestant, error, first in right:
        try:
            entries.append(_entry(case, contestant, sets, clock, error, first))
        except ValueError as problem:
            failed.append(CaseResult(case, contestant.name, "wrong", str(problem), {}))
        except Exception as problem:
            reason = f"{type(problem).__name__}: {problem}"[:500]
            failed.append(CaseResult(case, contestant.name, "error", reason, {}))
    floor = floor_step(case, sets)
    floor(0)
    floor_calls = _calls_for(clock, floor, count)
    floors: list[float] = []
    others = copy_steps(case, sets)
    moved: dict[str, list[float]] = {name: [] for name in others}
    for step in others.values():
        step(0)
    shuffle = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            # The floor is measured in every round; who follows whom, and finds what in the caches, is drawn anew.
            floors.append(clock.sample(floor, [(turn + i) % count for i in range(floor_calls)])[0])
            for name in shuffle.sample(sorted(others), len(others)):
                moved[name].append(clock.sample(others[name], [turn % count])[0])
            for entry in shuffle.sample(entries, len(entries)):
                seconds, faults = clock.sample(entry.step, [(turn + i) % count for i in range(entry.calls)])
                entry.seconds.append(seconds)
                entry.faults.append(faults)
            progress((turn + 1) / rounds, case.title)
    finally:
        gc.enable()
    cold = count * case.tensor_bytes > cache_bytes() if case.device == "cpu" else None
    common = {"floor": floors, "movers": moved, "sets": count, "larger_than_cache": cold}
    common |= {"traffic": case.min_bytes_moved, "tick": clock.tick}
    timed = [
        CaseResult(
            case, e.contestant.name, "ok", "", {"seconds": e.seconds, "faults": _median(e.faults)} | e.data | common
        )
        for e in entries
    ]
    return failed + timed


def _entry(
    case: BenchmarkCase,
    contestant: Implementation,
    sets: list[RotationInputs],
    clock: SampleTimer,
    error: float,
    first: float,
) -> _Entry:
    check_full_size(contestant, case, replace(sets[0], extra=contestant.prepare(sets[0], case)))
    step = timed_step(contestant, case, sets)
    warm = first_call_seconds(step, case)
    step(len(sets) - 1)
    held = peak_memory_bytes(step, case)
    calls = _calls_for(clock, step, len(sets))
    data = {
        "error": error,
        "first_call": first,
        "first_at_shape": warm,
        "peak_bytes": held,
        "calls": calls,
    }
    return _Entry(contestant, step, calls, [], [], data)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
