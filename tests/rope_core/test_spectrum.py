"""Requests as cache keys, and cos and sin against exact arithmetic at every position below 2**31."""

import math
import time
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import SCHEMES, Request, Rope, Spectrum, cos_sin, spectrum
from rope_core.spectrum import FINE, checked_positions, position_angles

positions_drawn = st.integers(0, 2**31 - 1)


def exact(position: int, inv_freq: float) -> tuple[float, float]:
    with mpmath.workdps(50):
        angle = mpmath.mpf(position) * mpmath.mpf(inv_freq)
        return float(mpmath.cos(angle)), float(mpmath.sin(angle))


def worst(s: Spectrum, rows: dict[int, int], cos: npt.NDArray[Any], sin: npt.NDArray[Any]) -> float:
    """Return the largest error over all pairs of the rows, given as row -> position."""
    error = 0.0
    for row, position in rows.items():
        for pair, inv_freq in enumerate(s.inv_freq.tolist()):
            c, d = exact(position, inv_freq)
            error = max(error, abs(float(cos[row, pair]) - c), abs(float(sin[row, pair]) - d))
    return error


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 16), st.floats(1.5, 1e8), st.lists(positions_drawn, min_size=1, max_size=4), st.data())
def test_any_positions_agree_with_mpmath(pairs: int, base: float, drawn: list[int], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in SCHEMES if pairs > 1 or name in ("none", "linear")]))
    s = spectrum(Request(Rope(2 * pairs, base), name))
    rows = dict(enumerate(drawn))
    assert worst(s, rows, *cos_sin(s, drawn)) <= 6.1e-8
    run = range(drawn[0], min(drawn[0] + 3, 2**31))
    assert worst(s, dict(enumerate(run)), *cos_sin(s, run)) <= 6.1e-8
    assert worst(s, rows, *cos_sin(s, drawn, "float64")) <= 2e-9
    assert worst(s, rows, *cos_sin(s, drawn, "float16")) <= 2.5e-4


@pytest.mark.parametrize("start", [0, 5, 2**17, 10**6 + 3, 2**24 + 1, 2**31 - 2 * FINE - 5])
def test_runs_agree_with_mpmath(start: int) -> None:
    # A run longer than one block takes the path of the angle sum; its last block is a short one of odd length.
    s = spectrum(Request(Rope(12, 500_000.0)))
    cos, sin = cos_sin(s, range(start, start + 2 * FINE + 5))
    edges = (0, 1, FINE - 1, FINE, FINE + 1, 2 * FINE - 1, 2 * FINE, 2 * FINE + 4)
    rows = {row: start + row for row in edges}
    assert worst(s, rows, cos, sin) <= 2e-7


@pytest.mark.parametrize("rows", [FINE + 1, FINE + 8, FINE + 9, FINE + 187, 3 * FINE, 4 * FINE + 13])
def test_every_row_of_a_run_is_the_row_computed_alone(rows: int) -> None:
    s = spectrum(Request(Rope(10, 20_000.0)))
    where = np.arange(77, 77 + rows)
    cos, sin = cos_sin(s, where)
    assert np.max(np.abs(cos - np.cos(position_angles(s, where)))) <= 1.6e-7
    assert np.max(np.abs(sin - np.sin(position_angles(s, where)))) <= 1.6e-7


@given(st.lists(positions_drawn, min_size=1, max_size=5), st.floats(0, 40.0))
def test_angles_are_reduced_and_right(drawn: list[int], inv_freq: float) -> None:
    s = Spectrum.from_inv_freq([inv_freq])
    reduced = position_angles(s, drawn)[:, 0]
    assert np.all((reduced >= -math.pi) & (reduced <= math.pi))
    for angle, position in zip(reduced.tolist(), drawn, strict=True):
        with mpmath.workdps(50):
            turns = (mpmath.mpf(position) * mpmath.mpf(inv_freq) - mpmath.mpf(angle)) / (2 * mpmath.pi)
            assert abs(turns - mpmath.nint(turns)) * 2 * mpmath.pi < 1e-9


