"""The right choice of every question on the path, found anew in rope_core's numbers."""

from collections.abc import Callable, Mapping
from inspect import unwrap
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.bench import view as timed
from rope_core.hf import survey
from rope_core.lab import faults, records, view
from rope_core.lrpe import demo as lrpe
from rope_core.lrpe.explain import compare_decoding
from rope_core.theory import attention, demo, precision
from rope_core.theory.block.demo import stale_logits
from rope_core.theory.encodings import compare
from rope_core.theory.extension import reached_untrained_angle_mask
from rope_core.theory.position_demo import cached_key_distances_by_mode
from tests.ui.figures.test_every_figure import MODULES
from ui.figures.attention import scores
from ui.figures.benchmark.bars import OURS, timings_by_tokens
from ui.figures.encodings.swapping import sentence_reordering_film
from ui.page import tasks
from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS
from ui.page.tasks import ChoiceQuestion
from ui.text.words import PageTexts

LLAMA = rc.Rope(128, 10_000.0, 4096)
FIRST = "Tom likes dogs but not cats", "Tom likes cats but not dogs"
At = Callable[[str], Any]
"""The page's value of a field, by its name, once the question was answered."""


def only(choices: Mapping[str, bool]) -> str:
    """Return the one choice that holds."""
    (right,) = (letter for letter, holds in choices.items() if holds)
    return right


def both(at: At) -> str:
    """Return b: two words that move on by as much have the same distance, and so the same angle."""
    theta = LLAMA.base ** (-2 * 8 / LLAMA.dim)
    before, after = ((at("position") + shift) * theta - (1 + shift) * theta for shift in (0, 1000))
    return only({"a": bool(after > before + 1e-6), "b": bool(np.isclose(after, before)), "c": False})


def covered(at: At) -> str:
    """Return a: a pair that has gone round 3 times in training reaches no new angle in a longer text."""
    assert at("distance") == 4 and at("beat") == 1, "the hands are in a longer text"
    rope = rc.Rope(2, 10.0, round(3 * 2 * np.pi))
    lengths = np.linspace(1, 4 * rope.train_len, 100)
    new = reached_untrained_angle_mask(rope, rc.spectrum(rc.Request(rope)), lengths)[:, 0]
    return only({"a": not new.any(), "b": bool(new.all()), "c": bool(new[-1] and not new[:-1].any())})


def whole(at: At) -> str:
    """Return c: float32 holds every whole number up to 2**24, and not the next one."""
    assert at("dtype") == "float32" and at("beat") == 1, "the picture is in float32"
    every = {n: int(np.float32(n)) == n and int(np.float32(n + 1)) != n + 1 for n in (65_536, 1_048_576, 16_777_216)}
    return only(dict(zip("abc", every.values(), strict=True)))


def slow(at: At) -> str:
    turns = at("distance") * LLAMA.base ** (2 / LLAMA.dim - 1) / (2 * np.pi)
    assert at("beat") == 2, "all arrows are there from the second beat on"
    return only({"a": turns > 1.5, "b": 0.7 < turns < 1.5, "c": turns < 0.1})


def without(at: At) -> str:
    """Return what a causal mask does to two sentences of the same words: the mean output's change, over its size."""
    head = compare.random_encoding_weights(32, LLAMA.base)

    def read(sentence: str) -> np.ndarray[Any, Any]:
        x = compare.token_vectors(sentence.split(), 32)
        scores = compare.encoding_logits("nope", x, np.arange(len(x)), head)
        weights = np.tril(np.exp(scores - scores.max()))
        return np.asarray((weights / weights.sum(axis=1, keepdims=True) @ x @ head.v.T).mean(axis=0))

    first, second = (read(sentence) for sentence in FIRST)
    share = float(np.linalg.norm(second - first) / np.linalg.norm(first))
    film = unwrap(sentence_reordering_film)(
        tuple(map(tuple, map(str.split, FIRST))), LLAMA.base, True, PageTexts("en", "encodings")
    )
    assert f"by {100 * share:.2g} % of its size without" in film.scene.finding_at(
        {"swapped": film.scene.controls[0].nearest_stop_index(at("swapped"))}
    )
    return only({"a": share < 1e-9, "b": share < 1e-9, "c": 1e-3 < share < 0.5})


def moved(at: At) -> str:
    head, x = (
        compare.random_encoding_weights(16, LLAMA.base),
        compare.token_vectors(["the", "cat", "sat", "on", "the", "mat"], 16),
    )
    assert at("beat") == 2 and at("shift") == 1000
    gap = {
        name: np.ptp(
            [compare.encoding_logits(name, x, np.arange(6) + by, head) for by in (0, at("shift"))], axis=0
        ).max()
        for name in ("sinusoidal", "rope")
    }
    moves = {name: bool(each > 1e-9) for name, each in gap.items()}
    return only(
        {"a": moves["sinusoidal"] and not moves["rope"], "b": all(moves.values()), "c": not any(moves.values())}
    )


