"""A config pair by pair: which pairs a scheme keeps, its ramp, cached keys left behind, multimodal axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope
from rope_core.rope import MAX_LEN, Array
from rope_core.schemes import SCHEMES, yarn_ramp_bounds
from rope_core.spectrum import Request, spectrum

KEPT, BLENDED, DIVIDED, OWN, STILL = REGIONS = ("kept", "blended", "divided", "own", "still")
AXES = ("t", "h", "w")
# model_type prefixes whose code deals pairs out t, h, w, t, h, w in turn; the rest cuts them into runs.
DEALT = ("qwen3", "qwen4", "cosmos3", "cohere_compass")
SAME = 1e-9


def pair_effects(rope: HfRope) -> tuple[str, ...]:
    """Return what becomes of each pair, (rotary_dim/2,): one of REGIONS.

    "kept" turns as without a scheme, "divided" by the whole factor, "blended" by something between; "own" has a number
    of its own from a searched list; "still" does not turn.
    """
    return (STILL,) * rope.inv_freq.size if rope.nope else request_pair_effects(rope.request)


def request_pair_effects(request: Request) -> tuple[str, ...]:
    """Return what becomes of each pair under a request, (dim/2,), in the words of `pair_effects`.

    >>> from rope_core.rope import Rope
    >>> request_pair_effects(Request(Rope(6), "ntk", {"factor": 2.0}))
    ('kept', 'blended', 'divided')
    """
    slowdown = spectrum(request).slowdown
    scheme = SCHEMES[request.scheme]
    searched = any(param.kind == "vector" for param in scheme.params)
    given = None if scheme.follows_length else request.params.get("factor")
    # Where the length asks for the factor, it is what the slowest pair gets.
    most = float(given) if isinstance(given, int | float) else float(slowdown[np.isfinite(slowdown)].max(initial=1.0))
    return tuple(slowdown_region(value, most, searched) for value in slowdown.tolist())


def slowdown_region(slowdown: float, most: float, searched: bool) -> str:
    """Return what a slow-down does to its pair, ``most`` being the whole factor."""
    if not np.isfinite(slowdown):
        return STILL
    if abs(slowdown - 1.0) <= SAME:
        return KEPT
    if searched:
        return OWN
    return DIVIDED if slowdown >= most * (1.0 - SAME) else BLENDED


def equal_runs(labels: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return each run of equal names as (name, first, last).

    >>> equal_runs(("a", "a", "b"))
    [('a', 0, 1), ('b', 2, 2)]
    """
    starts = [k for k, name in enumerate(labels) if k == 0 or labels[k - 1] != name]
    ends = [*starts[1:], len(labels)]
    return [(labels[first], first, past - 1) for first, past in zip(starts, ends, strict=True)]


@dataclass(frozen=True)
class RampBounds:
    """Between which pairs a scheme blends.

    Attributes:
        fast, slow: turns within the trained length at its two ends.
        exact: the fractional pairs that turn so often.
        rounded: the pairs after rounding outwards, or None for a scheme that has no such choice.
        rounds: whether the config in force rounds.
    """

    fast: float
    slow: float
    exact: tuple[float, float]
    rounded: tuple[float, float] | None
    rounds: bool


def ramp_bounds(rope: HfRope) -> RampBounds | None:
    """Return where the scheme blends, or None for a scheme that declares no two numbers of turns."""
    ends = [param.name for param in SCHEMES[rope.scheme].params if param.unit == "turns"]
    if len(ends) != 2 or rope.nope:
        return None
    fast, slow = sorted((float(rope.params[name] or 0.0) for name in ends), reverse=True)  # type: ignore[arg-type]
    of = rope.request.rope
    exact = of.pair_at(fast), of.pair_at(slow)
    if "truncate" not in rope.params:
        return RampBounds(fast, slow, exact, None, False)
    return RampBounds(fast, slow, exact, yarn_ramp_bounds(of, fast, slow, True), bool(rope.params["truncate"]))


def is_length_dependent(rope: HfRope) -> bool:
    """Whether the frequencies depend on the length in use."""
    return SCHEMES[rope.scheme].follows_length and not rope.nope


