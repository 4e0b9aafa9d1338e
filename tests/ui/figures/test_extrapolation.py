"""The extrapolation page's first figures and words against the results that they draw."""

import hashlib
import math
import re
from collections.abc import Sequence
from importlib.metadata import version
from inspect import unwrap

import numpy as np
import pytest

from rope_core.evaluate.summary import ReportSummary
from rope_core.lab import cards, experiments, records, view
from rope_core.lab import pairs as shipped
from rope_core.lab.estimates import paired_perplexity_ratio
from rope_core.lab.lines import scheme_lines
from rope_core.lab.results import GOING, HERE, ExperimentResults
from rope_core.languages import LANGUAGES
from tests.support import lab_results as made
from tests.support.figures import Row, chart
from tests.support.films import FilmRow, to_draw
from ui.figures.extrapolation import (
    after,
    copied,
    handling,
    lead,
    letters,
    longer,
    models,
    pairs,
    recall,
    reported,
    words,
)
from ui.figures.extrapolation import curves as figures
from ui.figures.extrapolation import past as three
from ui.film.scene import Mark, field_control, text_at
from ui.text.words import PageTexts
from ui.work import extrapolated
from ui.work.extrapolated import experiment_request

T = PageTexts("en", "extrapolation")


def names(order: list[str], t: PageTexts = T) -> list[str]:
    return [words.line_name(key, t) for key in order]


def test_the_curves_are_the_cells_of_the_longest_length() -> None:
    seen = made.seen(made.sweep(4))
    traces = chart(figures.perplexity_chart(seen, 64, figures.ALL, T)).data
    longest = {each["line"]: each["curve"] for each in seen.results if each["length"] == 256}
    drawn = {trace.name: trace for trace in traces if not trace.fill}
    bands = {trace.name: trace for trace in traces if trace.fill}
    assert set(drawn) == set(bands) == set(names(list(made.KEYS)))
    for key, curve in longest.items():
        assert list(drawn[words.line_name(key, T)].y) == pytest.approx(curve["value"])
        assert list(bands[words.line_name(key, T)].y[: len(curve["high"])]) == pytest.approx(curve["high"])


def test_bands_are_drawn_where_they_are_wanted() -> None:
    seen = made.seen(made.sweep())
    counts = [
        sum(bool(trace.fill) for trace in chart(figures.perplexity_chart(seen, 64, bands, T)).data)
        for bands in (figures.OFF, figures.TWO, figures.ALL)
    ]
    assert counts == [0, 2, len(made.KEYS)]
    alone = made.seen(made.sweep(documents=1))
    assert not any(trace.fill for trace in chart(figures.perplexity_chart(alone, 64, figures.ALL, T)).data)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("seed", [0, 3])
def test_the_finding_tells_the_measured_order_with_its_paired_ratios(lang: str, seed: int) -> None:
    t, seen = PageTexts(lang, "extrapolation"), made.seen(made.sweep(seed))
    finding = figures.perplexity_chart(seen, 64, figures.TWO, t).finding
    levels = made.levels(seed)
    order = sorted(levels, key=levels.__getitem__)
    shown = finding[finding.index(f"{names(order, t)[0]}{t('before')}") :]
    assert [part.split(" (×")[0] for part in shown.split(t("before"))] == names(order, t)
    rows = {each["line"]: each["nats"] for each in seen.results if each["length"] == 256}
    ratio = math.exp(np.mean(np.subtract(rows[order[1]], rows[order[0]])))
    assert f"×{ratio:.2f}" in finding
    best = next(each for each in seen.results if each["length"] == 256 and each["line"] == order[0])
    assert f"{best['last'][0]:.2f} [{best['last'][1]:.2f}, {best['last'][2]:.2f}]" in finding
    assert "256" in finding and "128" in finding, "the longest, and the shortest past the trained length"


def test_the_near_length_may_have_another_winner() -> None:
    results = list(made.sweep(0))
    levels = made.levels(0)
    worst = max(levels, key=levels.__getitem__)
    at = next(i for i, each in enumerate(results) if each["length"] == 128 and each["line"] == worst)
    results[at] = made.cell("rope-0", worst, made.losses(1, 0.1, 5, 128))
    sentence = figures.best_just_past_training_sentence(view.read_cells(results), 64, T)
    assert sentence.endswith(f"{words.line_name(worst, T)}.")
    assert figures.best_just_past_training_sentence(view.read_cells(results), 128, T) == ""