def test_shape_dtype_and_out() -> None:
    s = spectrum(Request(Rope(8)))
    for dtype in ("float16", "float32", "float64"):
        for table in cos_sin(s, range(3), dtype):
            assert table.shape == (3, 4)
            assert table.dtype == np.dtype(dtype)
            assert table.flags.c_contiguous
    assert cos_sin(s, [])[0].shape == (0, 4)
    for rows in (3, 2 * FINE):
        out = (np.full((rows, 4), np.nan, np.float32), np.full((rows, 4), np.nan, np.float32))
        into = cos_sin(s, range(rows), out=out)
        assert into[0] is out[0]
        assert into[1] is out[1]
        assert np.allclose(out[0] ** 2 + out[1] ** 2, 1, rtol=0, atol=1e-6)


def test_attention_factor_is_left_out() -> None:
    s = spectrum(Request(Rope(8), "yarn", {"factor": 16.0}))
    assert s.attention_factor > 1.2
    assert cos_sin(s, [0])[0].tolist() == [[1.0] * 4]


BAD_POSITIONS: list[Any] = [
    [-1],
    [0, 2**31],
    [10**12],
    [10**30],
    [0.0],
    [1.5],
    [math.nan],
    [True],
    ["1"],
    [None],
    [[1, 2]],
    3,
    None,
    range(-1, 3),
    range(2**31 - 1, 2**31 + 1),
    range(5, -2, -1),
    np.array([-1], np.int8),
    np.array([2**63], np.uint64),
]


@pytest.mark.parametrize("positions", BAD_POSITIONS, ids=repr)
def test_bad_positions_are_refused(positions: Any) -> None:
    s = spectrum(Request(Rope(8)))
    for call in (
        lambda: cos_sin(s, positions),
        lambda: position_angles(s, positions),
        lambda: checked_positions(positions),
    ):
        with pytest.raises(ValueError, match=r"^positions must be (a vector of )?integers in \[0, 2\*\*31\), got "):
            call()


def test_huge_requests_are_refused_before_anything_is_allocated() -> None:
    s = spectrum(Request(Rope(65_536)))
    start = time.process_time()
    for positions in (range(2**31), range(10**12), np.broadcast_to(np.int64(0), (2**40,))):
        with pytest.raises(ValueError, match=r"^the number of positions must be at most"):
            cos_sin(s, positions)
    assert time.process_time() - start < 1.0


def test_bad_dtype_and_out_are_refused() -> None:
    s = spectrum(Request(Rope(8)))
    wrong: list[Any] = ["int32", "complex64", "bfloat16", None, 3]
    for dtype in wrong:
        with pytest.raises(ValueError, match=r"^dtype must be float16, float32 or float64, got"):
            cos_sin(s, [0], dtype)
    good = np.empty((2, 4), np.float32)
    locked = np.empty((2, 4), np.float32)
    locked.flags.writeable = False
    for bad in (np.empty((2, 4)), np.empty((2, 3), np.float32), np.empty((2, 8), np.float32)[:, ::2], locked):
        with pytest.raises(ValueError, match=r"^out\[0\] must be a writeable C-contiguous float32 array of shape"):
            cos_sin(s, [0, 1], out=(bad, good))


def test_request_is_hashable_whatever_it_was_given() -> None:
    rope = Rope(8)
    vector = {"short_factor": np.array([1.0, 2.0, 3.0, 4.0])}
    same = Request(rope, "longrope", {"short_factor": [1, 2, 3, 4], "factor": None}, None)
    assert Request(rope, "longrope", vector) == same
    assert hash(Request(rope, "longrope", vector)) == hash(same)
    assert spectrum(same) is spectrum(Request(rope, "longrope", vector))


def test_request_keys_hold_everything() -> None:
    rope = Rope(8, 10_000.0, 100)
    requests = {
        Request(rope, "dynamic", {"factor": 2.0}, 200),
        Request(rope, "dynamic", {"factor": 2.0}, 300),
        Request(rope, "dynamic", {"factor": 3.0}, 200),
        Request(rope, "linear", {"factor": 2.0}, 200),
        Request(Rope(8, 20_000.0, 100), "dynamic", {"factor": 2.0}, 200),
        Request(Rope(8, 10_000.0, 101), "dynamic", {"factor": 2.0}, 200),
    }
    assert len(requests) == 6
    assert len({tuple(spectrum(request).inv_freq.tolist()) for request in requests}) == 6


