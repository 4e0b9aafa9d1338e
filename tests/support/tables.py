"""Tables of a spectrum that is no default: base 500, so that no pair is still within the rows."""

import torch
from torch import Tensor

from rope_core import Rope


def tables(pairs: int, dtype: torch.dtype = torch.float32, rows: int = 40) -> tuple[Tensor, Tensor]:
    """Return cos and sin (rows, pairs)."""
    angle = torch.arange(rows, dtype=torch.float64)[:, None] * torch.tensor(Rope(2 * pairs, 500.0).theta)
    return angle.cos().to(dtype), angle.sin().to(dtype)
