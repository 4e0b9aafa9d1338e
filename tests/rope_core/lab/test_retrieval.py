"""Passkey retrieval with models that always, never or sometimes copy, and Wilson's interval by its definition."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core.lab import job, passkey, plan, retrieval, weights
from rope_core.lab.estimates import wilson_interval
from rope_core.lab.generate import generate_greedily
from rope_core.lab.lines import get_line
from rope_core.lab.model import LabModel
from rope_core.lab.retrieval import digits_right
from tests.support.lab_reader import small, stock

BEFORE = passkey.HIDE.split(b"%s")[0]


class Copier(LabModel):
    """Copies the number that is hidden in what it reads, up to and without its digit number ``fails``."""

    fails = 9

    def forward(self, tokens: Tensor, **_: Any) -> Tensor:
        out = torch.zeros(*tokens.shape, 256)
        for row, text in zip(out, tokens.tolist(), strict=True):
            at = bytes(text).index(BEFORE) + len(BEFORE)
            for digit in range(5):
                sentence = text[at + digit] if digit < self.fails else ord("x")
                row[len(text) - 5 + digit, sentence] = 1.0
        return out


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    models = {"asked": small(context=128), "asked-learned": small("learned", context=128)}
    stock(tmp_path, monkeypatch, models, "passkey")


def copier(fails: int = 9) -> Copier:
    model = Copier(small(context=128).shape)
    model.fails = fails
    return model


@pytest.mark.parametrize("fails", [0, 2, 4, 9])
def test_a_model_that_copies_is_right_up_to_where_it_fails(fails: int) -> None:
    examples = retrieval.RetrievalSettings(lengths=(200,)).examples(200, 0.3, 7)
    result = digits_right(copier(fails), examples)
    assert result.tolist() == [[digit < fails for digit in range(5)]] * 7


@pytest.mark.parametrize("key", ["none", "yarn"])
def test_all_digits_are_right_exactly_when_greedy_decoding_gives_the_answer(key: str) -> None:
    # A model of noise is never right about digits: make the answer what it says, for a part of the examples.
    model = small(context=128)
    examples = retrieval.RetrievalSettings(lengths=(150,)).examples(150, 0.5, 6).copy()
    request = get_line(key).request(model.shape, 150)
    for row, keep in zip(examples, (5, 5, 3, 0, 5, 1), strict=True):
        for digit in range(keep):
            row[145 + digit] = generate_greedily(model, row[: 145 + digit].tobytes(), 1, request).text[0]
    result = digits_right(model, examples, plan.line_encoding(model, key, 150))
    greedy = [generate_greedily(model, row[:145].tobytes(), 5, request).text == row[145:].tobytes() for row in examples]
    assert result.all(1).tolist() == greedy and sum(greedy) >= 3 and not all(greedy)


def test_examples_are_the_same_for_every_line_and_other_for_every_cell() -> None:
    ask = retrieval.RetrievalSettings(lengths=(200, 201))
    first = ask.examples(200, 0.25, 5)
    assert (first == ask.examples(200, 0.25, 5)).all() and (first[:3] == ask.examples(200, 0.25, 3)).all()
    for other in (ask.examples(200, 0.75, 5), ask.examples(201, 0.25, 5)):
        assert (first[:, -5:] != other[:, -5:]).any()


@pytest.mark.parametrize(("right", "trials"), [(0, 8), (3, 8), (8, 8), (1, 1), (499, 500)])
def test_wilson_s_ends_are_the_shares_from_which_the_count_is_1_96_deviations_away(right: int, trials: int) -> None:
    low, high = wilson_interval(right, trials)
    assert 0.0 <= low <= right / trials <= high <= 1.0
    for end in (low, high):
        if 0.0 < end < 1.0:
            assert abs(right / trials - end) == pytest.approx(1.959964 * math.sqrt(end * (1 - end) / trials), rel=1e-5)
    assert (low == 0.0) == (right == 0) and (high == 1.0) == (right == trials)


def test_wilson_holds_a_mean_of_shares_at_least_as_often_as_it_says() -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(400):
        # Shares of five digits that hang together, 0.6 right on the whole.
        shares = rng.binomial(5, rng.choice([0.3, 0.9], 12)) / 5
        low, high = wilson_interval(shares.sum(), 12)
        held += low <= 0.6 <= high
    assert held >= 380
    with pytest.raises(ValueError, match=r"right must be a number in \[0, 12\], got 12.5"):
        wilson_interval(12.5, 12)


def test_the_job_counts_right_answers_per_line_length_and_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"lines": ["none", "yarn"], "lengths": [128, 300], "depths": [0.0, 1.0], "trials": 3}
    monkeypatch.setattr(weights, "load_shipped_model", lambda name: copier(9 if name == "asked" else 4))
    result = list(job.run_measurement("retrieval", wanted))
    cells = [r for _, r in result]
    assert len(cells) == 2 * 2 * (2 + 1) and result[-1][0] == 1.0
    for each in cells:
        copies = each["weights"] == "asked"
        assert each["right"] == (3 if copies else 0) and each["trials"] == 3
        share = 1.0 if copies else 0.8
        assert each["digits"] == pytest.approx([share, *wilson_interval(3 * share, 3)], abs=1e-6)
        assert (each["low"], each["high"]) == pytest.approx(wilson_interval(each["right"], 3), abs=1e-6)
    assert {(c["weights"], c["line"], c["length"], c["depth"]) for c in cells} == {
        (name, key, length, depth)
        for name, keys in (("asked", ("none", "yarn")), ("asked-learned", ("none",)))
        for key in keys
        for length in (128, 300)
        for depth in (0.0, 1.0)
    }


def test_past_a_learned_table_no_answer_is_wanted() -> None:
    ask = retrieval.RetrievalSettings(("asked-learned",), lengths=(129, 130), depths=(0.5,), trials=1)
    ((_, fits), (_, past)) = retrieval.measure_retrieval(ask)
    assert fits["right"] == 0 and past["undefined"] == "its table ends at position 128"