def test_the_order_at_a_length_is_drawn_as_ratios_to_the_best() -> None:
    seen = made.seen(made.sweep(2))
    drawing = figures.perplexity_ratio_chart(seen, 128, 64, T)
    levels = made.levels(2)
    order = sorted(levels, key=levels.__getitem__)
    points = chart(drawing).data[0]
    assert list(points.y) == names(order)[::-1]
    rows = {each["line"]: each["nats"] for each in seen.results if each["length"] == 128}
    by_hand = [math.exp(np.mean(np.subtract(rows[key], rows[order[0]]))) for key in order]
    assert list(points.x) == pytest.approx(by_hand[::-1])
    assert drawing.finding.startswith("At 128 bytes (2 times") and names(order)[0] in drawing.finding


def test_lines_that_documents_cannot_tell_apart_are_called_level() -> None:
    nats = made.losses(1, 1.0, 6, 64)
    same = [made.cell("rope-0", key, nats) for key in made.KEYS[:3]]
    level = figures.perplexity_ratio_chart(made.seen(same), 64, 64, T).finding
    assert "cannot tell any line" in level and level.endswith(f"level with {', '.join(names(list(made.KEYS[1:3])))}.")
    tied = figures.perplexity_ratio_chart(
        made.seen([*same, made.cell("rope-0", made.KEYS[3], nats + 1)]), 64, 64, T
    ).finding
    assert f"cannot tell it from {', '.join(names(list(made.KEYS[1:3])))}." in tied
    assert f"behind for certain is {names([made.KEYS[3]])[0]}, ×2.72" in tied
    assert "≈" in figures.perplexity_order_sentence(view.read_cells(same), 64, T)


def test_seeds_that_disagree_are_counted() -> None:
    agree = made.sweep(0, ("rope-0", "rope-1"), lengths=(64,))
    order = sorted(made.levels(0), key=made.levels(0).__getitem__)
    swap = {order[0]: order[-1], order[-1]: order[0]}
    third = [
        each | {"weights": "rope-2", "line": swap.get(each["line"], each["line"])}
        for each in made.sweep(0, ("rope-0",), lengths=(64,))
    ]
    drawing = figures.perplexity_by_seed_chart(made.seen([*agree, *third]), 64, T)
    assert drawing.finding.startswith("2 of 3 models")
    assert [trace.name for trace in chart(drawing).data] == ["rope-0", "rope-1", "rope-2"]
    first = dict(zip(chart(drawing).data[2].y, chart(drawing).data[2].x, strict=True))
    want = next(each["last"][0] for each in third if each["line"] == order[0])
    assert first[words.line_name(order[0], T)] == pytest.approx(want)


def test_lines_with_one_number_for_every_model_are_equal() -> None:
    cells = made.sweep(0, ("rope-0", "rope-1"), lengths=(64,))
    first, two = sorted(made.levels(0), key=made.levels(0).__getitem__)[:2]
    copied = [each | {"line": two} for each in cells if each["line"] == first]
    finding = figures.perplexity_by_seed_chart(
        made.seen([*(each for each in cells if each["line"] != two), *copied]), 64, T
    ).finding
    both = [words.line_name(each, T) for each in (first, two)]
    assert re.search(rf"({both[0]} = {both[1]}|{both[1]} = {both[0]})( <|\.)", finding), finding


def test_the_ladder_marks_the_least_and_leaves_gaps() -> None:
    results = [each for each in made.sweep(1) if (each["line"], each["length"]) != (made.KEYS[2], 256)]
    results.append({"weights": "x", "line": made.KEYS[2], "length": 256, "documents": 5, "undefined": "why"})
    waiting = [each for each in results if (each["line"], each["length"]) != (made.KEYS[3], 256)]
    table = words.perplexity_by_length_table(view.read_cells(waiting), words.LAST, T)
    assert list(table) == ["scheme", "64", "128", "256"]
    assert table["256"][2] == "—" and table["256"][3] == "…"
    levels = made.levels(1)
    best = min(levels, key=levels.__getitem__)
    assert [each.startswith("★") for each in table["64"]] == [key == best for key in made.KEYS]
    single = next(each for each in results if (each["line"], each["length"]) == (made.KEYS[0], 64))
    for share in (words.LAST, words.WHOLE):
        value, low, high = (words.perplexity_text(v) for v in single[share])
        assert words.perplexity_by_length_table(view.read_cells(results), share, T)["64"][0].endswith(
            f"{value} [{low}, {high}]"
        )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_provenance_names_weights_text_and_machine_without_markup(lang: str) -> None:
    t, seen = PageTexts(lang, "extrapolation"), made.seen(made.sweep())
    text = words.results_provenance(seen, t)
    assert made.HASH[:10] in text and made.HASH[::-1][:10] in text and "2026" in text
    assert "<b>" not in text.replace("\\<", "")
    for origin in (HERE, GOING):
        assert str(len(seen.results)) in words.results_provenance(ExperimentResults(seen.results, origin, None, ""), t)
        wanted = experiment_request("sweep", b"\x00", weights=["rope-0"])
        text = words.results_provenance(ExperimentResults(seen.results, origin, None, "", wanted), t)
        shown = (hashlib.sha256(b"\x00").hexdigest(), cards.weights_cards()["rope-0"].sha256)
        assert all(each[:10] in text for each in shown) and f"numpy {version('numpy')}" in text.replace("\\", "")
    record = records.shipped_record("sweep")
    assert experiment_request("sweep").text_hash == record.text


