"""What an attention does to q and k, against what a config says: each vector beside the one that rc.rotate gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rope_core.checks.observe import Product, spread, steadiness
from rope_core.hf.ropes import HfRope
from rope_core.layout import HALF, INTERLEAVED, convert
from rope_core.rope import Array
from rope_core.rotation import rotate

# transformers' frequencies, computed in float32, agree with the config's to this fraction.
FREQUENCY = 2e-5
SINGLE = 2.0**-24
COARSE = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@dataclass(frozen=True)
class Verdict:
    """What is wrong with q or k of one product: the finding's key and its numbers."""

    key: str
    values: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, eq=False)
class Source:
    """q or k before its rotation: (heads, rotary_dim) in the weights' order, the order in which the product has it.

    ``order`` are the indices with ``product's lanes = weights' lanes[order]``; ``factor`` is what position 0
    multiplies by; ``heads`` are the heads that it was found for.
    """

    vectors: Array
    order: tuple[int, ...]
    factor: float
    heads: tuple[int, ...]


def tolerance(positions: Array, theta: Array, unit: float, table: float | None = None) -> Array:
    """Largest distance of a turned pair from the exact one, for a pair of length 1; float64 (positions, pairs).

    Four roundings of the vector's dtype (two products, a sum, the factor) and one of the tables', each at most the
    pair's length times the dtype's unit round-off; and the angle's error: position times frequency times the
    frequency's own relative error (FREQUENCY) and two roundings in float32.
    """
    angle = np.outer(positions, theta) * (FREQUENCY + 2 * SINGLE) + 2 * SINGLE
    return np.asarray(angle + 4 * unit + (unit if table is None else table))


def judge(
    product: Product, part: str, positions: tuple[int, ...], rope: HfRope, others: Sequence[tuple[Verdict, Array]]
) -> Verdict | None:
    """Compare q or k of one product; None where it is what the config says.

    Args:
        product: what was multiplied; part: "q" or "k".
        rope: what the layer should do; ``rope.nope`` where it should not turn.
        others: frequencies that other explanations have, by what they would say.

    Returns "rotation_not_observed" where the vectors before the rotation were not seen.
    """
    heads = product.q if part == "q" else product.k
    where = np.asarray(positions, dtype=np.float64)
    still = spread(heads) <= steadiness(product.unit)
    if rope.nope or not np.any(rope.inv_freq):
        return None if still else Verdict("rotation_not_wanted")
    if still:
        return Verdict("rotation_missing")
    width, dim = rope.rotary_dim, heads.shape[-1]
    if width > dim:
        return Verdict("rotation_width", (("found", dim), ("wanted", width)))
    low = dim - rope.head_dim if dim > rope.head_dim else 0
    source = before(heads[0, :, low : low + width], product)
    if source is None:
        return shifted(heads[:, :, low : low + width], product, where, rope) or Verdict("rotation_not_observed")
    case = Case(heads, low, source, where, rope, product.unit)
    verdict = case.verdict(others)
    if verdict is not None:
        return verdict
    return scale(source, rope, product, dim)


def scale(source: Source, rope: HfRope, product: Product, dim: int) -> Verdict | None:
    """What position 0 multiplies by, against the attention factor; a softmax scale, or its root, is no fault."""
    wanted = rope.attention_factor
    known = [1.0, dim**-0.25, dim**-0.5, *product.constants]
    room = 8 * product.unit + FREQUENCY
    if any(abs(source.factor / (wanted * one) - 1.0) <= room for one in known):
        return None
    return Verdict("rotation_scaled", (("found", source.factor), ("wanted", wanted)))


def before(heads: Array, product: Product) -> Source | None:
    """Find the vectors of position 0 (heads, width) among the layer's inputs, lane for lane, in one of three orders."""
    width = heads.shape[-1]
    best: tuple[float, Source] | None = None
    for order in orders(width):
        back = np.argsort(order)
        wanted = heads[:, back]
        for vector in reversed(product.inputs):
            factor = match(vector, wanted[0], product.unit)
            if factor is None:
                continue
            distance = abs(np.log(abs(factor)))
            if best is None or distance < best[0] - 1e-3:
                best = distance, Source(wanted / factor, order, factor, tuple(range(len(heads))))
    return best[1] if best else None


