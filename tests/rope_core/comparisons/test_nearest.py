"""The nearest published scheme: each is nearest to itself, and a known mistake is named by computing it again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import rope_core as rc
from rope_core.comparisons.rows import OF_FREQUENCIES
from rope_core.comparisons.scheme_variants import (
    ENDS,
    PublishedScheme,
    likeable_schemes,
    mistaken_schemes,
    published_schemes,
)
from rope_core.comparisons.sentences import mistake_sentence, nearest_sentence

Drawn = tuple[rc.Rope, int, PublishedScheme]


@st.composite
def drawn_schemes(draw: st.DrawFn, schemes: Callable[..., Sequence[PublishedScheme]]) -> Drawn:
    """Draw a geometry, a factor, and one of the schemes there."""
    rope = rc.Rope(draw(st.sampled_from([32, 64, 128])), draw(st.floats(1e3, 1e7)), draw(st.integers(512, 65_536)))
    factor = draw(st.integers(2, 32))
    return rope, factor, draw(st.sampled_from(schemes(rope, float(factor), factor * rope.train_len)))


def compared(f: Any, rope: rc.Rope, factor: float, **more: Any) -> rc.Compared:
    return rc.compare(f, model=column_model(rope), factor=factor, **more)[0]


@settings(max_examples=25, deadline=None)
@given(drawn_schemes(published_schemes), st.data())
def test_a_scheme_is_nearest_to_itself_and_one_moved_pair_is_found(drawn: Drawn, data: st.DataObject) -> None:
    rope, factor, scheme = drawn
    same = compared(scheme.inv_freq, rope, factor).nearest
    assert same is not None and same.difference.pair is None and not same.mistake
    pair, off = data.draw(st.integers(0, rope.pairs - 1)), data.draw(st.floats(1.001, 4.0))
    turned = {key for key, value in rc.SCHEMES[scheme.name].defaults().items() if scheme.params.get(key) is not value}
    assume(scheme.inv_freq[pair] > 0 and not {key for key in turned if isinstance(scheme.params.get(key), bool)})
    moved = np.asarray(scheme.inv_freq).copy()
    moved[pair] *= off
    held = compared(moved, rope, factor, like=scheme.name)
    (row,) = [row for row in held.rows if row.key == "like"]
    assert row.broken and row.pair == pair and row.measured == pytest.approx(off - 1.0, rel=1e-6)
    assert held.nearest is not None and held.nearest.difference.other == (pair,)
    assert f"at pair {pair}: " in nearest_sentence(held) + mistake_sentence(held)
    (row,) = [row for row in compared(scheme.inv_freq, rope, factor, like=scheme.name).rows if row.key == "like"]
    assert row.required and row.holds


@settings(max_examples=40, deadline=None)
@given(drawn_schemes(mistaken_schemes))
def test_a_known_mistake_is_named_and_what_it_breaks_follows_from_it(drawn: Drawn) -> None:
    rope, factor, spoiled = drawn
    column = compared(spoiled.inv_freq, rope, factor)
    nearest = column.nearest
    assert nearest is not None
    if not nearest.mistake:
        # Some mistakes make another published scheme of one, and are then none.
        assert nearest.difference.pair is None
        return
    shown = [
        each
        for each in mistaken_schemes(rope, float(factor), factor * rope.train_len)
        if each.mistake == nearest.mistake
    ]
    small = rope.theta / factor
    assert any(np.allclose(each.inv_freq / small, spoiled.inv_freq / small, rtol=1e-4, atol=1e-4) for each in shown)
    assert mistake_sentence(column) and {row.key for row in column.consequences} <= {*OF_FREQUENCIES}
    assert all(row.holds is False for row in column.consequences)
    published = rc.compare(nearest.scheme.name, model=column_model(rope), factor=factor)[0]
    assert not {row.key for row in column.consequences} & {
        row.key for row in published.rows if row.excuse == "published"
    }


def column_model(rope: rc.Rope) -> dict[str, Any]:
    config = {"model_type": "llama", "head_dim": rope.dim, "rope_theta": rope.base}
    return {**config, "max_position_embeddings": rope.train_len}


def yarn(dim: int, base: float, train_len: int, factor: float, step: int = 1, turn: float = math.tau) -> Any:
    """YaRN by hand: ``step`` 2 runs its ramp over elements, ``turn`` 1 leaves 2 pi out."""
    low, high = (dim * math.log(train_len / (turns * turn)) / (2 * math.log(base)) for turns in (32.0, 1.0))
    low, high = max(math.floor(low), 0), min(math.ceil(high), dim - 1)
    g = np.clip((step * np.arange(dim // 2) - low) / (high - low), 0, 1)
    return base ** (-2.0 * np.arange(dim // 2) / dim) * (1 - g + g / factor), 0.1 * math.log(factor) + 1


def over_elements(dim: int, base: float, train_len: int, factor: float) -> Any:
    return yarn(dim, base, train_len, factor, step=2)


def without_two_pi(dim: int, base: float, train_len: int, factor: float) -> Any:
    return yarn(dim, base, train_len, factor, turn=1.0)


def by_target(dim: int, base: float, train_len: int, factor: float) -> Any:
    return yarn(dim, base, round(factor * train_len), factor)[0], 0.1 * math.log(factor) + 1


def base_times_factor(dim: int, base: float, train_len: int, factor: float) -> Any:
    return (base * factor) ** (-2.0 * np.arange(dim // 2) / dim)


def smooth(dim: int, base: float, train_len: int, factor: float) -> Any:
    f, a = yarn(dim, base, train_len, factor)
    return f / (1.0 + 0.1 * np.arange(dim // 2) / dim), a


def test_a_mistake_that_other_arguments_give_again_is_required_and_a_scheme_of_one_s_own_is_not() -> None:
    mistakes = ((over_elements, "twice_index"), (without_two_pi, "no_two_pi"), (by_target, "target_length"))
    for function, key in (*mistakes, (base_times_factor, "no_exponent")):
        (column,) = rc.compare(function, factor=4)
        assert column.nearest is not None and (column.nearest.mistake, column.nearest.again) == (key, True)
        assert [row.key for row in column.broken] == ["like"] == [row.key for row in [column.least]]
        name = "ntk" if key == "no_exponent" else "yarn"
        assert column.nearest.scheme.name == name and f"Shown: {name} computed so" in mistake_sentence(column)
        assert not nearest_sentence(column)
    (own,) = rc.compare(smooth, factor=4)
    assert own.nearest is None and not nearest_sentence(own)
    assert not [row for row in own.rows if row.key in ("like", "attention_factor") and row.holds is not None]
    (held,) = rc.compare(smooth, factor=4, like="yarn")
    assert [row.key for row in held.broken] == ["like"]


@given(st.sampled_from(["yarn", "ntk_by_parts", "llama3", "mrrope"]), st.data())
@settings(max_examples=25, deadline=None, phases=[Phase.generate])
def test_a_scheme_with_another_factor_or_ramp_is_that_scheme(name: str, data: st.DataObject) -> None:
    rope, factor = rc.Rope(128, data.draw(st.floats(1e4, 1e6)), 8192), data.draw(st.sampled_from([4.0, 7.0, 40.0]))
    low, high = [each.name for each in rc.SCHEMES[name].params if each.unit == "turns"]
    low, high = sorted((low, high), key=lambda each: rc.SCHEMES[name].defaults()[each])  # type: ignore[arg-type, return-value]
    first = data.draw(st.sampled_from([end for end in ENDS if end < 12]))
    last = data.draw(st.sampled_from([end for end in ENDS if end > 2 * first]))
    params = {"factor": factor, low: first, high: last}
    f = rc.spectrum(rc.Request(rope, name, params)).inv_freq
    free, held = compared(f, rope, 4.0), compared(f, rope, 4.0, like=name)
    assert free.nearest is not None and free.nearest.difference.pair is None and not free.nearest.mistake
    assert f"at all {rope.pairs} pairs" in nearest_sentence(free)
    defaults = rc.spectrum(rc.Request(rope, name, {"factor": 4.0})).inv_freq
    if np.allclose(f, defaults, rtol=1e-4):
        assert not held.broken
        return
    assert held.nearest is not None and [row.key for row in held.broken][-1] == "like"
    if not held.nearest.mistake:
        shown = held.nearest.fitted
        assert shown is not None and shown.name == name and shown.params["factor"] == factor
        np.testing.assert_allclose(rc.spectrum(rc.Request(rope, name, shown.params)).inv_freq, f, rtol=2e-5)
        assert f"factor {factor:g}" in mistake_sentence(held)


def test_a_function_s_own_ramp_is_the_one_that_other_arguments_give_again() -> None:
    def own(dim: int, base: float, train_len: int, factor: float) -> Any:
        at = rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), "yarn", {"factor": factor, **ENDS_OF_MINE}))
        return at.inv_freq, at.attention_factor

    (column,) = rc.compare(own, factor=4)
    assert column.nearest is not None and not column.broken
    assert ENDS_OF_MINE.items() <= column.nearest.scheme.params.items()


ENDS_OF_MINE = {"beta_fast": 15.0, "beta_slow": 1.5}


@given(st.floats(1.2, 30.0), st.floats(0.3, 3.0))
@settings(max_examples=15, deadline=None)
def test_a_slow_down_that_is_applied_twice_fails_at_any_factor(factor: float, bend: float) -> None:
    def slowed(times: int) -> Callable[..., Any]:
        def function(dim: int, base: float, train_len: int, factor: float) -> Any:
            theta = base ** (-2.0 * np.arange(dim // 2) / dim)
            share = np.clip(np.log(32.0 * math.tau / (train_len * theta)) / np.log(32.0), 0, 1) ** bend
            return theta / (1.0 + share * (factor - 1.0)) ** times

        return function

    once, twice = rc.compare(slowed(1), slowed(2), factor=factor)
    assert not once.broken and {row.key for row in twice.broken} & {"arguments", "not_overslowed"}


@pytest.mark.parametrize("name", [name for name in likeable_schemes() if "factor" in rc.SCHEMES[name].defaults()])
def test_like_takes_each_scheme_holds_it_and_excuses_what_it_is_excused(name: str) -> None:
    def function(dim: int, base: float, train_len: int, factor: float, seq_len: int, times: float = 1.0) -> Any:
        at = rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), name, {"factor": factor}, seq_len))
        return at.inv_freq, times * at.attention_factor

    def louder(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        return function(dim, base, train_len, factor, seq_len, 1.01)

    def plain(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        return function(dim, base, train_len, factor, seq_len)

    column, other = rc.compare(plain, louder, factor=8, like=name)
    assert (
        not column.broken and {row.key for row in column.rows if row.excuse == "published"} <= rc.SCHEMES[name].breaks
    )
    assert "attention_factor" in [row.key for row in other.broken]
    with pytest.raises(ValueError, match="like"):
        rc.compare("none", like="longrope")
