"""Context extension: each scheme is one vector of slow-downs and one attention factor.

A scheme divides the angle per token of pair i by a dimensionless slow-down: theta'_i = theta_i / slowdown_i.
This is the only file that names a scheme; controls, figures, checks and tests read ``SCHEMES``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rope_core.errors import RuleText, argument_error, checked_finite
from rope_core.rope import Array, Rope, read_only_array

ParamValue = float | bool | tuple[float, ...] | None


@dataclass(frozen=True)
class Param:
    """One keyword of a scheme: its name, default, range and unit.

    ``kind`` is "float", "bool", "optional" (a float, or None for "let the scheme decide") or "vector"
    (one number per pair; a single number is that of every pair).
    """

    name: str
    default: ParamValue
    low: float
    high: float
    unit: str = ""
    kind: str = "float"

    def parse(self, value: object, pairs: int) -> ParamValue:
        """Return ``value`` in the form that the scheme takes, or raise ValueError naming the rule."""
        if self.kind == "bool":
            if not isinstance(value, bool | np.bool_):
                raise argument_error(self.name, "true_or_false", value)
            return bool(value)
        if self.kind == "optional" and value is None:
            return None
        if self.kind == "vector":
            return self._vector(value, pairs)
        return self._number(value)

    def _number(self, value: object) -> float:
        rule = RuleText("number_range", {"low": self.low, "high": self.high})
        number = checked_finite(self.name, value, rule)
        if not self.low <= number <= self.high:
            raise argument_error(self.name, rule, value)
        return number

    def _vector(self, value: object, pairs: int) -> ParamValue:
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            return self._number(value)
        if not isinstance(value, list | tuple | np.ndarray) or len(value) != pairs:
            raise argument_error(self.name, "pair_numbers", value, pairs=pairs, low=self.low, high=self.high)
        return tuple(self._number(item) for item in value)


@dataclass(frozen=True)
class Rescale:
    """What a scheme answers: ``slowdown`` float64 (dim/2,), dimensionless, and ``attention_factor``.

    cos and sin are multiplied by ``attention_factor``; logits therefore get its square.
    """

    slowdown: Array
    attention_factor: float = 1.0


@dataclass(frozen=True)
class Scheme:
    """A named scheme with its declared parameters and its source; ``newer`` is one published after YaRN.

    ``breaks``: keys of rope_core.comparisons' checks that it does not hold at a factor of 8, by its own formula.
    """

    name: str
    params: tuple[Param, ...]
    rescale: Callable[..., Rescale]
    source: str
    follows_length: bool
    newer: bool = False
    breaks: frozenset[str] = frozenset()

    def defaults(self) -> dict[str, ParamValue]:
        """Each parameter's default, by name."""
        return {param.name: param.default for param in self.params}

    def parse(self, values: Mapping[str, object], pairs: int) -> dict[str, ParamValue]:
        """Check ``values`` and fill in defaults; raises ValueError on an unknown name or a bad value."""
        names = [param.name for param in self.params]
        for name in values:
            if name not in names:
                rule = RuleText("one_of", {"names": names}) if names else RuleText("no_params", {"scheme": self.name})
                raise argument_error("params", rule, name)
        return {p.name: p.parse(values.get(p.name, p.default), pairs) for p in self.params}


SCHEMES: dict[str, Scheme] = {}
UNSCALED = "none"


def get_scheme(name: str) -> Scheme:
    """Return the scheme called ``name``, or raise ValueError listing the known names."""
    if not isinstance(name, str) or name not in SCHEMES:
        raise argument_error("scheme", "one_of", name, names=list(SCHEMES))
    return SCHEMES[name]


def register(
    *params: Param,
    source: str,
    follows_length: bool = False,
    newer: bool = False,
    name: str | None = None,
    breaks: str = "",
) -> Callable[[Callable[..., Rescale]], Callable[..., Rescale]]:
    """Enter a function (rope, seq_len, **params) -> Rescale into SCHEMES.

    Raises TypeError when the function's keywords are not the declared Params.
    """

    def enter(function: Callable[..., Rescale]) -> Callable[..., Rescale]:
        key = name or function.__name__
        takes = tuple(inspect.signature(function).parameters)
        declared = ("rope", "seq_len", *(param.name for param in params))
        if takes != declared:
            raise TypeError(f"{key} takes {takes}, its Params declare {declared}")
        SCHEMES[key] = Scheme(key, params, function, source, follows_length, newer, frozenset(breaks.split()))
        return function

    return enter


