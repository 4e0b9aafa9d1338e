"""What an attention does to q and k, against what a config says: each vector beside the one that rc.rotate gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rope_core.findings import FindingPhrase
from rope_core.hf.ropes import HfRope
from rope_core.layout import HALF, INTERLEAVED, LAYOUTS, checked_layout
from rope_core.rope import Array
from rope_core.rotation import repeat_per_pair, rotate
from rope_core.verification.mistakes import rotate_with_mixed_layouts
from rope_core.verification.products import QueryKeyProduct, equal_row_tolerance, max_row_difference
from rope_core.verification.sources import (
    UnrotatedVectors,
    lane_orders,
    match_by_pair_lengths,
    match_unrotated_vectors,
    unmatched_heads,
)

# Attention factors agree to this fraction.
FACTOR = 2e-5
SINGLE = 2.0**-24
COARSE = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@dataclass(frozen=True)
class RotationVerdict:
    """What is wrong with q or k of one product: the finding's key and its numbers."""

    key: str
    values: tuple[tuple[str, object], ...] = ()


def rotation_tolerance(positions: Array, theta: Array, unit: float, table: float | None = None) -> Array:
    """Largest distance of a turned pair from the exact one, for a pair of length 1; float64 (positions, pairs).

    Four roundings of the vector's dtype (two products, a sum, the factor) and two of the tables', each at most the
    pair's length times the dtype's unit round-off; and the angle's error: position times frequency times the
    frequency's own relative error and two roundings in float32. A power computed in float32 errs by its exponent's
    rounding times the base's logarithm: four roundings times 1 + abs(log theta), twice the most measured on
    transformers' seven kinds. At the fastest pair that leaves a position room for itself up to millions of tokens.
    """
    speed = np.abs(np.asarray(theta, dtype=np.float64))
    error = 4 * SINGLE * (1 + np.abs(np.log(np.where(speed > 0, speed, 1.0))))
    angle = np.outer(positions, speed * (error + 2 * SINGLE)) + 2 * SINGLE
    return np.asarray(angle + 4 * unit + (2 * unit if table is None else table))


def rotate_lanes(x: Array, angle: Array, layout: str, first_dim: int = 0, factor: float = 1.0) -> Array:
    """Rotate x (positions, heads, dim) by angles (positions, pairs) in lanes from ``first_dim`` on; others stay."""
    out, lanes = np.array(x), slice(first_dim, first_dim + 2 * angle.shape[1])
    out[..., lanes] = rotate(x[..., lanes], factor * np.cos(angle), factor * np.sin(angle), layout)
    return out


def rotation_sign(rope: HfRope) -> int:
    """Return -1 where the model's code turns by the negative angle, else 1."""
    return -1 if rope.backwards else 1


def rotation_verdicts(
    product: QueryKeyProduct,
    positions: tuple[int, ...],
    rope: HfRope,
    explanations: Sequence[tuple[RotationVerdict, Array]],
) -> dict[str, RotationVerdict]:
    """Compare q and k of one product with what the config says; the parts that differ, "q", "k" or "q, k".

    Args:
        product: what was multiplied.
        positions: the rows' positions, the first one 0.
        rope: what the layer should do; ``rope.nope`` where it should not turn.
        others: frequencies that other explanations have, by what they would say.

    "rotation_not_observed" where the vectors before the rotation were not seen.
    """
    verdicts: dict[str, RotationVerdict] = {}
    used = set()
    for part, heads in (("q", product.q), ("k", product.k)):
        verdict, order = _part(heads, product, np.asarray(positions, dtype=np.float64), rope, explanations)
        if verdict is not None:
            verdicts[part] = verdict
        if order is not None:
            used.add(order)
    if not verdicts and len(used) > 1:
        return {"q, k": RotationVerdict("rotation_orders_differ")}
    return verdicts


