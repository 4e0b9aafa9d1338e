"""The figures of the page schemes, their numbers from loops over pairs and positions."""

import cmath
import math

import numpy as np
import pytest

import rope_core as rc
from rope_core.comparisons import cells, curves, examples
from rope_core.comparisons.measured import Contrast
from rope_core.comparisons.rows import check_text
from rope_core.comparisons.sentences import cause_sentence
from tests.support.figures import Row
from tests.support.films import FilmRow
from ui.figures.schemes import checks as rows_of_margins
from ui.figures.schemes import measured, pairs, sweep
from ui.film.colours import RED
from ui.film.scene import NumberTrack, TextTrack
from ui.text.words import PageTexts

DIM, BASE, TRAIN, FACTOR = 16, 700.0, 256, 6.0
MODEL = {"model_type": "llama", "head_dim": DIM, "rope_theta": BASE, "max_position_embeddings": TRAIN}
COLUMNS = tuple(rc.compare(examples.mine, "linear", "yarn", model=MODEL, factor=FACTOR))
GIVEN = pairs.SchemeComparison(
    COLUMNS,
    ("mine", "linear", "YaRN"),
    2,
    "inside_arc",
    ("examples.mine", "'linear'", "'yarn'"),
    "from rope_core.comparisons import examples",
)
LENGTH = int(FACTOR * TRAIN)


def mine(i: int) -> float:
    g = min((i - 20) / 26, 1)
    return float(BASE ** (-2 * i / DIM) * (1 - g + g / FACTOR))


def written(value: float) -> str:
    return f"{float(f'{value:.3g}'):,g}".replace("-", "−")


def by_pair(t: PageTexts) -> str:
    theta = BASE ** (-2 * 5 / DIM)
    used, seen = (f"{written(100 * min(x / math.tau, 1))} %" for x in (LENGTH * mine(5), TRAIN * theta))
    # Pair 5 turns faster than unscaled; that it goes round where training showed it less only warns.
    broken = check_text("not_faster", "fault", t.lang)
    assert mine(5) > theta
    text = t("pair_finding", i=5, s=written(theta / mine(5)), used=used, seen=seen, length=f"{LENGTH:,}")
    return text + t("pair_breaks", checks=broken)


