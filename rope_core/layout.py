"""Where the two halves of a pair are in a head vector, and the permutation between the conventions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import MAX_DIM

DimIndices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """A pairing of head dimensions: ``first(pairs)[i]`` and ``second(pairs)[i]`` are pair i's dimensions."""

    name: str
    first: Callable[[int], DimIndices]
    second: Callable[[int], DimIndices]

    def split_pairs(self, x: Any) -> tuple[Any, Any]:
        """Return views of the pairs' first and second members, each (..., dim/2), of any array type."""
        if self is INTERLEAVED:
            return x[..., 0::2], x[..., 1::2]
        half = x.shape[-1] // 2
        return x[..., :half], x[..., half:]


INTERLEAVED = Layout("interleaved", lambda n: 2 * np.arange(n), lambda n: 2 * np.arange(n) + 1)
HALF = Layout("half", lambda n: np.arange(n), lambda n: np.arange(n) + n)
LAYOUTS = {layout.name: layout for layout in (INTERLEAVED, HALF)}


def checked_layout(layout: str | Layout) -> Layout:
    """Return the Layout that ``layout`` names, or raise ValueError.

    "interleaved" is the paper's and GPT-J's, pairs (2i, 2i+1); "half" is LLaMA's in Hugging Face and GPT-NeoX's,
    pairs (i, i + dim/2).
    """
    if isinstance(layout, Layout):
        return layout
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise argument_error("layout", "one_of", layout, names=list(LAYOUTS))
    return LAYOUTS[layout]


def checked_even_dim(argument: str, value: object) -> int:
    """Return ``value`` as an even width in [2, 65536], or raise ValueError."""
    dim = checked_int(argument, value, 2, MAX_DIM)
    if dim % 2:
        raise argument_error(argument, "even_dim", value)
    return dim


def convert(dim: int, source: str | Layout, target: str | Layout) -> DimIndices:
    """Return the index array p (dim,) for which ``x_target = x_source[..., p]``.

    Raises ValueError on an odd dim or an unknown layout.

    >>> convert(6, "interleaved", "half").tolist()
    [0, 2, 4, 1, 3, 5]
    >>> convert(6, "half", "interleaved").tolist()
    [0, 3, 1, 4, 2, 5]
    """
    pairs = checked_even_dim("dim", dim) // 2
    here, there = checked_layout(source), checked_layout(target)
    order = np.empty(2 * pairs, dtype=np.int64)
    order[there.first(pairs)] = here.first(pairs)
    order[there.second(pairs)] = here.second(pairs)
    return order


def convert_projection(
    weight: Any,
    heads: int,
    source: str | Layout,
    target: str | Layout,
    rotary_dim: int | None = None,
) -> Any:
    """Reorder the rows of a query or key projection so that a model of the other layout gives the same scores.

    Args:
        weight: (heads * head_dim, in) projection or (heads * head_dim,) bias; numpy or torch.
        heads: heads in ``weight``: query heads for q, KV heads for k (grouped-query attention).
        source: the layout that ``weight`` was trained for.
        target: the layout that it shall run in.
        rotary_dim: rotary width when only the first part of each head rotates; None for all of it.

    Returns:
        A reordered copy of ``weight``, same shape and type.

    Raises:
        ValueError: when the rows do not divide into ``heads`` heads of even width, or rotary_dim exceeds a head.

    Source: permute() in
    https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/models/llama/convert_llama_weights_to_hf.py

    >>> convert_projection(np.arange(8.0), 2, "interleaved", "half").tolist()
    [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]
    """
    rows = weight.shape[0]
    count = checked_int("heads", heads, 1, max(rows, 1))
    if rows % count:
        raise argument_error("heads", "rows_divisor", heads, rows=rows)
    head_dim = rows // count
    width = checked_even_dim("rotary_dim", head_dim if rotary_dim is None else rotary_dim)
    if width > head_dim:
        raise argument_error("rotary_dim", "head_width", rotary_dim, width=head_dim)
    within = np.concatenate([convert(width, source, target), np.arange(width, head_dim)])
    order = (head_dim * np.arange(count)[:, None] + within).reshape(-1)
    return weight[order]
