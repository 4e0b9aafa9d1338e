"""The figure of a stretch that occurs twice: which lines are drawn, where the trained length is, what is written."""

import math
from dataclasses import replace

import pytest

from rope_core.lab import cards
from rope_core.languages import LANGUAGES
from tests.support import lab_results as made
from tests.support.figures import chart, ran
from ui.figures.extrapolation import recall as figures
from ui.text.words import PageTexts


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return an index with a model that copies, and one fine-tuned from it under the second line's scheme."""
    known = [
        made.card("copies", start="rope-0", task="copy"),
        made.card("tuned", "rope", "copies", made.KEYS[1], task="copy"),
    ]
    monkeypatch.setattr(cards, "weights_cards", lambda: {each.name: each for each in known})


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_tuned_model_is_drawn_beside_all_lines_of_the_other(lang: str) -> None:
    t = PageTexts(lang, "extrapolation")
    keys = (*made.KEYS[:3], made.KEYS[-1])
    results = [*made.recall("copies", keys), *made.recall("tuned", keys[1:2])]
    drawing = figures.copy_perplexity_chart(made.seen(results), 64, t)
    names = {trace.name: trace for trace in chart(drawing).data if not trace.fill}
    tuned = t("after_tuning", line=t(f"line.{made.KEYS[1]}"))
    assert set(names) == {*(t(f"line.{key}") for key in keys), tuned}
    thick = {name for name, trace in names.items() if trace.line.width == 5}
    assert thick == {tuned, t("line.window")}
    assert list(names[tuned].x) == [64, 128, 256]
    (mark,) = [each for each in chart(drawing).layout.annotations if each.yref == "paper"]
    assert mark.x == pytest.approx(math.log10(64)) and chart(drawing).layout.shapes[0].x0 == 64
    best, window = (
        next(each for each in results if (each["line"], each["distance"]) == key)
        for key in ((keys[0], 256), (keys[-1], 64))
    )
    assert f"{best['copy'][0]:.2f}" in drawing.finding and f"{window['copy'][0]:.2f}" in drawing.finding
    assert drawing.finding.index(t(f"line.{keys[0]}")) < drawing.finding.index(t(f"line.{keys[2]}"))
    # Once among the curves, once in the order.
    assert ran(drawing).count("tuned") == 2


def test_three_windows_have_three_names(monkeypatch: pytest.MonkeyPatch) -> None:
    t = PageTexts("en", "extrapolation")
    known = cards.weights_cards()
    copies = known["copies"]
    more = {
        "plain": replace(copies, recipe=replace(copies.recipe, task="text", start="")),
        "near": replace(copies, recipe=replace(copies.recipe, start="copies")),
    }
    monkeypatch.setattr(cards, "weights_cards", lambda: known | more)
    window = made.KEYS[-1:]
    results = [row for model in ("plain", "copies", "near") for row in made.recall(model, window)]
    drawing = figures.copy_perplexity_chart(made.seen(results), 64, t)
    names = {trace.name for trace in chart(drawing).data if not trace.fill}
    assert names == {"sliding window", "sliding window, tuned", "sliding window, text only"}


def test_without_a_window_nothing_is_written_of_it() -> None:
    t = PageTexts("en", "extrapolation")
    assert (
        "sliding window"
        not in figures.copy_perplexity_chart(made.seen(made.recall("copies", made.KEYS[:2])), 64, t).finding
    )
