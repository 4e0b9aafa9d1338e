"""Figures of several models: encodings, fine-tunes and the hidden number."""

import math
from typing import Any

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from rope_core.lab import cards, experiments
from rope_core.lab.cards import WeightsCard
from tests.support import lab_results as made
from tests.support.figures import chart, ran
from ui.figures.extrapolation import models as figures
from ui.figures.extrapolation import words
from ui.film.colours import contrast_ratio
from ui.text.words import PageTexts

T = PageTexts("en", "extrapolation")


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, WeightsCard]:
    """Return an index of weights with four encodings and a fine-tune."""
    result = {name: made.card(name, name.split("-")[0]) for name in ("rope-0", "alibi-0", "learned-0", "nope-0")}
    result["rope-0-tuned"] = made.card("rope-0-tuned", scheme="linear", start="rope-0")
    monkeypatch.setattr(cards, "weights_cards", lambda: result)
    return result


def encodings() -> list[dict[str, Any]]:
    results = []
    for place, (name, level) in enumerate((("rope-0", 2.5), ("alibi-0", 1.1), ("nope-0", 2.0), ("learned-0", 1.2))):
        for length in made.LENGTHS:
            if name == "learned-0" and length > 64:
                results.append({"weights": name, "line": "none", "length": length, "undefined": "its table ends"})
            else:
                results.append(made.cell(name, "none", made.losses(place, level, 4, length)))
    return results


def test_encodings_are_ranked_and_a_table_ends() -> None:
    t = T
    drawing = figures.encoding_perplexity_chart(made.seen(encodings()), 64, t)
    order = [drawing.finding.index(t(f"encoding.{name}")) for name in ("alibi", "nope", "rope", "learned")]
    assert order == sorted(order)
    learned = next(trace for trace in chart(drawing).data if t("encoding.learned") in str(trace.name))
    assert learned.x[-1] == 64 and max(learned.x) == 64
    drawn = {trace.name for trace in chart(drawing).data if not trace.fill}
    assert t("encoding.alibi") in drawn and len(drawn) == 4
    results = encodings()
    value = results[5]["last"]
    assert results[5]["weights"] == "alibi-0" and f"{value[0]:.2f} [{value[1]:.2f}, {value[2]:.2f}]" in drawing.finding
    assert ran(drawing).count("its table ends") == 2
    assert set(np.asarray(drawing.table()["weights"]).tolist()) == {"rope-0", "alibi-0", "nope-0", "learned-0"}


def test_without_a_table_that_ends_nothing_is_called_undefined() -> None:
    rest = [each for each in encodings() if each["weights"] != "learned-0"]
    assert "Undefined" not in figures.encoding_perplexity_chart(made.seen(rest), 64, T).finding
    assert "Undefined" in figures.encoding_perplexity_chart(made.seen(encodings()), 64, T).finding


def test_a_fine_tune_stands_beside_what_it_started_from(index: dict[str, WeightsCard]) -> None:
    before, after = made.losses(0, 2.0, 4, 256), made.losses(0, 1.0, 4, 256)
    results = [
        made.cell("rope-0", "linear", before),
        made.cell("rope-0", "none", before),
        made.cell("rope-0-tuned", "linear", after),
        made.cell("rope-0-tuned", "none", after),
    ]
    drawing = figures.finetune_perplexity_chart(made.seen(results), 64, T)
    assert drawing is not None
    assert f"×{math.exp(-1.0):.2f}" in drawing.finding and "99 steps" in drawing.finding
    dashes = {trace.name: trace.line.dash for trace in chart(drawing).data if not trace.fill}
    assert dashes == {"linear (PI), before": "dot", "linear (PI), tuned": None}
    assert np.asarray(drawing.table()["weights"]).tolist() == ["rope-0", "rope-0-tuned"]
    assert "rope-0-tuned" in ran(drawing)
    del index["rope-0-tuned"]
    assert figures.finetune_perplexity_chart(made.seen(results), 64, T) is None


def test_the_hidden_number_is_a_map_a_line() -> None:
    results = made.retrieval(5)
    drawing = figures.passkey_retrieval_chart(made.seen(results), experiments.WHOLE, T)
    maps, letters = chart(drawing).data[::2], chart(drawing).data[1::2]
    assert [trace.type for trace in maps] == ["heatmap"] * 3
    for trace in letters:
        for text, letter in zip(trace.text, trace.textfont.color, strict=True):
            (behind,) = sample_colorscale("Viridis", [float(text) / 100], colortype="tuple")
            seen = "#" + "".join(f"{round(255 * part):02x}" for part in behind)
            assert contrast_ratio({"black": "#000000", "white": "#FFFFFF"}[letter], seen) >= 4.5, text
    right = {(each["line"], each["length"], each["depth"]): each["right"] for each in results}
    for key, trace in zip(made.KEYS[:3], maps, strict=True):
        z = np.asarray(trace.z, float)
        for i, depth in enumerate((0.0, 0.5, 1.0)):
            for j, length in enumerate(made.LENGTHS):
                assert z[i, j] == 10 * right[key, length, depth]
    for length in (128, 256):
        totals = {key: sum(right[key, length, depth] for depth in (0.0, 0.5, 1.0)) for key in made.KEYS[:3]}
        best, worst = max(totals, key=totals.__getitem__), min(totals, key=totals.__getitem__)
        shown = drawing.finding.split(f"at {length} bytes ")[1].split(";")[0]
        assert shown.startswith(f"{words.line_name(best, T)} finds {100 * totals[best] / 30:.0f} %")
        assert f"and {words.line_name(worst, T)} {100 * totals[worst] / 30:.0f} %" in shown
    digits = figures.passkey_retrieval_chart(made.seen(results), experiments.DIGITS, T)
    assert digits.finding.startswith("Of the hidden numbers' digits")
    assert float(np.asarray(chart(digits).data[0].z)[0, 0]) == np.rint(100 * results[0]["digits"][0])
    assert "30 trials" in drawing.finding
    table = drawing.table()
    assert len(np.asarray(table["right"])) == 27 and set(table) == {"line", "length", "depth", "right", "low", "high"}
    assert made.KEYS[1] in ran(drawing)


def test_the_window_is_named_where_it_finds_neither_most_nor_fewest() -> None:
    results = made.retrieval(5)
    shares = {key: experiments.key_retrieval_share(results, key, 256)[0].value for key in made.KEYS[:3]}
    fewest, middle, most = sorted(shares, key=shares.__getitem__)
    assert shares[fewest] < shares[middle] < shares[most]
    for renamed, expected in ((middle, True), (most, False), (fewest, False)):
        seen = made.seen([each | {"line": "window"} if each["line"] == renamed else each for each in results])
        shown = figures.passkey_retrieval_chart(seen, experiments.WHOLE, T).finding.split("at 256 bytes ")[1]
        assert (f"(sliding window {100 * shares[renamed]:.0f} %" in shown) == expected