def test_request_cannot_change_behind_the_cache() -> None:
    given_params = {"factor": 2.0}
    request = Request(Rope(8), "linear", given_params)
    given_params["factor"] = 4.0
    assert request.params["factor"] == 2.0
    with pytest.raises(TypeError, match="cannot change"):
        request.params["factor"] = 4.0  # type: ignore[index]
    with pytest.raises(TypeError, match="cannot change"):
        request.params.update(factor=4.0)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        spectrum(request).inv_freq[0] = 2.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rope": 128}, "rope must be a Rope, got 128"),
        ({"scheme": "magic"}, "scheme must be one of .*, got 'magic'"),
        ({"params": 3}, "params must be a mapping .*, got 3"),
        ({"seq_len": 0}, r"seq_len must be an integer in \[1, \d+\], got 0"),
        ({"seq_len": 10**12}, "seq_len must be an integer in .*, got 1000000000000"),
        ({"seq_len": math.nan}, "seq_len must be an integer in .*, got nan"),
        ({"seq_len": 1.5}, "seq_len must be an integer in .*, got 1.5"),
    ],
)
def test_bad_requests_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}"):
        Request(**{"rope": Rope(8), **arguments})


def test_frequencies_from_elsewhere() -> None:
    s = Spectrum.from_inv_freq([1.0, 0.0], attention_factor=1.5)
    assert s.attention_factor == 1.5
    assert s.slowdown.tolist() == [1.0, 1.0]
    assert s.wavelength.tolist() == [2 * math.pi, math.inf]
    bad: list[Any] = [[], [math.nan], [math.inf], [-1.0], [[1.0]], 1.0]
    for each in bad:
        with pytest.raises(ValueError, match=r"^inv_freq must be a non-empty vector of finite numbers >= 0, got"):
            Spectrum.from_inv_freq(each)


@pytest.mark.parametrize("step", [2, 3, 0, -1])
def test_many_positions_that_are_not_consecutive(step: int) -> None:
    s = spectrum(Request(Rope(8, 700.0)))
    where = 5000 + step * np.arange(FINE + 3)
    cos, sin = cos_sin(s, where)
    angle = where[:, None] * s.inv_freq
    assert np.abs(cos - np.cos(angle)).max() < 2e-7 and np.abs(sin - np.sin(angle)).max() < 2e-7


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 2e-7), ("float16", 2.5e-4)])
@given(rows=st.sampled_from([1, FINE, FINE + 1, 3 * FINE]), start=st.integers(0, 4096), given_out=st.booleans())
@settings(deadline=None, max_examples=15)
def test_every_type_is_as_exact_as_itself(dtype: str, tolerance: float, rows: int, start: int, given_out: bool) -> None:
    """Against numpy's cosine of angles below 8,192 rad, whose own rounding is below 1e-12."""
    s = spectrum(Request(Rope(16, 300.0)))
    into = [np.full((rows, 8), np.nan, dtype) for _ in "cs"]
    out = cos_sin(s, range(start, start + rows), dtype, out=(into[0], into[1]) if given_out else None)
    angle = np.arange(start, start + rows)[:, None] * s.inv_freq
    for table, wanted in zip(out, (np.cos(angle), np.sin(angle)), strict=True):
        assert table.dtype == np.dtype(dtype) and table.shape == wanted.shape
        np.testing.assert_allclose(table.astype(np.float64), wanted, rtol=0, atol=tolerance)
    if given_out:
        for wrong in (np.empty((rows + 1, 8), dtype), np.empty((8, rows + 1), dtype).T, np.empty((rows, 8), ">i4")):
            for pair in ((wrong, into[1]), (into[0], wrong)):
                with pytest.raises(ValueError, match=r"^out\[[01]\] must be"):
                    cos_sin(s, range(rows), dtype, out=pair)
