"""Figures and tables of the models page against the catalogue's own rows."""

import inspect
import math

import numpy as np
import pytest

from rope_core.hf import survey
from rope_core.hf.survey import architecture_errata, filtered_rows, survey_rows
from tests.support.figures import Row, chart
from tests.support.films import FilmRow
from ui.figures import axes, slowest
from ui.figures import models as figures
from ui.figures.drawing import table_to_csv
from ui.film.scene import NumberTrack, text_at
from ui.text.words import PageTexts

T = PageTexts("en", "models")
LANGUAGES = (T, PageTexts("zh", "models"))


def strokes(trace: dict[str, list[float | None]]) -> dict[int, tuple[float, float]]:
    """Low and high ends of a broken line's strokes, by row."""
    x, y = trace["x"], trace["y"]
    assert all(a is None for a in x[2::3]) and all(b is None for b in y[2::3])
    return {int(x[k]): (y[k], y[k + 1]) for k in range(0, len(x), 3)}  # type: ignore[arg-type, misc]


@pytest.mark.parametrize("length", [1, 50, 4096, 100_000, 2**24, 10**9])
def test_strokes_meet_at_the_wanted_context(length: int) -> None:
    result = survey_rows()
    drawing = figures.wavelength_range_chart(result, length, "llama-2-7b", T)
    wanted, turned, rest, own = chart(drawing).to_dict()["data"]
    below, above = strokes(turned), strokes(rest)
    for k, row in enumerate(result):
        low, high = below.get(k, above.get(k, (0, 0)))[0], above.get(k, below.get(k, (0, 0)))[1]
        assert (low, high) == pytest.approx((row.shortest, row.longest), rel=1e-4)
        assert (k in above) == (row.longest > length)
        assert (k in below) == (row.shortest <= length)
        if k in above and k in below:
            assert below[k][1] == above[k][0] == pytest.approx(length, rel=1e-4)
    assert list(own["y"]) == [row.context for row in result]
    assert list(wanted["y"]) == [length, length]
    whole = sum(row.longest <= length for row in result)
    assert f"in {whole} of {len(result)} rows" in drawing.finding


@pytest.mark.parametrize("result", [(), survey_rows()[:1], filtered_rows(family="Gemma")])
def test_few_rows_are_drawn_too(result: tuple[survey.SurveyRow, ...]) -> None:
    for t in LANGUAGES:
        drawing = figures.wavelength_range_chart(result, 4096, "gemma-3-27b", t)
        chart(drawing).to_json()
        notes = chart(drawing).layout.annotations
        assert len(notes) == any(row.model.id == "gemma-3-27b" for row in result)
        assert all(note.ay > np.log10(max(row.longest for row in result)) for note in notes)
        assert len(table_to_csv(drawing.table()).splitlines()) == len(result) + 1


def test_years_stand_below_their_rows() -> None:
    ticks = figures.year_ticks([2021, *[2023] * 9, *[2024] * 21])
    assert (ticks["tickvals"], ticks["ticktext"]) == ([5.0, 20.0], ["2023", "2024"])


@pytest.mark.parametrize("t", LANGUAGES)
def test_the_table_says_what_the_rows_say(t: PageTexts) -> None:
    table = figures.model_table(survey_rows(), t)
    assert {len(column) for column in table.values()} == {len(survey_rows())}
    assert table[t("col.base")] == [row.rope.base for row in survey_rows()]
    assert table[t("col.unturned")] == [row.incomplete_pair_count(row.context) for row in survey_rows()]
    assert table[t("col.grade")] == [row.model.confidence for row in survey_rows()]
    assert len(figures.table_errata(t)[t("col.corrected")]) == len(architecture_errata())


@pytest.mark.parametrize("t", LANGUAGES)
def test_a_card_for_every_model(t: PageTexts) -> None:
    for row in survey_rows():
        kinds = [each for each in survey_rows() if each.model.id == row.model.id]
        text = figures.model_card_markdown(kinds, t)
        assert "{" not in text and row.model.source in text
        assert text.count("**") == 2 * len(kinds)
        assert all(figures.survey_row_name(each) in text and f"{each.context:,}" in text for each in kinds)


def test_llama_2_by_hand() -> None:
    text = figures.model_card_markdown([row for row in survey_rows() if row.model.id == "llama-2-7b"], T)
    assert "base 10,000, 128 rotating dimensions, trained on 4,096 tokens, context 4,096; 18 of 64 pairs" in text
    assert np.isclose(survey_rows()[0].shortest, 2 * np.pi)