def _part(
    heads: Array,
    product: QueryKeyProduct,
    positions: Array,
    rope: HfRope,
    others: Sequence[tuple[RotationVerdict, Array]],
) -> tuple[RotationVerdict | None, tuple[int, ...] | None]:
    """Return what is wrong with q or k, and the order in which its lanes are."""
    if not np.any(heads):
        # A zero vector is the same at every angle: a padding id's embedding, or a projection that nobody trained.
        return RotationVerdict("rotation_not_observed", (("reason", FindingPhrase("all_zero")),)), None
    if product.tempered:
        lengths = np.linalg.norm(heads, axis=-1, keepdims=True)
        heads = np.divide(heads * lengths[:1], lengths, out=np.zeros_like(heads), where=lengths > 0)
    still = max_row_difference(heads) <= equal_row_tolerance(product.unit)
    if rope.nope or not np.any(rope.inv_freq):
        # An attention temperature that follows the position, as Llama 4's, is no rotation.
        lengths = np.linalg.norm(heads, axis=-1, keepdims=True)
        directions = np.divide(heads, lengths, out=np.zeros_like(heads), where=lengths > 0)
        still = still or max_row_difference(directions) <= 4 * equal_row_tolerance(product.unit)
        return (None if still else RotationVerdict("rotation_not_wanted")), None
    if still:
        return RotationVerdict("rotation_missing"), None
    width, dim = rope.rotary_dim, heads.shape[-1]
    if width > dim:
        return RotationVerdict("rotation_width", (("found", dim), ("wanted", width))), None
    low = max(dim - rope.head_dim, 0) + rope.start
    outside = [lane for lane in range(dim) if not low <= lane < low + width]
    if outside and max_row_difference(heads[..., outside]) > equal_row_tolerance(product.unit):
        if not any(vector.size >= heads[0].size for vector in product.inputs):
            # What came before follows the position as well: a fault of an earlier layer.
            return RotationVerdict("rotation_not_observed"), None
        return moved_lane_verdict(heads, low, positions, rope, product.unit), None
    block = heads[0, :, low : low + width]
    source = match_unrotated_vectors(block, product)
    if source is None:
        source = match_by_pair_lengths(block, product, rope.layout)
        if source is None:
            return RotationVerdict("rotation_not_observed"), None
        case = ObservedRotation(heads[:, : len(source.vectors)], low, source, positions, rope, product.unit)
        return scale_verdict(source, rope, product, dim) or case.shifted_position_verdict() or case.differs(
            rope.inv_freq, rope.layout
        ), None
    case = ObservedRotation(heads, low, source, positions, rope, product.unit)
    verdict = case.verdict(others)
    # A learned temperature multiplies each head of q by a factor of its own.
    if verdict is None and not product.tempered and (verdict := scale_verdict(source, rope, product, dim)) is not None:
        last = match_unrotated_vectors(block[-1:], product)
        if last is None or abs(last.factor / source.factor - 1) > product.unit + FACTOR:
            # A factor of its own for each head: a norm after the rotation, whose factor is no attention factor.
            return RotationVerdict("rotation_not_observed"), None
    if verdict is None and source.order in lane_orders(width):
        verdict = shifted_head_verdict(heads, low, source, positions, rope, product)
    return verdict, source.order


def verdict_at_other_positions(
    heads: Array, product: QueryKeyProduct, positions: tuple[int, ...], rope: HfRope
) -> RotationVerdict | None:
    """Return what is wrong with q or k of a product at other positions, the first one 0, than where it was right.

    Args:
        heads: (positions, heads, dim), q or k at ``positions``.
        product: the layer's, with what it computed before, judged right.
    """
    low, width = max(heads.shape[-1] - rope.head_dim, 0) + rope.start, rope.rotary_dim
    source = match_unrotated_vectors(heads[0, :, low : low + width], product)
    if source is None:
        return None
    case = ObservedRotation(heads, low, source, np.asarray(positions, dtype=np.float64), rope, product.unit)
    return (
        None
        if case.fits(case.expected_vectors(rope.inv_freq, rope.layout), case.lane_tolerance(rope.inv_freq))
        else case.differs(rope.inv_freq, rope.layout)
    )


def shifted_head_verdict(
    heads: Array, low: int, first: UnrotatedVectors, positions: Array, rope: HfRope, product: QueryKeyProduct
) -> RotationVerdict | None:
    """Return what is wrong with a head that turns as the others do from a position 0 that is not its own."""
    block = heads[0, :, low : low + rope.rotary_dim]
    for i in unmatched_heads(block, first, product):
        source = match_by_pair_lengths(block[i : i + 1], product, rope.layout)
        if source is not None:
            case = ObservedRotation(heads[:, i : i + 1], low, source, positions, rope, product.unit)
            return case.shifted_position_verdict() or case.differs(rope.inv_freq, rope.layout)
    return None


