"""The tasks spectrum and yarn: oracle, known mistakes and stages.

spectrum(dim, base): frequencies float64 (dim/2,), rad/token.
yarn(dim, base, train_len, factor): (frequencies float64 (dim/2,), attention factor), with beta 32 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rope_core.grade.faults import (
    GradingStageError,
    StudentFunctions,
    SubmittedFunctions,
    checked_answer_array,
    compare_with_oracle,
)
from rope_core.hf.types import YARN
from rope_core.rope import Array, Rope
from rope_core.schemes import (
    blended_slowdown,
    interpolation_ramp_by_pair,
    interpolation_ramp_by_turns,
    yarn_attention_factor,
    yarn_ramp_bounds,
)
from rope_core.spectrum import Request, spectrum

LOST_BASE = 10_000.0
NEAR, EXACT = 1e-5, 1e-10
BETA_FAST, BETA_SLOW = 32.0, 1.0


def roformer_frequencies(dim: int, base: float) -> Array:
    """Return the frequencies of RoFormer, float64 (dim/2,)."""
    return Rope(dim, base).theta


SPECTRUM_MISTAKES: SubmittedFunctions = {
    "lost_base": lambda dim, base: roformer_frequencies(dim, LOST_BASE),
    "last_first": lambda dim, base: roformer_frequencies(dim, base)[::-1],
    "half_exponent": lambda dim, base: base ** (-np.arange(dim // 2) / dim),
    "from_one": lambda dim, base: base ** (-2.0 * np.arange(1, dim // 2 + 1) / dim),
    "inverse": lambda dim, base: 1.0 / roformer_frequencies(dim, base),
}


def _drawn(rng: np.random.Generator) -> list[tuple[int, float]]:
    return [(2 * int(rng.integers(8, 65)), float(rng.uniform(2e4, 1e6))) for _ in range(4)]


def check_spectrum_properties(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check that pair 0 turns one radian a token and that all neighbours have one ratio below 1."""
    for dim, base in _drawn(rng):
        values = student.array("spectrum", (dim // 2,), dim, base)
        if not abs(values[0] - 1.0) <= NEAR:
            raise GradingStageError("first", got=f"{values[0]:.6g}")
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = values[1:] / values[:-1]
        if not np.all((ratios < 1.0) & (np.abs(ratios / ratios[0] - 1.0) <= NEAR)):
            raise GradingStageError("ratio", low=f"{ratios.min():.6g}", high=f"{ratios.max():.6g}")


def _compare(student: StudentFunctions, rng: np.random.Generator, tolerance: float) -> None:
    cases = [*_drawn(rng), (64, LOST_BASE)]
    answers = [("spectrum", case, student.array("spectrum", (case[0] // 2,), *case)) for case in cases]
    compare_with_oracle(answers, roformer_frequencies, SPECTRUM_MISTAKES, tolerance, relative=True)


def check_spectrum_values(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Compare with rope_core, to 1e-5 of each frequency."""
    _compare(student, rng, NEAR)


def check_spectrum_precision(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check float64, to 1e-10 of each frequency."""
    dim, base = _drawn(rng)[0]
    _double("spectrum", student.array("spectrum", (dim // 2,), dim, base), roformer_frequencies(dim, base))


def _double(name: str, got: Any, expected: Array) -> None:
    if got.dtype != np.float64:
        raise GradingStageError("dtype", name=name, expected="float64", got=got.dtype.name)
    error = float(np.abs(got / expected - 1.0).max())
    if not error <= EXACT:
        raise GradingStageError("precision", dtype="float64", error=f"{error:.2g}", limit=f"{EXACT:.2g}")


def yarn_frequencies_and_factor(dim: int, base: float, train_len: int, factor: float) -> Array:
    """Return YaRN's frequencies and, last, its attention factor: float64 (dim/2 + 1,)."""
    answer = spectrum(Request(Rope(dim, base, train_len), YARN, {"factor": factor}))
    return np.append(answer.inv_freq, answer.attention_factor)


def _ramped(rope: Rope, divided: Array, factor: float) -> Array:
    return np.append(rope.theta / blended_slowdown(divided, factor), yarn_attention_factor(factor))


def _by_pair(rope: Rope, truncate: bool = True) -> Array:
    return interpolation_ramp_by_pair(rope.pairs, *yarn_ramp_bounds(rope, BETA_FAST, BETA_SLOW, truncate))


def _factor(answer: Array, attention_factor: float) -> Array:
    return np.append(answer[:-1], attention_factor)


YARN_MISTAKES: SubmittedFunctions = {
    "squared_factor": lambda d, b, n, s: _factor(
        yarn_frequencies_and_factor(d, b, n, s), yarn_attention_factor(s) ** 2
    ),
    "no_factor": lambda d, b, n, s: _factor(yarn_frequencies_and_factor(d, b, n, s), 1.0),
    "inverse_factor": lambda d, b, n, s: _factor(
        yarn_frequencies_and_factor(d, b, n, s), 1.0 / yarn_attention_factor(s)
    ),
    "lost_base": lambda d, b, n, s: yarn_frequencies_and_factor(d, LOST_BASE, n, s),
    "last_first": lambda d, b, n, s: np.append(
        yarn_frequencies_and_factor(d, b, n, s)[-2::-1], yarn_attention_factor(s)
    ),
    "ramp_reversed": lambda d, b, n, s: _ramped(Rope(d, b, n), 1.0 - _by_pair(Rope(d, b, n)), s),
    "all_divided": lambda d, b, n, s: _ramped(Rope(d, b, n), np.ones(d // 2), s),
    "unrounded": lambda d, b, n, s: _ramped(Rope(d, b, n), _by_pair(Rope(d, b, n), False), s),
    "over_turns": lambda d, b, n, s: _ramped(
        Rope(d, b, n), interpolation_ramp_by_turns(Rope(d, b, n), BETA_SLOW, BETA_FAST), s
    ),
}


def _yarn(student: StudentFunctions, case: tuple[Any, ...]) -> Any:
    answer = student.call(YARN, *case)
    try:
        inv_freq, factor = answer
    except Exception:
        raise GradingStageError("pair", name=YARN) from None
    values = checked_answer_array(YARN, inv_freq, (case[0] // 2,))
    return np.append(values, checked_answer_array(YARN, factor, ()))


def _extensions(rng: np.random.Generator) -> list[tuple[int, float, int, float]]:
    lengths = [2 ** int(rng.integers(11, 16)) for _ in range(4)]
    return [(dim + 32, base, n, float(rng.uniform(2, 16))) for (dim, base), n in zip(_drawn(rng), lengths, strict=True)]


def check_yarn_properties(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check that factor 1 changes nothing and that each frequency is within theta/factor and theta."""
    for dim, base, n, factor in _extensions(rng):
        theta = roformer_frequencies(dim, base)
        same = _yarn(student, (dim, base, n, 1.0))
        if not np.allclose(same, np.append(theta, 1.0), rtol=NEAR, atol=0):
            raise GradingStageError("factor_one")
        values = _yarn(student, (dim, base, n, factor))[:-1]
        if not np.all((values >= theta / factor * (1 - NEAR)) & (values <= theta * (1 + NEAR))):
            raise GradingStageError("between", factor=f"{factor:.6g}")


def check_yarn_values(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Compare with rope_core at drawn widths, bases, trained lengths and factors."""
    answers = [(YARN, case, _yarn(student, case)) for case in _extensions(rng)]
    compare_with_oracle(answers, yarn_frequencies_and_factor, YARN_MISTAKES, NEAR, relative=True)


def check_yarn_precision(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check float64, to 1e-10 of each frequency and of the factor."""
    case = _extensions(rng)[0]
    _double(YARN, _yarn(student, case), yarn_frequencies_and_factor(*case))
