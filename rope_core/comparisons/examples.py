"""Schemes to look at, as somebody would write them: one to begin with, six with one fault each, named in FAULTS.

They are shown as text, so that each is whole by itself and has no word on what is wrong with it.
"""

# mypy: ignore-errors

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import numpy as np

from rope_core.theory.challenges import PASSED, ChallengeVerdict

if TYPE_CHECKING:
    from rope_core.comparisons.rows import ComparedColumn


def mine(dim, base, train_len, factor):
    i = np.arange(dim // 2)
    theta = base ** (-2 * i / dim)
    low, high = 20, 46
    g = (i - low) / (high - low)
    g = np.minimum(g, 1)
    a = 0.1 * np.log(factor) + 1
    return theta * (1 - g + g / factor), a


def scheme_a(dim, base, train_len, factor):
    theta = base ** (-2 * np.arange(dim // 2) / dim)
    turns = train_len * theta / (2 * np.pi)
    g = np.clip(np.log(turns) / np.log(32), 0, 1)
    return theta * (1 - g + g / factor), 0.1 * np.log(factor) + 1


def scheme_b(dim, base, train_len, factor):
    theta = base ** (-2 * np.arange(dim // 2) / dim)
    turns = train_len * theta / (2 * np.pi)
    g = np.maximum(np.log(32 / turns) / np.log(32), 0)
    return theta * (1 - g + g / factor), 0.1 * np.log(factor) + 1


def scheme_c(dim, base, train_len, factor):
    stretched = base * factor ** (dim / (dim - 2))
    return stretched ** (2 * np.arange(dim // 2) / dim)


def scheme_d(dim, base, train_len, factor):
    i = np.arange(dim // 2)
    theta = base ** (-2 * i / dim)
    return theta / factor ** (1 - i / (dim // 2 - 1))


def scheme_e(dim, base, train_len, factor):
    theta = base ** (-2 * np.arange(dim // 2) / dim)
    turns = train_len * theta / (2 * np.pi)
    g = np.clip(np.log(32 / turns) / np.log(32), 0, 1)
    mscale = 0.1 * np.log(factor) + 1
    return theta * (1 - g + g / factor), mscale * mscale


def scheme_f(dim, base, train_len, factor):
    theta = base ** (-2 * np.arange(dim // 2) / dim)
    return np.append(theta[0], theta[1:] / 1000)


EXAMPLES = {each.__name__: each for each in (mine, scheme_a, scheme_b, scheme_c, scheme_d, scheme_e, scheme_f)}
FAULTS = {
    "scheme_a": "ramp_upside_down",
    "scheme_b": "missing_clamp",
    "scheme_c": "base_for_inverse",
    "scheme_d": "factor_on_fast_end",
    "scheme_e": "mscale_twice",
    "scheme_f": "more_than_needed",
}
"""What is wrong with each exercise."""


def code(name: str) -> str:
    """Return an example as Python text."""
    return f"import numpy as np\n\n\n{inspect.getsource(EXAMPLES[name])}"


def check_fault(name: str, mine: ComparedColumn, fault: str, pair: int) -> ChallengeVerdict:
    """Return the verdict on an exercise: the fault by its name in FAULTS, and a pair where a check does not hold.

    Args:
        name: of the exercise; another text is none of them.
        mine: its column, compared (`rope_core.comparisons.compare.ComparedColumn`).
        fault, pair: what the reader says.
    """
    if name not in FAULTS:
        return ChallengeVerdict("none")
    least = mine.least
    if fault != FAULTS[name]:
        return ChallengeVerdict("fault", {"pair": least.pair or 0})
    shown = {k for row in mine.broken for k, margin in enumerate(row.by_pair) if margin < 0 and len(row.by_pair) > 1}
    shown |= {row.pair for row in mine.broken if row.pair is not None}
    # What multiplies every pair shows at each of them.
    passed = pair in shown if shown else 0 <= pair < mine.inv_freq.size
    return ChallengeVerdict(PASSED if passed else "pair", {"pair": pair})