def left(at: At) -> str:
    """Return c: the product of the two matrices is that of the distance, and neither of the others."""
    product = rc.rotation_matrix(97, LLAMA.theta, "half").T @ rc.rotation_matrix(100, LLAMA.theta, "half")
    assert at("before") == 6, "both words have moved"
    same = {d: bool(np.allclose(product, rc.rotation_matrix(d, LLAMA.theta, "half"))) for d in (100, 197, 3)}
    return only(dict(zip("abc", same.values(), strict=True)))


def known(at: At) -> str:
    """Return a: with RoPE the two products are one, with an added vector they differ."""
    x, d = np.random.default_rng(0).standard_normal(LLAMA.dim), at("apart")
    assert at("beat") == 3 and d == 4

    def scores(kind: str) -> Any:
        head = compare.random_encoding_weights(LLAMA.dim, LLAMA.base)
        return [compare.encoding_logits(kind, np.stack([x, x]), [n + d, n], head)[0, 1] for n in (0, 1000)]

    same = {kind: bool(np.ptp(scores(kind)) < 1e-9) for kind in ("rope", "sinusoidal")}
    return only({"a": same["rope"], "b": same["sinusoidal"], "c": not any(same.values())})


def first_token(at: At) -> str:
    """Return b: either order's rotation to the position leaves all numbers alone."""
    theta = LLAMA.base ** (-np.arange(4) / 4)
    assert at("beat") == 2 and at("mended") == 0, "the error is there by the distance"
    matrices = [rc.rotation_matrix(0, theta, layout) for layout in ("interleaved", "half")]
    alone = all(np.array_equal(matrix, np.eye(8)) for matrix in matrices)
    return only({"a": not alone, "b": alone, "c": False})


def longer(at: At) -> str:
    """Return a: of the same pairs more have a wavelength within the longer training."""
    assert at("beat") == 1 and at("train_len") == 8192
    waves = 2 * np.pi * LLAMA.base ** (2 * np.arange(64) / 128)
    before, after = (int((waves <= length).sum()) for length in (4096, at("train_len")))
    assert f"{before} pairs finished a turn in 4,096 tokens, {after} do" in PageTexts("en", "frequencies")(
        "ask.longer.why"
    )
    return only({"a": after > before, "b": after == before, "c": after < before})


def middle(at: At) -> str:
    slowed = (at("compared") / LLAMA.base) ** (2 * 32 / LLAMA.dim)
    assert at("beat") == 2
    return only({letter: bool(np.isclose(slowed, times)) for letter, times in zip("abc", (100, 50, 10), strict=True)})


def worst(at: At) -> str:
    """Return the line that reads worst in the record; at the dials' factor it alone brings neighbours together."""
    names = {"a": "linear", "b": "ntk", "c": "yarn"}
    assert at("factor") == 8 and at("beat") == 2
    close = [
        name
        for name in names.values()
        if rc.spectrum(rc.Request(LLAMA, name, {"factor": at("factor")})).inv_freq[0] < 0.5
    ]
    assert close == ["linear"]
    last = {
        cell.line: cell.last.value
        for cell in view.cells_at_length(view.read_cells(records.shipped_record("sweep").results), 2048)
    }
    return max(names, key=lambda letter: last[names[letter]])


def fade(at: At) -> str:
    d = np.arange(1, 4096)
    q, k = scores.query_and_key(at("vectors"), LLAMA.dim, at("draw"), "", "")
    early, late = (
        float(np.sqrt((attention.score_curve(rc.Spectrum.from_inv_freq(LLAMA.theta), part, q, k) ** 2).mean()))
        for part in (d[:50], d[3000:])
    )
    return only({"a": late < 0.5 * early, "b": 0.5 * early < late < 2 * early, "c": late > 2 * early})


def weight(at: At) -> str:
    """Return what becomes of e^s in a sum with as many standard normal scores, whose exponentials are sqrt(e) each."""
    first, last = (np.exp(at("signal")) / (np.exp(at("signal")) + n * np.exp(0.5)) for n in (4096, 262_144))
    return only({"a": 40 < first / last < 80, "b": first / last < 2, "c": False})


def in_view(at: At) -> str:
    """Return b: byte 100 is in view and the fastest pair that does not come round has an angle that it learned."""
    byte, rope = at("byte"), rc.Rope(32, 10_000.0, 256)
    assert byte == 1888 and at("beat") == 1
    pair = int(np.argmax(rope.theta * 2048 < 2 * np.pi))
    learned = {
        key: (byte - 100) * rope.theta[pair] / slower <= 256 * rope.theta[pair]
        for key, slower in (("none", 1), ("yarn", 8))
    }
    return only({"a": learned["none"], "b": learned["yarn"], "c": byte - 100 <= 256})