def test_a_partial_sweep_draws_and_says_one_line() -> None:
    part = made.sweep()[:1]
    drawing = figures.live_perplexity_chart(made.seen(part), 64, figures.TWO, T)
    assert drawing.id == "live" and drawing.finding.startswith("At 64 bytes, 1 times")
    assert figures.line_colour("a line of tomorrow") == figures.TURNS[0]
    assert scheme_lines()[0].key in made.KEYS


SWEEP = made.seen(made.sweep(4))
COPIES = made.seen(made.recall())
REPORT = ReportSummary("org/name", "token", 64, tuple(made.sweep(4)), tuple(made.recall()), 1, 1)


def beside_window(t: PageTexts) -> str:
    """Say which line of the made-up sweep has how many times the window's perplexity, from its numbers alone."""
    rows = {each["line"]: np.array(each["nats"]) for each in SWEEP.results if each["length"] == 256}
    last = next(e["last"] for e in SWEEP.results if e["length"] == 256 and e["line"] == "window")
    window = rows.pop("window")
    shown: dict[str, list[str]] = {"better": [], "level": [], "worse": []}
    for key in sorted(rows, key=lambda key: float(rows[key].mean())):
        result = paired_perplexity_ratio(rows[key], window)
        kind = "better" if result.high < 1 else "worse" if result.low > 1 else "level"
        shown[kind].append(f"{t(f'line.{key}')} ×{result.value:.2f} [{result.low:.2f}, {result.high:.2f}]")
    texts = {kind: t("comma").join(each) or t("after_none") for kind, each in shown.items()}
    value = f"{last[0]:.2f} [{last[1]:.2f}, {last[2]:.2f}]"
    return t("after_finding", length="256", times="4", window=value, documents=len(window), **texts)


ROWS = [
    Row("extrapolation", figures.perplexity_chart, (SWEEP, 64, figures.ALL)),
    Row("extrapolation", figures.live_perplexity_chart, (SWEEP, 64, figures.TWO)),
    Row("extrapolation", figures.perplexity_ratio_chart, (SWEEP, 256, 64)),
    Row("extrapolation", figures.perplexity_by_seed_chart, (SWEEP, 64)),
    Row("extrapolation", after.newer_scheme_perplexity_ratio_chart, (SWEEP, 256, 64), beside_window),
    Row("extrapolation", models.encoding_perplexity_chart, (SWEEP, 64)),
    Row("extrapolation", models.passkey_retrieval_chart, (made.seen(made.retrieval()), experiments.WHOLE)),
    Row("extrapolation", recall.copy_perplexity_chart, (COPIES, 64)),
    Row("extrapolation", reported.report_perplexity_chart, (REPORT,)),
    Row("extrapolation", reported.report_copy_distance_chart, (REPORT,)),
    Row("extrapolation", pairs.pair_norm_chart, ("rope-0", shipped.shipped_pair_summary("rope-0"))),
    Row("extrapolation", handling.stale_keys_perplexity_chart, (made.seen(made.stale()), 64)),
]


AT = 1500
FOUND = extrapolated.shipped_results("sweep"), extrapolated.shipped_results("bytes")
assert FOUND[0] and FOUND[1]
COPIED = copied.copy_perplexity_curves(
    (*records.shipped_record("recall").results, *records.shipped_record("recall-window").results)
)
TEXT = letters.recorded_document_curves(FOUND[0], FOUND[1])


def chances(t: PageTexts) -> str:
    """Bytes 1500 of the shipped record, from their losses."""
    percent = [100 * float(np.exp(-each["nats"][AT - 1])) for each in records.shipped_record("bytes").results]
    plain, best = (f"{each:.0f}" if each >= 9.5 else f"{each:.2g}" for each in percent)
    return t("letters_finding", at="1,500", plain=plain, best=best, name="YaRN")


MODELS = {
    "window": ("recall-window", "rope-0-copy-near", "window"),
    "tuned": ("recall", "rope-0-copy-yarn", "yarn"),
    "untuned": ("recall", "rope-0-copy", "yarn"),
    "untaught": ("recall-window", "rope-0", "window"),
}


