"""The other experiments' views against numbers written out by hand."""

import math

import numpy as np
import pytest

from rope_core.lab import experiments, view
from tests.support import lab_results as made


def test_retrieval_is_a_grid_of_shares_by_line() -> None:
    results = made.retrieval(3)
    grids = experiments.retrieval_grids(
        [*results, results[0] | {"weights": "another", "right": 0}, {"undefined": "no table"}]
    )
    assert list(grids) == list(made.KEYS[:3])
    grid = grids[made.KEYS[1]]
    for i, length in enumerate(grid.lengths):
        for j, depth in enumerate(grid.depths):
            row = next(
                each
                for each in results
                if (each["line"], each["length"], each["depth"]) == (made.KEYS[1], length, depth)
            )
            assert grid.right[i, j] == row["right"] / 10
    share, trials = experiments.key_retrieval_share(results, made.KEYS[1], 128)
    assert trials == 30 and share.value == pytest.approx(grid.right[1].sum() / 3)


def test_digits_are_counted_where_digits_are_wanted() -> None:
    results = made.retrieval(4)
    whole, digits = (
        experiments.retrieval_grids(results)[made.KEYS[0]],
        experiments.retrieval_grids(results, experiments.DIGITS)[made.KEYS[0]],
    )
    row = results[1]
    spot = digits.lengths.index(row["length"]), digits.depths.index(row["depth"])
    assert [digits.right[spot], digits.low[spot], digits.high[spot]] == row["digits"]
    assert np.all(digits.right >= whole.right)
    share, trials = experiments.key_retrieval_share(results, made.KEYS[0], 256, experiments.DIGITS)
    assert trials == 30
    assert share.value == pytest.approx(digits.right[digits.lengths.index(256)].mean())
    assert 0.0 <= share.low < share.value < share.high <= 1.0
    with pytest.raises(ValueError, match="counted must be one of whole, digits, got 'letters'"):
        experiments.retrieval_grids(results, "letters")


def test_variants_are_compared_on_the_same_documents() -> None:
    kinds = {each.line: each for each in experiments.cache_handling_cells(made.stale(0.2))}
    assert view.last_quarter_ratio(kinds["stale"], kinds["recomputed"]).value == pytest.approx(math.exp(0.2))
    fewer = experiments.cache_handling_cells(made.stale(documents=3))[0]
    with pytest.raises(ValueError, match="of the same documents"):
        view.last_quarter_ratio(kinds["stale"], fewer)