def dozen(t: PageTexts) -> str:
    """Return the finding at 60,000 tokens; no slowest pair completes a turn in its model's own context."""
    shown = slowest.slowest_pair_rows()
    assert len(shown) == 11 and all(row.longest > slowest.MOST * row.context for row in shown)
    whole = sum(row.longest <= 60_000 for row in shown)
    return t("dozen_finding", length="60,000", whole=whole, count=11, own=0)


@pytest.mark.parametrize("t", LANGUAGES)
def test_every_slowest_arrow_is_at_its_frequency_s_angle_and_the_text_adds_up(t: PageTexts) -> None:
    shown, times = slowest.slowest_pair_rows(), slowest.STOPS
    scene = inspect.unwrap(figures.slowest_pairs_film)(times, (4096,) * 2, t).scene
    assert len(shown) == 11, "the words say: ten more"
    degrees = np.degrees([[row.rope.inv_freq.min() * row.context * k for row in shown] for k in times])
    assert (np.diff(degrees[0, 1:]) <= 0).all() and degrees.max() < 360
    for panels in (scene.panels[:2], scene.panels[2:4]):
        drawn = [part for panel in panels for mark in panel.marks for part in (mark, *mark.get("grab_marks", ()))]
        hands = [mark["angle"] for mark in drawn if mark["kind"] == "vector" and isinstance(mark["angle"], NumberTrack)]
        angles = 90 - np.degrees([hand.keyframes[:, 0] for hand in hands])
        np.testing.assert_allclose(angles.T, degrees)
        for k, row in enumerate(degrees):
            finding_text = [
                text_at(mark["content"], {"times": k, "context": 0}) for mark in drawn if mark["kind"] == "text"
            ]
            for angle, new in zip(degrees[0], row - degrees[0], strict=True):
                assert any(f"{angle:.{int(angle < 9.5)}f}°" in text for text in finding_text)
                assert any(f"{new:.{int(new < 9.5)}f}°" in text for text in finding_text) == (k > 0)
    for k, (angle, new) in enumerate(zip(degrees[1:, 0], degrees[1:, 0] - degrees[0, 0], strict=True), 1):
        finding_text = scene.finding_at({"times": times[k], "context": 0, "beat": 1})
        assert (
            f"{angle:.0f}°" in finding_text
            and f"{new:.0f}°" in finding_text
            and f"{round(degrees[0, 0]) + round(new)}°" in finding_text
        )


def rotating(t: PageTexts) -> str:
    """Return the finding by another count: share of layers, then what the other layers are."""
    late = [each for each in survey.rotating_shares() if each.year >= 2025]
    none = sum(each.base is None for each in late)
    whole = sum(each.rotating == each.layers for each in late)
    hybrid = sum(each.attention < each.layers and each.base is not None for each in late)
    counts = {"whole": whole, "hybrid": hybrid, "none": none, "nope": len(late) - whole - hybrid - none}
    early = [each for each in survey.rotating_shares() if each.year <= 2023]
    assert all(each.rotating == each.layers for each in early)
    return t("rotating_finding", early=len(early), until=2023, since=2025, total=len(late), **counts)


ROWS = [
    Row("models", figures.wavelength_range_chart, (survey_rows(), 40_000, "llama-2-7b")),
    Row("models", figures.rotating_share_chart, (), rotating),
]


def score_maps(t: PageTexts) -> str:
    """Score the ringed patch from row 5, column 2, by sums over pairs written out."""
    words: dict[str, str] = {}
    for name, result in axes.axial_frequencies_by_name().items():
        pairs = result.tolist()

        def score(dy: float, dx: float, pairs: list[list[float]] = pairs) -> float:
            return sum(math.cos(dy * y + dx * x) for y, x in pairs) / len(pairs)

        steps = [6 + 7 * k / 199 for k in range(200)]
        words[name] = f"{score(3 - 5, 10 - 2):.2f}"
        words[f"row_{name}"] = f"{min(score(0, s) for s in steps):.2f}"
        words[f"slant_{name}"] = f"{min(score(s / math.sqrt(2), s / math.sqrt(2)) for s in steps):.2f}"
    return t("maps_finding", last=13, **words)


FILMS = [
    FilmRow("models", axes.axial_score_map_film, (), {"patch_x": 2, "patch_y": 5}, score_maps),
    FilmRow(
        "models",
        figures.slowest_pairs_film,
        (slowest.STOPS, (4096, 60_000)),
        {"times": 1, "context": 60_000, "beat": 2},
        dozen,
    ),
]
