"""Shapes and dtypes that the public docstrings promise, checked by jaxtyping while the functions run."""

from __future__ import annotations

import numpy as np
import pytest
from beartype import beartype
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Float, Float32, Float64, Int64, TypeCheckError, jaxtyped

import rope_core as rc

LAYOUTS = st.sampled_from(["interleaved", "half"])
NAMES = sorted(name for name in rc.SCHEMES)


@jaxtyped(typechecker=beartype)
def spectrum(request: rc.Request, pairs: Float64[np.ndarray, "pairs"]) -> Float64[np.ndarray, "pairs"]:
    result = rc.spectrum(request)
    assert result.slowdown.shape == pairs.shape
    return result.inv_freq


@jaxtyped(typechecker=beartype)
def tables(
    s: rc.Spectrum, positions: Int64[np.ndarray, "n"], inv_freq: Float64[np.ndarray, "pairs"]
) -> tuple[Float32[np.ndarray, "n pairs"], Float32[np.ndarray, "n pairs"]]:
    return rc.cos_sin(s, positions)


@jaxtyped(typechecker=beartype)
def rotated(
    x: Float[np.ndarray, "*batch seq heads dim"],
    cos: Float[np.ndarray, "seq pairs"],
    sin: Float[np.ndarray, "seq pairs"],
    layout: str,
) -> Float[np.ndarray, "*batch seq heads dim"]:
    return rc.rotate(x, cos, sin, layout)  # type: ignore[no-any-return]


@jaxtyped(typechecker=beartype)
def matrix(inv_freq: Float64[np.ndarray, "pairs"], layout: str) -> Float64[np.ndarray, "2*pairs 2*pairs"]:
    return rc.rotation_matrix(5, inv_freq, layout)


@given(st.sampled_from(NAMES), st.integers(2, 40), st.floats(1.5, 1e7))
@settings(max_examples=60, deadline=None)
def test_spectra(name: str, pairs: int, base: float) -> None:
    request = rc.Request(rc.Rope(2 * pairs, base), name)
    assert not spectrum(request, np.zeros(pairs)).flags.writeable


@given(st.integers(1, 20), st.integers(0, 30), st.integers(0, 5), st.integers(1, 3), LAYOUTS)
@settings(max_examples=60, deadline=None)
def test_tables_and_rotation(pairs: int, n: int, rest: int, heads: int, layout: str) -> None:
    s = rc.spectrum(rc.Request(rc.Rope(2 * pairs, 500.0)))
    cos, sin = tables(s, np.arange(100, 100 + n), s.inv_freq)
    assert cos.flags.c_contiguous and sin.flags.c_contiguous
    x = np.ones((2, n, heads, 2 * pairs + rest), np.float32)
    assert rotated(x, cos, sin, layout).dtype == np.float32
    assert matrix(s.inv_freq, layout).shape == (2 * pairs, 2 * pairs)


def test_a_wrong_shape_would_be_seen() -> None:
    with pytest.raises(TypeCheckError):
        tables(rc.spectrum(rc.Request(rc.Rope(8))), np.arange(3), np.zeros(5))