def inv_freq_at_length(request: Request, length: int) -> Array:
    """Frequencies at a length in use, rad/token (dim/2,); the longest length counts for longer ones."""
    return spectrum(replace(request, seq_len=min(length, MAX_LEN))).inv_freq


def cached_key_angle_error(request: Request, length: int, positions: npt.ArrayLike) -> Array:
    """Return how far cached keys are off their angle once ``length`` tokens are in use, rad, float64 (n, dim/2).

    The key of position p was turned by the frequencies of length p + 1, when it was cached; the query of the last
    token is turned by those of ``length``. The drift is p times the difference.

    Args:
        request: what spectrum() takes.
        length: tokens in use.
        positions: integers in [0, length), (n,).

    Raises:
        ValueError: on a length or a position outside its range.
    """
    last = checked_int("length", length, 1, MAX_LEN)
    where = np.asarray(positions)
    if where.ndim != 1 or not where.size or where.dtype.kind not in "iu" or where.min() < 0 or where.max() >= last:
        raise argument_error("positions", f"a non-empty vector of integers in [0, {last})", positions)
    current = inv_freq_at_length(request, last)
    cached = np.stack([inv_freq_at_length(request, p + 1) for p in where.tolist()])
    return np.asarray(np.abs(cached - current) * where[:, None].astype(np.float64))


def multimodal_pair_axes(mrope_section: Sequence[int], model_type: str | None) -> tuple[str, ...]:
    """Return the axis of positions that each pair follows in a multimodal model, (sum of section,).

    Args:
        section: pairs per axis.
        model_type: transformers' name of the text part, whose code decides the order.

    Source: apply_interleaved_mrope (Qwen3-VL), apply_multimodal_rotary_pos_emb (Qwen2-VL) and
    recomposition_frequencies (Ernie 4.5 VL) in transformers 5.24.

    >>> multimodal_pair_axes((2, 1, 1), "qwen2_vl"), multimodal_pair_axes((2, 1, 1), "qwen3_vl_text")
    (('t', 't', 'h', 'w'), ('t', 'h', 'w', 't'))
    """
    total, kind = sum(mrope_section), model_type or ""
    if kind.startswith(DEALT) and len(mrope_section) == 3:
        return tuple(AXES[i % 3] if i % 3 > 0 and i < 3 * mrope_section[i % 3] else AXES[0] for i in range(total))
    if kind.startswith("ernie") and len(mrope_section) == 3:
        both = mrope_section[0] + mrope_section[1]
        return tuple(AXES[1 + i % 2] if i < both else AXES[0] for i in range(total))
    names = AXES if len(mrope_section) == 3 else tuple(str(k) for k in range(len(mrope_section)))
    return tuple(name for name, count in zip(names, mrope_section, strict=True) for _ in range(count))


def interpolation_share(request: Request) -> Array:
    """Return how much of each pair's frequency is divided, 0 (kept) to 1 (divided by the whole factor), (dim/2,).

    Raises ValueError for a scheme without a factor above 1.
    """
    factor = request.params.get("factor")
    if not isinstance(factor, int | float) or factor <= 1.0:
        raise argument_error("factor", "a number > 1", factor)
    return np.asarray((1.0 - 1.0 / spectrum(request).slowdown) / (1.0 - 1.0 / factor))


def with_ramp_rounding(request: Request, rounds: bool) -> Request:
    """Return the same request with its ramp rounded to whole pairs, or not."""
    return replace(request, params={**request.params, "truncate": rounds})


def layer_count(config: object) -> int:
    """Return the number of layers of a config's text model; 0 where neither config nor class says.

    Raises ConfigError when the config cannot be read.
    """
    return resolve(config).text.fields.layer_count()


__all__ = [
    "AXES",
    "REGIONS",
    "RampBounds",
    "cached_key_angle_error",
    "equal_runs",
    "interpolation_share",
    "inv_freq_at_length",
    "is_length_dependent",
    "layer_count",
    "multimodal_pair_axes",
    "pair_effects",
    "ramp_bounds",
    "with_ramp_rounding",
]
