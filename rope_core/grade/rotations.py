"""The tasks rotate and convert: oracle, known mistakes and stages.

rotate(x, positions, inv_freq, layout): x (n, dim), positions int64 (n,), inv_freq (dim/2,) rad/token.
check_rotate_backward(grad, positions, inv_freq, layout): the gradient of sum(grad * rotate(x, ...)) with respect to x.
convert(x, source, target): x (n, dim) in the layout ``source``, reordered to ``target``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rope_core.rotation as rotation
from rope_core.grade.faults import GradingStageError, StudentFunctions, SubmittedFunctions, compare_with_oracle
from rope_core.layout import HALF, INTERLEAVED, LAYOUTS, checked_layout
from rope_core.layout import convert as order_of
from rope_core.rope import Array, Rope
from rope_core.spectrum import Spectrum, cos_sin

LOST_BASE = 10_000.0
# Largest error of an element of x ~ N(0, 1): angles in float32 pass, at positions up to 4096 by 4096 * 6e-8 * 8.
NEAR, FAR = 1e-4, 4e-3
MAX_DRAWN = 4096


def rotate_rows(x: Array, positions: Any, inv_freq: Array, layout: str, sign: float = 1.0) -> Array:
    """Return x (n, dim) turned row by row in float64; ``sign`` -1 turns back."""
    cos, sin = cos_sin(Spectrum.from_inv_freq(inv_freq), positions, "float64")
    answer: Array = rotation.rotate(np.asarray(x, np.float64)[:, None, :], cos, sign * sin, layout)[:, 0, :]
    return answer


def _other(layout: str) -> str:
    return (HALF if checked_layout(layout) is INTERLEAVED else INTERLEAVED).name


def _exchanged(x: Array, layout: str) -> Array:
    a, b = checked_layout(layout).split_pairs(x)
    answer: Array = rotation.join_pairs(b, a, layout)
    return answer


def _mixed(x: Array, p: Any, f: Array, layout: str, sign: float) -> Array:
    angle = rotation.repeat_per_pair(np.outer(p, f), _other(layout))
    return np.asarray(x * np.cos(angle) + sign * rotation.quarter_turn_pairs(x, layout) * np.sin(angle))


def known_rotate_mistakes(sign: float = 1.0) -> SubmittedFunctions:
    """Return the known mistakes of rotate by key, each with rotate's arguments; ``sign`` -1 for its backward."""
    return {
        "position_zero": lambda x, p, f, layout: x,
        "transposed" if sign > 0 else "backward_forward": lambda x, p, f, layout: rotate_rows(x, p, f, layout, -sign),
        "swapped_pairs": lambda x, p, f, layout: rotate_rows(x, p, f, _other(layout), sign),
        "swapped_members": lambda x, p, f, layout: _exchanged(rotate_rows(x, p, f, layout, sign), layout),
        "mixed_tables": lambda x, p, f, layout: _mixed(x, p, f, layout, sign),
        "last_first": lambda x, p, f, layout: rotate_rows(x, p, f[::-1], layout, sign),
        "lost_base": lambda x, p, f, layout: rotate_rows(x, p, Rope(2 * f.size, LOST_BASE).theta, layout, sign),
        "first_position": lambda x, p, f, layout: rotate_rows(x, np.full(len(p), p[0]), f, layout, sign),
        "row_number": lambda x, p, f, layout: rotate_rows(x, np.arange(len(p)), f, layout, sign),
    }


def _drawn(rng: np.random.Generator, positions: Any | None = None) -> list[tuple[Any, ...]]:
    """Return arguments of rotate in both layouts: widths 8 to 32, bases that are not 10,000."""
    cases = []
    for layout in LAYOUTS:
        dim = 2 * int(rng.integers(4, 17))
        p = rng.choice(np.arange(1, MAX_DRAWN), 6, replace=False) if positions is None else positions
        theta = Rope(dim, float(rng.uniform(2e4, 1e6))).theta
        cases.append((rng.standard_normal((len(p), dim)), p, theta.copy(), layout))
    return cases


def _compare(student: StudentFunctions, cases: list[tuple[Any, ...]], tolerance: float, sign: float = 1.0) -> None:
    name = "rotate" if sign > 0 else "rotate_backward"
    answers = [(name, case, student.array(name, case[0].shape, *case)) for case in cases]
    compare_with_oracle(
        answers, lambda x, p, f, layout: rotate_rows(x, p, f, layout, sign), known_rotate_mistakes(sign), tolerance
    )