def scale_verdict(source: UnrotatedVectors, rope: HfRope, product: QueryKeyProduct, dim: int) -> RotationVerdict | None:
    """Return what position 0 multiplies by, against the attention factor; a softmax scale, or its root, is no fault.

    Nor is what gives normalised queries and keys their length back: the head's width, as at the start of Dory's
    learned scale. Source: https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/models/dory
    """
    wanted = rope.attention_factor
    known = [1.0, dim**-0.25, dim**-0.5, float(dim), *product.constants]
    room = 8 * product.unit + FACTOR
    if any(abs(source.factor / (wanted * factor) - 1.0) <= room for factor in known):
        return None
    return RotationVerdict("rotation_scaled", (("found", source.factor), ("wanted", wanted)))


@dataclass(frozen=True, eq=False)
class ObservedRotation:
    """q or k of one layer, (positions, heads, dim), and what it was before: what explains it."""

    heads: Array
    low: int
    source: UnrotatedVectors
    positions: Array
    rope: HfRope
    unit: float

    def expected_vectors(self, theta: Array, layout: str, positions: Array | None = None) -> Array:
        """Return the vectors that frequencies and a layout give, in the product's order, (positions, heads, width)."""
        return self.by_angle(np.outer(self.positions if positions is None else positions, theta), layout)

    def by_angle(self, angle: Array, layout: str) -> Array:
        """Return the vectors turned by angles (positions, pairs)."""
        angle = rotation_sign(self.rope) * angle
        vectors = np.broadcast_to(self.source.vectors, (len(self.positions), *self.source.vectors.shape))
        out = rotate(vectors, np.cos(angle), np.sin(angle), layout)
        return np.asarray(self.source.factor * out[..., list(self.source.order)])

    def lane_tolerance(self, theta: Array, table: float | None = None) -> Array:
        """Tolerance for each pair of each head, in the product's order: (positions, heads, width)."""
        pairs = rotation_tolerance(self.positions, theta, self.unit, table)
        split = checked_layout(self.rope.layout)
        first, second = split.split_pairs(self.source.vectors)
        length = np.hypot(first, second)
        rows = pairs[:, None, :] * length[None] * abs(self.source.factor)
        both = repeat_per_pair(rows, split)[..., list(self.source.order)]
        return np.asarray(both + equal_row_tolerance(self.unit) * np.abs(self.heads).max())

    def fits(self, wanted: Array, room: Array | float) -> bool:
        """Whether the rotating lanes are what ``wanted`` says."""
        width = wanted.shape[-1]
        return bool(np.all(np.abs(self.heads[..., self.low : self.low + width] - wanted) <= room))

    def verdict(self, others: Sequence[tuple[RotationVerdict, Array]]) -> RotationVerdict | None:
        """Return what explains the vectors; None where the config does."""
        rope, width = self.rope, self.rope.rotary_dim
        theta, layout = rope.inv_freq, rope.layout
        room = self.lane_tolerance(theta)
        if self.fits(self.expected_vectors(theta, layout), room):
            return None
        if self.fits(self.expected_vectors(-theta, layout), room):
            return RotationVerdict("rotation_backwards")
        (other,) = LAYOUTS.keys() - {layout}
        if self.fits(self.expected_vectors(theta, other), self.loose(theta)):
            partner = 1 if other == INTERLEAVED.name else width // 2
            return RotationVerdict("layout_differs", (("found", other), ("wanted", layout), ("partner", partner)))
        for verdict, frequencies in others:
            if frequencies.shape == theta.shape and self.fits(
                self.expected_vectors(frequencies, layout), self.lane_tolerance(frequencies)
            ):
                return verdict
        if self.coarse(theta, layout) is None and self.fits(self.crossed(theta, layout, other), self.loose(theta)):
            return RotationVerdict("rotation_table_order", (("found", other), ("wanted", layout)))
        return self.coarse(theta, layout) or self.differs(theta, layout)

    def crossed(self, theta: Array, layout: str, table: str) -> Array:
        """Return the vectors by partners of a layout and tables in another's order."""
        vectors = np.broadcast_to(self.source.vectors, (len(self.positions), *self.source.vectors.shape))
        out = rotate_with_mixed_layouts(
            vectors, rotation_sign(self.rope) * np.outer(self.positions, theta), layout, table
        )
        return np.asarray(self.source.factor * out[..., list(self.source.order)])

    def loose(self, theta: Array) -> Array:
        """One tolerance for all lanes, for pairs other than the config's."""
        pairs = rotation_tolerance(self.positions, theta, self.unit).max(axis=1)
        return np.asarray(pairs[:, None, None] * 2 * np.abs(self.source.vectors * self.source.factor).max())

    def shifted_position_verdict(self) -> RotationVerdict | None:
        """Positions that are all off by the same small number."""
        for step in (1, -1, 2, -2):
            where = self.positions + step
            if self.fits(
                self.expected_vectors(self.rope.inv_freq, self.rope.layout, where),
                self.lane_tolerance(self.rope.inv_freq),
            ):
                return RotationVerdict("rotation_shifted", (("by", step),))
        return None

    def coarse(self, theta: Array, layout: str) -> RotationVerdict | None:
        """Frequencies, positions or tables that were held in half precision, of a coarser type than q or the same."""
        from rope_core.theory.precision import round_to_dtype

        for dtype, unit in COARSE.items():
            frequencies = np.asarray(round_to_dtype(theta, dtype))
            positions = np.asarray(round_to_dtype(self.positions, dtype))
            if not np.all(np.isfinite(positions)):
                continue
            for what, each, where, table in (
                ("tables", theta, self.positions, 2 * unit),
                ("positions", theta, positions, 2 * unit),
                ("frequencies", frequencies, self.positions, self.unit),
                ("frequencies", frequencies, self.positions, 2 * unit),
                ("frequencies", frequencies, positions, 2 * unit),
            ):
                if self.fits(self.expected_vectors(each, layout, where), self.lane_tolerance(each, table)):
                    return RotationVerdict(f"rotation_{what}_rounded", (("dtype", dtype),))
            angle = np.asarray(round_to_dtype(np.outer(positions, frequencies), dtype))
            if self.fits(self.by_angle(angle, layout), self.lane_tolerance(theta, 2 * unit)):
                return RotationVerdict("rotation_angles_rounded", (("dtype", dtype),))
        return None

    def differs(self, theta: Array, layout: str) -> RotationVerdict:
        """No explanation: the pair and the position of the largest difference, with both angles."""
        width = len(theta) * 2
        got = self.heads[..., self.low : self.low + width][..., np.argsort(self.source.order)] / self.source.factor
        split = checked_layout(layout)
        a, b = split.split_pairs(got)
        first, second = split.split_pairs(self.source.vectors)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num((a + 1j * b) / (first + 1j * second)[None])
        wanted = np.exp(1j * rotation_sign(self.rope) * np.outer(self.positions, theta))[:, None, :]
        excess = np.abs(ratio - wanted) / rotation_tolerance(self.positions, theta, self.unit)[:, None, :]
        where, head, pair = np.unravel_index(int(excess.argmax()), excess.shape)
        position = int(self.positions[where])
        return RotationVerdict(
            "rotation_differs",
            (
                ("pair", int(pair)),
                ("position", position),
                ("found", float(np.angle(ratio[where, head, pair]))),
                ("wanted", float(np.angle(wanted[where, 0, pair]))),
                ("length", float(np.abs(ratio[where, head, pair]))),
            ),
        )


