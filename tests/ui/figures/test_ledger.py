"""The ledger page's figures, list and cards against the ledger's own results, counted another way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_core.languages import LANGUAGES
from rope_core.ledger import CLAIMS, EMPIRICAL, HOLDS, SOURCES, STATUSES, WRONG, ClaimResult, claim_records
from tests.support.figures import Row, chart, read
from tests.support.films import FilmRow
from tools import counts
from ui.figures import ledger as figures
from ui.film.scene import text_at
from ui.text import words
from ui.text.words import PageTexts, exponent_text

T = PageTexts("en", "ledger")
RESULTS = figures.checked_claims().results
PLAIN = claim_records(RESULTS)


def test_a_second_visitor_gets_the_first_ones_run_and_again_runs_anew() -> None:
    first = figures.checked_claims()
    assert figures.checked_claims() is first
    second = figures.checked_claims(again=True)
    assert second is not first and figures.checked_claims() is second
    assert [r.status for r in second.results] == [r.status for r in first.results]
    assert second.seconds > 0


def test_the_list_has_every_claim_once_and_errata_first() -> None:
    listed = figures.filtered_claims(RESULTS)
    assert sorted(r.id for r in listed) == sorted(CLAIMS) == list(figures.IDS)
    order = [WRONG, "holds with a condition", EMPIRICAL, HOLDS]
    assert [r.status for r in listed] == sorted((r.status for r in listed), key=order.index)
    assert set(figures.KEYS) == set(STATUSES)


@given(st.sampled_from(SOURCES), st.sampled_from(list(figures.KEYS)))
def test_filters_keep_what_they_name(document: str, status: str) -> None:
    kept = figures.filtered_claims(RESULTS, document, figures.KEYS[status])
    assert {r.id for r in kept} == {
        str(row["id"]) for row in PLAIN if row["document"] == document and row["status"] == status
    }


def test_overview_counts_agree_with_the_plain_list() -> None:
    drawing = figures.claim_status_chart(RESULTS, T)
    by_trace = {trace.name: [int(n) for n in trace.x] for trace in chart(drawing).data}
    for status, key in figures.KEYS.items():
        counts = [sum(r["status"] == status and r["document"] == d for r in PLAIN) for d in SOURCES]
        assert by_trace[f"{T(f'verdict.{key}')} {sum(counts)}"] == counts
        assert f"{sum(counts)}" in drawing.finding
    assert sum(map(sum, by_trace.values())) == len(CLAIMS)


def test_the_counts_that_texts_state_are_the_ledgers() -> None:
    stated = counts.ledger_counts(RESULTS)
    names = {HOLDS: "holds", WRONG: "wrong", EMPIRICAL: "empirical", "holds with a condition": "condition"}
    assert all(sum(row["status"] == status for row in PLAIN) == stated[name] for status, name in names.items())
    held = {name: words.text_counts()[name] for name in stated}
    assert held == stated, "run python -m tools.tables --write"
    assert set(words.text_counts()) == {*stated, *counts.catalogue_counts()}


@pytest.mark.parametrize("threshold", [1e-17, 1e-9, 1e-3, 0.5, 10.0])
def test_threshold_counts_the_residuals_below_it(threshold: float) -> None:
    drawing = figures.residual_chart(RESULTS, threshold, T)
    decided = [float(r["residual"]) for r in PLAIN if r["residual"] is not None]
    passed = sum(value <= threshold for value in decided)
    assert f"{passed} of {len(decided)} decidable claims" in drawing.finding
    assert chart(drawing).layout.annotations[0].text.startswith(f"{passed} ")
    line = next(shape for shape in chart(drawing).layout.shapes if shape.type == "line")
    assert line.x0 == line.x1 == threshold


def test_residuals_stand_at_their_size_in_their_document() -> None:
    drawing = figures.residual_chart(RESULTS, 1e-9, T)
    drawn = 0
    for trace in chart(drawing).data:
        for x, y, text in zip(trace.x, trace.y, trace.text, strict=True):
            name, _, value = text.partition(": ")
            exact = max(read(value), figures.ZERO)
            assert exact * 0.9 <= x <= exact * 7, "beside its like, within the same power of ten"
            assert SOURCES[round(y)] == name.split("-")[0]
            drawn += 1
    assert drawn == sum(r["residual"] is not None for r in PLAIN)


@pytest.mark.parametrize("result", RESULTS, ids=lambda r: r.id)
def test_a_card_says_verdict_formula_residual_and_correction(result: ClaimResult) -> None:
    """In one language, by turns: the words of both have the same slots."""
    lang = list(LANGUAGES)[RESULTS.index(result) % 2]
    t = PageTexts(lang, "ledger")
    text = figures.claim_card_markdown(result, t)
    assert text.startswith(f"**{t(f'verdict.{figures.KEYS[result.status]}')}")
    assert f"$$\n{result.text.formula}\n$$" in text
    assert (t("paraphrase") in text) == (not result.text.quotes)
    assert result.text.link is None or f"]({result.text.link})" in text
    assert (result.text.corrected or "") in text
    assert text.count("$$") == (4 if result.text.corrected else 2)
    if result.residual is None:
        assert t("undecided") in text and not figures.claim_source_code(result)
    else:
        assert f"**{figures.claim_residual_text(result.residual)}**" in text
        assert "return" in figures.claim_source_code(result)
        assert f"up to {exponent_text(f'{result.check.tolerance:.2g}')}" in text or lang == "zh"
    words = "".join(text.split("$$")[::2]).replace("\\{", "")
    assert "{" not in words, "a slot left unfilled"


def test_an_empirical_entry_never_reads_as_passed() -> None:
    for result in figures.filtered_claims(RESULTS, status="empirical"):
        text = figures.claim_card_markdown(result, T)
        assert T("verdict.holds") not in text and T("icon.holds") not in figures.claim_headline(result, T)


def test_find_and_numbers() -> None:
    assert figures.find_claim(RESULTS, "003-elements") is not None
    assert figures.find_claim(RESULTS, "no-such") is None
    assert [figures.claim_residual_text(v) for v in (None, 0.0, 2.22e-16, 0.4249)] == ["–", "0", "2.2·10⁻¹⁶", "0.42"]


def test_literal_text_has_no_markdown_left() -> None:
    assert figures.literal_markdown("R_n^T *x* $y$ <b>") == "R\\_n\\^T \\*x\\* \\$y\\$ \\<b\\>"


def test_listing_has_one_row_per_entry() -> None:
    shown = figures.filtered_claims(RESULTS, "003", "wrong")
    columns = figures.claims_table(shown, T)
    assert all(len(column) == len(shown) for column in columns.values())
    assert columns[T("col.verdict")] == [T("verdict.wrong")] * len(shown)


@pytest.mark.parametrize("pair", figures.PAIRS)
def test_the_right_arrow_is_a_rotation_and_the_printed_one_stretches_each_number(pair: str) -> None:
    start = np.array(figures.PAIRS[pair])
    scene = figures.unswapped_formula_film(T).scene
    panel = scene.panels[1 + list(figures.PAIRS).index(pair)]
    turning = (mark for mark in panel.marks if mark["kind"] in ("vector", "drag_handle"))
    printed, right = (mark for mark in turning if mark["angle"] != [0.0, np.pi / 2])
    for k, degrees in enumerate(figures.ANGLES):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        for mark, (up, across) in ((right, np.array([[c, -s], [s, c]]) @ start), (printed, start * [c - s, c + s])):
            angle, length = mark["angle"].numbers_at({"angle": k})[0], mark["length"]
            length = length if isinstance(length, float) else length.numbers_at({"angle": k})[0]
            assert length * np.array([np.sin(angle), np.cos(angle)]) == pytest.approx([up, across], abs=1e-9)


def test_the_verdict_on_a_formula_is_what_the_arrow_shows() -> None:
    formulas = figures.unswapped_formula_film(T).scene.panels[0]
    for k, degrees in enumerate(figures.ANGLES):
        texts = [text_at(mark["content"], {"angle": k}) for mark in formulas.marks if mark["kind"] == "text"]
        shown = {"✗", "✓", T("printed_turns"), T("right_turns")} & set(texts)
        assert len(shown) == (0 if degrees % 180 == 0 else 4), degrees


def swapped(t: PageTexts) -> str:
    """Return the finding at 120 degrees, the printed formula written out."""
    c, s = np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)
    return t("swapped_any", angle="120", length=f"{np.hypot(0.8 * c - 0.8 * s, 0.6 * c + 0.6 * s):.2f}")


ROWS = [Row("ledger", figures.claim_status_chart, (RESULTS,)), Row("ledger", figures.residual_chart, (RESULTS, 1e-10))]
FILMS = [FilmRow("ledger", figures.unswapped_formula_film, (), {"angle": 120, "beat": 2}, swapped)]
