"""Each scaling type's own parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rope_core.checks.case import LayerContext
from rope_core.checks.rules.lengths import yarn_ramp_pairs
from rope_core.findings import Finding, make_finding, max_relative_difference
from rope_core.hf.types import DYNAMIC, LLAMA3, LONGROPE, PROPORTIONAL, STATIC_NTK, YARN
from rope_core.rope import MAX_LEN
from rope_core.spectrum import spectrum


def find_yarn_beta_faults(case: LayerContext) -> Iterator[Finding]:
    """beta_fast below beta_slow, a zero that means the default, or a ramp of less than two pairs."""
    if case.rope.rope_type != YARN:
        return
    for name in ("beta_fast", "beta_slow"):
        origin = case.rope.provenance[name]
        if "zero_is_default" in origin.traps:
            yield make_finding("zero_is_default", origin.path, key=name, used=case.rope.params[name])
    fast, slow = case.scheme_parameter("beta_fast"), case.scheme_parameter("beta_slow")
    low, high = yarn_ramp_pairs(case.rope.request)
    if fast < slow:
        yield make_finding("betas_swapped", case.rope_key_path("beta_fast"), fast=fast, slow=slow, low=low, high=high)
    elif high - low < 2:
        usual = replace(case.rope.request, params={**case.rope.request.params, "beta_fast": 32.0, "beta_slow": 1.0})
        worst = 100.0 * max_relative_difference(case.rope.inv_freq, spectrum(usual).inv_freq)
        yield make_finding(
            "ramp_is_a_step",
            case.rope_key_path("beta_fast"),
            fast=fast,
            slow=slow,
            low=low,
            high=high,
            usual=yarn_ramp_pairs(usual),
            worst=worst,
        )


def find_yarn_rounding_effect(case: LayerContext) -> Iterator[Finding]:
    """Report what rounding the ramp to whole pairs changes, where the config rules it out, or is not read."""
    if case.rope.rope_type != YARN:
        return
    exact = replace(case.rope.request, params={**case.rope.request.params, "truncate": False})
    rounded = replace(case.rope.request, params={**case.rope.request.params, "truncate": True})
    difference = 100.0 * np.abs(spectrum(rounded).inv_freq / spectrum(exact).inv_freq - 1.0)
    values = {
        "exact": yarn_ramp_pairs(exact),
        "rounded": yarn_ramp_pairs(rounded),
        "worst": float(difference.max()),
        "pair": int(difference.argmax()),
    }
    origin = case.rope.provenance["truncate"]
    if "nested_truncate_not_read" in origin.traps and origin.values.get("given") is False:
        yield make_finding("nested_truncate_not_read", origin.path, **values)
    elif case.rope.params["truncate"] is False:
        yield make_finding("truncate_off", origin.path, **values)


def find_llama3_band_faults(case: LayerContext) -> Iterator[Finding]:
    """high_freq_factor not above low_freq_factor: no blended pairs."""
    if case.rope.rope_type != LLAMA3:
        return
    low, high = case.scheme_parameter("low_freq_factor"), case.scheme_parameter("high_freq_factor")
    if high <= low:
        kept = int(np.sum(case.rope.inv_freq == case.rope.unscaled))
        yield make_finding(
            "llama3_no_blend" if high == low else "llama3_swapped",
            case.rope_key_path("high_freq_factor"),
            low=low,
            high=high,
            kept=kept,
            divided=case.rope.inv_freq.size - kept,
        )


def find_longrope_switch(case: LayerContext) -> Iterator[Finding]:
    """Report the length at which all pairs change at once."""
    if case.rope.rope_type != LONGROPE:
        return
    train = case.rope.train_len
    if "long_factor_never_used" in case.rope.provenance["long_factor"].traps:
        yield make_finding("long_factor_never_used", case.rope_key_path("long_factor"), train=train)
        return
    short, long = spectrum(replace(case.rope.request, seq_len=1)), case.rope.request
    after = spectrum(replace(long, seq_len=min(train + 1, MAX_LEN)))
    if np.array_equal(short.inv_freq, after.inv_freq):
        return
    yield make_finding(
        "longrope_switches",
        case.rope_key_path("long_factor"),
        train=train,
        past=train + 1,
        worst=100.0 * max_relative_difference(after.inv_freq, short.inv_freq),
        attention=case.rope.attention_factor,
    )


def find_length_dependent_frequencies(case: LayerContext) -> Iterator[Finding]:
    """Past the trained length the base grows with every token; cached keys keep the old one."""
    if case.rope.rope_type != DYNAMIC or case.rope.scheme == STATIC_NTK or case.scheme_parameter("factor") <= 1:
        return
    train = case.rope.train_len
    twice = min(2 * train, MAX_LEN)
    moved = spectrum(replace(case.rope.request, seq_len=twice)).inv_freq
    start = spectrum(replace(case.rope.request, seq_len=None)).inv_freq
    drift = np.abs(start - moved) * train
    yield make_finding(
        "dynamic_follows_length",
        case.rope_key_path("factor"),
        train=train,
        twice=twice,
        worst=100.0 * max_relative_difference(moved, start),
        drift=float(drift.max()),
        pair=int(drift.argmax()),
    )


def find_proportional_rotation(case: LayerContext) -> Iterator[Finding]:
    """Gemma 4's partial rotation: denominators of the whole head, pairs across the whole head."""
    if case.rope.rope_type != PROPORTIONAL:
        return
    turning = int(np.count_nonzero(case.rope.inv_freq))
    yield make_finding(
        "proportional_pairs",
        case.rope_key_path("partial_rotary_factor"),
        turning=turning,
        pairs=case.rope.inv_freq.size,
        head=case.rope.head_dim,
        classic=2 * turning,
    )
    if case.scheme_parameter("factor") != 1:
        yield make_finding("proportional_factor", case.rope_key_path("factor"), factor=case.rope.params["factor"])


def find_hunyuan_alpha(case: LayerContext) -> Iterator[Finding]:
    """Hunyuan's alpha: a fixed larger base under a type that says dynamic."""
    if case.rope.scheme == STATIC_NTK:
        bigger = case.rope.base * case.scheme_parameter("factor") ** (
            case.rope.rotary_dim / max(case.rope.rotary_dim - 2, 1)
        )
        yield make_finding(
            "alpha_read_as_ntk",
            case.rope_key_path("alpha"),
            alpha=case.rope.params["factor"],
            base=case.rope.base,
            bigger=bigger,
        )


RULES = (
    find_yarn_beta_faults,
    find_yarn_rounding_effect,
    find_llama3_band_faults,
    find_longrope_switch,
    find_length_dependent_frequencies,
    find_proportional_rotation,
    find_hunyuan_alpha,
)
