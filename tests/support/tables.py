"""Tables of a spectrum that is no default, base 500, so that no pair is still within the rows; norms beside them."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rope_core import Rope


def tables(pairs: int, dtype: torch.dtype = torch.float32, rows: int = 40) -> tuple[Tensor, Tensor]:
    """Return cos and sin (rows, pairs)."""
    angle = torch.arange(rows, dtype=torch.float64)[:, None] * torch.tensor(Rope(2 * pairs, 500.0).theta)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def normed(
    x: Tensor, gain: Tensor, table: tuple[Tensor, Tensor], where: Tensor, layout: str, eps: float
) -> npt.NDArray[np.float64]:
    """Return x (..., T, heads, D) divided by its root mean square, weighted and turned, in float64.

    A gain of one head (D,) takes each head's own mean, one of all heads (heads * D,) a token's; a turn is a complex
    product.
    """
    wide: npt.NDArray[np.float64] = x.double().numpy()
    heads = x.shape[-2]
    whole = gain.numel() != x.shape[-1]
    mean = (wide**2).mean((-2, -1) if whole else -1, keepdims=True)
    wide = wide / np.sqrt(mean + eps) * gain.double().numpy().reshape((heads, -1) if whole else -1)
    pairs = table[0].shape[1]
    turn = (table[0].double().numpy() + 1j * table[1].double().numpy())[where.numpy()][:, None]
    first, second = slice(0, pairs), slice(pairs, 2 * pairs)
    if layout == "interleaved":
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    turned = (wide[..., first] + 1j * wide[..., second]) * turn
    wide[..., first], wide[..., second] = turned.real, turned.imag
    return wide
