"""How far each check is from breaking, pair by pair, in bits: log2 of a ratio, below 0 where the check does not hold.

Frequencies f and theta (pairs,) in rad/token, with and without the scheme; lengths in tokens. numpy alone, whose
warnings the caller silences: a pair of 0 or of no number is what these are for.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MOST = 64.0
ROUNDING = 1e-6
SINGLE = 2.0**-24
"""The unit round-off of float32."""


def bits(ratio: npt.ArrayLike) -> Array:
    """Return log2 of a ratio within [-MOST, MOST]; -MOST for what is negative, 0 or no number."""
    answer = np.log2(np.asarray(ratio, dtype=np.float64) * (1.0 + ROUNDING))
    return np.asarray(np.clip(np.nan_to_num(answer, nan=-MOST, posinf=MOST, neginf=-MOST), -MOST, MOST))


def slowdown(f: Array, theta: Array) -> Array:
    """Return theta / f; infinite for a pair of 0."""
    return np.asarray(theta / f)


def finite_positive(f: Array) -> Array:
    """Return the margins of 0 < f < infinity: 1 or -MOST."""
    return np.where(np.isfinite(f) & (f > 0), 1.0, -MOST)


def not_faster(f: Array, theta: Array) -> Array:
    """Return the margins of theta / f >= 1."""
    return bits(slowdown(f, theta))


def monotone(f: Array, theta: Array) -> Array:
    """Return the margins of a slow-down at least that of every faster pair."""
    s = np.where(f > 0, slowdown(f, theta), 0.0)
    return bits(s / np.maximum.accumulate(np.concatenate([s[:1], s[:-1]])))


def inside_arc(f: Array, theta: Array, trained: float, length: float) -> Array:
    """Return the margins of the share of its circle that training covered over the one that the target uses."""
    covered, used = trained * theta / (2 * np.pi), length * np.abs(f) / (2 * np.pi)
    return bits(covered / np.minimum(used, 1.0))


def not_overslowed(f: Array, theta: Array, needed: float) -> Array:
    """Return the margins of theta / f <= needed, the ratio of the target length to the trained one."""
    return bits(needed / slowdown(f, theta))


def agreement(f: Array, distance: float) -> float:
    """Return the mean of cos(f * distance): the score of equal vectors so far apart, over that at 0.

    What is no number is a still pair.
    """
    return float(np.mean(np.cos(np.where(np.isfinite(f), f, 0.0) * distance)))


def neighbour_contrast_margin(f: Array, theta: Array, allowed: float) -> Array:
    """Return the margin by which neighbours differ in score by 1/allowed of training's difference: (1,)."""
    return bits([allowed * (1.0 - agreement(f, 1)) / (1.0 - agreement(theta, 1))])


def attention_factor(a: float, expected: npt.ArrayLike, tolerance: float) -> Array:
    """Return the margin of the factor on cos and sin to the nearest that a source gives: (1,)."""
    apart = np.abs(np.log2(np.asarray(expected, dtype=np.float64) / a)).min()
    return np.asarray([np.clip(np.nan_to_num(np.log2(1.0 + tolerance) - apart, nan=-MOST, neginf=-MOST), -MOST, MOST)])


