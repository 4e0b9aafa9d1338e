"""The encodings page's first figures against attention, Toeplitz fits and shifts written out by hand."""

import math
from inspect import unwrap

import numpy as np
import pytest

from rope_core.rotation import rotation_matrix
from rope_core.theory.encodings import compare
from rope_core.theory.encodings.compare import ENCODINGS, weights, words
from tests.support.figures import Row, chart
from tests.support.films import FilmRow, to_draw
from ui.figures.encodings import additive, drawn, exchange, moving, swapping
from ui.figures.encodings import scores as figures
from ui.text.words import LANGUAGES, Words

T = Words("en", "encodings")
CHINESE = figures.tokens("小明喜欢狗但不喜欢猫"), figures.tokens("小明不喜欢狗但喜欢猫")
DOGS = figures.tokens("the dog chased the cat"), figures.tokens("the cat chased the dog")
ABSOLUTE = {"sinusoidal", "learned"}


def attended(scores: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, in plain loops."""
    return np.array([[math.exp(v) / sum(math.exp(u) for u in row) for v in row] for row in scores])


def test_tokens_are_words_or_characters() -> None:
    assert figures.tokens(" a  dog ") == ("a", "dog")
    assert figures.tokens("小明") == ("小", "明")


@pytest.mark.parametrize("sentences", [CHINESE, DOGS])
def test_moved_sentences_and_what_the_last_token_attends_to(sentences: figures.Sentences) -> None:
    """ALiBi and the unplaced head by plain loops; the relative ones stay, the sinusoidal one does not."""
    stops = moving.shifts(1000)
    scene = unwrap(moving.moving)(sentences, 50.0, stops, T).scene
    line, *panels = scene.panels
    count = len(sentences[0])
    (grip,) = line.marks
    lefts = [shape["x0"].keyframes[:, 0] for shape in grip["grab_marks"] if shape["kind"] == "rect"]
    words_shown = [shape["content"] for shape in grip["grab_marks"] if shape["kind"] == "text"]
    assert words_shown == [*sentences[1], *sentences[0]]
    for j, left in enumerate(lefts):
        np.testing.assert_allclose(left, np.array(stops) + j % count + 0.04)
    bars = {name: panel.marks[0]["y1"].keyframes for name, panel in zip(moving.SHOWN, panels, strict=True)}
    x, head = words(sentences[0], figures.WIDTH), weights(figures.WIDTH, 50.0)
    plain = (x @ head.q.T) @ (x @ head.k.T).T / math.sqrt(figures.WIDTH)
    slopes = -(2.0**-1) * np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    for name, scores in (("nope", plain), ("alibi", plain + slopes)):
        np.testing.assert_allclose(bars[name], np.tile(attended(scores)[-1], (len(stops), 1)), atol=1e-12)
    for name, frames in bars.items():
        assert (np.abs(frames - frames[0]).max() < 1e-9) == (name != "sinusoidal"), name
        np.testing.assert_allclose(frames.sum(axis=1), 1.0)
        outline = panels[moving.SHOWN.index(name)].marks[1]
        np.testing.assert_array_equal(outline["y"][::2], frames[0])


@pytest.mark.parametrize("base", [3.0, 10_000.0])
def test_two_words_that_change_places_change_nothing_without_positions(base: float) -> None:
    """Bars and outlines by plain loops over the six words, at both ends; with RoPE turned by matrices."""
    scene = unwrap(exchange.swapping)(base, moving.shifts(5), T).scene
    head = weights(exchange.DIM, base)
    theta = base ** (-np.arange(0, exchange.DIM, 2) / exchange.DIM)
    orders = ["the", "cat", "sat", "on", "the", "mat"], ["the", "mat", "sat", "on", "the", "cat"]
    for name, panel in zip(("nope", "rope"), scene.panels[2:6:2], strict=True):
        by_hand = []
        for order in orders:
            x = words(order, exchange.DIM)
            q, k, v = (x @ each.T for each in (head.q, head.k, head.v))
            if name == "rope":
                turns = [rotation_matrix(m, theta, "interleaved") for m in range(6)]
                q, k = (np.stack([turn @ row for turn, row in zip(turns, each, strict=True)]) for each in (q, k))
            by_hand.append(attended(q[2:3] @ k.T / math.sqrt(exchange.DIM))[0] @ v)
        solid, outline = (panel.marks[k]["y1"].keyframes for k in (0, 2))
        np.testing.assert_allclose(solid, by_hand)
        np.testing.assert_allclose(outline, by_hand[::-1])
        assert (np.abs(np.diff(by_hand, axis=0)) < 1e-12).all() == (name == "nope")
    for stop, tokens in enumerate(orders):
        row = [mark for mark in scene.panels[0].marks if mark["kind"] == "drag_handle"]
        placed = {each["grab_marks"][1]["content"]: each["x"].keyframes[stop, 0] for each in row}
        assert placed == {word: tokens.index(word) for word in ("cat", "mat")}
        assert "16 of" in scene.finding_at({"order": stop, "shift": 0, "beat": 1})


def test_the_moved_sentence_changes_with_added_positions_alone() -> None:
    stops = moving.shifts(1000)
    scene = unwrap(exchange.swapping)(50.0, stops, T).scene
    added, turned = (panel.marks[0]["y1"].keyframes for panel in scene.panels[-2:])
    assert np.abs(turned - turned[0]).max() < 1e-9
    share = np.abs(added[-1] - added[0]).max()
    assert f"by up to {100 * share:.2g} percentage" in scene.finding_at({"order": 0, "shift": stops[-1], "beat": 2})


def test_sentences_that_are_no_reordering_are_refused() -> None:
    assert figures.reordered(*CHINESE) and figures.reordered(*DOGS)
    assert not figures.reordered((), ()) and not figures.reordered(("a", "a", "b"), ("a", "b", "b"))


@pytest.mark.parametrize("lang", list(LANGUAGES))
@pytest.mark.parametrize("name", list(ENCODINGS))
@pytest.mark.parametrize("shift", [0, 137])
def test_score_lines_coincide_where_the_encoding_is_relative(name: str, shift: int, lang: str) -> None:
    t = Words(lang, "encodings")
    drawing = figures.score_lines(name, 300.0, shift, t)
    low, middle = chart(drawing).data[:2]
    left = dict(zip(low.x, low.y, strict=True))
    right = dict(zip(middle.x, middle.y, strict=True))
    apart = max(abs(left[d] - right[d]) for d in set(left) & set(right))
    assert (apart > 0.05) == (name in ABSOLUTE)
    key = "scores_flat" if name == "nope" else "scores_absolute" if name in ABSOLUTE else "scores_relative"
    slots = {"name": t(f"encoding.{name}"), "share": "\0", "residual": "\0"}
    assert drawing.finding.startswith(t(key, **slots).partition("\0")[0])
    assert ("not relative" in figures.score_lines(name, 300.0, shift, T).finding) == (name in ABSOLUTE)


def test_score_map_shows_the_scores_that_its_table_has() -> None:
    drawing = figures.score_map("rope", 70.0, 11, T)
    table = {key: np.asarray(column, dtype=float) for key, column in drawing.table().items()}
    cells = np.asarray(chart(drawing).data[0].z, dtype=float).ravel()
    limit = np.abs(table["score"]).max()
    np.testing.assert_allclose(cells / 127 * limit, table["score"], atol=limit / 127)


SENTENCE = ("the", "dog", "bit", "man")
SWAPPED = ("man", "bit", "the", "dog")
GIVEN = (SENTENCE, SWAPPED), 60.0
HEAD = compare.weights(figures.WIDTH, 60.0)


def swapped_words(t: Words) -> str:
    """Return the finding with the sentence at its end: without positions the output is as it was, to rounding."""
    change = {name: share(name, causal=False) for name in ("nope", "rope")}
    assert change["nope"] < 1e-10
    return t("reordered_finding", nope="0", rope=f"{change['rope']:.2g}")


def masked(t: Words) -> str:
    """Return the same under a causal mask: each token's sum is over those before it and itself."""
    return t("masked_finding", **{name: f"{share(name, causal=True):.0f}" for name in ("nope", "rope")})


def exchanged(t: Words) -> str:
    """Return the finding once the words have changed places: drawn vectors coincide nowhere."""
    return t("exchanged_finding", same=16, differ=16, count=16)


def share(name: str, *, causal: bool) -> float:
    """Return how far the mean output moves from one sentence to the other, in per cent of its size, word by word."""
    ends = []
    for tokens in (SENTENCE, SWAPPED):
        x = compare.words(tokens, figures.WIDTH)
        q, k = x @ HEAD.q.T, x @ HEAD.k.T
        if name == "rope":
            theta = 60.0 ** (-np.arange(0, figures.WIDTH, 2) / figures.WIDTH)
            turns = [rotation_matrix(m, theta, "interleaved") for m in range(4)]
            q, k = (np.stack([turn @ row for turn, row in zip(turns, each, strict=True)]) for each in (q, k))
        seen = [m + 1 if causal else 4 for m in range(4)]
        rows = [np.exp(q[m] @ k[:n].T / np.sqrt(figures.WIDTH)) for m, n in enumerate(seen)]
        ends.append(np.mean([row / row.sum() @ (x[: row.size] @ HEAD.v.T) for row in rows], axis=0))
    return float(100 * np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[0]))


PLAIN = ("sinusoidal", 60.0, 7)
ROWS = [
    Row("encodings", figures.score_map, ("t5", 60.0, 7)),
    Row("encodings", figures.score_lines, PLAIN),
]
FILMS = [
    FilmRow("encodings", exchange.swapping, (60.0, moving.shifts(5)), {"order": 1, "shift": 5, "beat": 1}, exchanged),
    FilmRow("encodings", swapping.reordering, (*GIVEN, False), {"swapped": 1.0}, swapped_words),
    FilmRow("encodings", swapping.reordering, (*GIVEN, True), {"swapped": 1.0}, masked),
    FilmRow("encodings", moving.moving, ((SENTENCE, SWAPPED), 60.0, moving.shifts(5)), {"shift": 5}),
    FilmRow("encodings", additive.rotation, ((0, 5, 64), (0, 7), 30.0), {"delta": 5, "i": 7}),
    FilmRow("encodings", drawn.added, (SENTENCE, 60.0), {}, to_draw),
]
