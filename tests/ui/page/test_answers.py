"""The right choice of every question on the path, found anew in rope_core's numbers."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.lab import records, view
from rope_core.lrpe import demo as lrpe
from rope_core.lrpe.explain import decode_strip
from rope_core.theory import attention, demo, encodings, layout_demo, precision, softmax
from rope_core.theory.block.demo import stale_logits
from ui.page.menu import PATH, SECTIONS, declaration
from ui.page.tasks import Question

LLAMA = rc.Rope(128, 10_000.0, 4096)


def only(choices: Mapping[str, bool]) -> str:
    """Return the one choice that holds."""
    (right,) = (letter for letter, holds in choices.items() if holds)
    return right


def slow() -> str:
    turns = LLAMA.train_len / float(LLAMA.wavelength[-1])
    return only({"a": turns > 1.5, "b": 0.7 < turns < 1.5, "c": turns < 0.1})


def without() -> str:
    """Return what a causal mask does to two sentences of the same words: the mean output's change, over its size."""
    head = encodings.weights(32, LLAMA.base)

    def read(sentence: str) -> np.ndarray[Any, Any]:
        x = encodings.words(sentence.split(), 32)
        scores = encodings.logits("nope", x, np.arange(len(x)), head)
        weights = np.tril(np.exp(scores - scores.max()))
        return np.asarray((weights / weights.sum(axis=1, keepdims=True) @ x @ head.v.T).mean(axis=0))

    first, second = read("Tom likes dogs but not cats"), read("Tom likes cats but not dogs")
    change = float(np.abs(second - first).max() / np.abs(first).max())
    return only({"a": change < 1e-9, "b": change < 1e-9, "c": 1e-3 < change < 0.5})


def moved() -> str:
    head, x = encodings.weights(32, LLAMA.base), encodings.words(["the", "cat", "chased", "the", "dog"], 32)
    added, turned = (
        encodings.translation_gap(name, x, np.arange(5), 5, head) > 1e-9 for name in ("sinusoidal", "rope")
    )
    return only({"a": added and not turned, "b": turned and not added, "c": added and turned})


def opposite() -> str:
    q, k = demo.drawn_vectors(LLAMA.dim)
    shares = demo.shares(q, k, np.arange(4096), LLAMA.theta)
    lowest = shares[:, 0] < 0.99 * shares[:, 0].min()
    scores = shares.sum(axis=1)[lowest]
    return only({"a": bool(scores.max() < shares.sum(axis=1).mean()), "b": bool((scores > 3).any()), "c": False})


def slower() -> str:
    both = layout_demo.two_orders(8, (1, 30), LLAMA.base)
    return only({"a": False, "b": float(both.difference.max()) < 1e-12, "c": float(both.difference.max()) > 1e-3})


def middle() -> str:
    slowed = LLAMA.theta / rc.Rope(LLAMA.dim, 100 * LLAMA.base).theta
    return only(
        {letter: bool(np.isclose(slowed[32], times)) for letter, times in zip("abc", (100, 50, 10), strict=True)}
    )


def worst() -> str:
    cells = view.at(view.cells(records.shipped("sweep").results), 2048)
    last = {cell.line: cell.last.value for cell in cells}
    names = {"a": "linear", "b": "ntk", "c": "yarn"}
    return max(names, key=lambda letter: last[names[letter]])


def fade() -> str:
    d, draws = np.arange(1, 4096), np.random.default_rng(1).standard_normal((20, 2, LLAMA.dim))
    s = rc.Spectrum.of(LLAMA.theta)
    curves = np.array([attention.score_curve(s, d, q, k) for q, k in draws])
    early, late = (float(np.sqrt((curves[:, part] ** 2).mean())) for part in (slice(0, 50), slice(3000, None)))
    return only({"a": late < 0.5 * early, "b": 0.5 * early < late < 2 * early, "c": late > 2 * early})


