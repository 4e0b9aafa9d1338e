"""The encodings page's figures."""

import numpy as np

from rope_core.rotation import rotation_matrix
from rope_core.theory import encodings, extension
from tests.support.figures import ROPE, Row, extended
from tests.support.films import FilmRow, to_draw
from ui.figures.encodings import additive, digits, drawn, scores
from ui.figures.encodings import moving as films
from ui.figures.encodings import swapping as swapped
from ui.text.words import Words

SENTENCE = ("the", "dog", "bit", "man")
SWAPPED = ("man", "bit", "the", "dog")
HEAD = encodings.weights(scores.WIDTH, 60.0)
STRETCHED = [each for each in extended(1024) if each.scheme in digits.by_factor()]


def order(t: Words) -> str:
    gaps = {name: encodings.order_gap(name, SENTENCE, SWAPPED, HEAD) for name in encodings.ENCODINGS}
    without = gaps.pop("nope")
    least, most = min(gaps, key=gaps.__getitem__), max(gaps, key=gaps.__getitem__)
    names = {"least": t(f"encoding.{least}"), "most": t(f"encoding.{most}")}
    ends = {"low": f"{gaps[least]:.2g}", "high": f"{gaps[most]:.2g}"}
    return t("order_finding", tokens=4, without=f"{without:.1e}", **names, **ends)


def score_map(t: Words) -> str:
    matrix = encodings.score_matrix("t5", np.arange(7, 47), HEAD)
    name = t("encoding.t5")
    return t("map_finding", name=name, low=f"{matrix.min():.3g}", high=f"{matrix.max():.3g}", first=7)


def score_lines(t: Words) -> str:
    where = np.arange(7, 47)
    missed = encodings.relative_residual(encodings.score_matrix("sinusoidal", where, HEAD), where)
    name = t("encoding.sinusoidal")
    return t("scores_absolute", name=name, residual=f"{missed:.1e}", share=f"{100 * missed:.0f}")


def swapping(t: Words) -> str:
    """Return the sentence at its end: every pair of tokens that is the other way round takes one swap."""
    goal = [SWAPPED.index(token) for token in SENTENCE]
    steps = sum(a > b for k, a in enumerate(goal) for b in goal[k + 1 :])
    assert encodings.order_gap("nope", SENTENCE, SWAPPED, HEAD) < 1e-12
    return t(
        "swapping_finding", k=steps, steps=steps, rope=f"{encodings.order_gap('rope', SENTENCE, SWAPPED, HEAD):.2g}"
    )


def masked(t: Words) -> str:
    """Return the same under a causal mask: each token's sum is over those before it and itself."""
    change = {}
    for name, base in (("nope", None), ("rope", 60.0)):
        ends = []
        for tokens in (SENTENCE, SWAPPED):
            x = encodings.words(tokens, scores.WIDTH)
            q, k = x @ HEAD.q.T, x @ HEAD.k.T
            if base:
                theta = base ** (-np.arange(0, scores.WIDTH, 2) / scores.WIDTH)
                turns = [rotation_matrix(m, theta, "interleaved") for m in range(4)]
                q, k = (np.stack([turn @ row for turn, row in zip(turns, each, strict=True)]) for each in (q, k))
            rows = [np.exp(q[m] @ k[: m + 1].T / np.sqrt(scores.WIDTH)) for m in range(4)]
            ends.append(np.mean([row / row.sum() @ (x[: m + 1] @ HEAD.v.T) for m, row in enumerate(rows)], axis=0))
        change[name] = f"{np.abs(ends[1] - ends[0]).max():.2g}"
    return t("swapping_causal", k=5, steps=5, **change)


