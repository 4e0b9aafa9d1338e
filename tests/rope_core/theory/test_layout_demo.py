"""The layout experiments against the written-out permutation and vectors rotated one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core.rope import Rope
from rope_core.rotation import rotate_by_matrix
from rope_core.theory import layout_demo
from rope_core.theory.layout_demo import HeadShapes

shapes = st.builds(
    HeadShapes,
    head_dim=st.integers(1, 12).map(lambda n: 2 * n),
    kv_heads=st.integers(1, 3),
    group=st.sampled_from([1, 2, 4]),
)
bases = st.floats(2.0, 1e6)


def interleave_to_half(rows: int, heads: int) -> list[int]:
    """LLaMA's permute() in words: within each head, all even rows, then all odd rows."""
    width = rows // heads
    return [h * width + j for h in range(heads) for j in [*range(0, width, 2), *range(1, width, 2)]]


@given(shapes, st.integers(1, 300), bases, st.sampled_from(["interleaved", "half"]))
@settings(max_examples=40)
def test_head_scores_are_products_of_rotated_vectors(s: HeadShapes, distance: int, base: float, layout: str) -> None:
    theta = Rope(s.head_dim, base).theta
    p = layout_demo.drawn_projections(s)
    scores = layout_demo.grouped_head_scores(p, s, [0, distance], theta, layout)
    assert scores.shape == (layout_demo.TOKENS, s.heads, 2)
    for head in range(s.heads):
        key = head // s.group
        q = (p.w_q @ p.x_q[1])[head * s.head_dim : (head + 1) * s.head_dim]
        k = (p.w_k @ p.x_k[1])[key * s.head_dim : (key + 1) * s.head_dim]
        assert scores[1, head, 0] == pytest.approx(q @ k, abs=1e-11)
        turned = rotate_by_matrix(q, 7 + distance, theta, layout) @ rotate_by_matrix(k, 7, theta, layout)
        assert scores[1, head, 1] == pytest.approx(turned, abs=1e-9)


@given(shapes, bases)
@settings(max_examples=40)
def test_the_one_head_drawn_agrees_with_all_heads(s: HeadShapes, base: float) -> None:
    theta, at = Rope(s.head_dim, base).theta, np.arange(20)
    p = layout_demo.drawn_projections(s)
    for layout in ("interleaved", "half"):
        single = layout_demo.rotated_scores(p, s, at, theta, layout)
        np.testing.assert_allclose(single, layout_demo.grouped_head_scores(p, s, at, theta, layout)[0, -1], atol=1e-10)


@given(shapes, bases)
@settings(max_examples=40)
def test_the_right_conversion_changes_no_score(s: HeadShapes, base: float) -> None:
    error = layout_demo.conversion_scores(s, "both", np.arange(64), Rope(s.head_dim, base).theta)
    assert error.largest < 1e-11
    assert error.relative.max() < 1e-11


@pytest.mark.parametrize("s", [HeadShapes(8, 2, 2), HeadShapes(64, 2, 4), HeadShapes(128, 1, 8)])
def test_what_each_mistake_looks_like(s: HeadShapes) -> None:
    theta, at = Rope(s.head_dim).theta, np.arange(200)
    none = layout_demo.conversion_scores(s, "none", at, theta)
    assert none.relative[0] < 1e-12 < 0.1 < none.relative[1] < none.relative[50:].max()
    assert abs(none.right - none.got)[0] < 1e-12
    for wrong in ("query_only", "query_heads"):
        assert layout_demo.conversion_scores(s, wrong, at, theta).relative.min() > 0.5


def test_one_query_head_per_key_head_hides_the_wrong_count() -> None:
    s = HeadShapes(16, 3, 1)
    assert layout_demo.conversion_scores(s, "query_heads", np.arange(9), Rope(16).theta).relative.max() < 1e-12


def test_drawn_projections_give_entries_of_variance_one() -> None:
    p = layout_demo.drawn_projections(HeadShapes(64, 2, 4))
    assert (p.w_q.shape, p.w_k.shape) == ((512, layout_demo.IN_WIDTH), (128, layout_demo.IN_WIDTH))
    assert np.var(p.x_q @ p.w_q.T) == pytest.approx(1.0, rel=0.1)
    assert not np.array_equal(p.w_q, layout_demo.drawn_projections(HeadShapes(64, 2, 4), seed=1).w_q)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="conversion must be one of both, none, query_only, query_heads, got 'half'"):
        layout_demo.conversion_scores(HeadShapes(4, 1, 1), "half", [1], [1.0, 0.1])
    with pytest.raises(ValueError, match="head_dim must be an even integer"):
        HeadShapes(3, 1, 1)
    with pytest.raises(ValueError, match="group must be"):
        HeadShapes(4, 1, 0)
