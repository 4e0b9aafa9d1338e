"""Padding and position ids against float64 loops that are given the ids and what may be seen, for every encoding."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rope_core.lab import job, padding, weights
from rope_core.lab.corpus import held_out
from rope_core.lab.estimates import perplexity
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.padding import CASES, ById, read_as
from rope_core.lab.positions import POSITIONS
from tests.support.lab_reader import bytes_drawn, read, small, stock

PAD, SIZE = 7, 24
IDS = {
    "clean": list(range(SIZE)),
    "padded_masked": list(range(PAD + SIZE)),
    "padded_masked_ids": [0] * PAD + list(range(SIZE)),
    "padded_unmasked": list(range(PAD + SIZE)),
    "shifted": list(range(1000, 1000 + SIZE)),
    "restarted": [i % 64 for i in range(SIZE)],
    "doubled": list(range(0, 2 * SIZE, 2)),
    "constant": [0] * SIZE,
}
SAME = {
    "rope": {"padded_masked", "padded_masked_ids", "shifted"},
    "alibi": {"padded_masked", "padded_masked_ids", "shifted"},
    "t5": {"padded_masked", "padded_masked_ids", "shifted"},
    "nope": {"padded_masked", "padded_masked_ids", "shifted", "restarted", "doubled", "constant"},
    "irope": {"padded_masked", "padded_masked_ids", "shifted"},
    "sinusoidal": {"padded_masked_ids"},
    "learned": {"padded_masked_ids"},
}


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {name: small(name, context=80) for name in POSITIONS})


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("encoding", POSITIONS)
def test_each_case_is_what_the_loops_say(encoding: str, case: str) -> None:
    model, text = small(encoding, context=80), bytes_drawn(SIZE, 8)
    ids, how = IDS[case], CASES[case]
    if encoding == "learned" and max(ids) >= 80:
        with pytest.raises(ValueError, match="ids must be below the table's 80 positions, got 1023"):
            read_as(model, np.frombuffer(text, dtype=np.uint8)[None], how, PAD)
        return
    front = len(ids) - SIZE
    hidden = front if how.masked else 0

    def sees(i: int, j: int) -> bool:
        return j <= i and (j >= hidden or i < hidden)

    expected = read(model, bytes(front) + text, ids=ids, sees=sees)[front:]
    result = read_as(model, np.frombuffer(text, dtype=np.uint8)[None], how, PAD)[0].double().numpy()
    np.testing.assert_allclose(result, expected, atol=3e-4 * np.abs(expected).max())


def test_ids_that_start_anew_do_so_every_64_bytes() -> None:
    assert padding.position_ids("restarted", 0, 130).tolist() == [*range(64), *range(64), 0, 1]


@pytest.mark.parametrize("encoding", POSITIONS)
def test_the_job_tells_which_cases_change_nothing(encoding: str) -> None:
    wanted = {"weights": [encoding], "length": 70, "pad": PAD, "documents": 3}
    result = {r["case"]: r for _, r in job.steps("padding", wanted)}
    assert list(result) == list(CASES)
    assert result["clean"]["gap"] == 0.0
    assert {c: r["pad"] for c, r in result.items()} == {c: PAD if how.padded else 0 for c, how in CASES.items()}
    documents = np.stack([np.frombuffer(d.text, dtype=np.uint8)[:71] for d in held_out()[:3]])
    nats = byte_losses(weights.load(encoding), documents)
    for part, expected in (("whole", perplexity(nats)), ("last", perplexity(nats, 0.75))):
        assert result["clean"][part] == pytest.approx([expected.value, expected.low, expected.high], rel=1e-4)
    for case, each in result.items():
        if encoding == "learned" and case in ("shifted", "doubled"):
            assert each["undefined"] == "its table ends at position 80"
        elif case == "clean" or case in SAME[encoding]:
            assert each["gap"] < 1e-3 and each["whole"] == pytest.approx(result["clean"]["whole"], rel=1e-4)
        else:
            assert each["gap"] > 0.05


def test_where_the_clean_reading_is_undefined_so_are_all_that_are_measured_against_it() -> None:
    result = [r for _, r in padding.run(padding.Ask(("learned",), length=90, documents=1))]
    assert all(r["undefined"] == "its table ends at position 80" for r in result)
    (single,) = [r for _, r in padding.run(padding.Ask(("rope",), ("doubled",), length=30, documents=1))]
    assert single["whole"][1:] == [None, None] and single["gap"] > 0.05


def test_pad_bytes_that_see_nothing_else_do_not_break_the_softmax() -> None:
    model = small()
    place = ById(model.position, list(range(9)), 4)
    mask = place.bias(9, 9)[0, 0]
    assert torch.isfinite(mask.max(1).values).all()
    assert torch.isinf(mask[4:, :4]).all() and torch.isinf(mask.triu(1)[mask.triu(1) != 0]).all()


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"cases": []}, "cases must be some of clean, padded_masked"),
        ({"cases": ["wrong"]}, "cases must be some of clean, padded_masked"),
        ({"pad": 0}, "pad must be an integer in [1, 65536], got 0"),
        ({"length": 5000}, "length must be at most 4,096"),
        ({"pad": 65_536}, "length must be short enough for 2 GiB"),
        ({"weights": ["x"]}, "weights must be one of"),
        ({"text": "YWJj"}, "text must be at least 41 bytes"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(wanted: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as error:
        job.steps("padding", {"weights": ["rope"], "length": 40} | wanted)
    assert str(error.value).startswith(text)