def margins(t: PageTexts) -> str:
    fast = {i: mine(i) / BASE ** (-2 * i / DIM) for i in range(DIM // 2)}
    fault, times = check_text("not_faster", "fault", t.lang), f"{float(f'{max(fast.values()):.3g}'):g}"
    faster = [i for i in fast if fast[i] > 1.001]
    if t.lang == "en":
        seen = f"{fault} (pairs {faster[0]}–{faster[-1]}): {times} times as fast as unscaled, at most 1; line"
        seen += " 6 bounds one side only: g = np.minimum(g, 1)"
    else:
        seen = f"{fault}（第 {faster[0]}–{faster[-1]} 对）：转速是不缩放时的 {times} 倍，至多 1；第"
        seen += " 6 行只截断了一侧：g = np.minimum(g, 1)"
    return t("check_finding.broken", name="mine", seen=seen)


def swept(t: PageTexts) -> str:
    lengths = sweep.doubled_target_lengths(TRAIN, 2**31)
    failed = []
    for length in lengths:
        for factor in sweep.FACTORS:
            worst = 64.0
            for i in range(DIM // 2):
                theta, g = BASE ** (-2 * i / DIM), min((i - 20) / 26, 1)
                f = theta * (1 - g + g / factor)
                worst = min(worst, 1.1 * (TRAIN * theta / math.tau) / min(length * abs(f) / math.tau, 1.0))
            if worst < 1:
                failed.append((length, factor))
    (length, factor), count = failed[0], len(failed)
    slots = {"length": f"{length:,}", "factor": f"{factor:g}", "count": count, "of": len(lengths) * len(sweep.FACTORS)}
    return t("sweep_finding", name="mine", check=check_text("inside_arc", "title", t.lang), **slots)


FILMS = [
    FilmRow("schemes", pairs.scheme_comparison_film, (GIVEN, 3), {"pair": 5, "beat": 1}, by_pair),
    FilmRow("schemes", rows_of_margins.check_margins_film, (GIVEN,), {"check": 1}, margins),
]


def of_papers(t: PageTexts) -> str:
    # YaRN: the first pair of at most 32 turns and of one turn or less, rounded out; LongRoPE2: of less than a turn.
    low, high = (64 * math.log(4096 / (turns * math.tau)) / math.log(10_000) for turns in (32, 1))
    turning, settled = math.floor(low) + 1, math.ceil(high)
    critical = math.ceil(48 * math.log(2048 / math.tau) / math.log(10_000))
    ends = {"yarn_turning": turning, "yarn_settled": settled, "longrope2_settled": critical}
    return t("paper_finding", **ends, cope_turning=64 - 20 + 1, cope_settled=63)


ROWS = [
    Row("schemes", sweep.least_margin_chart, (GIVEN, sweep.doubled_target_lengths(TRAIN, 2**31)), swept),
    Row("schemes", measured.paper_curves_chart, (), of_papers),
]


def test_every_line_and_cell_of_the_pictures_is_what_a_loop_gives() -> None:
    scene = pairs.scheme_comparison_film(GIVEN, 3, PageTexts("en", "schemes")).scene
    slow, shares, _, apart, steps, scores, agreement, cosine, ahead = scene.panels
    own = next(mark for mark in slow.marks if mark["kind"] == "line" and mark["colour"] == "ink")
    theta = [BASE ** (-2 * i / DIM) for i in range(DIM // 2)]
    np.testing.assert_allclose(own["y"], [math.log2(a / mine(i)) for i, a in enumerate(theta)], rtol=1e-9)
    bars = next(mark for mark in shares.marks if mark["kind"] == "rect")
    np.testing.assert_allclose(bars["y1"], [min(TRAIN * a / math.tau, 1) for a in theta])
    yarn = COLUMNS[2].inv_freq
    off = next(mark for mark in apart.marks if mark["kind"] == "line" and mark["colour"] == "ink")
    np.testing.assert_allclose(off["y"], [math.log2(yarn[i] / mine(i)) for i in range(DIM // 2)], rtol=1e-9)
    step = next(mark for mark in steps.marks if mark["kind"] == "line" and mark["colour"] == "ink")
    chords = [abs(cmath.exp(1j * mine(i)) - 1) / abs(cmath.exp(1j * a) - 1) for i, a in enumerate(theta)]
    np.testing.assert_allclose(step["y"], [min(chord, 2.0) for chord in chords])
    near = [sum(math.cos(n * mine(i)) for i in range(DIM // 2)) / (DIM // 2) for n in (1, 10, 100, 1000)]
    assert str(agreement.paragraphs[2].content).endswith(": " + ", ".join(map(written, near)))
    a = 0.1 * math.log(FACTOR) + 1
    raw = next(m for m in scores.marks if m["kind"] == "line" and m["stroke_width"] == 1 and m["colour"] == "ink")
    distances = np.rint(10.0 ** np.asarray(raw["x"])).astype(int)
    wanted = [a * a * sum(math.cos(d * mine(i)) for i in range(DIM // 2)) / (DIM // 2) for d in distances]
    np.testing.assert_allclose(raw["y"], wanted, atol=1e-9)
    edges = curves.edges_of(LENGTH)
    cells = next(mark for mark in cosine.marks if mark["kind"] == "heatmap")["cells"][::-1]
    for i, j in ((0, 5), (3, 60), (7, -1)):
        spots = range(edges[:-1][j], edges[1:][j])
        mean = sum(cmath.exp(1j * p * mine(i)).real for p in spots) / len(spots)
        assert cells[i, j] == pytest.approx(127 * mean, abs=1)
    moved = next(mark for mark in ahead.marks if mark["kind"] == "heatmap")["cells"][::-1]
    middle = (edges[60] + edges[61] - 1) / 2
    turns = (mine(4) - yarn[4]) * middle / math.tau
    assert moved[4, 60] == pytest.approx(127 * max(-1, min(1, turns)), abs=1)


def test_the_smooth_score_is_a_mean_over_distances() -> None:
    f, at = np.array([0.3, 0.01]), np.array([40.0])
    near = [np.cos(x * f).mean() for x in np.linspace(0.93 * 40, 1.07 * 40, 20_001)]
    assert curves.score(f, at, 2.0, smooth=True)[0] == pytest.approx(4 * np.mean(near), abs=1e-4)


def test_pairs_that_turn_back_or_are_no_number_are_drawn_as_such() -> None:
    broken = np.array([1.0, -0.4, np.nan, 0.1, 0.0, 0.02, 0.01, 0.001])
    column = rc.compare(broken, model=MODEL, factor=FACTOR)
    given = pairs.SchemeComparison(tuple(column), ("mine",), 0, "finite_positive", ("inv_freq",), "")
    scene = pairs.scheme_comparison_film(given, 0, PageTexts("en", "schemes")).scene
    crosses = [mark["x"] for mark in scene.panels[0].marks if mark["kind"] == "text" and mark["content"] == "×"]
    assert crosses == [1.0, 2.0]
    (dots,) = [m for m in scene.panels[0].marks if m["kind"] == "dot" and m.get("symbol") == "finite_positive"]
    assert np.asarray(dots["x"]).tolist() == [1.0, 2.0, 4.0]


def test_one_pair_is_marked_in_all_pictures_and_each_check_lights_its_pairs() -> None:
    scene = pairs.scheme_comparison_film(GIVEN, 3, PageTexts("en", "schemes")).scene
    for panel in (each for each in scene.panels if each.marks):
        marked = [
            mark
            for mark in panel.marks
            if isinstance(mark.get("x"), NumberTrack) or isinstance(mark.get("y"), NumberTrack)
        ]
        assert marked
    lit = {mark["symbol"] for panel in scene.panels for mark in panel.marks if "symbol" in mark}
    table = rows_of_margins.check_margins_film(GIVEN, PageTexts("en", "schemes")).scene.panels[0]
    assert lit and lit <= {mark["symbol"] for mark in table.marks if "symbol" in mark} == set(rows_of_margins.KEYS)
    # Each check that is some pair's lights it in every picture by pair, red at all times where it is broken.
    of_a_pair = {row.key for row in GIVEN.examined_column.rows if row.marked_pairs}
    for panel in scene.panels[7:]:
        rows = {mark["symbol"]: mark for mark in panel.marks if mark["kind"] == "dot" and "symbol" in mark}
        assert rows.keys() == of_a_pair
        by_key = {row.key: row.marked_pairs for row in GIVEN.examined_column.rows}
        assert all(tuple(np.asarray(mark["y"]) - 0.5) == by_key[key] for key, mark in rows.items())
    for panel in (scene.panels[0], scene.panels[1], scene.panels[3]):
        dots = {mark["symbol"]: mark for mark in panel.marks if mark["kind"] == "dot" and "symbol" in mark}
        assert of_a_pair == dots.keys() and "inside_arc" in dots
        shown = {key for key, mark in dots.items() if "when_lit" not in mark}
        assert shown == {row.key for row in GIVEN.examined_column.broken if row.marked_pairs} | {GIVEN.check}
        names = [mark["symbol"] for mark in panel.marks if mark["kind"] == "text" and "symbol" in mark]
        assert sorted(names) == sorted(dots)


MISTAKEN = {"mine", "scheme_a", "scheme_b", "scheme_c", "scheme_d"}
"""The examples whose fault is one that is computed again and named."""


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", [*examples.EXAMPLES, "yarn"])
def test_what_the_headline_counts_is_what_the_table_and_the_dots_mark(lang: str, name: str) -> None:
    t = PageTexts(lang, "schemes")
    (column,) = rc.compare(examples.EXAMPLES.get(name, name), factor=FACTOR)
    given = pairs.SchemeComparison((column,), ("X",), 0, "monotone", ("",))
    table = rows_of_margins.check_margins_film(given, t).scene.panels[0]
    texts = [mark for mark in table.marks if mark["kind"] == "text"]
    crosses = [mark for mark in texts if str(mark["content"]).startswith("✗")]
    lines = rows_of_margins.headline(given, t)
    # The first cause comes before how many checks fail.
    first, faults = (lines[1], [lines[0], *lines[2:]]) if column.broken else (lines[0], lines[1:])
    slow = pairs.scheme_comparison_film(given, 0, t).scene.panels[0]
    red = {int(x) for m in slow.marks if m["kind"] == "dot" and m["colour"] == RED for x in np.atleast_1d(m["x"])}
    whole = [row for row in column.broken if len(row.by_pair) == column.inv_freq.size]
    wanted = {k for row in whole for k, margin in enumerate(row.by_pair) if margin < 0}
    wanted |= {row.pair for row in column.broken if row.key == "resolution" and row.pair is not None}
    assert red == wanted and len(crosses) == len(column.broken)
    # A line for each cause: a known mistake, with what follows from it, then each other check.
    follows = {row.key for row in column.consequences}
    others = sorted((row for row in column.broken if row.key not in follows), key=lambda row: not cause_sentence(row))
    assert len(faults) == bool(follows) + len(others) and (bool(follows) == (name in MISTAKEN))
    rest = faults[bool(follows) :]
    assert all(line.startswith(row.text("fault", lang)) for line, row in zip(rest, others, strict=True))
    assert all(row.text("fault", lang) in faults[0] for row in column.consequences if row.key != "like")
    count = f"{len(column.broken)} of" if lang == "en" else f"有 {len(column.broken)} 项"
    assert (count in first) == bool(column.broken)
    assert all(row.text("fault", lang) in first for row in column.broken)
    # What is not required is grey.
    by_title = {str(mark["content"]): mark for mark in texts}
    for row in column.rows:
        assert (by_title[check_text(row.key, "title", lang)]["colour"] == by_title[t("limit")]["colour"]) == (
            not row.required
        )


@pytest.mark.parametrize("name", examples.FAULTS)
def test_no_number_of_a_check_that_holds_is_a_margin(name: str) -> None:
    # s = 1, 1000, ... is far inside the trained arc: it shows what it uses of it, not that it is 7 bits better.
    (column,) = rc.compare(examples.EXAMPLES[name], factor=8.0)
    given = pairs.SchemeComparison((column,), ("X",), 0, "monotone", ("",))
    table = rows_of_margins.check_margins_film(given, PageTexts("en", "schemes")).scene.panels[0]
    shown = [str(mark["content"]) for mark in table.marks if mark["kind"] == "text"]
    for row in column.rows:
        if row.holds and row.measured is not None:
            assert cells.cell(row) in shown and f"{row.margin:.2f}" not in cells.cell(row)
            within = row.limit is None or row.text("relation") != "<=" or row.measured <= row.limit
            assert within and (row.limit is not None or row.key == "attention_factor")


def test_a_headline_names_the_argument_without_effect_its_line_and_what_fails() -> None:
    t = PageTexts("en", "schemes")

    def lines(function: object) -> str:
        given = pairs.SchemeComparison(tuple(rc.compare(function, factor=8.0)), ("X",), 0, "monotone", ("",))
        return " | ".join(rows_of_margins.headline(given, t))

    text = lines(examples.mine)
    assert "a clamp is missing at the fast end of the ramp (line 6 bounds one side only: g = np.minimum(g, 1))" in text
    assert "a literal in line 4: low, high = 20, 46" in text and "faster than in training (pairs 0–19)" in text
    assert "a = 1.459; the square of what YaRN gives, so applied twice" in lines(examples.scheme_e)
    text = lines(examples.scheme_f)
    assert "slowed far beyond need (pairs 1–63): 1,000 times slower than unscaled, at most 28" in text
    fails = lines(lambda dim, base, train_len, factor: np.ones(3) if base > 1e5 else base ** (-np.arange(64) / 64))
    assert "at base 500,000 the function fails" in fails


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_lines_beside_other_columns_name_their_pairs(lang: str) -> None:
    t = PageTexts(lang, "schemes")
    (yarn,) = rc.compare("yarn", factor=8)
    moved = yarn.inv_freq.copy()
    moved[[3, 4, 40]] *= 1.01, 1.01, 2.0
    exact = rc.spectrum(rc.Request(yarn.setting.rope, "yarn", {"factor": 8.0, "truncate": False}, 32_768)).inv_freq
    changed, linear, smooth = rc.compare(moved, "linear", exact, factor=8)

    def lines(mine: rc.Compared) -> tuple[str, str]:
        given = pairs.SchemeComparison((mine, yarn), ("X", "YaRN"), 1, "", ("", ""))
        nearest = rows_of_margins.nearest_scheme_sentence(given, t)
        return nearest, rows_of_margins.difference_from_reference_sentence(given, t)

    nearest, beside = lines(changed)
    # The chosen column is the nearest: said once.
    assert "0–2, 5–39, 41–63" in nearest and "3–4, 40" in nearest and not beside and t("scheme.yarn") in nearest
    assert lines(linear)[0] == "" and "46–63" in lines(linear)[1]
    assert "truncate false" in lines(smooth)[0] and "64" in lines(smooth)[0]


def test_the_chosen_check_and_its_pair_are_where_the_films_begin() -> None:
    t, row = PageTexts("en", "schemes"), GIVEN.check_row(GIVEN.check)
    film = rows_of_margins.check_margins_film(
        GIVEN, t, {"inside_arc": Contrast(27, 7, 34, "linear", "none", 2.0, 1.302)}
    )
    (at,) = film.scene.controls
    assert at.start == rows_of_margins.KEYS.index("inside_arc")
    assert pairs.scheme_comparison_film(GIVEN, None, t).scene.controls[0].start == row.pair
    read = [each.content for each in film.scene.panels[2].paragraphs if isinstance(each.content, TextTrack)]
    texts = {text for track in read for text in track.keyframes}
    assert any("in 27, the higher in 7. linear (PI) holds it and has 1.30 times" in text for text in texts)
    assert t("read.nothing") in texts


def test_a_wave_is_drawn_as_far_as_its_distances_show_its_turns() -> None:
    at = curves.distances(32_768)
    (fast, slow) = curves.sampled_wave(np.array([1.0, 1e-4]), at)
    assert np.isnan(fast[at > 60]).all() and np.isfinite(fast[:10]).all() and np.isfinite(slow).all()
