"""Pairings and permutations, against literal index lists and transformers' own rotations."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as gptj_apply
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama_apply

from rope_core import HALF, INTERLEAVED, Rope, convert, convert_projection
from rope_core.layout import LAYOUTS, checked_even_dim, checked_layout


def test_pairs_stand_where_the_papers_put_them() -> None:
    assert INTERLEAVED.first(3).tolist() == [0, 2, 4]
    assert INTERLEAVED.second(3).tolist() == [1, 3, 5]
    assert HALF.first(3).tolist() == [0, 1, 2]
    assert HALF.second(3).tolist() == [3, 4, 5]


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_split_takes_the_declared_dimensions(layout: Any) -> None:
    x = np.arange(24.0).reshape(2, 12)
    a, b = layout.split_pairs(x)
    assert np.array_equal(a, x[:, layout.first(6)])
    assert np.array_equal(b, x[:, layout.second(6)])
    a[...] = -1.0
    assert np.all(x[:, layout.first(6)] == -1.0)


def test_convert_literally() -> None:
    assert convert(8, "interleaved", "half").tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert convert(8, "half", "interleaved").tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert convert(8, "half", HALF).tolist() == list(range(8))


@given(st.integers(1, 200))
def test_convert_is_a_permutation_and_its_inverse_goes_back(pairs: int) -> None:
    there, back = convert(2 * pairs, "interleaved", "half"), convert(2 * pairs, "half", "interleaved")
    assert sorted(there.tolist()) == list(range(2 * pairs))
    assert there[back].tolist() == back[there].tolist() == list(range(2 * pairs))
    x = np.random.default_rng(pairs).normal(size=(3, 2 * pairs))
    for first, other in zip(INTERLEAVED.split_pairs(x), HALF.split_pairs(x[..., there]), strict=True):
        assert np.array_equal(first, other)


def permute(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Return what transformers did to Meta's q and k weights (convert_llama_weights_to_hf.py, v4.57.6)."""
    rows = weight.shape[0]
    return weight.view(heads, rows // heads // 2, 2, *weight.shape[1:]).transpose(1, 2).reshape(weight.shape)


@pytest.mark.parametrize(("heads", "head_dim"), [(1, 2), (4, 16), (8, 6)])
def test_convert_projection_is_the_converter_s_permute(heads: int, head_dim: int) -> None:
    generator = torch.Generator().manual_seed(heads)
    for shape in ((heads * head_dim, 10), (heads * head_dim,)):
        weight = torch.randn(shape, generator=generator)
        there = convert_projection(weight, heads, "interleaved", "half")
        assert torch.equal(there, permute(weight, heads))
        assert torch.equal(convert_projection(there, heads, "half", "interleaved"), weight)
        assert np.array_equal(convert_projection(weight.numpy(), heads, "interleaved", "half"), there.numpy())


HEADS, KV_HEADS, HEAD_DIM, WIDTH, SEQ = 4, 2, 16, 12, 7


def scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Attention scores (heads, seq, seq) of q (seq, heads, dim) and k (seq, kv_heads, dim), grouped-query."""
    shared = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    return torch.einsum("mhd,nhd->hmn", q, shared)


def gptj(x: torch.Tensor, rotary: int) -> torch.Tensor:
    """x (seq, heads, dim) turned by transformers' GPT-J, which pairs neighbours."""
    angle = torch.arange(SEQ, dtype=torch.float64)[:, None] * torch.from_numpy(Rope(rotary, 500.0).theta.copy())
    turned = gptj_apply(x[None, ..., :rotary], torch.sin(angle)[None], torch.cos(angle)[None])[0]
    return torch.cat([turned, x[..., rotary:]], -1)


def llama(x: torch.Tensor, rotary: int) -> torch.Tensor:
    """x (seq, heads, dim) turned by transformers' LLaMA, which pairs halves."""
    angle = torch.arange(SEQ, dtype=torch.float64)[:, None] * torch.from_numpy(Rope(rotary, 500.0).theta.copy())
    both = torch.cat([angle, angle], -1)[None]
    turned = llama_apply(x[None, ..., :rotary], x[None, ..., :rotary], both.cos(), both.sin(), unsqueeze_dim=2)[0][0]
    return torch.cat([turned, x[..., rotary:]], -1)


@pytest.mark.parametrize("rotary", [HEAD_DIM, 6])
def test_scores_survive_the_move_from_gptj_to_llama(rotary: int) -> None:
    generator = torch.Generator().manual_seed(rotary)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    x = draw(SEQ, WIDTH)
    weights = {"q": (draw(HEADS * HEAD_DIM, WIDTH), HEADS), "k": (draw(KV_HEADS * HEAD_DIM, WIDTH), KV_HEADS)}
    biases = {"q": draw(HEADS * HEAD_DIM), "k": draw(KV_HEADS * HEAD_DIM)}

    def project(name: str, move: bool) -> torch.Tensor:
        weight, heads = weights[name]
        bias = biases[name]
        if move:
            weight, bias = (convert_projection(w, heads, "interleaved", "half", rotary) for w in (weight, bias))
        return (x @ weight.T + bias).view(SEQ, heads, HEAD_DIM)

    trained = scores(gptj(project("q", False), rotary), gptj(project("k", False), rotary))
    moved = scores(llama(project("q", True), rotary), llama(project("k", True), rotary))
    unmoved = scores(llama(project("q", False), rotary), llama(project("k", False), rotary))
    assert torch.allclose(trained, moved, rtol=1e-10, atol=1e-10)
    wrong = (trained - unmoved).abs()
    # Equal positions turn q and k alike, whatever the pairing: the bug cannot be seen on the diagonal.
    assert wrong.diagonal(dim1=1, dim2=2).max() < 1e-10
    off = ~torch.eye(SEQ, dtype=torch.bool)
    assert (wrong[:, off] > 1e-6).all()


BAD: list[tuple[Any, str]] = [
    (lambda: convert(7, "half", "interleaved"), "dim must be an even integer, because dimensions turn in pairs, got 7"),
    (lambda: convert(0, "half", "interleaved"), r"dim must be an integer in \[2, 65536\], got 0"),
    (lambda: convert(8, "halves", "half"), "layout must be one of interleaved, half, got 'halves'"),
    (lambda: checked_layout(None), "layout must be one of interleaved, half, got None"),  # type: ignore[arg-type]
    (lambda: checked_even_dim("width", 3), "width must be an even integer"),
    (
        lambda: convert_projection(np.ones((12, 2)), 5, "half", "half"),
        "heads must be a divisor of the weight's 12 rows",
    ),
    (lambda: convert_projection(np.ones((12, 2)), 0, "half", "half"), r"heads must be an integer in \[1, 12\], got 0"),
    (lambda: convert_projection(np.ones((12, 2)), 4, "half", "half"), "rotary_dim must be an even integer"),
    (lambda: convert_projection(np.ones((12, 2)), 2, "half", "half", 8), "rotary_dim must be at most the head width 6"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_input_is_named(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
