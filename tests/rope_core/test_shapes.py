"""Shapes and dtypes that the public docstrings promise."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import rope_core as rc

LAYOUTS = st.sampled_from(["interleaved", "half"])


def kind(array: np.ndarray) -> tuple[object, ...]:
    return array.dtype.name, *array.shape


@given(st.sampled_from(sorted(rc.SCHEMES)), st.integers(2, 40), st.floats(1.5, 1e7))
@settings(max_examples=60, deadline=None)
def test_spectra(name: str, pairs: int, base: float) -> None:
    s = rc.spectrum(rc.Request(rc.Rope(2 * pairs, base), name))
    assert kind(s.inv_freq) == kind(s.slowdown) == ("float64", pairs) and not s.inv_freq.flags.writeable


@given(st.integers(1, 20), st.integers(0, 30), st.integers(0, 5), st.integers(1, 3), LAYOUTS)
@settings(max_examples=60, deadline=None)
def test_tables_and_rotation(pairs: int, n: int, rest: int, heads: int, layout: str) -> None:
    s = rc.spectrum(rc.Request(rc.Rope(2 * pairs, 500.0)))
    cos, sin = rc.cos_sin(s, np.arange(100, 100 + n))
    assert kind(cos) == kind(sin) == ("float32", n, pairs) and cos.flags.c_contiguous and sin.flags.c_contiguous
    x = np.ones((2, n, heads, 2 * pairs + rest), np.float32)
    assert kind(rc.rotate(x, cos, sin, layout)) == kind(x)
    assert kind(rc.rotation_matrix(5, s.inv_freq, layout)) == ("float64", 2 * pairs, 2 * pairs)