def moving(t: Words) -> str:
    x, where = encodings.words(SENTENCE, scores.WIDTH), np.arange(4)

    def last(name: str, shift: int) -> np.ndarray:
        row = encodings.logits(name, x, where + shift, HEAD)[-1]
        return np.asarray(np.exp(row) / np.exp(row).sum())

    change = {name: np.abs(last(name, 5) - last(name, 0)).max() for name in ("sinusoidal", "t5", "alibi", "rope")}
    weight = change.pop("sinusoidal")
    assert max(change.values()) < 1e-9 < weight
    relative = t("comma").join(t(f"encoding.{name}") for name in change)
    return t("moving_finding", k=5, relative=relative, weight=f"{weight:.2g}")


def translation(t: Words) -> str:
    x, where = encodings.words(SENTENCE, scores.WIDTH), np.arange(4)
    change = encodings.translation_gap("sinusoidal", x, where, 9, HEAD)

    def last(shift: int) -> np.ndarray:
        row = encodings.logits("sinusoidal", x, where + shift, HEAD)[-1]
        return np.asarray(np.exp(row) / np.exp(row).sum())

    weight = np.abs(last(9) - last(0)).max()
    name = t("encoding.sinusoidal")
    return t("translation_moves", name=name, k=9, change=f"{change:.2g}", weight=f"{weight:.2g}")


def rotation(t: Words) -> str:
    left = encodings.shift_residual(5, np.arange(64), 8, 30.0)
    return t("rotation_finding", delta=5, last=63, residual=f"{left:.1e}", angle=f"{np.degrees(5):.4g}")


def hessian_map(t: Words) -> str:
    vectors = encodings.sinusoidal(np.arange(32), scores.WIDTH, 30.0)
    term = vectors @ encodings.random_hessian(scores.WIDTH, 0.2, 0.1) @ vectors.T
    return t("hessian_map_finding", noise="0.2", gap="0.1", low=f"{term.min():.3g}", high=f"{term.max():.3g}")


def hessian_curve(t: Words) -> str:
    here, diagonal = (additive.hessian_residual(*size, 30.0) for size in ((0.2, 0.1), (0.0, 0.0)))
    return t("hessian_finding", diagonal=f"{diagonal:.1e}", noise="0.2", gap="0.1", here=f"{100 * here:.2g}")


