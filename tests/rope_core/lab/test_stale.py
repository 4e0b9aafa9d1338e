"""Cached keys turned then or turned anew: each handling against float64 loops that turn every key as it says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rope_core.lab import job, stale, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.estimates import window_perplexity
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.stale import VARIANTS, variant_losses
from rope_core.schemes import SCHEMES
from rope_core.spectrum import Request, spectrum
from tests.support.lab_reader import Frequencies, nats, read, small, stock

FOLLOWS = next(each.key for each in scheme_lines() if SCHEMES[each.scheme].follows_length)
TRAINED = 12


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(), "tiny-nope": small("nope")})


def documents(length: int, count: int = 2) -> Any:
    return np.stack([np.frombuffer(d.text, dtype=np.uint8)[: length + 1] for d in held_out_documents()[:count]])


def at(request: Request, length: int) -> Any:
    return spectrum(replace(request, seq_len=max(length, TRAINED))).inv_freq


@pytest.mark.parametrize("factor", [1.0, 4.0])
@pytest.mark.parametrize("variant", VARIANTS)
def test_each_handling_is_what_the_loops_say(variant: str, factor: float) -> None:
    model, given = small(), documents(40)
    request = get_line(FOLLOWS).request(model.shape, 40, factor)
    result = variant_losses(model, given, request, variant, TRAINED)
    keys: Frequencies = {
        "unscaled": lambda i, j: at(request, 0),
        # A key keeps the frequencies of the length at which it was cached, the query has those of its own length.
        "stale": lambda i, j: at(request, j + 1),
        "recomputed": lambda i, j: at(request, i + 1),
    }[variant]
    for row, text in zip(result, given, strict=True):
        logits = read(model, text.tobytes()[:-1], keys, query=keys)
        expected = nats(np.vstack([logits, logits[-1:]]), text.tobytes())
        np.testing.assert_allclose(row, expected, atol=2e-3)


def test_the_job_tells_each_handling_cheap_ones_first() -> None:
    result = list(job.run_measurement("stale", {"weights": ["tiny"], "length": 48, "factor": 3.0, "documents": 3}))
    assert [r["variant"] for _, r in result] == ["unscaled", "stale", "recomputed"]
    shares = [share for share, _ in result]
    assert shares == sorted(shares) and shares[-1] == 1.0
    model, given = weights.load_shipped_model("tiny"), documents(48, 3)
    for _, each in result:
        assert (each["length"], each["factor"], each["documents"]) == (48, 3.0, 3)
        nats = variant_losses(model, given, get_line(FOLLOWS).request(model.shape, 48, 3.0), each["variant"], TRAINED)
        assert each["line"] == ("none" if each["variant"] == "unscaled" else FOLLOWS)
        expected = window_perplexity(nats, 0.75)
        assert each["last"] == pytest.approx([expected.value, expected.low, expected.high], rel=1e-5)
        assert each["nats"] == pytest.approx(nats[:, 36:].mean(1).tolist(), abs=1e-5)
        assert len(each["curve"]["value"]) == 32 and each["curve"]["position"][-1] > 46
    _, (_, alone), _ = stale.measure_stale_keys(stale.StaleKeySettings(("tiny",), length=13, documents=1))
    assert alone["factor"] == 1.0 and alone["last"][1:] == [None, None]


def test_unknown_handlings_and_lengths_past_memory_are_refused() -> None:
    model = small()
    request = get_line(FOLLOWS).request(model.shape, 40)
    with pytest.raises(ValueError, match="variant must be one of unscaled, stale, recomputed, got 'x'"):
        variant_losses(model, documents(20), request, "x", TRAINED)
    with pytest.raises(ValueError, match="length must be short enough for 2 GiB"):
        variant_losses(model, np.zeros((1, 10**6), dtype=np.uint8), request, "stale", TRAINED)
