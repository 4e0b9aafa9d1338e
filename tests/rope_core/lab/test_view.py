"""Results read back: orders, paired ratios and grids against numbers written out by hand."""

import itertools
import math

import numpy as np
import pytest

from rope_core.lab import view
from rope_core.lab.estimates import Estimate
from tests.support import lab_results as made


@pytest.mark.parametrize("seed", [0, 5])
def test_the_order_is_by_the_last_quarter_and_ratios_are_paired(seed: int) -> None:
    results = made.sweep(seed)
    result = view.cells_at_length(view.read_cells(results), 128)
    places = view.rank_cells(result)
    levels = made.levels(seed)
    assert [place.cell.line for place in places] == sorted(levels, key=levels.__getitem__)
    rows = {each["line"]: each["nats"] for each in results if each["length"] == 128}
    for before, place in itertools.pairwise(places):
        pairs = list(zip(rows[place.cell.line], rows[before.cell.line], strict=True))
        by_hand = math.exp(sum(a - b for a, b in pairs) / len(pairs))
        assert place.behind is not None and place.behind.value == pytest.approx(by_hand)
        # Documents differ by ten times what lines do: only pairing makes this interval narrow enough to settle it.
        assert place.behind.low > 1.0 and place.settled
        assert place.over_best.value > before.over_best.value or before is places[0]
    assert places[0].behind is None and not places[0].settled
    assert places[0].over_best == Estimate(1.0, 1.0, 1.0)
    assert [len(group) for group in view.group_ties(places)] == [1] * len(places)


def test_what_documents_cannot_tell_apart_stands_in_one_group() -> None:
    rng = np.random.default_rng(1)
    nats = made.losses(1, 1.0, 6, 64)
    level = made.cell("rope-0", "a", nats)
    noisy = made.cell("rope-0", "b", nats + rng.normal(0, 0.2, (6, 1)))
    worse = made.cell("rope-0", "c", nats + 0.9)
    groups = view.group_ties(view.rank_cells(view.read_cells([worse, level, noisy])))
    assert [{place.cell.line for place in group} for group in groups] == [{"a", "b"}, {"c"}]


def test_neighbours_differ_only_for_all_pairs_at_once() -> None:
    """A gap that one comparison settles and nine lines' thirty-six do not."""
    noise = np.tile([-1.0, 1.0], 6)[:, None]
    gap = 2.9 / np.sqrt(11)  # Student's t of 2.9 with 11 degrees of freedom: 95 % ends at 2.2, 1 - 0.05/36 at 4.2.
    base = np.full((12, 64), 1.0)
    pair = [made.cell("rope-0", "a", base), made.cell("rope-0", "b", base + gap + noise)]
    others = [made.cell("rope-0", f"other{k}", base + 50.0 * (k + 1)) for k in range(7)]
    for results, settled in ((pair, True), (pair + others, False)):
        places = view.rank_cells(view.read_cells(results))
        assert [place.cell.line for place in places[:2]] == ["a", "b"]
        assert places[1].behind is not None and places[1].behind.low > 1.0
        assert places[1].settled is settled
    assert all(place.settled for place in places[2:])


def test_one_document_gives_no_interval_and_settles_nothing() -> None:
    result = view.read_cells(made.sweep(documents=1))
    places = view.rank_cells(view.cells_at_length(result, 64))
    assert all(not place.settled for place in places)
    assert not result[0].last.has_interval and math.isnan(result[0].last.low)
    assert not places[1].over_best.excludes(1.0)


def test_undefined_cells_have_a_reason_and_no_place() -> None:
    ended = {"weights": "learned-0", "line": "none", "length": 128, "documents": 5, "undefined": "its table ends"}
    result = view.read_cells([*made.sweep(), ended])
    assert result[-1].undefined == "its table ends"
    assert all(each.weights != "learned-0" for each in view.cells_at_length(result, 128))
    assert view.cell_lengths(result) == list(made.LENGTHS)


def test_seeds_have_a_range_and_an_order_each() -> None:
    first, second = made.sweep(0, ("rope-0",), lengths=(64,)), made.sweep(0, ("rope-1",), lengths=(64,))
    swapped = [each | {"line": {"none": "linear", "linear": "none"}.get(each["line"], each["line"])} for each in second]
    result = view.read_cells([*first, *swapped])
    orders = view.line_order_by_weights(result)
    assert orders["rope-0"] != orders["rope-1"] and set(orders["rope-0"]) == set(made.KEYS)
    by_line = {each.line: each for each in view.results_over_seeds(result)}
    values = [each["last"][0] for each in (*first, *swapped) if each["line"] == "none"]
    spread = by_line["none"].mean_and_range
    assert (spread.low, spread.high) == (min(values), max(values))
    assert spread.value == pytest.approx(sum(values) / 2)
    means = [each.mean for each in view.results_over_seeds(result)]
    assert means == sorted(means)


def test_a_coarser_curve_has_the_same_mean_loss() -> None:
    curve = view.read_cell(made.cell("rope-0", "a", made.losses(0, 1.2, 5, 256), bins=8)).curve
    result = view.coarsen_curve(curve, 64)
    assert result.position.tolist() == [32, 96, 160, 224]
    by_hand = [math.sqrt(a * b) for a, b in zip(curve.value[::2], curve.value[1::2], strict=True)]
    assert result.value == pytest.approx(by_hand)
    assert view.coarsen_curve(curve, 1.0).value == pytest.approx(curve.value)


def test_copies_are_a_cell_a_line_that_is_ordered_at_the_greatest_distance() -> None:
    results = made.recall(keys=("b", "a"))
    result = view.copy_cells([*results, {"line": "a", "undefined": "its table ends"}])
    assert [each.line for each in result] == ["b", "a"]
    by_distance = {each["distance"]: each for each in results if each["line"] == "a"}
    second = result[1]
    assert second.curve.position.tolist() == [64, 128, 256]
    for at, distance in enumerate((64, 128, 256)):
        parts = (second.curve.value[at], second.curve.low[at], second.curve.high[at])
        assert parts == tuple(by_distance[distance]["copy"])
    assert second.nats.tolist() == by_distance[256]["nats"] and second.last.value == by_distance[256]["copy"][0]
    assert (second.length, second.documents) == (512, 6)
    assert [place.cell.line for place in view.rank_cells(result[::-1])] == ["b", "a"]
