"""The attention page's figures."""

import numpy as np

import rope_core as rc
from rope_core.theory.limits import failures
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow
from ui.figures.attention import decay, expected, limits, scores, softmax, spread
from ui.text.words import Words

PAIRING = scores.vectors("random", 16, 3, "", "")


def failing(t: Words) -> str:
    """Count anew at the base and at 100 times it, and say how far drawn vectors are off."""
    cases = [(base, 256) for base in limits.BASES[::3]] + [(700.0, length) for length in limits.LENGTHS[::3]]
    rows = np.array([limits.measured(ROPE, *case) for case in cases])
    shares: dict[str, str] = {}
    for base, more in ((700.0, ""), (70_000.0, "more_")):
        both = failures(rc.Spectrum.of(rc.Rope(16, base).theta), 256, 8.0, limits.COUNT)
        shares |= {f"{more}{name}": f"{100 * each:.0f}" for name, each in zip(("order", "locality"), both, strict=True)}
    off = np.abs(rows[:, :2] - rows[:, 2:]).max()
    return t("limits_finding", length="256", base="700", off=f"{off:.1f}", signal="8", **shares)


ROWS = [
    Row("attention", scores.base_bound, (ROPE, 100)),
    Row("attention", limits.limits, (ROPE,), failing),
    Row("attention", softmax.softmax, (256, 2.0)),
]


def question(t: Words) -> str:
    return t("expected_ask", base="700", asked="35,000")


AT = decay.distances(70, 400)
AT_70 = {"at": 70, "base": 700, "keys": 1024}
WORDS = spread.lengths(256, None)
FILMS = [
    FilmRow(
        "attention",
        decay.decaying,
        (ROPE, "random", PAIRING, 400, (700.0, 9e3), AT, WORDS, 700.0),
        AT_70 | {"beat": 1},
    ),
    FilmRow(
        "attention",
        decay.decaying,
        (ROPE, "equal", scores.vectors("equal", 16, 0, "", ""), 400, (50.0, 700.0), AT, WORDS, 700.0),
        AT_70 | {"beat": 2},
    ),
    FilmRow("attention", expected.expected, (ROPE,), {}, question),
]