def orders(width: int) -> list[tuple[int, ...]]:
    """The weights' own order, neighbours brought to halves, halves brought to neighbours."""
    made = [tuple(range(width))]
    for source, target in ((INTERLEAVED, HALF), (HALF, INTERLEAVED)):
        order = tuple(int(i) for i in convert(width, source, target))
        if order not in made:
            made.append(order)
    return made


def match(vector: Array, wanted: Array, unit: float) -> float | None:
    """The factor by which ``wanted`` is a stretch of ``vector``; None where it is none."""
    width = len(wanted)
    if len(vector) < width or wanted[0] == 0:
        return None
    room = 32 * unit
    first, second = vector[: len(vector) - width + 1], vector[1 : len(vector) - width + 2]
    near = np.flatnonzero(np.abs(second * wanted[0] - first * wanted[1]) <= room * np.abs(first * wanted[0]) + 1e-30)
    for start in near:
        stretch = vector[start : start + width]
        energy = float(stretch @ stretch)
        if energy == 0:
            continue
        factor = float(stretch @ wanted) / energy
        if np.abs(wanted - factor * stretch).max() <= room * np.abs(wanted).max() and factor > 0:
            return factor
    return None


def shifted(heads: Array, product: Product, positions: Array, rope: HfRope) -> Verdict | None:
    """Whether the vectors fit positions that are all off by the same small number: row 0 is then turned as well."""
    table = np.outer(np.ones(1), rope.inv_freq)
    for step in (1, -1, 2, -2):
        back = rotate(heads[:1], np.cos(step * table), -np.sin(step * table), rope.layout)
        if before(back[0], product) is not None:
            return Verdict("rotation_shifted", (("by", step),))
    return None


