"""The encodings page's first figures against attention, Toeplitz fits and shifts written out by hand."""

import math
from inspect import unwrap

import numpy as np
import pytest

from rope_core.languages import LANGUAGES
from rope_core.rotation import rotation_matrix
from rope_core.theory.encodings import compare
from rope_core.theory.encodings.compare import ENCODINGS, random_encoding_weights, token_vectors
from tests.support.figures import Row, chart
from tests.support.films import FilmRow, marks_of, to_draw
from ui.figures.encodings import additive, drawn, exchange, moved, swapping, terms
from ui.figures.encodings import scores as figures
from ui.film.scene import text_at
from ui.text.words import PageTexts

T = PageTexts("en", "encodings")
CHINESE = figures.split_tokens("小明喜欢狗但不喜欢猫"), figures.split_tokens("小明不喜欢狗但喜欢猫")
DOGS = figures.split_tokens("the dog chased the cat"), figures.split_tokens("the cat chased the dog")
ABSOLUTE = {"sinusoidal", "learned"}


def attended(scores: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, in plain loops."""
    return np.array([[math.exp(v) / sum(math.exp(u) for u in row) for v in row] for row in scores])


@pytest.mark.parametrize("base", [3.0, 10_000.0])
def test_two_words_that_change_places_change_nothing_without_positions(base: float) -> None:
    """Bars and outlines by plain loops over the six words, at both ends; with RoPE turned by matrices."""
    scene = unwrap(exchange.word_exchange_film)(base, moved.shift_stops(5), T).scene
    head = random_encoding_weights(moved.DIM, base)
    theta = base ** (-np.arange(0, moved.DIM, 2) / moved.DIM)
    orders = ["the", "cat", "sat", "on", "the", "mat"], ["the", "mat", "sat", "on", "the", "cat"]
    for name, panel in zip(("nope", "rope"), scene.panels[2:6:2], strict=True):
        by_hand, shares = [], []
        for order in orders:
            x = token_vectors(order, moved.DIM)
            q, k, v = (x @ each.T for each in (head.q, head.k, head.v))
            if name == "rope":
                turns = [rotation_matrix(m, theta, "interleaved") for m in range(6)]
                q, k = (np.stack([turn @ row for turn, row in zip(turns, each, strict=True)]) for each in (q, k))
            (weights,) = attended(q[2:3] @ k.T / math.sqrt(moved.DIM))
            by_hand.append(weights @ v)
            shares.append(f"{100 * weights[order.index('mat')]:.0f} %")
        solid, outline = (panel.marks[k]["y1"].keyframes for k in (0, 2))
        np.testing.assert_allclose(solid, by_hand)
        np.testing.assert_allclose(outline, by_hand[::-1])
        assert (np.abs(np.diff(by_hand, axis=0)) < 1e-12).all() == (name == "nope")
        for stop, share in enumerate(shares):
            lines = [text_at(mark["content"], {"order": stop}) for mark in marks_of(panel, "text")[-2:]]
            assert share in lines[name == "nope"] and shares[1 - stop] in lines[1]
        written = [text_at(mark["content"], {"order": 0}) for mark in marks_of(panel, "text")]
        least = T("least", least=f"{np.abs(by_hand[0] - by_hand[1]).min():.1g}")
        assert (least in written) == (name == "rope")
    for stop, tokens in enumerate(orders):
        row = [mark for mark in scene.panels[0].marks if mark["kind"] == "drag_handle"]
        for key in marks_of(scene.panels[0], "vector"):
            place = round(key["x"].keyframes[stop, 0])
            assert key["angle"].keyframes[stop, 0] == pytest.approx(math.pi / 2 - place * theta[1])
        placed = {each["grab_marks"][1]["content"]: each["x"].keyframes[stop, 0] for each in row}
        assert placed == {word: tokens.index(word) for word in ("cat", "mat")}
        assert "all of the 16" in scene.finding_at({"order": stop, "shift": 0, "beat": 1})
    moved_weight = f"“mat” has {shares[1]} of the weight at place 1 and {shares[0]} at place 5"
    assert moved_weight in scene.finding_at({"order": 1, "shift": 0, "beat": 1})


def test_the_moved_sentence_changes_with_added_positions_alone() -> None:
    """Bars by plain loops over positions written out: vectors added, or queries and keys turned by matrices."""
    stops, base = moved.shift_stops(40), 50.0
    scene = unwrap(exchange.word_exchange_film)(base, stops, T).scene
    added, turned = (panel for panel in scene.panels[-2:])
    x, head = token_vectors(moved.WORDS, 16), random_encoding_weights(16, base)
    theta = base ** (-np.arange(0, 16, 2) / 16)
    for k, by in enumerate(stops):
        angles = np.outer(np.arange(6) + by, theta)
        summed = x + np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(6, 16)
        turns = [rotation_matrix(m + by, theta, "interleaved") for m in range(6)]
        scores = {
            "added": (summed @ head.q.T)[2] @ (summed @ head.k.T).T,
            "turned": np.array([turns[2] @ head.q @ x[2] @ (turns[n] @ head.k @ x[n]) for n in range(6)]),
        }
        for panel, name in ((added, "added"), (turned, "turned")):
            bars = [mark for mark in panel.marks if mark["kind"] == "rect"][::2]
            heights = [bar["y1"].keyframes[k, 0] for bar in bars]
            np.testing.assert_allclose(heights, attended(scores[name][None] / 4)[0], atol=1e-9)
        text = scene.finding_at({"order": 0, "shift": by, "beat": 2})
        share = f"{100 * attended(scores['added'][None] / 4)[0][4]:.0f} %"
        assert (share in text) == bool(by)


@pytest.mark.parametrize("shift", [0, 3, 1000])
def test_the_four_terms_add_up_and_word_with_word_has_no_position(shift: int) -> None:
    parts, first = terms.score_terms(300.0, shift), terms.score_terms(300.0, 0)
    x, head = token_vectors(moved.WORDS, 16), random_encoding_weights(16, 300.0)
    np.testing.assert_allclose(
        sum(parts.values()), compare.encoding_logits("sinusoidal", x, np.arange(6) + shift, head), atol=1e-12
    )
    film = unwrap(terms.score_terms_film)(300.0, (0, 3, 1000), T)
    for panel, name in zip(film.scene.panels, terms.TERMS, strict=True):
        changed = np.abs(parts[name] - first[name]).max() > 1e-9
        assert changed == (name != "word_word" and shift > 0)
        assert ("✓" in str(panel.paragraphs[0].content)) == (name == "word_word")


def test_the_second_order_term_is_relative_for_a_diagonal_matrix_alone() -> None:
    """Against sums over pairs: with equal entries in each pair, the term is that of the distance."""
    film = unwrap(terms.hessian_term_film)(90.0, T)
    _, picture = film.scene.panels
    cells = picture.marks[0]["cells"].keyframes
    theta = 90.0 ** (-np.arange(16) / 16)
    diagonal = 0.5 + np.random.default_rng(0).random(16)
    by_hand = np.cos(np.subtract.outer(np.arange(40), np.arange(40))[..., None] * theta) @ diagonal
    assert np.corrcoef(cells[0].ravel(), by_hand.ravel())[0, 1] > 0.9999
    spread = [np.ptp(np.diagonal(each.astype(int), -5)) for each in cells]
    assert spread[0] <= 1 and spread[-1] > 20
    assert "misses 0 %" in film.scene.finding_at({"off": 0.0})
    assert "misses 0 %" not in film.scene.finding_at({"off": 0.2})


def test_sentences_that_are_no_reordering_are_refused() -> None:
    assert figures.has_same_tokens(*CHINESE) and figures.has_same_tokens(*DOGS)
    assert not figures.has_same_tokens((), ()) and not figures.has_same_tokens(("a", "a", "b"), ("a", "b", "b"))


@pytest.mark.parametrize("lang", list(LANGUAGES))
@pytest.mark.parametrize("name", list(ENCODINGS))
@pytest.mark.parametrize("shift", [0, 137])
def test_score_lines_coincide_where_the_encoding_is_relative(name: str, shift: int, lang: str) -> None:
    t = PageTexts(lang, "encodings")
    drawing = figures.score_by_offset_chart(name, 300.0, shift, t)
    low, middle = chart(drawing).data[:2]
    left = dict(zip(low.x, low.y, strict=True))
    right = dict(zip(middle.x, middle.y, strict=True))
    apart = max(abs(left[d] - right[d]) for d in set(left) & set(right))
    assert (apart > 0.05) == (name in ABSOLUTE)
    key = "scores_flat" if name == "nope" else "scores_absolute" if name in ABSOLUTE else "scores_relative"
    slots = {"name": t(f"encoding.{name}"), "share": "\0", "residual": "\0"}
    assert drawing.finding.startswith(t(key, **slots).partition("\0")[0])
    assert ("not relative" in figures.score_by_offset_chart(name, 300.0, shift, T).finding) == (name in ABSOLUTE)


def test_score_map_shows_the_scores_that_its_table_has() -> None:
    drawing = figures.score_map_chart("rope", 70.0, 11, T)
    table = {key: np.asarray(column, dtype=float) for key, column in drawing.table().items()}
    cells = np.asarray(chart(drawing).data[0].z, dtype=float).ravel()
    limit = np.abs(table["score"]).max()
    np.testing.assert_allclose(cells / 127 * limit, table["score"], atol=limit / 127)


SENTENCE = ("the", "dog", "bit", "man")
SWAPPED = ("man", "bit", "the", "dog")
GIVEN = (SENTENCE, SWAPPED), 60.0
HEAD = compare.random_encoding_weights(figures.WIDTH, 60.0)


def swapped_words(t: PageTexts) -> str:
    """Return the finding with the sentence at its end: without positions the output is as it was, to rounding."""
    change = {name: share(name, causal=False) for name in ("nope", "rope")}
    assert change["nope"] < 1e-10
    return t("reordered_finding", nope="0", rope=f"{change['rope']:.2g}")


def masked(t: PageTexts) -> str:
    """Return the same under a causal mask: each token's sum is over those before it and itself."""
    return t("masked_finding", **{name: f"{share(name, causal=True):.0f}" for name in ("nope", "rope")})


def share(name: str, *, causal: bool) -> float:
    """Return how far the mean output moves from one sentence to the other, in per cent of its size, word by word."""
    ends = []
    for tokens in (SENTENCE, SWAPPED):
        x = compare.token_vectors(tokens, figures.WIDTH)
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
    Row("encodings", figures.score_map_chart, ("t5", 60.0, 7)),
    Row("encodings", figures.score_by_offset_chart, PLAIN),
]
FILMS = [
    FilmRow(
        "encodings",
        exchange.word_exchange_film,
        (60.0, moved.shift_stops(5)),
        {"order": 1, "shift": 5, "beat": 1},
    ),
    FilmRow("encodings", swapping.sentence_reordering_film, (*GIVEN, False), {"swapped": 1.0}, swapped_words),
    FilmRow("encodings", swapping.sentence_reordering_film, (*GIVEN, True), {"swapped": 1.0}, masked),
    FilmRow("encodings", terms.score_terms_film, (60.0, (0, 2, 7)), {"shift": 2}),
    FilmRow("encodings", terms.hessian_term_film, (60.0,), {"off": 0.1}),
    FilmRow("encodings", additive.sinusoidal_rotation_film, ((0, 5, 64), (0, 7), 30.0), {"delta": 5, "i": 7}),
    FilmRow("encodings", drawn.added_score_sketch, (SENTENCE, 60.0), {}, to_draw),
]
