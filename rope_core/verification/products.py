"""Every product of queries and keys in a run, seen where torch computes it, with what the layer computed before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rope_core.rope import Array


@dataclass(frozen=True, eq=False)
class QueryKeyProduct:
    """One product of queries and keys.

    Attributes:
        module: dotted name of the module that computes it.
        q, k: float64 (positions, heads, dim), as they are multiplied.
        v: float64 (positions, n), or None where it was not seen.
        inputs: what the layer computed before and what does not follow the position, at position 0, float64 (n,), the
            latest last: q and k before their rotation are in it.
        constants: plain numbers among the module's attributes, such as its softmax scale.
        labels: names among the module's attributes, such as its layer type.
        unit: unit round-off of the dtype in which q is held, or the module's weights, whichever is coarser.
        tempered: whether the module holds a learned temperature, by which q's length may follow the position.
    """

    module: str
    q: Array
    k: Array
    v: Array | None
    inputs: tuple[Array, ...]
    constants: tuple[float, ...]
    labels: tuple[str, ...]
    unit: float
    tempered: bool = False

    @property
    def layer(self) -> int | None:
        """The layer's index, None where the module's name holds no number."""
        return first_index_in_name(self.module)

    @property
    def follows_position(self) -> bool:
        """Whether q or k follows the position."""
        return max(max_row_difference(self.q), max_row_difference(self.k)) > equal_row_tolerance(self.unit)


def to_float64_array(tensor: Any) -> Array:
    """Return a copy of a tensor in float64."""
    return np.array(tensor.detach().cpu().double().numpy())


def equal_row_tolerance(rounding_unit: float) -> float:
    """Return what two rows of one computation may differ by, as a fraction of its largest value.

    A matrix product adds its terms in another order from row to row: 32 roundings of float32, or two units in the last
    place of a coarser dtype.
    """
    return max(32 * 2.0**-24, 4 * rounding_unit)


def max_row_difference(rows: Array) -> float:
    """Largest difference from the first row as a fraction of the largest value; inf where a value is no number."""
    largest = float(np.abs(rows).max(initial=0.0))
    if not np.isfinite(largest):
        return float("inf")
    return float(np.abs(rows - rows[:1]).max(initial=0.0)) / (largest or 1.0)


def first_index_in_name(name: str) -> int | None:
    """Return the first number in a dotted name.

    >>> first_index_in_name("model.layers.3.self_attn"), first_index_in_name("attention")
    (3, None)
    """
    return next((int(part) for part in name.split(".") if part.isdigit()), None)