@dataclass(frozen=True, eq=False)
class Case:
    """q or k of one layer, (positions, heads, dim), and what it was before: what explains it."""

    heads: Array
    low: int
    source: Source
    positions: Array
    rope: HfRope
    unit: float

    def turned(self, theta: Array, layout: str, positions: Array | None = None) -> Array:
        """The vectors that frequencies and a layout give, in the product's order, (positions, heads, width)."""
        angle = np.outer(self.positions if positions is None else positions, theta)
        vectors = np.broadcast_to(self.source.vectors, (len(self.positions), *self.source.vectors.shape))
        out = rotate(vectors, np.cos(angle), np.sin(angle), layout)
        return np.asarray(self.source.factor * out[..., list(self.source.order)])

    def room(self, theta: Array, table: float | None = None) -> Array:
        """Tolerance for each pair of each head, in the product's order: (positions, heads, width)."""
        pairs = tolerance(self.positions, theta, self.unit, table)
        layout = self.rope.layout
        split = INTERLEAVED if layout == INTERLEAVED.name else HALF
        first, second = split.split(self.source.vectors)
        length = np.hypot(first, second)
        rows = pairs[:, None, :] * length[None] * abs(self.source.factor)
        both = np.repeat(rows, 2, axis=-1) if split is INTERLEAVED else np.concatenate([rows, rows], axis=-1)
        return np.asarray(both[..., list(self.source.order)] + steadiness(self.unit) * np.abs(self.heads).max())

    def fits(self, wanted: Array, room: Array | float) -> bool:
        """Whether the rotating lanes are what ``wanted`` says."""
        width = wanted.shape[-1]
        return bool(np.all(np.abs(self.heads[..., self.low : self.low + width] - wanted) <= room))

    def verdict(self, others: Sequence[tuple[Verdict, Array]]) -> Verdict | None:
        """What explains the vectors; None where the config does."""
        rope, width, dim = self.rope, self.rope.rotary_dim, self.heads.shape[-1]
        theta, layout = rope.inv_freq, rope.layout
        rest = [lane for lane in range(dim) if not self.low <= lane < self.low + width]
        stays = self.heads[..., rest]
        moved = bool(rest) and spread(stays) > steadiness(self.unit)
        room = self.room(theta)
        if not moved and self.fits(self.turned(theta, layout), room):
            return None
        if moved:
            return self.lanes(theta, layout)
        if self.fits(self.turned(-theta, layout), room):
            return Verdict("rotation_backwards")
        other = HALF.name if layout == INTERLEAVED.name else INTERLEAVED.name
        if self.fits(self.turned(theta, other), self.loose(theta)):
            partner = 1 if other == INTERLEAVED.name else width // 2
            return Verdict("layout_differs", (("found", other), ("wanted", layout), ("partner", partner)))
        for verdict, frequencies in others:
            if frequencies.shape == theta.shape and self.fits(self.turned(frequencies, layout), self.room(frequencies)):
                return verdict
        return self.coarse(theta, layout) or self.differs(theta, layout)

    def loose(self, theta: Array) -> Array:
        """One tolerance for all lanes, for pairs other than the config's."""
        pairs = tolerance(self.positions, theta, self.unit).max(axis=1)
        return np.asarray(pairs[:, None, None] * 2 * np.abs(self.source.vectors * self.source.factor).max())

    def lanes(self, theta: Array, layout: str) -> Verdict:
        """Lanes move that should stay: pairs across the head, the wrong end of it, or another width."""
        width, dim = len(theta) * 2, self.heads.shape[-1]
        base, first = self.rope.base, np.asarray(self.heads[0])
        angle = np.outer(self.positions, theta)
        vectors = np.broadcast_to(first, self.heads.shape)

        def near(wanted: Array, frequencies: Array) -> bool:
            pairs = tolerance(self.positions, frequencies, self.unit).max(axis=1)
            return bool(np.all(np.abs(self.heads - wanted) <= pairs[:, None, None] * 2 * np.abs(first).max()))

        across = np.zeros(dim // 2)
        across[: len(theta)] = theta
        table = np.outer(self.positions, across)
        if near(rotate(vectors, np.cos(table), np.sin(table), HALF), across):
            return Verdict("rotation_across_head", (("partner", dim // 2), ("wanted", self.partner())))
        for start in (0, dim - width):
            out = np.array(vectors)
            out[..., start:] = rotate(vectors[..., start:], np.cos(angle), np.sin(angle), layout)
            if start != self.low and near(out, theta):
                return Verdict("rotation_lanes", (("found", start), ("wanted", self.low), ("width", width)))
        full = np.asarray(base ** (-np.arange(0, dim, 2) / dim))
        table = np.outer(self.positions, full)
        for name in (layout, HALF.name, INTERLEAVED.name):
            if near(rotate(vectors, np.cos(table), np.sin(table), name), full):
                return Verdict("rotation_width", (("found", dim), ("wanted", width)))
        return Verdict("rotation_other_lanes", (("wanted", width), ("dim", dim)))

    def partner(self) -> int:
        """The lane that should turn with the first one."""
        return 1 if self.rope.layout == INTERLEAVED.name else self.rope.rotary_dim // 2

    def coarse(self, theta: Array, layout: str) -> Verdict | None:
        """Tables or positions that were held in half precision."""
        from rope_core.theory.precision import round_to

        for dtype, unit in COARSE.items():
            if unit <= self.unit:
                continue
            rounded = np.asarray(round_to(self.positions, dtype))
            for place in (self.positions, rounded):
                if self.fits(self.turned(theta, layout, place), self.room(theta, 2 * unit)):
                    what = "positions" if place is rounded and np.any(rounded != self.positions) else "tables"
                    return Verdict(f"rotation_{what}_rounded", (("dtype", dtype),))
        return None

    def differs(self, theta: Array, layout: str) -> Verdict:
        """No explanation: the pair and the position of the largest difference, with both angles."""
        width = len(theta) * 2
        got = self.heads[..., self.low : self.low + width][..., np.argsort(self.source.order)] / self.source.factor
        split = INTERLEAVED if layout == INTERLEAVED.name else HALF
        a, b = split.split(got)
        first, second = split.split(self.source.vectors)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num((a + 1j * b) / (first + 1j * second)[None])
        wanted = np.exp(1j * np.outer(self.positions, theta))[:, None, :]
        excess = np.abs(ratio - wanted) / tolerance(self.positions, theta, self.unit)[:, None, :]
        where, head, pair = np.unravel_index(int(excess.argmax()), excess.shape)
        position = int(self.positions[where])
        return Verdict(
            "rotation_differs",
            (
                ("pair", int(pair)),
                ("position", position),
                ("found", float(np.angle(ratio[where, head, pair]))),
                ("wanted", float(np.angle(wanted[where, 0, pair]))),
                ("length", float(np.abs(ratio[where, head, pair]))),
            ),
        )
