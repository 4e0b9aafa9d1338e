"""Bytes on paper against the counts of each kernel, written out."""

import pytest
import torch

from rope_core.bench import traffic
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.contestants import transformers_rotation

CASE = BenchmarkCase("cpu", "bfloat16", 2, 100, 8, 4, 64, 64)


@pytest.mark.parametrize(("path", "times"), [("transformers", 10), ("Liger", 4), ("FLA", 3), ("ours", 2)])
def test_bytes_and_time(path: str, times: int) -> None:
    size = 2 * 100 * 12 * 64 * 2
    assert traffic.traffic_per_element(path) == times
    assert traffic.time_over_copy(path) == times / 2
    assert traffic.memory_bound_seconds(CASE, path, 5e9) == pytest.approx(times * size / 5e9)


class Count(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up the bytes that each operation reads and writes; views move nothing."""

    VIEWS = ("slice", "unsqueeze", "transpose", "view", "alias", "detach")
    moved = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        if not any(func.__name__.startswith(name) for name in self.VIEWS):
            tensors = [x for a in args for x in (a if isinstance(a, list | tuple) else [a]) if torch.is_tensor(x)]
            big = [x for x in (*tensors, out) if x.dim() == 4 and x.shape[1] > 1]
            self.moved += sum(x.numel() * x.element_size() for x in big)
        return out


def test_transformers_count_is_what_its_operations_move() -> None:
    q, k = torch.randn(2, 8, 100, 64), torch.randn(2, 4, 100, 64)
    cos, sin = torch.randn(1, 100, 64), torch.randn(1, 100, 64)
    with Count() as count:  # type: ignore[no-untyped-call]
        transformers_rotation()(q, k, cos, sin)
    assert count.moved == traffic.traffic_per_element("transformers") * 4 * (q.numel() + k.numel())


def test_refusals() -> None:
    with pytest.raises(ValueError, match="path must be one of"):
        traffic.traffic_per_element("nobody")
    for bad in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="bytes_per_second must be a finite number > 0"):
            traffic.memory_bound_seconds(CASE, "ours", bad)