def check_rotate_properties(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check that lengths stay and that a score depends on m - n only; who does not turn at all passes."""
    for q, m, theta, layout in _drawn(rng):
        k, n, shift = rng.standard_normal(q.shape), rng.integers(1, 64, len(m)), int(rng.integers(1, 64))
        q_m, k_n = (student.array("rotate", q.shape, x, p % 64, theta, layout) for x, p in ((q, m), (k, n)))
        before, after = np.linalg.norm(q, axis=-1), np.linalg.norm(q_m, axis=-1)
        if not np.allclose(before, after, rtol=NEAR):
            raise GradingStageError("length", before=f"{before[0]:.6g}", after=f"{after[0]:.6g}", layout=layout)
        q_s, k_s = (student.array("rotate", q.shape, x, p % 64 + shift, theta, layout) for x, p in ((q, m), (k, n)))
        scores, shifted = (q_m * k_n).sum(-1), (q_s * k_s).sum(-1)
        if not np.allclose(scores, shifted, rtol=0, atol=dim_of(q) * NEAR):
            raise GradingStageError(
                "relative", before=f"{scores[0]:.6g}", after=f"{shifted[0]:.6g}", shift=shift, layout=layout
            )


def dim_of(x: Array) -> int:
    """Return the width of x (..., dim)."""
    return int(x.shape[-1])


def check_rotate_values(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Compare with rope_core at positions 0, 1, 2, ..."""
    _compare(student, _drawn(rng, np.arange(6)), NEAR)


def check_rotate_positions(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Compare at drawn positions > 0 in no order."""
    _compare(student, _drawn(rng), FAR)


def check_rotate_backward(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Compare the gradient at drawn positions > 0."""
    _compare(student, _drawn(rng), FAR, -1.0)


def check_rotate_dtype(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check that the dtype stays and that the error is that of one rounding, with angles in float32 or better."""
    for dtype, tolerance in (("float64", 1e-9), ("float32", FAR), ("float16", FAR + 8 * 2.0**-11)):
        for x, p, theta, layout in _drawn(rng):
            given = x.astype(dtype)
            answer = student.array("rotate", x.shape, given, p, theta, layout)
            _same_dtype("rotate", answer, dtype)
            error = float(np.abs(answer.astype(np.float64) - rotate_rows(given, p, theta, layout)).max())
            if not error <= tolerance:
                raise GradingStageError("precision", dtype=dtype, error=f"{error:.2g}", limit=f"{tolerance:.2g}")


def _same_dtype(name: str, answer: Any, dtype: str) -> None:
    if answer.dtype.name != dtype:
        raise GradingStageError("dtype", name=name, expected=dtype, got=answer.dtype.name)


def converted_layout(x: Array, source: str, target: str) -> Array:
    """Return x (..., dim) reordered from one layout to another."""
    return x[..., order_of(dim_of(x), source, target)]


CONVERT_MISTAKES: SubmittedFunctions = {
    "unchanged": lambda x, source, target: x,
    "wrong_way": lambda x, source, target: converted_layout(x, target, source),
    "swapped_members": lambda x, source, target: _exchanged(converted_layout(x, source, target), target),
    "last_first": lambda x, source, target: x[..., ::-1],
}
WAYS = ((INTERLEAVED.name, HALF.name), (HALF.name, INTERLEAVED.name))


def check_convert_properties(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check that there and back is where it began; who changes nothing passes."""
    for (x, *_), (source, target) in zip(_drawn(rng), WAYS, strict=True):
        there = student.array("convert", x.shape, x, source, target)
        if not np.array_equal(student.array("convert", x.shape, there, target, source), x):
            raise GradingStageError("round_trip", source=source, target=target)


def check_convert_values(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Compare with rope_core both ways, and where source and target are one layout."""
    cases = [(x, *way) for (x, *_), way in zip(_drawn(rng), WAYS, strict=True)]
    cases.append((cases[0][0], HALF.name, HALF.name))
    answers = [("convert", case, student.array("convert", case[0].shape, *case)) for case in cases]
    compare_with_oracle(answers, converted_layout, CONVERT_MISTAKES, 0.0)


def check_convert_commutes(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check at positions > 0 that turning and then converting is converting and then turning."""
    for (x, p, theta, _), (source, target) in zip(_drawn(rng), WAYS, strict=True):
        then_turned = rotate_rows(student.array("convert", x.shape, x, source, target), p, theta, target)
        if not np.allclose(
            student.array("convert", x.shape, rotate_rows(x, p, theta, source), source, target), then_turned
        ):
            raise GradingStageError("commute", source=source, target=target)


def check_convert_dtype(student: StudentFunctions, rng: np.random.Generator) -> None:
    """Check that a reordering keeps the dtype."""
    for dtype in ("float16", "float32", "int32"):
        for (x, *_), way in zip(_drawn(rng), WAYS, strict=True):
            given = (8 * x).astype(dtype)
            answer = student.array("convert", x.shape, given, *way)
            _same_dtype("convert", answer, dtype)
            compare_with_oracle([("convert", (given, *way), answer)], converted_layout, CONVERT_MISTAKES, 0.0)
