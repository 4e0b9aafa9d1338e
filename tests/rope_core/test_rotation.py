"""The rotation: signs and pairs literally, its group laws, its equivalent forms, and rotate() for numpy and torch."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rope_core import Rope, rotate, rotation_matrix
from rope_core.layout import LAYOUTS
from rope_core.rotation import (
    quarter_turn_pairs,
    repeat_per_pair,
    roformer_frequencies,
    roformer_frequencies_from_zero,
    rotate_by_complex,
    rotate_by_elements,
    rotate_by_matrix,
)

Vector = npt.NDArray[np.float64]
NAMES = list(LAYOUTS)
# Bases below 1.1 make neighbouring pairs nearly equal, where a swapped pair would go unseen.
bases = st.floats(1.5, 1e6)
positions = st.integers(1, 100_000)


def vector(dim: int) -> st.SearchStrategy[Vector]:
    return arrays(np.float64, dim, elements=st.floats(-10, 10))


def test_a_quarter_turn_takes_1_0_to_0_1() -> None:
    for layout in NAMES:
        assert np.allclose(rotation_matrix(1, [math.pi / 2], layout) @ [1.0, 0.0], [0.0, 1.0], rtol=0, atol=1e-15)
        assert np.allclose(rotation_matrix(1, [math.pi / 2], layout) @ [0.0, 1.0], [-1.0, 0.0], rtol=0, atol=1e-15)


def test_matrices_literally() -> None:
    c, s, e, t = math.cos(3), math.sin(3), math.cos(0.6), math.sin(0.6)
    interleaved = [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, e, -t], [0, 0, t, e]]
    half = [[c, 0, -s, 0], [0, e, 0, -t], [s, 0, c, 0], [0, t, 0, e]]
    assert np.allclose(rotation_matrix(3, [1.0, 0.2], "interleaved"), interleaved, rtol=0, atol=1e-15)
    assert np.allclose(rotation_matrix(3, [1.0, 0.2], "half"), half, rtol=0, atol=1e-15)


def test_swap_and_doubling_literally() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert quarter_turn_pairs(x, "interleaved").tolist() == [-2.0, 1.0, -4.0, 3.0, -6.0, 5.0]
    assert quarter_turn_pairs(x, "half").tolist() == [-4.0, -5.0, -6.0, 1.0, 2.0, 3.0]
    assert repeat_per_pair(np.array([1.0, 2.0]), "interleaved").tolist() == [1.0, 1.0, 2.0, 2.0]
    assert repeat_per_pair(np.array([1.0, 2.0]), "half").tolist() == [1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize("layout", NAMES)
@given(m=positions, n=positions, base=bases)
def test_orthogonal_and_relative(layout: str, m: int, n: int, base: float) -> None:
    theta = Rope(8, base).theta
    rm, rn = (rotation_matrix(position, theta, layout) for position in (m, n))
    assert np.allclose(rm @ rm.T, np.eye(8), rtol=0, atol=1e-14)
    assert np.linalg.det(rm) == pytest.approx(1.0, abs=1e-12)
    # Angles of 1e5 rad are themselves rounded at 1e-11.
    assert np.allclose(rm.T @ rn, rotation_matrix(n - m, theta, layout), rtol=0, atol=1e-10)
    assert np.allclose(rm @ rn, rotation_matrix(m + n, theta, layout), rtol=0, atol=1e-10)


@given(vector(8), vector(8), st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), bases)
def test_scores_depend_on_the_distance_alone(q: Vector, k: Vector, m: int, n: int, shift: int, base: float) -> None:
    theta = Rope(8, base).theta
    here, there = (
        rotate_by_matrix(q, m + off, theta, "half") @ rotate_by_matrix(k, n + off, theta, "half") for off in (0, shift)
    )
    assert here == pytest.approx(there, abs=1e-9)
    assert here == pytest.approx(q @ rotation_matrix(n - m, theta, "half") @ k, abs=1e-9)


@pytest.mark.parametrize("dim", [2, 4, 10, 64])
@pytest.mark.parametrize("base", [7.0, 10_000.0, 500_000.0])
def test_the_paper_s_numbering_and_the_one_from_zero_are_theta(dim: int, base: float) -> None:
    # Source 000's forms: i = 1..d/2 with exponent -2(i-1)/d, and i = 0, 2, ... with -i/d.
    assert np.allclose(roformer_frequencies(dim, base), Rope(dim, base).theta, rtol=1e-14, atol=0)
    assert np.allclose(roformer_frequencies_from_zero(dim, base), Rope(dim, base).theta, rtol=1e-14, atol=0)


@pytest.mark.parametrize("layout", NAMES)
@given(x=arrays(np.float64, (3, 8), elements=st.floats(-10, 10)), m=positions, base=bases)
def test_matrix_elements_and_complex_are_one(layout: str, x: Vector, m: int, base: float) -> None:
    theta = Rope(8, base).theta
    matrix = rotate_by_matrix(x, m, theta, layout)
    assert np.allclose(rotate_by_elements(x, m, theta, layout), matrix, rtol=0, atol=1e-13)
    assert np.allclose(rotate_by_complex(x, m, theta, layout), matrix, rtol=0, atol=1e-13)
    assert np.allclose(np.linalg.norm(matrix, axis=1), np.linalg.norm(x, axis=1), rtol=1e-13)


@given(vector(6), positions, bases)
def test_llama_is_the_paper_after_a_permutation(x: Vector, m: int, base: float) -> None:
    order = [0, 2, 4, 1, 3, 5]
    theta = Rope(6, base).theta
    paper = rotate_by_matrix(x, m, theta, "interleaved")
    assert np.allclose(rotate_by_matrix(x[order], m, theta, "half"), paper[order], rtol=0, atol=1e-13)


def test_f_of_q_is_q_r_transposed_row_by_row() -> None:
    rng = np.random.default_rng(1)
    q, theta = rng.normal(size=(5, 8)), Rope(8, 321.0).theta
    rows = np.stack([q[m] @ rotation_matrix(m, theta, "interleaved").T for m in range(5)])
    cos, sin = np.cos(np.outer(range(5), theta)), np.sin(np.outer(range(5), theta))
    assert np.allclose(rotate(q[:, None], cos, sin, "interleaved")[:, 0], rows, rtol=0, atol=1e-14)
    # One R for all rows is right only for the row whose position it has.
    single = q @ rotation_matrix(3, theta, "interleaved").T
    apart = np.abs(single - rows).max(axis=1)
    assert apart[3] < 1e-14
    assert np.all(np.delete(apart, 3) > 1e-3)


def tables(width: int, seq: int, start: int = 11) -> tuple[Vector, Vector]:
    angle = np.outer(np.arange(start, start + seq), Rope(width, 777.0).theta)
    return np.cos(angle), np.sin(angle)


def by_matrix(x: Vector, width: int, layout: str, start: int = 11) -> Vector:
    """Return the oracle for x (batch, seq, heads, dim): the full matrix on each vector's first ``width`` dimensions."""
    out = x.copy()
    for m in range(x.shape[1]):
        r = rotation_matrix(start + m, Rope(width, 777.0).theta, layout)
        out[:, m, :, :width] = np.einsum("ij,bhj->bhi", r, x[:, m, :, :width])
    return out


