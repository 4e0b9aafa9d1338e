"""The attention page's figures against sums written out by hand, torch's softmax and the catalogue."""

import math
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core import rotation_matrix
from rope_core.theory.extension import position_bin_edges
from rope_core.theory.limits import order_and_locality_failure_rates
from rope_core.theory.softmax import expected_entropy_and_weight
from tests.support.figures import ROPE, Row, chart
from tests.support.films import FilmRow, texts_at
from ui.figures.attention import bases, decay, expected, limits, spread
from ui.figures.attention import scores as figures
from ui.figures.attention import softmax as heat
from ui.figures.attention.bins import FEW, POINTS, distance_bins
from ui.film.colours import KEY_COLOUR
from ui.text.words import PageTexts

T = PageTexts("en", "attention")
TEXTS = (128, 512, 2048, 4096)
PAIRING = figures.query_and_key("random", 16, 3, "", "")
EQUAL = {dim: figures.query_and_key("equal", dim, 0, "", "") for dim in (16, 32)}


def angles(dim: int, base: float) -> list[float]:
    return [base ** (-2 * i / dim) for i in range(dim // 2)]


def between(q: np.ndarray, k: np.ndarray) -> list[float]:
    """Return the angle from each pair of k to that of q."""
    return [math.atan2(q[i + 1], q[i]) - math.atan2(k[i + 1], k[i]) for i in range(0, q.size, 2)]


def by_matrix(rope: rc.Rope, q: np.ndarray, k: np.ndarray, distance: int) -> float:
    """Return the score of q at ``distance`` + 7 and k at 7."""
    turn = [rotation_matrix(m, rope.theta, "interleaved") for m in (distance + 7, 7)]
    return float((turn[0] @ q) @ (turn[1] @ k))


def test_the_gap_is_between_what_was_drawn_and_the_score_at_fifty_times_the_base() -> None:
    rope = rc.Rope(16, 300.0)
    film = unwrap(expected.score_at_larger_base_sketch)(rope, T)
    true = [sum(math.cos(2**k * theta) for theta in angles(16, 15_000.0)) / 8 for k in range(15)]
    drawn = np.array(true) + 0.01
    drawn[3] -= 0.22
    assert film.gap(drawn).endswith(T("film.gap", at="8", drawn=f"{drawn[3]:.2f}", true=f"{true[3]:.2f}"))


@pytest.mark.parametrize("kind", figures.KINDS)
@pytest.mark.parametrize("dim, base", [(8, 60.0), (32, 5e5)])
def test_the_curve_and_the_mark_are_the_score_of_rotated_vectors(kind: str, dim: int, base: float) -> None:
    q, k = figures.query_and_key(kind, dim, 3, "1, -2 0.5", "0.3，2")
    assert np.linalg.norm(q) == pytest.approx(1.0) and np.linalg.norm(k) == pytest.approx(1.0)
    rope, at = rc.Rope(dim, base, 512), decay.distance_stops(71, 400)
    film = unwrap(decay.score_decay_film)(rope, kind, (q, k), 400, at, (64, 512), TEXTS, T)
    arrows, curve, *_ = film.scene.panels
    band = next(mark for mark in curve.marks if mark["kind"] == "line" and np.size(mark["x"]) > 2)
    (grip,) = (mark for mark in curve.marks if mark["kind"] == "drag_handle")
    edges = position_bin_edges(400, POINTS, True).tolist()
    assert 10 ** band["x"].max() == pytest.approx(400) and edges[-1] - edges[-2] > 4
    for cell in (0, 9, len(edges) - 2):
        within = [by_matrix(rope, q, k, distance) for distance in range(edges[cell], edges[cell + 1])]
        assert band["y"][[cell, -1 - cell]] == pytest.approx([min(within), max(within)], abs=1e-10)
    for distance in (1, 71, 300):
        index = {"at": at.index(distance)}
        assert grip["y"].numbers_at(index)[0] == pytest.approx(by_matrix(rope, q, k, distance), abs=1e-10)
        assert grip["x"].numbers_at(index)[0] == pytest.approx(np.log10(distance))
    number = decay._short_score(by_matrix(rope, q, k, 71))
    finding = film.scene.finding_at({"at": 71, "context": 64, "keys": 512, "beat": 1})
    up = np.mean(np.cos(np.add(between(q, k), 71 * np.array(angles(dim, base)))) > 0)
    assert f"71 words apart, {T('most_up' if up > 0.75 else 'cancel')}: " in finding
    assert f"point up by {number}, which is the score" in finding
    (fan, _) = (mark for mark in arrows.marks if mark["kind"] == "vector")
    turned, weights = np.pi / 2 - fan["angle"].numbers_at({"at": at.index(71)}), fan["length"] / fan["length"].max()
    norms = np.linalg.norm(q.reshape(-1, 2), axis=1) * np.linalg.norm(k.reshape(-1, 2), axis=1)
    assert (weights * np.cos(turned)).sum() * norms.max() == pytest.approx(by_matrix(rope, q, k, 71), abs=1e-9)
    assert max(at) <= 400


def first_below(dim: int, base: float) -> int:
    """Return the first distance at which equal vectors score below 0, by trying each."""
    return next(m for m in range(1, 30_000) if sum(math.cos(m * theta) for theta in angles(dim, base)) < 0)


@pytest.mark.parametrize("dim, base", [(16, 7_000.0), (32, 2_000.0)])
def test_each_base_s_row_says_whether_the_text_ends_before_it_falls_below_zero(dim: int, base: float) -> None:
    drawn, texts = bases.four_bases_with_own(base), bases.text_length_stops(700)
    assert base in drawn and len(drawn) == 4 and 700 in texts
    film = unwrap(decay.score_decay_film)(rc.Rope(dim, base, 512), "equal", EQUAL[dim], 400, (1, 2), texts, TEXTS, T)
    (panel,) = (panel for panel in film.scene.panels if panel.first_beat == panel.last_beat == 2)
    first = [first_below(dim, each) for each in drawn]
    dots = [mark for mark in panel.marks if mark["kind"] == "dot"]
    for stop in (64, 700, 65_536):
        index = {"context": texts.index(stop)}
        too_small = [k for k, each in enumerate(first) if each < stop]
        for k, (quiet, marked) in enumerate(zip(dots[::2], dots[1::2], strict=True)):
            shown, hidden = (marked, quiet) if k in too_small else (quiet, marked)
            assert 10 ** shown["x"].numbers_at(index)[0] == pytest.approx(first[k]) and np.isnan(
                hidden["x"].numbers_at(index)[0]
            )
        verdicts = texts_at(panel.marks, index)
        assert verdicts.count(T("below_zero")) == len(too_small) == 4 - verdicts.count(T("above_zero"))
        finding = film.scene.finding_at({"at": 1, "context": stop, "keys": 512, "beat": 2})
        if not too_small:
            assert finding == T("bases_none", words=f"{stop:,}")
        else:
            assert f"falls below 0 at {first[too_small[-1]]:,} words" in finding
            assert len(too_small) == 4 or f"holds up to {first[too_small[-1] + 1]:,}." in finding


def test_the_longer_text_s_shares_are_drawn_and_its_scores_are_within_what_was_drawn() -> None:
    words = spread.text_length_stops(512, None)
    film = unwrap(decay.score_decay_film)(rc.Rope(16, 700.0, 512), "random", PAIRING, 400, (1, 2), (64, 512), words, T)
    scores, share = (panel for panel in film.scene.panels if panel.first_beat == 3)
    index = {"keys": words.index(8192)}
    bars = [
        mark["x1"].numbers_at(index)[0]
        for mark in share.marks
        if mark["kind"] == "rect" and mark["colour"] == KEY_COLOUR
    ]
    square = (0.1 * math.log(16) + 1) ** 2
    expected_shares = 100 * expected_entropy_and_weight([512, 8192, 8192], [1.0, 1.0, square], 6.0)[1]
    assert bars == pytest.approx(expected_shares.tolist())
    bands = [mark["y"].numbers_at(index) for mark in scores.marks if mark["kind"] == "line" and mark["fill"] != "none"]
    plain, sharp = bands[1] + spread.PITCH, bands[2] + 2 * spread.PITCH
    np.testing.assert_allclose(sharp, square * plain)
    finding = film.scene.finding_at({"at": 1, "context": 64, "keys": 8192, "beat": 3})
    assert "16 times longer" in finding and f"× {square:.2f}" in finding


def test_a_word_s_share_is_softmaxs_with_and_without_the_square() -> None:
    squares, plain, sharp = spread.yarn_factors_and_attention_shares((1024, 4096, 65_536), 4096)
    assert squares == pytest.approx([1, 1, (0.1 * math.log(16) + 1) ** 2])
    for shares, scale in ((plain, np.ones(3)), (sharp, squares)):
        drawn = expected_entropy_and_weight((1024, 4096, 65_536), scale, spread.LEAD)[1]
        np.testing.assert_allclose(shares, 100 * drawn)
    assert plain[2] < plain[1] / 10 < sharp[1] < sharp[2]


def test_a_wide_bin_holds_its_first_and_last_distance_and_few_between() -> None:
    d, middle, fold = distance_bins(16_384)
    mean, least, most = fold(d.astype(float))
    edges = position_bin_edges(16_384, POINTS, True)
    np.testing.assert_array_equal(least, edges)
    np.testing.assert_array_equal(most, [*(edges[1:] - 1), 16_384])
    np.testing.assert_allclose(mean, (least + most) / 2, rtol=1e-3)
    np.testing.assert_allclose(middle, np.sqrt(least * most))
    assert d.size <= FEW * edges.size


def test_a_distance_past_the_reach_lengthens_the_axis() -> None:
    vectors, at = figures.query_and_key("equal", 8, 0, "", ""), decay.distance_stops(5_000, 64)
    film = unwrap(decay.score_decay_film)(rc.Rope(8, 60.0), "equal", vectors, 64, at, (64, 512), TEXTS, T)
    assert film.scene.panels[1].x.high == np.log10(5_000) and at[-1] == 5_000


def test_what_is_no_vector_is_refused() -> None:
    with pytest.raises(ValueError, match="q must be numbers separated by commas"):
        figures.query_and_key("own", 8, 0, "1, two", "1")
    with pytest.raises(ValueError, match="k must be of a positive, finite length"):
        figures.query_and_key("own", 8, 0, "1", "0 0")
    with pytest.raises(ValueError, match="values must be"):
        figures.query_and_key("own", 2, 0, "1 2 3", "1")
    with pytest.raises(ValueError, match="values must be"):
        figures.query_and_key("own", 8, 0, "", "1")
    with pytest.raises(ValueError, match="values must be"):
        figures.query_and_key("own", 8, 0, "nan", "1")


def test_base_bound_states_the_base_and_counts_the_models() -> None:
    drawing = figures.base_bound_chart(rc.Rope(32, 700.0), 1024, T)
    table = drawing.table()
    grid, served = np.asarray(table["base"]), np.asarray(table["context_served"])
    d = np.arange(2000)
    for i in (10, 40, 60):
        sums = np.cos(d[:, None] * np.array(angles(32, float(grid[i])))).sum(axis=1)
        assert int(np.flatnonzero(sums < 0)[0]) == served[i]
    need = grid[np.argmax(served >= 1024)]
    assert chart(drawing).data[2].x[0] == need
    assert f"first base drawn that serves 1,024 tokens is {round(need, -2):,.0f};" in drawing.finding
    bases, lengths = (np.asarray(table[key]) for key in ("model_base", "model_context"))
    tight, m = 0, np.arange(50_000.0)
    for base in np.unique(bases):
        below = np.flatnonzero(np.cos(m[:, None] * np.array(angles(32, float(base)))).sum(axis=1) < 0)
        tight += int((lengths[bases == base] > below[0]).sum()) if below.size else 0
    assert f"Of {np.size(table['model'])} models" in drawing.finding
    assert f"{tight} run a longer" in drawing.finding


def test_a_context_that_no_base_serves_is_named() -> None:
    """One pair is a plain cosine: negative at distance 2, whatever the base."""
    drawing = figures.base_bound_chart(rc.Rope(2, 50.0), 131_072, T)
    assert "no base" in drawing.finding and "fails at distance 2." in drawing.finding


def test_softmax_curves_are_the_recipes_and_the_sentence_has_their_ends() -> None:
    drawing = heat.attention_entropy_chart(1024, 6.0, T)
    table = {name: np.asarray(column) for name, column in drawing.table().items()}
    n = table["length"]
    scales = {
        "plain": np.ones(n.size),
        "square": (0.1 * np.log(np.maximum(n / 1024, 1.0)) + 1) ** 2,
        "logn": np.maximum(np.log(n) / math.log(1024), 1.0),
        "floor": 0.1 * np.log(n // 8192 + 1) + 1,
    }
    for name, scale in scales.items():
        both = np.stack([table[f"{name}_entropy"], table[f"{name}_meant"]])
        np.testing.assert_allclose(both, expected_entropy_and_weight(n, scale, 6.0), rtol=1e-9)
        assert f"{100 * both[1][-1]:.3g} %" in drawing.finding
    panels = {trace.xaxis: trace for trace in chart(drawing).data if trace.name == T("scale.square")}
    np.testing.assert_allclose(panels[None].y, table["square_entropy"], atol=1e-5)
    np.testing.assert_allclose(panels["x2"].y, 100 * table["square_meant"], atol=1e-5)


def failing(t: PageTexts) -> str:
    """Count anew at the base and at 100 times it, and say how far drawn vectors are off."""
    cases = [(base, 256) for base in limits.BASES[::3]] + [(700.0, length) for length in limits.LENGTHS[::3]]
    rows = np.array([limits.failure_rates_percent(ROPE, *case) for case in cases])
    shares: dict[str, str] = {}
    for base, more in ((700.0, ""), (70_000.0, "more_")):
        both = order_and_locality_failure_rates(
            rc.Spectrum.from_inv_freq(rc.Rope(16, base).theta), 256, 8.0, limits.COUNT
        )
        shares |= {f"{more}{name}": f"{100 * each:.0f}" for name, each in zip(("order", "locality"), both, strict=True)}
    off = np.abs(rows[:, :2] - rows[:, 2:]).max()
    return t("limits_finding", length="256", base="700", off=f"{off:.1f}", signal="8", **shares)


ROWS = [
    Row("attention", figures.base_bound_chart, (ROPE, 100)),
    Row("attention", limits.failure_rate_chart, (ROPE,), failing),
    Row("attention", heat.attention_entropy_chart, (256, 2.0)),
]


def question(t: PageTexts) -> str:
    return t("expected_ask", base="700", asked="35,000")


AT = decay.distance_stops(70, 400)
AT_70 = {"at": 70, "context": 512, "keys": 1024}
WORDS = spread.text_length_stops(256, None)
FILMS = [
    FilmRow(
        "attention", decay.score_decay_film, (ROPE, kind, pairing, 400, AT, (64, 512), WORDS), AT_70 | {"beat": beat}
    )
    for kind, pairing, beat in (("random", PAIRING, 1), ("equal", EQUAL[16], 2), ("equal", EQUAL[16], 3))
]
FILMS.append(FilmRow("attention", expected.score_at_larger_base_sketch, (ROPE,), {}, question))
