"""The attention page's figures."""

import math

import numpy as np

import rope_core as rc
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow
from ui.figures.attention import decay, expected, limits, scores, softmax, spread
from ui.text.words import Words

THETA = ROPE.theta


def turned(q: np.ndarray, k: np.ndarray, distance: int) -> float:
    """Return the score of q at ``distance`` and k at 0, by the rotation matrix."""
    return float(rc.rotation_matrix(distance, THETA, "interleaved") @ q @ k)


PAIRING = scores.vectors("random", 16, 3, "", "")


def decaying(t: Words) -> str:
    q, k = PAIRING
    return t("decay_finding", zero=f"{q @ k:.3f}".rstrip("0"), here=f"{turned(q, k, 70):.3f}", at="70")


def decaying_of_one_vector(t: Words) -> str:
    values = np.array([np.mean(np.cos(m * THETA)) for m in range(400)])
    return t("base_equal", base="700", falls=t("falls", m=f"{int(np.argmax(values < 0))}"))


def failing(t: Words) -> str:
    """Count every distance and every pair of distances below the trained length, and the drawn vectors' gap again."""

    def percent(base: float) -> tuple[str, str]:
        theta = base ** (-np.arange(8) / 8)
        k = np.cos(np.arange(256)[:, None] * theta).mean(axis=1)
        near, far = np.triu_indices(256, 1)
        score = 8 * (k[near] - k[far]) / np.sqrt(2 - 2 * k[far - near])
        wrong = [0.5 * math.erfc(each / math.sqrt(2)) for each in score]
        return f"{100 * np.mean(np.arccos(k)) / np.pi:.0f}", f"{100 * np.mean(wrong):.0f}"

    cases = [(base, 256) for base in limits.BASES[::3]] + [(700.0, length) for length in limits.LENGTHS[::3]]
    rows = np.array([limits.measured(ROPE, *case) for case in cases])
    (order, locality), (more_order, more_locality) = percent(700.0), percent(70_000.0)
    return t(
        "limits_finding",
        length="256",
        base="700",
        order=order,
        locality=locality,
        more_order=more_order,
        more_locality=more_locality,
        off=f"{np.abs(rows[:, :2] - rows[:, 2:]).max():.1f}",
        signal="8",
    )


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
        (ROPE, "random", PAIRING, 400, (700.0, 9e3), AT, WORDS),
        AT_70 | {"beat": 1},
        decaying,
    ),
    FilmRow(
        "attention",
        decay.decaying,
        (ROPE, "equal", scores.vectors("equal", 16, 0, "", ""), 400, (50.0, 700.0), AT, WORDS),
        AT_70 | {"beat": 2},
        decaying_of_one_vector,
    ),
    FilmRow("attention", expected.expected, (ROPE,), {}, question),
]