@pytest.mark.parametrize("layout", NAMES)
@pytest.mark.parametrize("width", [12, 4, 2])
def test_rotate_is_the_matrix_for_numpy_and_torch(layout: str, width: int) -> None:
    x = np.random.default_rng(width).normal(size=(2, 5, 3, 12))
    cos, sin = tables(width, 5)
    expected = by_matrix(x, width, layout)
    turned = rotate(x, cos, sin, layout)
    assert np.allclose(turned, expected, rtol=0, atol=1e-14)
    assert np.array_equal(turned[..., width:], x[..., width:])
    torched = rotate(torch.from_numpy(x), torch.from_numpy(cos), torch.from_numpy(sin), layout)
    assert np.allclose(torched.numpy(), expected, rtol=0, atol=1e-14)
    back = rotate(turned, cos, -sin, layout)
    assert np.allclose(back, x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("layout", NAMES)
def test_bfloat16_and_float16_are_rounded_once(layout: str) -> None:
    cos, sin = (torch.from_numpy(table).float() for table in tables(64, 9))
    x = torch.randn(2, 9, 3, 64, generator=torch.Generator().manual_seed(5))
    for dtype in (torch.bfloat16, torch.float16):
        low = x.to(dtype)
        turned = rotate(low, cos, sin, layout)
        assert turned.dtype == dtype
        assert torch.equal(turned, rotate(low.float(), cos, sin, layout).to(dtype))
    half = rotate(x.numpy().astype(np.float16), cos.numpy(), sin.numpy(), layout)
    assert half.dtype == np.float16
    once = rotate(x.numpy().astype(np.float16).astype(np.float32), cos.numpy(), sin.numpy(), layout).astype(np.float16)
    assert np.array_equal(half, once)


@pytest.mark.parametrize("layout", NAMES)
def test_backward_is_the_rotation_by_minus_sin(layout: str) -> None:
    cos, sin = (torch.from_numpy(table) for table in tables(8, 4))
    x = torch.randn(1, 4, 2, 12, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(1, 4, 2, 12, dtype=torch.float64)
    rotate(x, cos, sin, layout).backward(upstream)
    assert x.grad is not None
    assert torch.allclose(x.grad, rotate(upstream, cos, -sin, layout), rtol=0, atol=1e-14)
    assert not torch.allclose(x.grad, rotate(upstream, cos, sin, layout), rtol=0, atol=1e-3)


ONES = np.ones((3, 2))
BAD: list[tuple[Any, str]] = [
    (lambda: rotation_matrix(math.nan, [1.0], "half"), "position must be a finite number, got nan"),
    (lambda: rotation_matrix("1", [1.0], "half"), "position must be a finite number, got '1'"),  # type: ignore[arg-type]
    (lambda: rotation_matrix(1, [], "half"), "inv_freq must be a non-empty vector"),
    (lambda: rotation_matrix(1, [math.inf], "half"), "inv_freq must be a non-empty vector"),
    (lambda: rotation_matrix(1, np.ones(10**6), "half"), "inv_freq must be"),
    (lambda: rotation_matrix(1, [1.0], "diagonal"), "layout must be one of"),
    (lambda: roformer_frequencies(7), "dim must be an even integer"),
    (lambda: roformer_frequencies_from_zero(7), "dim must be an even integer"),
    (lambda: roformer_frequencies(4, 1.0), "base must be a finite number > 1"),
    (lambda: quarter_turn_pairs(np.ones(3), "half"), "x must be"),
    (lambda: quarter_turn_pairs(np.ones(3), "interleaved"), "x must be"),
    (lambda: rotate_by_elements(np.ones(4), 1, [1.0], "half"), "x must be"),
    (lambda: rotate_by_complex(np.ones(4), 1, [1.0], "half"), "x must be"),
    (lambda: rotate_by_matrix(np.ones(4), 1, [1.0], "half"), "x must be"),
    (lambda: rotate(np.ones((3, 1, 4)), ONES, np.ones((3, 1)), "half"), "cos and sin must be two tables"),
    (lambda: rotate(np.ones((3, 1, 4)), ONES[0], ONES[0], "half"), "cos and sin must be two tables"),
    (lambda: rotate(np.ones((2, 1, 4)), ONES, ONES, "half"), r"x must be of shape \(\.\.\., 3, heads, dim >= 4\)"),
    (lambda: rotate(np.ones((3, 1, 3)), ONES, ONES, "half"), r"x must be of shape \(\.\.\., 3, heads, dim >= 4\)"),
    (lambda: rotate(np.ones((3, 4)), ONES, ONES, "half"), "x must be of shape"),
    (lambda: rotate(np.ones((3, 1, 4)), ONES, ONES, "quarter"), "layout must be one of"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_input_is_named(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