def lengths(train_len: int, length: int) -> list[int]:
    """Return the lengths that every check needs: 1, half the trained length, that, one token more, and the target."""
    return sorted({1, max(train_len // 2, 1), train_len, train_len + 1, length})


def continuity(
    at: Callable[[int], tuple[Array, float]], train_len: int, tolerance: float, steady: bool
) -> dict[int, Array]:
    """Return by length, from 1 to one token past the trained one, the margins of a change by at most the tolerance.

    Up to the trained length a pair need only turn forwards, unless it is ``steady`` and has to be the same.
    """
    f, by_length = at(train_len)[0], {}
    for n in lengths(train_len, train_len + 1):
        other = at(n)[0]
        apart = np.where(f == other, 0.0, np.abs(bits(other / np.where(f == 0, 1.0, f))))
        free = (n < train_len) & (not steady) & np.isfinite(other) & (other > 0)
        by_length[n] = np.where(free, MOST, np.log2(1.0 + tolerance) - apart)
    return by_length


def like(f: Array, wanted: Array, tolerance: float) -> Array:
    """Return the margins of a frequency that is the wanted one to a relative tolerance; -MOST where it turns back."""
    apart = np.nan_to_num(np.abs(np.log2(f / wanted)), nan=MOST, posinf=MOST)
    return np.asarray(np.maximum(np.log2(1.0 + tolerance) - np.where(f == wanted, 0.0, apart), -MOST))


def unit(f: Array) -> float:
    """Return the unit round-off of the coarsest type that holds all of f: bfloat16, float16, else a model's float32."""
    single = np.asarray(f, dtype=np.float32)
    if not np.array_equal(single, f):
        return SINGLE
    if not np.any(single.view(np.uint32) & 0xFFFF):
        return 2.0**-8
    return 2.0**-11 if np.array_equal(np.asarray(f, dtype=np.float16), single) else SINGLE


def angle_error(f: Array, length: float) -> Array:
    """Return by how much each pair's angle at a length may err, rad: round-off of f, then of the product in float32.

    So transformers computes it, with the position exact. A power of two has no round-off.
    """
    rounded = np.abs(np.frexp(f)[0]) != 0.5
    return np.asarray(length * np.abs(f) * (unit(f) + SINGLE) * rounded)


def float32(f: Array, length: float, allowed: float) -> Array:
    """Return the margins of an angle at the target that errs by at most ``allowed`` rad, in a model's float32."""
    return bits(allowed / angle_error(f, length))


def every(
    at: Callable[[int], tuple[Array, float]],
    geometry: tuple[int, float, int, float, int],
    trained: float,
    expected: Sequence[float],
    allowed: Mapping[str, float],
    wanted: Array | None = None,
    steady: bool = False,
) -> dict[str, Array]:
    """Return the margins of every check, by key: (pairs,), or (1,) for what is no pair's.

    A pair that does not turn forwards is finite_positive's alone.

    Args:
        at: length -> frequencies (pairs,) and attention factor.
        geometry: dim, base, trained length, factor and target length.
        trained: tokens that training covered, further training included.
        expected: the attention factors that sources give; none leaves the check out.
        allowed: the threshold of each check.
        wanted: the frequencies of the scheme that they are held to; None leaves the check out.
        steady: whether they are to be the same at every length up to the trained one.
    """
    dim, base, train_len, factor, length = geometry
    f, a = at(length)
    theta, needed = base ** (-np.arange(0, dim, 2) / dim), max(length / train_len, factor)
    answer = {
        "finite_positive": finite_positive(f),
        "not_faster": not_faster(f, theta) + np.log2(allowed["not_faster"]),
        "monotone": monotone(f, theta) + np.log2(allowed["monotone"]),
        "inside_arc": inside_arc(f, theta, trained, length) + np.log2(allowed["inside_arc"]),
        "not_overslowed": not_overslowed(f, theta, needed) + np.log2(allowed["not_overslowed"]),
        "resolution": neighbour_contrast_margin(f, theta, allowed["resolution"]),
        "continuity": np.min([*continuity(at, train_len, allowed["continuity"], steady).values()], axis=0),
        "float32": float32(f, length, allowed["float32"]),
    }
    turns = np.isfinite(f) & (f > 0)
    for key in ("not_faster", "monotone", "inside_arc", "not_overslowed", "continuity", "float32"):
        answer[key] = np.where(turns, answer[key], MOST)
    if wanted is not None:
        answer["like"] = like(f, wanted, allowed["like"])
    if expected:
        answer["attention_factor"] = attention_factor(a, expected, allowed["attention_factor"])
    return answer
