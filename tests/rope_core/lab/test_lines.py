"""What every line of lines.toml turns a model by, from the papers' formulas written out here."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from rope_core.lab.lines import line, lines, newer
from rope_core.lab.shape import Shape
from rope_core.spectrum import spectrum

PAIRS, BASE, TRAINED = 16, 10_000.0, 256
THETA = [math.pow(BASE, -i / PAIRS) for i in range(PAIRS)]
TURNS = [TRAINED * theta / (2 * math.pi) for theta in THETA]
EDGE = [PAIRS * math.log(TRAINED / (turns * 2 * math.pi)) / math.log(BASE) for turns in (32.0, 1.0)]
FIRST, LAST = max(math.floor(EDGE[0]), 0), math.ceil(EDGE[1])
CLIPPED = 5
"""Of 16 pairs, five sixteenths."""


def ntk(i: int, s: float) -> float:
    return float((BASE * s ** (PAIRS / (PAIRS - 1))) ** (-i / PAIRS))


def mixed(i: int, s: float, low: float, high: float) -> float:
    kept = min(max((TURNS[i] - low) / (high - low), 0.0), 1.0)
    return kept * THETA[i] + (1 - kept) * THETA[i] / s


def yarn(i: int, s: float) -> float:
    share = min(max((i - FIRST) / (LAST - FIRST), 0.0), 1.0)
    return share * THETA[i] / s + (1 - share) * THETA[i]


def cope(i: int, s: float) -> float:
    place = i - (PAIRS - CLIPPED)
    return THETA[i] * (1.0 if place < 0 else (1 + math.cos(math.pi * place / (CLIPPED - 1))) / 2)


def mrrope(i: int, s: float, rising: bool) -> float:
    radices = [
        math.pow(s, 2 * k / ((LAST - FIRST) * (LAST - FIRST + 1)) if rising else 1 / (LAST - FIRST))
        for k in range(1, LAST - FIRST + 1)
    ]
    return THETA[i] / math.prod(radices[: max(i - FIRST, 0)])


def riflex(i: int, s: float) -> float:
    nearest = min(range(PAIRS), key=lambda k: abs(round(2 * math.pi / THETA[k]) - TRAINED))
    return 0.9 * 2 * math.pi / (s * TRAINED) if i == nearest else THETA[i]


def unscaled(i: int, s: float) -> float:
    return THETA[i]


EXPECTED: dict[str, Callable[[int, float], float]] = {
    **dict.fromkeys(("none", "window", "rerope", "self_extend", "dual_chunk"), unscaled),
    "linear": lambda i, s: THETA[i] / s,
    "ntk": ntk,
    "dynamic": ntk,
    "ntk_double": lambda i, s: ntk(i, 2 * s),
    "by_parts": lambda i, s: mixed(i, s, 1.0, 32.0),
    "yarn": yarn,
    "llama3": lambda i, s: mixed(i, s, 1.0, 4.0),
    "cope": cope,
    "hard_clip": lambda i, s: THETA[i] if i < PAIRS - CLIPPED else 0.0,
    "p_rope": lambda i, s: THETA[i] if i < 0.75 * PAIRS else 0.0,
    "longrope2": lambda i, s: THETA[i] / s ** min(i / math.ceil(EDGE[1]), 1.0),
    "mrrope": lambda i, s: mrrope(i, s, rising=True),
    "mrrope_uni": lambda i, s: mrrope(i, s, rising=False),
    "riflex": riflex,
}


@pytest.mark.parametrize("length", [512, 2048])
@pytest.mark.parametrize("key", [each.key for each in (*lines(), *newer())])
def test_a_line_turns_by_its_paper_s_frequencies(key: str, length: int) -> None:
    answer = spectrum(line(key).request(Shape(), length))
    s = length / TRAINED
    np.testing.assert_allclose(answer.inv_freq, [EXPECTED[key](i, s) for i in range(PAIRS)], rtol=1e-12, atol=1e-18)
    warm = key in ("yarn", "mrrope", "mrrope_uni")
    assert answer.attention_factor == pytest.approx(1 + 0.1 * math.log(s) if warm else 1.0, rel=1e-12)


def test_a_line_says_more_than_frequencies_where_it_has_a_window_or_a_rule() -> None:
    written_text = {each.key: (each.sliding, each.rule, dict(each.params)) for each in (*lines(), *newer())}
    assert {key: what for key, what in written_text.items() if any(what[:2])} == {
        "window": (True, "", {}),
        "rerope": (False, "rerope", {}),
        "self_extend": (False, "self_extend", {"group": 16}),
        "dual_chunk": (False, "dual_chunk", {}),
    }
