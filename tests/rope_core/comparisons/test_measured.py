"""Checks beside the small model's record: counts and counter-examples against the record's own numbers."""

import numpy as np
import pytest

from rope_core.comparisons.measured import contrast_by_check
from rope_core.lab import records, view
from rope_core.lab.estimates import Estimate, PerplexityCurve
from rope_core.lab.view import SweepCell
from rope_core.rope import Rope

ROPE = Rope(32, 10_000.0, 256)
"""The geometry of the lab's model."""


def cell(line: str, length: int, nats: float, spread: float = 0.01) -> SweepCell:
    none = Estimate(nats, nats, nats)
    each = nats + spread * np.random.default_rng(len(line)).normal(size=16)
    curve = PerplexityCurve(*[np.empty(0)] * 4)
    return SweepCell("rope-0", line, length, 16, none, none, each, curve)


def test_couples_of_schemes_are_counted_where_the_documents_tell_them_apart() -> None:
    # Linear keeps the trained arc at twice the length, unscaled and NTK do not.
    read = {"none": 2.0, "linear": 3.0, "ntk": 1.8, "yarn": 1.0}
    cells = [cell(line, 512, nats) for line, nats in read.items()]
    arc = contrast_by_check([*cells, cell("linear", 256, 0.5)], ROPE)["inside_arc"]
    assert (arc.of, arc.better, arc.worse) == (4, 2, 2)
    assert (arc.holder, arc.breaker, arc.times) == ("linear", "ntk", 2.0)
    assert arc.ratio == pytest.approx(np.exp(1.2), rel=0.02)
    near = [cell("none", 512, 2.0, 1.0), cell("linear", 512, 2.01, 1.0)]
    undecided = contrast_by_check(near, ROPE)["inside_arc"]
    assert (undecided.of, undecided.better, undecided.worse, undecided.holder) == (1, 0, 0, "")


def test_the_shipped_record_has_linear_worse_than_ntk_inside_the_arc() -> None:
    cells = view.read_cells(records.shipped_record("sweep").results)
    arc = contrast_by_check(cells, ROPE)["inside_arc"]
    last = {(each.line, each.length): each.last.value for each in cells}
    assert arc.holder == "linear" and arc.breaker.startswith("ntk")
    ratio = {n: last["linear", n] / last[arc.breaker, n] for n in (512, 1024, 2048)}
    assert arc.ratio == pytest.approx(ratio[int(256 * arc.times)], rel=0.01)
    assert arc.ratio >= 0.99 * max(last["linear", n] / last["ntk", n] for n in ratio)
    assert 0 < arc.worse < arc.better < arc.better + arc.worse <= arc.of
    # Dynamic NTK is NTK there, and counts once.
    twice = [each for each in cells if each.line != "dynamic"]
    assert contrast_by_check(twice, ROPE) == contrast_by_check(cells, ROPE)
