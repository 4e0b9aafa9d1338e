"""A stretch that occurs twice: what is made, what counts, and a model that copies by construction."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rope_core.lab import cards, copying, plan, recall, weights
from rope_core.lab.estimates import window_perplexity
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.positions import rotary_encoding_for
from tests.support.lab_reader import small, stock

pytestmark = pytest.mark.usefixtures("small_models")
TEXT = np.random.default_rng(0).integers(0, 256, 5000).astype(np.uint8)


@pytest.mark.parametrize("distance", [copying.SPAN, 100, 400 - copying.SPAN])
def test_the_end_is_what_began_a_distance_before(distance: int) -> None:
    rng = np.random.default_rng(1)
    built = copying.copy_examples(TEXT, 5, 400, rng, distance)
    assert built.shape == (5, 400)
    for row in built:
        assert (row[-copying.SPAN :] == row[-copying.SPAN - distance : 400 - distance]).all()
    assert len({row.tobytes() for row in built}) == 5


def test_windows_to_learn_from_repeat_in_every_second_row() -> None:
    built = copying.copy_training_windows(TEXT, 40, 256, np.random.default_rng(2))
    periods = [next((p for p in range(16, 129) if (row[p:] == row[:-p]).all()), 0) for row in built]
    assert all(period == 0 for period in periods[::2]) and all(16 <= period <= 128 for period in periods[1::2])
    assert min(periods[1::2]) < 40 < 80 < max(periods[1::2])


@pytest.mark.parametrize("distance", [63, 337, -1])
def test_occurrences_that_overlap_or_do_not_fit_are_refused(distance: int) -> None:
    with pytest.raises(ValueError, match="distance must be an integer in"):
        copying.copy_example(TEXT, 400, distance, np.random.default_rng(0))


def test_a_line_is_read_at_its_positions_and_the_window_from_the_last_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(context=128)})
    model = weights.load_shipped_model("tiny")
    ask = recall.RecallSettings(("tiny",), ("yarn", "window"), length=300, distances=(200,), trials=3)
    result = {each["line"]: each for _, each in recall.measure_recall(ask)}
    examples = ask.examples(200, 3)
    place = rotary_encoding_for(model.shape, get_line("yarn").request(model.shape, 300))
    whole = byte_losses(model, examples, place)[:, plan.AFTER - copying.SPAN :]
    near = byte_losses(model, examples[:, -129:])[:, plan.AFTER - copying.SPAN :]
    for key, nats in (("yarn", whole), ("window", near)):
        assert result[key]["nats"] == pytest.approx(nats.mean(1), abs=1e-5)
        assert result[key]["copy"][0] == pytest.approx(window_perplexity(nats).value, abs=1e-5)
    assert result["yarn"]["nats"] != result["window"]["nats"]


def test_a_tuned_model_is_read_under_its_own_scheme_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(context=128)})
    card = cards.get_weights_card("tiny")
    tuned = replace(card, recipe=replace(card.recipe, scheme="ntk", params={"factor": 2.0}))
    monkeypatch.setattr(cards, "weights_cards", lambda: {"tiny": card, "tuned": tuned})
    cells = recall.RecallSettings(("tiny", "tuned"), length=300, distances=(100, 200)).cells()
    assert [(key, distance) for name, key, distance in cells if name == "tuned"] == [("ntk", 100), ("ntk", 200)]
    assert len({key for name, key, _ in cells if name == "tiny"}) == len(scheme_lines())
