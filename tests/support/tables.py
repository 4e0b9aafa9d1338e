"""Rotations in float64 by complex products, with tables of a spectrum that is no default."""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rope_core import Rope

# Half a unit in the last place.
HALF_ULP = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-24, torch.float64: 2.0**-53}


def tables(pairs: int, dtype: torch.dtype = torch.float32, rows: int = 40) -> tuple[Tensor, Tensor]:
    """Return cos and sin (rows, pairs) of base 500, with which no pair is still within the rows."""
    angle = torch.arange(rows, dtype=torch.float64)[:, None] * torch.tensor(Rope(2 * pairs, 500.0).theta)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def turned(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """Return x (..., T, heads, D) turned by cos and sin (..., T, pairs), float64."""
    done, pairs = x.detach().double().clone(), cos.shape[-1]
    first, second = slice(0, pairs), slice(pairs, 2 * pairs)
    if layout == "interleaved":
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    product = (
        torch.complex(done[..., first], done[..., second]) * torch.complex(cos.double(), sin.double())[..., None, :]
    )
    done[..., first], done[..., second] = product.real, product.imag
    return done


def assert_turned(got: Tensor, exact: Tensor, ulps: float = 0.5) -> None:
    """Hold a result to its type's rounding, and two roundings of the products in the type that it is computed in."""
    assert got.shape == exact.shape and not torch.isnan(got).any()
    scale = float(exact.abs().max()) if exact.numel() else 0.0
    bound = exact.abs() * HALF_ULP[got.dtype] * 2 * ulps * 1.001 + (2.0**-25 if got.dtype == torch.float16 else 0.0)
    bound = bound + 4.0 * scale * (2e-16 if got.dtype == torch.float64 else 1.2e-7)
    assert bool(((got.double() - exact).abs() <= bound).all())


def normed(
    x: Tensor, gain: Tensor, table: tuple[Tensor, Tensor], where: Tensor, layout: str, eps: float
) -> npt.NDArray[np.float64]:
    """Return x (..., T, heads, D) divided by its root mean square, weighted and turned, in float64.

    A gain of one head (D,) takes each head's own mean, one of all heads (heads * D,) a token's.
    """
    wide, whole = x.double(), gain.numel() != x.shape[-1]
    mean = (wide**2).mean((-2, -1) if whole else -1, keepdim=True)
    weight = gain.double().reshape((x.shape[-2], -1) if whole else -1)
    cos, sin = (t[where] for t in table)
    done: npt.NDArray[np.float64] = turned(wide / (mean + eps) ** 0.5 * weight, cos, sin, layout).numpy()
    return done
