"""The encodings page's figures."""

import numpy as np

from rope_core.rotation import rotation_matrix
from rope_core.theory.encodings import compare
from tests.support.figures import Row
from tests.support.films import FilmRow, to_draw
from ui.figures.encodings import additive, drawn, scores
from ui.figures.encodings import moving as films
from ui.figures.encodings import swapping as swapped
from ui.text.words import Words

SENTENCE = ("the", "dog", "bit", "man")
SWAPPED = ("man", "bit", "the", "dog")
GIVEN = (SENTENCE, SWAPPED), 60.0
HEAD = compare.weights(scores.WIDTH, 60.0)


def swapping(t: Words) -> str:
    """Return the finding with the sentence at its end: without positions the output is as it was, to rounding."""
    change = {name: share(name, causal=False) for name in ("nope", "rope")}
    assert change["nope"] < 1e-10
    return t("swapping_finding_2", nope="0", rope=f"{change['rope']:.2g}")


def masked(t: Words) -> str:
    """Return the same under a causal mask: each token's sum is over those before it and itself."""
    return t("swapping_causal", **{name: f"{share(name, causal=True):.0f}" for name in ("nope", "rope")})


def share(name: str, *, causal: bool) -> float:
    """Return how far the mean output moves from one sentence to the other, in per cent of its size, word by word."""
    ends = []
    for tokens in (SENTENCE, SWAPPED):
        x = compare.words(tokens, scores.WIDTH)
        q, k = x @ HEAD.q.T, x @ HEAD.k.T
        if name == "rope":
            theta = 60.0 ** (-np.arange(0, scores.WIDTH, 2) / scores.WIDTH)
            turns = [rotation_matrix(m, theta, "interleaved") for m in range(4)]
            q, k = (np.stack([turn @ row for turn, row in zip(turns, each, strict=True)]) for each in (q, k))
        seen = [m + 1 if causal else 4 for m in range(4)]
        rows = [np.exp(q[m] @ k[:n].T / np.sqrt(scores.WIDTH)) for m, n in enumerate(seen)]
        ends.append(np.mean([row / row.sum() @ (x[: row.size] @ HEAD.v.T) for row in rows], axis=0))
    return float(100 * np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[0]))


PLAIN = ("sinusoidal", 60.0, 7)
ROWS = [
    Row("encodings", scores.score_map, ("t5", 60.0, 7)),
    Row("encodings", scores.score_lines, PLAIN),
]
FILMS = [
    FilmRow(
        "encodings",
        swapped.swapping,
        (*GIVEN, False, films.shifts(5)),
        {"swapped": 1.0, "shift": 5, "beat": 2},
        swapping,
    ),
    FilmRow("encodings", swapped.swapping, (*GIVEN, True, ()), {"swapped": 1.0}, masked),
    FilmRow("encodings", films.moving, ((SENTENCE, SWAPPED), 60.0, films.shifts(5)), {"shift": 5}),
    FilmRow("encodings", additive.rotation, ((0, 5, 64), (0, 7), 30.0), {"delta": 5, "i": 7}),
    FilmRow("encodings", drawn.added, (SENTENCE, 60.0), {}, to_draw),
]