FACTOR = Param("factor", 4.0, 1.0, 4096.0, "×")
BETA_FAST = Param("beta_fast", 32.0, 0.01, 4096.0, "turns")
BETA_SLOW = Param("beta_slow", 1.0, 0.01, 4096.0, "turns")
ATTENTION = Param("attention_factor", None, 0.0, 16.0, "×", "optional")


def blended_slowdown(interpolated_share: Array, factor: float) -> Array:
    """Slow-down of a pair whose angle is ``interpolated_share`` parts theta/factor and the rest theta.

    >>> blended_slowdown(np.array([0.0, 1.0]), 4.0).tolist()
    [1.0, 4.0]
    """
    return 1.0 / (interpolated_share / factor + (1.0 - interpolated_share))


def interpolation_ramp_by_turns(rope: Rope, low_turns: float, high_turns: float) -> Array:
    """Share of interpolation, falling from 1 at ``low_turns`` to 0 at ``high_turns``; a step where they meet."""
    if high_turns <= low_turns:
        return np.where(rope.turns < low_turns, 1.0, 0.0)
    return 1.0 - np.clip((rope.turns - low_turns) / (high_turns - low_turns), 0.0, 1.0)


def yarn_ramp_bounds(rope: Rope, beta_fast: float, beta_slow: float, truncate: bool) -> tuple[float, float]:
    """Pair indices between which YaRN ramps: the pairs that turn beta_fast and beta_slow times in training.

    ``truncate`` rounds outwards to whole pairs. The upper clamp is dim - 1, not dim/2 - 1, as in the released code.

    Source: https://github.com/jquesnelle/yarn (find_correction_range).
    """
    low, high = rope.pair_at(beta_fast), rope.pair_at(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    return max(low, 0), min(high, rope.dim - 1)


def interpolation_ramp_by_pair(pairs: int, low: float, high: float) -> Array:
    """Share of interpolation, rising from 0 at pair ``low`` to 1 at pair ``high``."""
    if low == high:
        high += 0.001
    return np.clip((np.arange(pairs) - low) / (high - low), 0.0, 1.0)


def yarn_attention_factor(factor: float, weight: float = 1.0) -> float:
    """YaRN's sqrt(1/t) = 0.1 * weight * ln(factor) + 1, which multiplies cos and sin.

    Source: YaRN, arXiv:2309.00071, equation 22; ``weight`` is mscale in DeepSeek's configs.
    """
    return 1.0 if factor <= 1.0 else 0.1 * weight * math.log(factor) + 1.0


@register(source="RoFormer, arXiv:2104.09864", breaks="inside_arc")
def none(rope: Rope, seq_len: int) -> Rescale:
    return Rescale(np.ones(rope.pairs))


@register(FACTOR, source="Position Interpolation, arXiv:2306.15595, equation 4", breaks="resolution")
def linear(rope: Rope, seq_len: int, factor: float) -> Rescale:
    return Rescale(np.full(rope.pairs, factor))


@register(FACTOR, source="NTK-aware scaled RoPE, reddit.com/r/LocalLLaMA/comments/14lz7j5", breaks="inside_arc")
def ntk(rope: Rope, seq_len: int, factor: float) -> Rescale:
    if rope.dim < 4:
        raise argument_error("dim", "two_pairs", rope.dim)
    return Rescale(factor ** (2.0 * np.arange(rope.pairs) / (rope.dim - 2)))


@register(
    FACTOR,
    source="Dynamic NTK, reddit.com/r/LocalLLaMA/comments/14mrgpr",
    follows_length=True,
    breaks="not_overslowed",
)
def dynamic(rope: Rope, seq_len: int, factor: float) -> Rescale:
    # factor * length / train_len - (factor - 1), written so that it is exactly 1 at the trained length.
    beyond = max(seq_len - rope.train_len, 0) / rope.train_len
    return ntk(rope, seq_len, 1.0 + factor * beyond)


@register(FACTOR, BETA_FAST, BETA_SLOW, source="YaRN, arXiv:2309.00071, section 3.2, definition 2")
def ntk_by_parts(rope: Rope, seq_len: int, factor: float, beta_fast: float, beta_slow: float) -> Rescale:
    return Rescale(blended_slowdown(interpolation_ramp_by_turns(rope, beta_slow, beta_fast), factor))


@register(
    FACTOR,
    BETA_FAST,
    BETA_SLOW,
    Param("truncate", True, 0, 1, kind="bool"),
    ATTENTION,
    Param("mscale", None, 0.0, 16.0, kind="optional"),
    Param("mscale_all_dim", None, 0.0, 16.0, kind="optional"),
    source="YaRN, arXiv:2309.00071, definition 3; ramp by pair index as in github.com/jquesnelle/yarn",
)
def yarn(
    rope: Rope,
    seq_len: int,
    factor: float,
    beta_fast: float,
    beta_slow: float,
    truncate: bool,
    attention_factor: float | None,
    mscale: float | None,
    mscale_all_dim: float | None,
) -> Rescale:
    low, high = yarn_ramp_bounds(rope, beta_fast, beta_slow, truncate)
    slowdown = blended_slowdown(interpolation_ramp_by_pair(rope.pairs, low, high), factor)
    if attention_factor is not None:
        return Rescale(slowdown, attention_factor)
    if mscale and mscale_all_dim:
        return Rescale(slowdown, yarn_attention_factor(factor, mscale) / yarn_attention_factor(factor, mscale_all_dim))
    return Rescale(slowdown, yarn_attention_factor(factor))


@register(
    FACTOR,
    Param("low_freq_factor", 1.0, 0.001, 4096.0, "turns"),
    Param("high_freq_factor", 4.0, 0.001, 4096.0, "turns"),
    source="github.com/meta-llama/llama-models, models/llama3/model.py, apply_scaling",
)
def llama3(rope: Rope, seq_len: int, factor: float, low_freq_factor: float, high_freq_factor: float) -> Rescale:
    return Rescale(blended_slowdown(interpolation_ramp_by_turns(rope, low_freq_factor, high_freq_factor), factor))


@register(
    Param("short_factor", 1.0, 0.01, 4096.0, "×", "vector"),
    Param("long_factor", 1.0, 0.01, 4096.0, "×", "vector"),
    Param("factor", None, 0.01, 4096.0, "×", "optional"),
    ATTENTION,
    source="LongRoPE, arXiv:2402.13753; attention factor as in Phi-3's released code",
    follows_length=True,
    breaks="not_faster monotone inside_arc not_overslowed continuity",
)
def longrope(
    rope: Rope,
    seq_len: int,
    short_factor: float | tuple[float, ...],
    long_factor: float | tuple[float, ...],
    factor: float | None,
    attention_factor: float | None,
) -> Rescale:
    searched = long_factor if seq_len > rope.train_len else short_factor
    slowdown = np.broadcast_to(np.asarray(searched, dtype=np.float64), (rope.pairs,)).copy()
    if attention_factor is not None:
        return Rescale(slowdown, attention_factor)
    if factor is None or factor <= 1.0:
        return Rescale(slowdown)
    if rope.train_len < 2:
        raise argument_error("train_len", "longrope_length", rope.train_len)
    return Rescale(slowdown, math.sqrt(1.0 + math.log(factor) / math.log(rope.train_len)))


@register(
    Param("partial_rotary_factor", 0.25, 0.0, 1.0),
    Param("factor", 1.0, 1.0, 1024.0, "×"),
    source="p-RoPE, arXiv:2410.06205; transformers 5.24 modeling_rope_utils.py, Gemma 4: the slowest pairs stand",
    breaks="finite_positive resolution",
)
def proportional(rope: Rope, seq_len: int, partial_rotary_factor: float, factor: float) -> Rescale:
    turning = int(partial_rotary_factor * rope.dim // 2)
    return Rescale(np.where(np.arange(rope.pairs) < turning, factor, np.inf))


@register(
    Param("clipped_share", 0.3125, 0.0, 1.0, "of the pairs"),
    Param("soft", True, 0, 1, kind="bool"),
    source="CoPE and its hard clipping, arXiv:2602.05258; github.com/hrlics/CoPE, modeling_cope.py (20 of 64 pairs)",
    newer=True,
    breaks="finite_positive inside_arc not_overslowed",
)
def cope(rope: Rope, seq_len: int, clipped_share: float, soft: bool) -> Rescale:
    clipped = int(clipped_share * rope.pairs)
    # The authors' file multiplies frequencies, not cos and sin, so half a cosine is one over a slow-down.
    kept = 0.5 * (1.0 + np.cos(np.linspace(0.0, np.pi, clipped))) if soft else np.zeros(clipped)
    with np.errstate(divide="ignore"):
        return Rescale(np.concatenate([np.ones(rope.pairs - clipped), 1.0 / kept]))


@register(
    FACTOR,
    Param("critical_pair", None, 1.0, 4096.0, "", "optional"),
    source="LongRoPE2, arXiv:2502.20082, equations 7 and 10, algorithm 1: the rule without the search",
    newer=True,
)
def longrope2(rope: Rope, seq_len: int, factor: float, critical_pair: float | None) -> Rescale:
    """Return NTK's progression up to the first pair that did not turn in training; from there on the factor."""
    theory = max(1, math.ceil(rope.pair_at(1.0)))
    critical = theory if critical_pair is None else critical_pair
    return Rescale(factor ** np.minimum(np.arange(rope.pairs) / critical, 1.0))


@register(
    FACTOR,
    BETA_FAST,
    BETA_SLOW,
    Param("progressive", True, 0, 1, kind="bool"),
    source="MrRoPE-Pro and -Uni, arXiv:2601.22181, section 3.3; ends rounded and temperature as YaRN's",
    newer=True,
)
def mrrope(rope: Rope, seq_len: int, factor: float, beta_fast: float, beta_slow: float, progressive: bool) -> Rescale:
    low, high = yarn_ramp_bounds(rope, beta_fast, beta_slow, truncate=True)
    width = max(high - low, 1.0)
    steps = np.clip(np.arange(rope.pairs) - low, 0.0, width)
    share = steps * (steps + 1.0) / (width * (width + 1.0)) if progressive else steps / width
    return Rescale(factor**share, yarn_attention_factor(factor))


@register(
    FACTOR,
    Param("period_share", 0.9, 0.01, 1.0),
    source="RIFLEx, arXiv:2502.15894, equation 8; github.com/thu-ml/RIFLEx, riflex_utils.py",
    newer=True,
    breaks="monotone inside_arc",
)
def riflex(rope: Rope, seq_len: int, factor: float, period_share: float) -> Rescale:
    # The authors watch a video repeat itself to find the pair; here it is the one whose turn is nearest to training.
    intrinsic = int(np.argmin(np.abs(np.round(rope.wavelength) - rope.train_len)))
    slowdown = np.ones(rope.pairs)
    slowdown[intrinsic] = rope.turns[intrinsic] * factor / period_share
    return Rescale(slowdown)


@register(
    Param("alpha", 0.0, -16.0, 16.0, "", "vector"),
    source="LeRoPE, transformers 5.24, models/mistral_large4/modeling_mistral_large4.py: theta_i exp(alpha_i)",
    newer=True,
    breaks="not_faster monotone inside_arc",
)
def lerope(rope: Rope, seq_len: int, alpha: float | tuple[float, ...]) -> Rescale:
    learned = np.asarray(alpha, dtype=np.float64)
    return Rescale(np.exp(-np.broadcast_to(learned, (rope.pairs,))))


# One of each kind: all pairs alike, a raised base, a blend by the turns of each pair.
KINDS = ("linear", "ntk", "yarn")


def apply_scheme(rope: Rope, name: str, params: Mapping[str, object], seq_len: int) -> Rescale:
    """Run a scheme on checked parameters and check its answer: slow-downs > 0, one per pair."""
    chosen = get_scheme(name)
    answer = chosen.rescale(rope, seq_len, **chosen.parse(params, rope.pairs))
    slowdown = read_only_array(answer.slowdown)
    if slowdown.shape != (rope.pairs,) or not np.all(slowdown > 0):
        raise argument_error("slowdown", "positive_per_pair", slowdown, pairs=rope.pairs)
    return Rescale(slowdown, float(answer.attention_factor))


__all__ = [
    "KINDS",
    "SCHEMES",
    "UNSCALED",
    "Param",
    "ParamValue",
    "Rescale",
    "Scheme",
    "apply_scheme",
    "blended_slowdown",
    "get_scheme",
    "interpolation_ramp_by_pair",
    "interpolation_ramp_by_turns",
    "register",
    "yarn_attention_factor",
    "yarn_ramp_bounds",
]