def moved_lane_verdict(heads: Array, low: int, positions: Array, rope: HfRope, unit: float) -> RotationVerdict:
    """Lanes move that should stay: pairs across the head, the wrong end of it, or another width.

    Position 0 shows the vectors before the rotation, whatever it is multiplied by.
    """
    theta, width, dim = rope.inv_freq, rope.rotary_dim, heads.shape[-1]
    vectors = np.broadcast_to(heads[0], heads.shape)
    turn = rotation_sign(rope) * positions

    def near(wanted: Array, frequencies: Array) -> bool:
        pairs = rotation_tolerance(positions, frequencies, unit).max(axis=1)
        return bool(np.all(np.abs(heads - wanted) <= pairs[:, None, None] * 2 * np.abs(heads[0]).max()))

    across = np.zeros(dim // 2)
    across[: len(theta)] = theta
    if near(rotate_lanes(vectors, np.outer(turn, across), HALF.name), across):
        partner = 1 if rope.layout == INTERLEAVED.name else width // 2
        return RotationVerdict("rotation_across_head", (("partner", dim // 2), ("wanted", partner)))
    for start in {0, dim - width} - {low}:
        if near(rotate_lanes(vectors, np.outer(turn, theta), rope.layout, start), theta):
            return RotationVerdict("rotation_lanes", (("found", start), ("wanted", low), ("width", width)))
    full = np.asarray(rope.base ** (-np.arange(0, dim, 2) / dim))
    if any(near(rotate_lanes(vectors, np.outer(turn, full), name), full) for name in LAYOUTS):
        return RotationVerdict("rotation_width", (("found", dim), ("wanted", width)))
    return RotationVerdict("rotation_other_lanes", (("wanted", width), ("dim", dim)))
