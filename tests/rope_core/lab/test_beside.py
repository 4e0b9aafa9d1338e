"""Lines beside the sliding window, against ratios written out."""

import numpy as np
import pytest

from rope_core.lab import cards, view
from rope_core.lab.beside import COUNTED, DROPPED, OLD, SCALED, cell_kind, compare_with_window
from tests.support import lab_results as made

LEVELS = {"window": 1.0, "rerope": 0.8, "cope": 2.0, "none": 3.0}


def cells() -> list[view.SweepCell]:
    """Made cells of three models; the third was trained on without rotation from the first."""
    result = [
        made.cell(model, key, made.losses(place, level, 6, 64))
        for model in ("rope-0", "rope-1")
        for place, (key, level) in enumerate(LEVELS.items())
    ]
    return [view.read_cell(each) for each in [*result, made.cell("rope-0-drope", "none", made.losses(9, 1.5, 6, 64))]]


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [made.card("rope-0"), made.card("rope-1"), made.card("rope-0-drope", "nope", "rope-0")]
    monkeypatch.setattr(cards, "weights_cards", lambda: {each.name: each for each in known})


def test_ratios_are_of_the_same_documents_and_in_order() -> None:
    window, result = compare_with_window(cells(), 64)
    assert (window.weights, window.line) == ("rope-0", "window")
    assert [each.key for each in result] == ["rerope", "drope", "cope", "none"]
    assert [each.kind for each in result] == [COUNTED, DROPPED, SCALED, OLD]
    by = {(each.weights, each.line): each for each in cells()}
    for each in result:
        expected = np.exp(float((each.cell.nats - window.nats).mean()))
        assert each.over_window.value == pytest.approx(expected, rel=1e-9)
        assert each.over_window.low < each.over_window.value < each.over_window.high
        if each.key != "drope":
            other = by["rope-1", each.key].nats - by["rope-1", "window"].nats
            assert each.seeds == pytest.approx((np.exp(float(other.mean())),), rel=1e-9)
    assert result[1].seeds == ()


def test_unknown_weights_are_taken_for_rotary_ones() -> None:
    other = view.read_cell(made.cell("mine", "yarn", made.losses(1, 1.0, 4, 64)))
    assert cell_kind(other) == OLD
