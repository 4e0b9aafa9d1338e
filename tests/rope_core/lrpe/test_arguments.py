"""What LRPE refuses, and in which words: the argument, the rule and the value."""

from typing import Any

import numpy as np
import pytest
import torch

from rope_core.lrpe import lrpe_rotate, lrpe_rotate_backward
from rope_core.lrpe.arguments import make_lrpe_spec

X = np.ones((2, 3, 4, 8))
T = np.ones(4)

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"x": np.ones((2, 3, 4, 7))}, r"x must be of even last dimension .* got \(2, 3, 4, 7\)"),
    ({"x": np.ones((2, 8))}, r"x must be of shape \(B, N, H, D\) or \(B, N, D\), got \(2, 8\)"),
    ({"x": [[[1.0, 2.0]]]}, "x must be a numpy array or a torch tensor"),
    ({"x": np.ones((2, 3, 4, 8), complex)}, "x must be an array of real numbers"),
    ({"theta": np.ones(5)}, r"theta must be of shape \(4, 4\) .*, \(4,\) .* or \(4,\) per head, got \(5,\)"),
    ({"theta": np.ones((1, 4))}, r"theta must be .* got \(1, 4\)"),
    ({"theta": np.full(4, np.nan)}, "theta must be finite"),
    ({"theta": np.full(4, 2.0**21)}, r"theta must be finite and at most 2\*\*20"),
    ({"theta": torch.ones(4)}, "theta must be a numpy array like x, got 'Tensor'"),
    ({"act": "tanh"}, "act must be one of none, relu, sigmoid, silu, gelu, softmax, 1\\+elu, relu2, got 'tanh'"),
    ({"dim": 0}, r"dim must be None .* got 0"),
    ({"dim": True}, "dim must be None .* got True"),
    ({"act": "softmax"}, r"dim must be -1 \(the head\) or 1 \(the sequence\) for softmax, got None"),
    ({"x": np.ones((2, 0, 4, 8)), "act": "softmax", "dim": 1}, "x must be of length N >= 1 for a softmax"),
    ({"offset": -1}, r"offset must be an integer in \[0, 2147483645\], got -1"),
    ({"offset": 2**31 - 2}, "offset must be an integer in"),
    ({"offset": 2.5}, "offset must be an integer"),
    ({"offset": [0, -1]}, "offset must be in .* every position is below"),
    ({"offset": [[0, 1, 2**31]]}, "offset must be in"),
    ({"offset": [0, 1, 2]}, r"offset must be an int, starts of shape \(2,\), or positions .* got 'shape \(3,\)'"),
    ({"offset": [0.0, 1.0]}, "offset must be integers"),
    ({"rotary_dim": 3}, "rotary_dim must be an even integer, because dimensions turn in pairs, got 3"),
    ({"rotary_dim": 10}, r"rotary_dim must be an integer in \[2, 8\], got 10"),
    ({"rotary_dim": slice(0, 9)}, "rotary_dim must be a slice of step 1"),
    ({"rotary_dim": slice(4, 4)}, "rotary_dim must be a slice"),
    ({"rotary_dim": slice(0, 8, 2)}, "rotary_dim must be a slice"),
    ({"backend": "cuda"}, "backend must be None or one of numpy, eager, triton, got 'cuda'"),
    ({"backend": "eager"}, "x must be a torch tensor for backend eager, got 'ndarray'"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED, ids=lambda v: str(v)[:40])
def test_bad_input_is_refused_with_its_rule(change: dict[str, Any], words: str) -> None:
    call = {"x": X, "theta": T, **change}
    with pytest.raises(ValueError, match=words):
        lrpe_rotate(call.pop("x"), call.pop("theta"), **call)


@pytest.mark.parametrize(
    ("x", "theta", "options", "words"),
    [
        (torch.ones(1, 2, 4), np.ones(2), {}, "theta must be a torch tensor like x, got 'ndarray'"),
        (torch.ones(1, 2, 4), torch.ones(2, device="meta"), {}, "theta must be on x's device cpu, got 'meta'"),
        (torch.ones(1, 2, 4, dtype=torch.int64), torch.ones(2), {}, "x must be of a floating type"),
        (torch.ones(1, 2, 4), torch.ones(2, dtype=torch.int64), {}, "theta must be of a floating type"),
        (torch.ones(1, 2, 4), torch.tensor([1.0, torch.inf]), {}, "theta must be finite"),
        (torch.ones(1, 2, 4), torch.ones(2), {"backend": "numpy"}, "x must be a numpy array for backend numpy"),
        (torch.ones(1, 2, 4), torch.ones(2), {"offset": torch.tensor([-1])}, "offset must be in"),
        (torch.ones(1, 2, 4), torch.ones(2), {"offset": torch.tensor([0.5])}, "offset must be integers"),
        (
            torch.ones(1, 2, 4),
            torch.ones(2),
            {"offset": torch.ones(1, dtype=torch.int64, device="meta")},
            "offset must be on the CPU or on x's device, got 'meta'",
        ),
    ],
)
def test_bad_tensors_are_refused(x: Any, theta: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        lrpe_rotate(x, theta, **options)


def test_a_gradient_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"grad must be of x's shape \(2, 3, 4, 8\), got \(2, 3, 4, 4\)"):
        lrpe_rotate_backward(X, T, X[..., :4])


def test_a_slice_may_count_from_the_end() -> None:
    whole = make_lrpe_spec((1, 2, 3, 8), (2,), rotary_dim=slice(-4, None))
    assert (whole.start, whole.rotary_end) == (4, 8)


def test_the_last_position_is_still_turned() -> None:
    out = lrpe_rotate(np.array([[[1.0, 0.0]]]), np.array([2 * np.pi / 2**31]), offset=2**31 - 1)
    np.testing.assert_allclose(out, [[[1.0, -2 * np.pi / 2**31]]], atol=1e-15)
