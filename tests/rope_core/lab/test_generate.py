"""Text written with a cache against full readings in float64 loops, and the job that writes it line by line."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rope_core.lab import job, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.generate import generate_greedily
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.schemes import SCHEMES
from rope_core.spectrum import Request, spectrum
from tests.support.lab_reader import bytes_drawn, nats, read, small, stock

FOLLOWS = next(each.key for each in scheme_lines() if SCHEMES[each.scheme].follows_length)


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(), "tiny-learned": small("learned"), "tiny-alibi": small("alibi")})


def _at(request: Request, length: int) -> Any:
    return spectrum(replace(request, seq_len=length)).inv_freq


@pytest.mark.parametrize("encoding", ["alibi", "t5", "sinusoidal", "nope"])
def test_models_without_rotary_positions_write_what_full_readings_give(encoding: str) -> None:
    model, text = small(encoding), bytes_drawn(9, 2)
    built = generate_greedily(model, text, 8).text
    for i in range(8):
        expected = read(model, text + built[:i])[-1]
        assert expected.argmax() == built[i]


@pytest.mark.parametrize("key", ["yarn", FOLLOWS])
def test_greedy_text_and_the_truth_s_loss_are_those_of_the_loops(key: str) -> None:
    model, prompt, truth = small(), bytes_drawn(13, 4), bytes_drawn(9, 5)
    request = get_line(key).request(model.shape, 22)
    built = generate_greedily(model, prompt, 9, request, truth=truth)
    follows = key == FOLLOWS
    factor = spectrum(request).attention_factor

    def frequencies(i: int, _: int) -> Any:
        return _at(request, max(13, i + 1)) if follows else spectrum(request).inv_freq

    rows = read(model, prompt + built.text, frequencies, factor=factor)
    assert bytes(rows[12:-1].argmax(-1).tolist()) == built.text
    shown = read(model, prompt + truth, frequencies, factor=factor)
    expected = nats(shown, prompt + truth)[12:].mean()
    assert built.truth_loss == pytest.approx(expected, rel=1e-4)


def test_one_byte_and_no_truth() -> None:
    model, prompt = small(), bytes_drawn(5)
    alone = generate_greedily(model, prompt, 1)
    assert alone.text == generate_greedily(model, prompt, 4).text[:1] and math.isnan(alone.truth_loss)
    shown = generate_greedily(model, prompt, 1, truth=b"x").truth_loss
    assert shown == pytest.approx(nats(read(model, prompt + b"x"), prompt + b"x")[-1], rel=1e-4)


def test_the_job_writes_on_from_one_place_whatever_the_length() -> None:
    wanted = {"weights": ["tiny", "tiny-learned"], "lines": ["none", "yarn"], "lengths": [12, 60], "new": 5}
    answer = list(job.run_measurement("generate", {**wanted, "document": 2}))
    cells = [result for _, result in answer]
    assert [(c["weights"], c["line"], c["length"]) for c in cells] == [
        (name, key, length)
        for length in (12, 60)
        for name, key in (("tiny", "none"), ("tiny", "yarn"), ("tiny-learned", "none"))
    ]
    shares = [share for share, _ in answer]
    assert shares == sorted(shares) and shares[-1] == 1.0
    document = held_out_documents()[2].text
    for each in cells:
        if "undefined" in each:
            assert each["weights"] == "tiny-learned" and each["length"] == 60 and "12" in each["undefined"]
            continue
        prompt = document[60 - each["length"] : 55]
        assert each["truth"].encode() == document[55:60]
        assert each["prompt_end"].encode() == prompt[-60:]
        model = weights.load_shipped_model(each["weights"])
        rotary = model.shape.encoding == "rope"
        request = get_line(each["line"]).request(model.shape, each["length"]) if rotary else None
        built = generate_greedily(model, prompt, 5, request, truth=document[55:60])
        assert each["text"] == built.text.decode("utf-8", "replace")
        assert each["truth_loss"] == pytest.approx(built.truth_loss, abs=1e-6)


def test_writing_refuses_what_it_cannot_begin_with() -> None:
    model = small()
    for arguments, text in (
        ((b"", 3), "prompt must be at least one byte"),
        ((b"a", 0), "new must be an integer"),
        ((b"a" * 10**6, 3), "length must be short enough for 2 GiB"),
    ):
        with pytest.raises(ValueError, match=text):
            generate_greedily(model, *arguments)
    with pytest.raises(ValueError, match="truth must be 3 bytes, as many as are written, got 2"):
        generate_greedily(model, b"a", 3, truth=b"xy")
