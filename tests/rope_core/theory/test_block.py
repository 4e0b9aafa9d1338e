"""The block: norms, activations, stacks and logits against torch and against each other."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix
from rope_core.theory.block import activation, cache, logit, norm, stack
from rope_core.theory.block.stack import random_blocks

RNG = np.random.default_rng(7)


def drawn(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def angles(n: int, dim: int) -> Array:
    return np.arange(3, 3 + n)[:, None] * Rope(dim, 500.0).theta


def test_norms_are_torchs() -> None:
    x, gamma, beta = 3 * drawn(5, 12) + 1, drawn(12), drawn(12)
    t = [torch.from_numpy(a) for a in (x, gamma, beta)]
    theirs = nn.functional.layer_norm(t[0], (12,), t[1], t[2], eps=1e-5)
    np.testing.assert_allclose(norm.layer_norm(x, gamma, beta, 1e-5), theirs.numpy(), atol=1e-12)
    theirs = nn.functional.rms_norm(t[0], (12,), t[1], eps=1e-5)
    np.testing.assert_allclose(norm.rms_norm(x, gamma, 1e-5), theirs.numpy(), atol=1e-12)


def test_a_norm_refuses_a_weight_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"gamma must be of shape \(4,\)"):
        norm.rms_norm(drawn(2, 4), drawn(3))
    with pytest.raises(ValueError, match="kind must be layer or rms"):
        norm.norm_cost("batch", fused=True)


def test_fusing_leaves_only_the_arithmetic_apart() -> None:
    layer, rms = norm.norm_cost("layer", fused=True), norm.norm_cost("rms", fused=True)
    assert (layer.reads, layer.writes) == (rms.reads, rms.writes) == (1, 1)
    assert layer.operations > rms.operations and layer.reductions > rms.reductions


def test_rms_norm_commutes_with_rotation_only_under_its_conditions() -> None:
    x, angle = drawn(6, 16), angles(6, 16)
    paired = np.repeat(drawn(8), 2)
    assert norm.norm_rotation_error(x, angle) < 1e-12
    assert norm.norm_rotation_error(x, angle, gamma=paired) < 1e-12
    assert norm.norm_rotation_error(x, angle, gamma=drawn(16)) > 0.1
    assert norm.norm_rotation_error(x, angle, gamma=paired, layout="half") > 0.1
    assert norm.norm_rotation_error(x, angle, gamma=np.tile(drawn(8), 2), layout="half") < 1e-12
    assert norm.norm_rotation_error(x, angle, attention_factor=1.2) > 0.1
    assert norm.norm_rotation_error(x, angle, kind="layer") > 0.01


TORCH: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "identity": lambda x: x * 1,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "relu2": lambda x: torch.relu(x) ** 2,
    "gelu": nn.functional.gelu,
    "gelu_tanh": lambda x: nn.functional.gelu(x, approximate="tanh"),
    "silu": nn.functional.silu,
}


@pytest.mark.parametrize("name", activation.ACTIVATIONS)
def test_activations_and_derivatives_are_torchs(name: str) -> None:
    x = np.append(4 * drawn(200), [-60.0, 60.0])
    t = torch.from_numpy(x).requires_grad_()
    theirs = TORCH[name](t)
    theirs.sum().backward()  # type: ignore[no-untyped-call]
    value, slope = activation.activation_and_derivative(name, x)
    np.testing.assert_allclose(value, theirs.detach().numpy(), atol=1e-12)
    assert t.grad is not None
    np.testing.assert_allclose(slope, t.grad.numpy(), atol=1e-12)


def test_gated_units_are_the_printed_products() -> None:
    a, b = drawn(4, 6), drawn(4, 6)
    np.testing.assert_allclose(
        activation.gated_product("glu", a, b), nn.functional.glu(torch.from_numpy(np.hstack([b, a]))).numpy()
    )
    np.testing.assert_allclose(activation.gated_product("swiglu", a, b), a / (1 + np.exp(-a)) * b)
    np.testing.assert_allclose(activation.gated_product("bilinear", a, b), a * b)
    x, w, v, w2 = drawn(3, 5), drawn(5, 8), drawn(5, 8), drawn(8, 5)
    loop = np.zeros((3, 5))
    for h in range(8):
        loop += np.outer(np.maximum(x @ w[:, h], 0) * (x @ v[:, h]), w2[h])
    np.testing.assert_allclose(activation.feed_forward("reglu", x, w, w2, v), loop)
    with pytest.raises(ValueError, match="unit must be one of glu"):
        activation.gated_product("relu", a, b)


def torch_gradients(arrangement: str, layers: int, dim: int, n: int, seed: int) -> list[float]:
    """Return the same stack written with torch and differentiated by it."""
    weights = [
        [torch.from_numpy(getattr(layer, name)).requires_grad_() for name in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2")]
        for layer in random_blocks(layers, dim, 4 * dim, seed)
    ]
    x, target = (torch.from_numpy(a) for a in np.random.default_rng([seed, 1]).standard_normal((2, n, dim)))

    def norm(value: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(value, (dim,), eps=1e-6)

    for q, k, v, o, w1, w2 in weights:
        for part in range(2):

            def change(
                u: torch.Tensor, part: int = part, w: tuple[torch.Tensor, ...] = (q, k, v, o, w1, w2)
            ) -> torch.Tensor:
                if part:
                    return torch.relu(u @ w[4]) @ w[5]
                mixed = nn.functional.scaled_dot_product_attention((u @ w[0])[None], (u @ w[1])[None], (u @ w[2])[None])
                return mixed[0] @ w[3]

            if arrangement == "post":
                x = norm(x + change(x))
            elif arrangement == "pre":
                x = x + change(norm(x))
            else:
                x = x + norm(change(norm(x)))
    out = x if arrangement == "post" else norm(x)
    (out * target).mean().backward()  # type: ignore[no-untyped-call]
    return [math.sqrt(sum(float((w.grad**2).sum()) for w in layer if w.grad is not None)) for layer in weights]


@pytest.mark.parametrize("arrangement", stack.ARRANGEMENTS)
def test_gradients_are_autograds(arrangement: str) -> None:
    mine = stack.gradient_norms(arrangement, layers=3, dim=8, tokens=5, draws=1, seed=11)
    np.testing.assert_allclose(mine, torch_gradients(arrangement, 3, 8, 5, 11), rtol=1e-9)


def test_pre_norm_gradients_fall_from_bottom_to_top_and_post_norms_do_not() -> None:
    pre, double, post = map(stack.gradient_norms, ("pre", "double", "post"))
    assert pre.shape == (24,)
    assert pre[0] / pre[-1] > 2.0 and double[0] / double[-1] > 2.0
    assert post[0] / post[-1] < 1.5


def test_an_unknown_arrangement_is_refused() -> None:
    with pytest.raises(ValueError, match="arrangement must be one of pre, post, double"):
        stack.gradient_norms("sandwich")


def test_serial_and_parallel_blocks_keep_the_residual() -> None:
    layer = random_blocks(1, 8, 32, 3)[0]
    x = drawn(4, 8)
    zero = stack.BlockWeights(
        *(np.zeros_like(w) for w in (layer.w_q, layer.w_k, layer.w_v, layer.w_o, layer.w_1, layer.w_2))
    )
    np.testing.assert_array_equal(stack.serial_block(x, zero), x)
    np.testing.assert_array_equal(stack.parallel_block(x, zero), x)
    only_attention = replace(zero, w_q=layer.w_q, w_k=layer.w_k, w_v=layer.w_v, w_o=layer.w_o)
    for alone in (only_attention, replace(zero, w_1=layer.w_1, w_2=layer.w_2)):
        np.testing.assert_allclose(stack.serial_block(x, alone), stack.parallel_block(x, alone))
    assert np.abs(stack.serial_block(x, layer) - stack.parallel_block(x, layer)).max() > 0.01


def test_mla_absorbs_without_rotation_and_cannot_with_it() -> None:
    head = logit.MlaHeadWeights.draw()
    x = drawn(5, 64)
    plain = logit.mla_scores(x, angles(5, 16), head, absorbed=False)
    np.testing.assert_allclose(plain, logit.mla_scores(x, angles(5, 16), head, absorbed=True), atol=1e-10)
    assert logit.mla_absorption_error(x, angles(5, 32), head) > 0.1
    assert logit.mla_absorption_error(x, 0 * angles(5, 32), head) < 1e-10


def test_a_cache_of_rotated_keys_is_exact_until_the_frequencies_change() -> None:
    q, k = drawn(9, 8), drawn(9, 8)
    theta = Rope(8, 700.0).theta
    logits = cache.decode_logits(q, k, theta)
    for n in range(9):
        expected = q[8] @ rotation_matrix(n - 8, theta, "interleaved") @ k[n] / math.sqrt(8)
        assert logits[n] == pytest.approx(expected, abs=1e-12)
    mixed = cache.decode_logits(q, k, theta / 2, theta)
    assert np.abs(mixed - cache.decode_logits(q, k, theta / 2)).max() > 0.1
    assert mixed[8] == pytest.approx(q[8] @ k[8] / math.sqrt(8))


def test_only_a_rotated_value_carries_the_absolute_position() -> None:
    q, k, v = drawn(3, 6, 8)
    theta = Rope(8, 700.0).theta
    for rotate_v, least, most in ((False, 0.0, 1e-12), (True, 0.1, np.inf)):
        still, moved = (cache.attention_output(q, k, v, theta, start, rotate_v) for start in (0, 40))
        assert least <= np.abs(moved - still).max() <= most
    with pytest.raises(ValueError, match="q and k must be two matrices"):
        cache.decode_logits(q, k[:2], theta)