def turned_in_cache(at: At) -> str:
    """Return b: the score of a later query with a key turned once is that of both turned at their own positions."""
    q, k = demo.random_vectors(LLAMA.dim)
    assert at("beat") == 2, "the cache is there in the second beat"
    key, far = 1, 4 + at("later")
    turn = {each: rc.rotation_matrix(each, LLAMA.theta, "interleaved") for each in (key, far, key + far)}
    meant = float(attention.score_curve(rc.Spectrum.from_inv_freq(LLAMA.theta), [far], q, k)[0])
    keys = {"a": turn[far] @ turn[key] @ k, "b": turn[key] @ k, "c": k}
    return only({choice: abs(float((turn[key + far] @ q) @ each) - meant) < 1e-9 for choice, each in keys.items()})


def counted(at: At) -> str:
    """Return b: places in the row are as far apart as the words, however many fillers come before them."""
    assert at("beat") == 1 and at("fillers") > 0, "fillers stand before the text"
    cat, mat = (at("fillers") + place for place in (1, 5))
    return only({"a": mat == cat, "b": mat - cat == 4, "c": mat - cat == 4 + at("fillers")})


def renumbered(at: At) -> str:
    """Return b: the query alone has another position, and each distance is read too small by what was dropped."""
    assert at("beat") == 3, "the cache is there in the third beat"
    gone, count = at("dropped"), 8
    read = cached_key_distances_by_mode(count, gone)
    apart = set((read["kept"] - read["renumbered"]).tolist())
    return only({"a": False, "b": apart == {gone} and gone > 0, "c": apart == {0}})


def stale(at: At) -> str:
    positions, true, got = stale_logits(LLAMA, at("times"))
    wrong = float(np.abs(true - got).max())
    return only({"a": wrong < 1e-9, "b": False, "c": wrong > 0.1 and len(positions) == len(got)})


def slow_by(at: At) -> str:
    """Return b: at a quarter of the speed the slowest pair ends four contexts where it ended one."""
    llama = next(row for row in survey.survey_rows() if row.model.id == "llama-2-7b")
    length, inv_freq = at("times") * llama.context, float(llama.rope.inv_freq[-1])
    assert at("beat") == 1 and length == 16_384, "the picture is at four contexts"
    ends = {letter: length * inv_freq / by for letter, by in zip("abc", (2, 4, 16), strict=True)}
    return only({letter: bool(np.isclose(end, llama.context * inv_freq)) for letter, end in ends.items()})


def same(at: At) -> str:
    """Return b: the score is the same at every position, and not the true one."""
    s, q, distance = rc.spectrum(rc.Request(LLAMA)), np.full(LLAMA.dim, LLAMA.dim**-0.5), at("distance")
    values = precision.score_under_rounding(s, [0, 1000, at("up_to")], distance, at("stage"), "bfloat16", q, q)
    spread = float(np.ptp(values))
    off = abs(float(values[0] - attention.score_curve(s, [distance], q, q)[0]))
    return only({"a": spread > 1e-3, "b": spread < 1e-6 < off, "c": off < 1e-6})


def on(at: At) -> str:
    """Return b: the sum of keys that each come one place further is the sum, turned by one place."""
    theta, k = LLAMA.theta[[8]], np.random.default_rng(1).standard_normal((6, 2))
    assert at("beat") == 1
    first, then = (sum(rc.rotation_matrix(n + by, theta, "half") @ k[n] for n in range(6)) for by in (0, 1))
    same = {"a": np.allclose(first, then), "b": np.allclose(rc.rotation_matrix(1, theta, "half") @ first, then)}
    assert "18.1" in f"{np.degrees(theta[0]):.3g}"
    return only(same | {"c": bool(np.hypot(*then) > np.hypot(*first) + 1e-9)})


def after(at: At) -> str:
    stages = lrpe.LrpeExample(at("act"), offset=at("offset")).stages
    assert (stages.activated >= 0).all()
    out = stages.out
    return only(
        {"a": bool((out >= 0).all()), "b": bool((out < 0).any() and (out > 0).any()), "c": bool((out < 0).all())}
    )


def together(at: At) -> str:
    cases = {"a": ("relu", None), "b": ("softmax", -1), "c": ("softmax", 1)}
    apart = {
        choice: not compare_decoding(case.x, case.theta, **case.options).same_bits
        for choice, case in ((choice, lrpe.LrpeExample(*each)) for choice, each in cases.items())
    }
    assert cases[only(apart)] == (at("act"), {"head": -1, "sequence": 1}[at("along")])
    return only(apart)