def perplexity(name: str, distance: int) -> float:
    """Return the second copy's perplexity from its losses in the record."""
    record, weights, key = MODELS[name]
    wanted = (weights, key, distance)
    rows = records.shipped_record(record).results
    (row,) = [each for each in rows if (each["weights"], each["line"], each["distance"]) == wanted]
    return float(np.exp(np.mean(row["nats"])))


def hesitates(t: PageTexts) -> str:
    """Return the finding at 768 bytes, out of the window."""
    values = {name: f"{perplexity(name, 768):.1f}" for name in MODELS}
    return t("copied_out", back="768", **values)


def test_the_mark_is_on_the_best_of_those_that_learned_to_copy() -> None:
    t = PageTexts("en", "extrapolation")
    assert FOUND[0]
    film = unwrap(lead.perplexity_film)(TEXT.curves, extrapolated.first_model_rope(FOUND[0]), (608, 1000), COPIED, t)
    _, chart_panel, cards_panel = (panel for panel in film.scene.panels if panel.first_beat == 2)
    taught = ("window", "tuned", "untuned")
    for k, distance in enumerate((96, 192, 384, 768, 1536)):
        best = min(taught, key=lambda name, d=distance: perplexity(name, d))  # type: ignore[misc]
        written = [text_at(paragraph.content, {"back": k}) for paragraph in cards_panel.paragraphs]
        assert [line for line in written if line.startswith("✓")] == [
            f"✓ {t(f'copied.{best}')}: {perplexity(best, distance):.1f}"
        ]
        dots = [mark["y"].numbers_at({"back": k})[0] for mark in chart_panel.marks if mark["kind"] == "dot"]
        np.testing.assert_allclose(dots, [perplexity(name, distance) for name in MODELS], rtol=1e-3)


def white_names(drawn: Sequence[Mark], height: float, t: PageTexts, stop: int) -> bool:
    """Return whether the name is written in a strip's part that is in view."""
    (name,) = (m for m in drawn if m.get("content") == t("name") and m["y"] == height and m["colour"] == "white")
    return bool(np.isfinite(name["x"].numbers_at({"byte": stop})[0]))


@pytest.mark.parametrize("t", [PageTexts(lang, "extrapolation") for lang in LANGUAGES])
def test_three_ways_stand_at_their_pair_s_angle_to_the_first_byte_that_each_has_in_view(t: PageTexts) -> None:
    at = letters.byte_stops(1888, TEXT.letters)
    assert FOUND[0]
    past = three.PastWindowReading(extrapolated.first_model_rope(FOUND[0]), 2048, at, TEXT.curves)
    thetas = 10_000.0 ** (-np.arange(16) / 16)
    theta = max(each for each in thetas if each * 2048 < 2 * math.pi)
    byte = field_control(t, "byte", at)
    finding_text, curves = (
        three.angle_and_perplexity_finding(past, byte, t).keyframes,
        three.past_training_panels(past, byte, t)[0],
    )
    for k, m in enumerate(at):
        # The window moves on by 64 bytes and has between 193 and 256 in view.
        start = next(s for s in range(0, 2048, 64) if m - s <= 256)
        wanted = {"none": theta * m, "yarn": theta * m / 8, "window": theta * (m - start)}
        for key, angle in wanted.items():
            assert past.angles_to_first_in_view(key)[k] == pytest.approx(angle) and past.has_unseen_angle(key)[k] == (
                angle > theta * 256 + 1e-9
            )
            assert past.perplexity_texts(key)[k] in finding_text[k] or m <= 256
        assert (f"{start:,}" in finding_text[k]) or m <= 256
        shown = {key: white_names(curves.marks, three.STRIPS[key], t, k) for key in three.STRIPS}
        assert shown == {"yarn": m > three.NAME_AT, "window": m > three.NAME_AT and start <= three.NAME_AT}
    inside = [k for k, m in enumerate(at) if m < 256]
    assert all(float(past.perplexity_texts("yarn")[k]) > float(past.perplexity_texts("none")[k]) for k in inside)


FILMS = [
    FilmRow(
        "extrapolation",
        lead.perplexity_film,
        (TEXT.curves, extrapolated.first_model_rope(FOUND[0]), letters.byte_stops(AT, TEXT.letters), COPIED),
        {"byte": AT, "back": 768, "beat": 2},
        hesitates,
    ),
    FilmRow(
        "extrapolation",
        letters.byte_probability_film,
        (TEXT.letters, TEXT.path, TEXT.chances, letters.byte_stops(AT, TEXT.letters)),
        {"byte": AT},
        chances,
    ),
    FilmRow("extrapolation", longer.perplexity_by_length_sketch, (FOUND[0], "yarn"), {}, to_draw),
]