def crossing(t: Words) -> str:
    x, where = encodings.words(SENTENCE, scores.WIDTH), np.arange(4)
    plain = np.eye(scores.WIDTH)

    def terms(shift: int, q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
        return encodings.cross_terms(x, encodings.sinusoidal(where + shift, scores.WIDTH, 60.0), q, k)

    def size(matrix: np.ndarray | int) -> float:
        return float(np.sqrt(np.mean(np.square(matrix))))

    start, bare = terms(0, HEAD.q, HEAD.k), terms(0, plain, plain)
    whole, all_bare = size(sum(start.values())), size(sum(bare.values()))
    moved = [terms(shift, HEAD.q, HEAD.k) for shift in range(1, 65)]
    change = {name: max(size(each[name] - start[name]) for each in moved) / whole for name in start}
    last = "position_position"
    free = max(size(terms(shift, plain, plain)[last] - bare[last]) for shift in range(1, 65)) / all_bare
    return t(
        "crossing_finding",
        share=f"{100 * size(start['word_position'] + start['position_word']) / whole:.0f}",
        cross=f"{100 * max(change['word_position'], change['position_word']):.0f}",
        projected=f"{100 * change[last]:.0f}",
        unprojected=f"{free:.1e}",
    )


def spelled(t: Words) -> str:
    """123,456 in base 7: 1 0 2 2 6 3 4 by hand division."""
    reads, rest = [], 123_456
    while rest:
        rest, digit = divmod(rest, 7)
        reads.append(str(digit))
    return t("digits_finding", number=123_456, beta=7, digits=" ".join(reads[::-1]), back=123_456, difference=0)


def stretched(t: Words) -> str:
    length = extension.reach(ROPE, 4.0)
    beta = 700.0 ** (1 / 8)
    ends = []
    for each in STRETCHED:
        slow = ROPE.theta / each.spectrum.inv_freq
        first, last = (length / 256 / float(slow[k]) for k in (0, -1))
        ends.append(t("stretch_one", scheme=t(f"scheme.{each.scheme}"), first=f"{first:.3g}", last=f"{last:.3g}"))
    base = t("rebased", beta=f"{encodings.changed_base(ROPE, 4.0):.6g}")
    return t("stretch_finding", beta=f"{beta:.6g}", length=f"{length:,}", each=t("semicolon").join(ends), base=base)


def sections(t: Words) -> str:
    mixed = encodings.mrope_axes((24, 20, 20), interleaved=True)
    last = int(np.flatnonzero(mixed == 0).max())
    return t("sections_finding", total=64, counts="24, 20, 20", block=23, turn=last)


def video(t: Words) -> str:
    """Text goes on one past the largest number of the video's axes: 4 + 5."""
    return t("video_finding", patches=30, after=4 + 5, plain=34, final=4 + 5 + 3, tokens=38)


def image(t: Words) -> str:
    where = encodings.grid_positions(8, 8)
    x = encodings.words(["x"] * 64, scores.WIDTH)
    left = encodings.relative_residual(encodings.logits("rope2d", x, where, HEAD), where)
    word = np.ones((1, scores.WIDTH))
    own = encodings.rope_logits(word, word, np.zeros((1, scores.WIDTH // 2)))[0, 0]
    return t("image_finding", row=3, column=9, own=f"{own:.3f}", residual=f"{left:.1e}")


PLAIN = ("sinusoidal", 60.0, 7)
ROWS = [
    Row("encodings", scores.order, ((SENTENCE, SWAPPED), 60.0), {"x": "order_axis"}, order),
    Row("encodings", scores.score_map, ("t5", 60.0, 7), {"x": "key", "y": "query"}, score_map),
    Row("encodings", scores.score_lines, PLAIN, {"x": "difference", "y": "score"}, score_lines),
    Row("encodings", additive.hessian_map, (0.2, 0.1, 30.0), {"x": "n", "y": "m"}, hessian_map),
    Row("encodings", additive.hessian_curve, (0.2, 0.1, 30.0), {"x": "noise_axis", "y": "off_axis"}, hessian_curve),
    Row("encodings", additive.crossing, (SENTENCE, 60.0), {"x": "shift_axis", "y": "change_axis"}, crossing),
    Row("encodings", digits.digits, (123_456, 7), {"x": "digit_axis"}, spelled),
    Row("encodings", digits.stretched, (ROPE, 4.0, STRETCHED), {"x": "axis.pair", "y": "stretch_axis"}, stretched),
    Row("encodings", digits.sections, ((24, 20, 20),), {"x": "axis.pair"}, sections),
    Row("encodings", digits.video, (2, 3, 5), {"x": "token_axis", "y": "position_axis"}, video),
    Row("encodings", digits.image, (3, 9, 60.0), {"x": "column_axis", "y": "row_axis"}, image),
]
FILMS = [
    FilmRow("encodings", swapped.swapping, ((SENTENCE, SWAPPED), 60.0, False), {"swapped": 1.0}, swapping),
    FilmRow("encodings", swapped.swapping, ((SENTENCE, SWAPPED), 60.0, True), {"swapped": 1.0}, masked),
    FilmRow("encodings", films.moving, ((SENTENCE, SWAPPED), 60.0, films.shifts(5)), {"shift": 5}, moving),
    FilmRow("encodings", films.translation, ("sinusoidal", SENTENCE, 60.0, films.far(9)), {"shift": 9}, translation),
    FilmRow("encodings", additive.rotation, ((0, 5, 64), (0, 7), 30.0), {"delta": 5, "i": 7}, rotation),
    FilmRow("encodings", drawn.added, (SENTENCE, 60.0), {}, to_draw),
]