def slowest(at: At) -> str:
    """Return c: as many letters as the slowest frequency goes into the fastest."""
    theta = 10_000.0 ** (-np.arange(16) / 16)
    assert at("still") == 12 and at("beat") == 1, "the slowest stand still in the first picture"
    letters = theta[0] / theta[-1]
    return only(
        {
            each: bool(np.isclose(letters, number, rtol=0.02))
            for each, number in zip("abc", (57, 570, 5600), strict=True)
        }
    )


def slower(at: At) -> str:
    """Return whether the slowest pair turns further from a word to the next than with the factor as published."""
    config = rc.model("gpt-oss-20b").hf_config()
    scaling = dict(config["rope_scaling"]) | {"factor": at("times")}
    slowed, published = (rc.from_hf(each).inv_freq[-1] for each in (config | {"rope_scaling": scaling}, config))
    return "a" if slowed > published else "b" if slowed == pytest.approx(published / 2) else "c"


def gone(at: At) -> str:
    """Return b: the printed formula leaves nothing of an arrow on the axis at 45 degrees."""
    angle = np.radians(at("angle"))
    length = np.hypot(np.cos(angle) * 1.0 - np.sin(angle) * 1.0, np.cos(angle) * 0.0 + np.sin(angle) * 0.0)
    return only({choice: bool(np.isclose(length, size)) for choice, size in zip("abc", (1, 0, 2**0.5), strict=True)})


def batch(at: At) -> str:
    """Return c: the trace with fillers in front, whose prompt alone is right, is what ``rope positions`` finds."""
    name = faults.NAMES[at("fault") - 1]
    trace = faults.fault_traces()[name]
    assert trace.tokens[0] < 0 and not trace.error[: trace.wrong].any() and trace.error[trace.wrong :].all()
    return only({choice: trace.command.startswith(words) for choice, words in zip("abc", BATCH, strict=True)})


BATCH = ("rope verify", "rope check", "rope positions")


def longer_for_many(at: At) -> str:
    """Return b: by the record's own times; one token's is that of the call."""
    assert at("at") == 1, "the picture is that of one token"
    timings = timings_by_tokens(tuple(timed.benchmark_source("intel-xeon").points))
    first, last = (timings[n][OURS].seconds.median for n in (1, 2048))
    why = PageTexts("en", "benchmark")("ask.longer.why")
    assert f"{first * 1e6:.0f} µs" in why and f"{last * 1e3:.2g} ms" in why
    ratios = dict(zip("abc", (2048, 100, 1), strict=True))
    return only({choice: bool(np.isclose(last / first, times, rtol=0.1)) for choice, times in ratios.items()})


FOUND: dict[tuple[str, str], Callable[[At], str]] = {
    ("home", "both"): both,
    ("home", "slow"): slow,
    ("encodings", "without"): without,
    ("encodings", "shifted"): moved,
    ("rotation", "left"): left,
    ("rotation", "known"): known,
    ("layouts", "first_token"): first_token,
    ("frequencies", "longer"): longer,
    ("frequencies", "middle"): middle,
    ("clock", "covered"): covered,
    ("clock", "worst"): worst,
    ("attention", "fade"): fade,
    ("attention", "weight"): weight,
    ("extrapolation", "view"): in_view,
    ("block", "turned"): turned_in_cache,
    ("block", "stale"): stale,
    ("positions", "counted"): counted,
    ("positions", "renumbered"): renumbered,
    ("precision", "whole"): whole,
    ("precision", "same"): same,
    ("lrpe", "on"): on,
    ("lrpe", "after"): after,
    ("lrpe", "together"): together,
    ("inside", "slowest"): slowest,
    ("models", "slow_by"): slow_by,
    ("config", "slower"): slower,
    ("ledger", "gone"): gone,
    ("glossary", "batch"): batch,
    ("benchmark", "longer"): longer_for_many,
    **{(page, name): answer for module in MODULES for (page, name), answer in getattr(module, "ANSWERS", {}).items()},
}
"""Those of pages that came later are in their figures' tests, ANSWERS by page and question."""
VALUES: list[tuple[str, Any]] = [
    (page, task) for page in SECTIONS for task in page_declaration(page).tasks if isinstance(task, ChoiceQuestion)
]


@pytest.mark.parametrize(("page", "question"), VALUES, ids=lambda value: getattr(value, "name", value))
def test_the_right_choice_is_the_one_that_holds_where_the_answer_leads(page: str, question: ChoiceQuestion) -> None:
    """Answer wrongly: the page's picture then shows what is right."""
    values = page_declaration(page).page_values({})
    tasks.take_choice(question, values, next(letter for letter in question.choices if letter != question.right))
    assert not values.notes
    assert FOUND[page, question.name](lambda name: values.get(values.fields[name])) == question.right


def test_no_answer_is_left_of_a_question_that_is_not_there() -> None:
    assert set(FOUND) == {(page, question.name) for page, question in VALUES}
