"""The usual mistakes of a rotation, each with what it makes of a vector: for kernels, and for q and k of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rope_core.layout import LAYOUTS
from rope_core.rope import Array
from rope_core.rotation import quarter_turn_pairs, repeat_per_pair, rotate


def rotations_by_mistake(
    x: Array,
    positions: Sequence[float] | Array,
    theta: Array,
    layout: str,
    sign: int = 1,
    others: Mapping[str, Array] | None = None,
) -> Iterator[tuple[str, Array]]:
    """Yield the name of each mistake and what it gives in place of the rotation, as many for every input of a width.

    Args:
        x: (tokens, heads, dim) before the rotation.
        positions: (tokens,).
        theta: (pairs,) rad/token; the first 2 * pairs dimensions turn.
        layout: "interleaved" or "half".
        sign: -1 for a family that turns by the negative angle.
        others: frequencies that the model's scaling is mistaken for, (pairs,), by name.
    """
    from rope_core.theory.precision import round_to_dtype

    dim, width = x.shape[-1], 2 * len(theta)
    (other,) = LAYOUTS.keys() - {layout}
    place = np.asarray(positions, dtype=np.float64)

    def turned(angle: Array, layout: str = layout, low: int = 0, dtype: str | None = None) -> Array:
        cos, sin = np.cos(sign * angle), np.sin(sign * angle)
        cos, sin = (np.asarray(round_to_dtype(part, dtype)) for part in (cos, sin)) if dtype else (cos, sin)
        out, lanes = np.array(x), slice(low, low + 2 * angle.shape[1])
        out[..., lanes] = rotate(x[..., lanes], cos, sin, layout)
        return out

    angle = np.outer(place, theta)
    yield "still", x
    yield "backwards", turned(-angle)
    yield "other_layout", turned(angle, other)
    for name, pairs, table in (("table_order", layout, other), ("table_order", other, layout)):
        yield (
            name,
            np.concatenate(
                [rotate_with_mixed_layouts(x[..., :width], sign * angle, pairs, table), x[..., width:]], axis=-1
            ),
        )
    yield "twice", turned(2 * angle)
    yield "by_place", turned(np.outer(np.arange(len(place)), theta))
    yield "first_position", turned(np.outer(np.full(len(place), place[0]), theta))
    yield "shifted", turned(np.outer(place + 1, theta))
    for dtype in ("bfloat16", "float16"):
        yield f"tables_{dtype}", turned(angle, dtype=dtype)
        yield f"positions_{dtype}", turned(np.outer(np.asarray(round_to_dtype(place, dtype)), theta))
        yield f"frequencies_{dtype}", turned(np.outer(place, np.asarray(round_to_dtype(theta, dtype))))
        both = (np.asarray(round_to_dtype(each, dtype)) for each in (place, theta))
        yield f"operands_{dtype}", turned(np.outer(*both))
    for name, frequencies in (others or {}).items():
        yield name, turned(np.outer(place, frequencies))
    if width < dim:
        across = np.zeros(dim // 2)
        across[: len(theta)] = theta
        base = (theta[0] / theta[1]) ** (width / 2) if len(theta) > 1 else 1e4
        yield "whole_head", turned(np.outer(place, base ** (-np.arange(0, dim, 2) / dim)))
        yield "across_head", turned(np.outer(place, across), "half")
        yield "last_lanes", turned(angle, low=dim - width)


def rotate_with_mixed_layouts(x: Array, angle: Array, pair_layout: str, table_layout: str) -> Array:
    """Return x (tokens, heads, width) by tables in one layout's order and partners of another: no rotation of pairs."""
    cos, sin = (repeat_per_pair(part(angle), table_layout)[:, None, :] for part in (np.cos, np.sin))
    return np.asarray(x * cos + quarter_turn_pairs(x, pair_layout) * sin)
