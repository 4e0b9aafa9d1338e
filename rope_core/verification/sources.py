"""Where q or k came from: the vector before its rotation, among what its layer computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rope_core.layout import HALF, INTERLEAVED, checked_layout, convert
from rope_core.rope import Array
from rope_core.verification.products import QueryKeyProduct


@dataclass(frozen=True, eq=False)
class UnrotatedVectors:
    """q or k before its rotation: (heads, rotary_dim) in the weights' order, the order in which the product has it.

    ``order`` are the indices with ``product's lanes = weights' lanes[order]``; ``factor`` is what position 0
    multiplies by.
    """

    vectors: Array
    order: tuple[int, ...]
    factor: float


def match_unrotated_vectors(heads: Array, product: QueryKeyProduct) -> UnrotatedVectors | None:
    """Find the vectors of position 0 (heads, width) among the layer's inputs, lane for lane, in whatever order.

    Of several, the one nearest to a factor of 1 counts, and of those the one that was computed first.
    """
    best: tuple[float, UnrotatedVectors] | None = None
    for search in (matching_lane_orders, any_matching_orders):
        for vector in product.inputs:
            for order, factor in search(vector, heads[0], product.unit):
                distance = abs(np.log(factor))
                if best is None or distance < best[0] - 1e-3:
                    best = distance, UnrotatedVectors(heads[:, np.argsort(order)] / factor, order, factor)
        if best is not None:
            return best[1]
    return None


def unmatched_heads(heads: Array, source: UnrotatedVectors, product: QueryKeyProduct) -> list[int]:
    """Return position 0's heads, (heads, width), that are in none of the layer's inputs in the source's order."""
    if len(heads) == 1:
        return []
    explained = [v for v in product.inputs if source.order in dict(matching_lane_orders(v, heads[0], product.unit))]
    nearest = explained + [v for v in product.inputs if not any(v is each for each in explained)]

    def known(head: Array) -> bool:
        return any(source.order in dict(matching_lane_orders(v, head, product.unit)) for v in nearest)

    return [i for i, head in enumerate(heads) if not known(head)]


def lane_orders(width: int) -> list[tuple[int, ...]]:
    """Return the weights' own order, neighbours brought to halves, halves brought to neighbours."""
    distinct = [tuple(range(width))]
    for source, target in ((INTERLEAVED, HALF), (HALF, INTERLEAVED)):
        order = tuple(int(i) for i in convert(width, source, target))
        if order not in distinct:
            distinct.append(order)
    return distinct


def matching_lane_orders(vector: Array, turned: Array, unit: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Orders of ``lane_orders`` in which ``turned`` is a stretch of ``vector``, with the factor between them."""
    width, room = len(turned), 32 * unit
    for order in lane_orders(width):
        wanted = turned[np.argsort(order)]
        if len(vector) < width or wanted[0] == 0:
            continue
        first, second = vector[: len(vector) - width + 1], vector[1 : len(vector) - width + 2]
        off = np.abs(second * wanted[0] - first * wanted[1])
        for start in np.flatnonzero(off <= room * np.maximum(np.abs(first * wanted[1]), np.abs(second * wanted[0]))):
            stretch = vector[start : start + width]
            energy = float(stretch @ stretch)
            factor = float(stretch @ wanted) / energy if energy else 0.0
            if factor > 0 and np.abs(wanted - factor * stretch).max() <= room * np.abs(wanted).max():
                yield order, factor


def any_matching_orders(vector: Array, turned: Array, unit: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Any order in which ``turned`` is a stretch of ``vector``: the two hold the same numbers up to a factor."""
    width, room = len(turned), 32 * unit
    if len(vector) < width:
        return
    stretches = np.lib.stride_tricks.sliding_window_view(vector, width)
    square, fourth = (np.convolve(vector**power, np.ones(width), "valid") for power in (2, 4))
    here, there = float((turned**2).sum()), float((turned**4).sum())
    near = np.abs(square**2 * there - fourth * here**2) <= 1e-2 * fourth * here**2
    for start in np.flatnonzero(near & (square > 0)):
        factor = float(np.sqrt(here / square[start]))
        ranks, wanted = np.argsort(stretches[start]), np.argsort(turned)
        if np.abs(turned[wanted] - factor * stretches[start][ranks]).max() <= room * np.abs(turned).max():
            order = np.empty(width, dtype=int)
            order[wanted] = ranks
            yield tuple(int(i) for i in order), factor


def match_by_pair_lengths(heads: Array, product: QueryKeyProduct, layout: str) -> UnrotatedVectors | None:
    """Find the first head's vector among the layer's inputs by its pairs' lengths, which no rotation changes."""
    width = heads.shape[-1]
    best: tuple[float, UnrotatedVectors] | None = None
    for order in lane_orders(width):
        first, second = checked_layout(layout).split_pairs(heads[0, np.argsort(order)])
        wanted = np.hypot(first, second)
        for vector in product.inputs:
            if len(vector) < width:
                continue
            stretches = np.lib.stride_tricks.sliding_window_view(vector, width)
            first, second = checked_layout(layout).split_pairs(stretches)
            lengths = np.hypot(first, second)
            with np.errstate(divide="ignore", invalid="ignore"):
                factors = lengths @ wanted / (lengths * lengths).sum(axis=1)
                off = np.abs(wanted - factors[:, None] * lengths).max(axis=1)
            for start in np.flatnonzero(off <= 32 * product.unit * wanted.max()) if width > 2 else ():
                distance = abs(np.log(factors[start]))
                if best is None or distance < best[0] - 1e-3:
                    best = distance, UnrotatedVectors(stretches[start][None], order, float(factors[start]))
    return best[1] if best else None
