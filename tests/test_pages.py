"""Every page under Streamlit's own test runner, in both languages, with good, odd and hostile links."""

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support import ROOT, films
from ui.page.declaration import page_declaration
from ui.page.menu import ORDER, SECTIONS

SCRIPT = str(ROOT / "tests" / "support" / "app_at.py")
NAMES = [name for names in ORDER.values() for name in names if name in SECTIONS]


def fresh(name: str, **query: str) -> AppTest:
    """Return a fresh session that asks for the page ``name`` with a query."""
    at = AppTest.from_file(SCRIPT, default_timeout=60)
    at.session_state["first"] = name
    at.query_params.update(query)
    return at


def opened(name: str, **query: str) -> AppTest:
    """Return the page ``name``, opened with a query in a fresh session."""
    return fresh(name, **query).run()


def specs(at: AppTest) -> list[dict[str, object]]:
    """All figures of a page as Plotly's JSON."""
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def test_every_file_below_pages_is_in_the_menu() -> None:
    assert set(SECTIONS) == set(NAMES)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_runs_and_its_figures_have_data_and_alternative_text(name: str, lang: str) -> None:
    at = opened(name, lang=lang)
    assert not at.exception
    assert not at.warning
    assert len(at.title) == 1
    assert at.session_state["lang"] == lang
    charts = at.get("plotly_chart")
    for chart, spec in zip(charts, specs(at), strict=True):
        assert spec["data"], "a figure without traces"
        assert len(chart.proto.alt) > 20, "alternative text states the finding"
    for film in list(films.shown(at).values())[:1]:
        assert longest(film.finding, lang) <= {"en": 25, "zh": 50}[lang], film.finding


def longest(text: str, lang: str) -> int:
    """Count the words of the longest sentence of a text."""
    return max(length(part, lang) for part in re.split(r"(?<=[.!?;])\s|[。！？；]", text))


def length(text: str, lang: str) -> int:
    """Count the words of an English sentence, the characters of a Chinese one: there a number or a name counts once."""
    return len(re.findall(r"[A-Za-z0-9.,'·-]*[A-Za-z0-9]|[^\sA-Za-z0-9]" if lang == "zh" else r"\S*\w\S*", text))


HOSTILE = {
    "dim": "13",
    "base": "0.5",
    "train_len": "1e400",
    "scheme": "<script>alert(1)</script>",
    "model": "no-such-model",
    "factor": "nan",
    "m": "-5",
    "foo": "bar",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_link_is_answered_in_sentences(name: str) -> None:
    at = opened(name, **HOSTILE)
    assert not at.exception
    assert at.warning
    assert not any("<script>" in note.value for note in at.warning)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("dim", "13", "Rotary width d in the link was 13, but must be even"),
        ("dim", "1000000", "Rotary width d in the link was 1000000, but must be between 2 and 1,024"),
        ("model", "<script>alert(1)</script>", "but must be one of the values offered"),
    ],
)
def test_a_bad_value_in_a_link_is_one_sentence(name: str, value: str, words: str) -> None:
    (note,) = opened("rotation", lang="en", **{name: value}).warning
    assert words in note.value


KEPT: dict[str, dict[str, object]] = {
    "upper ends": {"model": "custom", "dim": 1024, "base": 1e12, "train_len": 16_777_216, "factor": 1024.0},
    "lower ends": {"model": "custom", "dim": 2, "base": 1.0001, "train_len": 16, "factor": 8.0},
    "foreign vector": {"model": "phi-3.5-mini", "dim": 8},
}


def ends(name: str, values: str) -> dict[str, object]:
    """Return the page's own numbers at their upper or lower ends."""
    end = {"upper ends": "high", "lower ends": "low"}.get(values)
    own = [each for each in page_declaration(name).fields if not (each.shared or each.low_open or each.steps)]
    kinds = {"int": int, "float": float} if end else {}
    return {each.session_key(name): kinds[each.kind](getattr(each, str(end))) for each in own if each.kind in kinds}


def kept() -> list[Any]:
    """Each page with each of the values; the contexts that bases serve at 512 pairs take 12 seconds: a long run's."""
    slow = ("attention", "upper ends")
    pairs = [(name, values) for name in NAMES for values in KEPT]
    return [pytest.param(*pair, marks=[pytest.mark.long] if pair == slow else []) for pair in pairs]


@pytest.mark.parametrize(("name", "values"), kept())
def test_values_kept_from_another_page_draw_or_are_answered_in_a_sentence(name: str, values: str) -> None:
    at = fresh(name, lang="zh")
    at.session_state["values"] = ends(name, values) | KEPT[values]
    at.run()
    assert not at.exception
    findings = [chart.proto.alt for chart in at.get("plotly_chart")] + [
        film.finding for film in films.shown(at).values()
    ]
    assert not re.search(r"\{|\bnan\b|\binf\b", " ".join(findings))
    for text in (*at.warning, *at.caption):
        assert " must be " not in text.value