def weight() -> str:
    weights = softmax.expected_attention([4096, 262_144], 1.0, 4.0)[1]
    fall = float(weights[0] / weights[1])
    return only({"a": 40 < fall < 80, "b": fall < 2, "c": False})


def lost() -> str:
    """Return b: with the same weights and text, other angles read on, so neither memory nor text ends."""
    last = {cell.line: cell.last.value for cell in view.at(view.cells(records.shipped("sweep").results), 2048)}
    return only({"a": last["yarn"] > 10, "b": last["none"] > 5 * last["yarn"], "c": last["window"] > 10})


def turned_in_cache() -> str:
    """Return b: the score of a new query with keys turned once is that of both turned at their own positions."""
    q, k = demo.drawn_vectors(LLAMA.dim)
    turn = {at: rc.rotation_matrix(at, LLAMA.theta, "half") for at in (3, 100, 103)}
    s = rc.Spectrum.of(LLAMA.theta)
    meant = float(attention.score_curve(s, [100], in_pairs(q), in_pairs(k))[0])
    keys = {"a": turn[100] @ turn[3] @ k, "b": turn[3] @ k, "c": k}
    return only({choice: abs(float((turn[103] @ q) @ key) - meant) < 1e-9 for choice, key in keys.items()})


def in_pairs(vector: np.ndarray) -> np.ndarray:
    """Return a vector of the half-split order in the paper's, in which scores over the distance are taken."""
    return np.asarray(vector[rc.convert(vector.size, "half", "interleaved")])


def stale() -> str:
    positions, true, got = stale_logits(LLAMA, 4.0)
    wrong = float(np.abs(true - got).max())
    return only({"a": wrong < 1e-9, "b": False, "c": wrong > 0.1 and len(positions) == len(got)})


def same() -> str:
    """Return b: the score is the same at every position, and not the true one."""
    s, q = rc.spectrum(rc.Request(LLAMA)), np.full(LLAMA.dim, LLAMA.dim**-0.5)
    values = precision.drifting_score(s, [0, 1000, 100_000], 10, "inv_freq", "bfloat16", q, q)
    spread = float(np.ptp(values))
    off = abs(float(values[0] - attention.score_curve(s, [10], q, q)[0]))
    return only({"a": spread > 1e-3, "b": spread < 1e-6 < off, "c": off < 1e-6})


def after() -> str:
    out = lrpe.Case("relu", offset=100).stages.out
    return only(
        {"a": bool((out >= 0).all()), "b": bool((out < 0).any() and (out > 0).any()), "c": bool((out < 0).all())}
    )


def together() -> str:
    cases = {"a": lrpe.Case("relu"), "b": lrpe.Case("softmax", -1), "c": lrpe.Case("softmax", 1)}
    return only({k: not decode_strip(case.x, case.theta, **case.options).same_bits for k, case in cases.items()})


FOUND: dict[tuple[str, str], Callable[[], str]] = {
    ("home", "slow"): slow,
    ("encodings", "without"): without,
    ("encodings", "shifted"): moved,
    ("rotation", "opposite"): opposite,
    ("layouts", "slower"): slower,
    ("frequencies", "middle"): middle,
    ("clock", "worst"): worst,
    ("attention", "fade"): fade,
    ("attention", "weight"): weight,
    ("extrapolation", "lost"): lost,
    ("block", "turned"): turned_in_cache,
    ("block", "stale"): stale,
    ("precision", "same"): same,
    ("lrpe", "after"): after,
    ("lrpe", "together"): together,
}
VALUES: list[tuple[str, Any]] = [
    (page, task) for page in PATH if page in SECTIONS for task in declaration(page).tasks if isinstance(task, Question)
]


@pytest.mark.parametrize(("page", "question"), VALUES, ids=lambda value: getattr(value, "name", value))
def test_the_right_choice_is_the_one_that_holds(page: str, question: Question) -> None:
    assert FOUND[page, question.name]() == question.right


def test_no_answer_is_left_of_a_question_that_is_not_there() -> None:
    assert set(FOUND) == {(page, question.name) for page, question in VALUES}
