"""The hands of a model under three schemes, beyond the length that it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.hf.anatomy import REGIONS, regions_of
from rope_core.rope import Array
from rope_core.theory.extension import at_factor, at_unseen_angle, past_training, slow_hands, trained_angles
from ui.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY
from ui.figures.drawing import Film, kept
from ui.film.scene import Axis, Control, Panel, Scene, Shape, Texts, Track, control, sentence
from ui.film.shapes import arc, boxes, circle, hands, label, named, turned
from ui.text.words import Words

UP = np.pi / 2
RINGS = (1.0, 0.8)
FACE, WEDGE = 0.62, 0.56
BARS, FOOT, ROOF = 1.12, -1.88, 0.4
SPANS = tuple(np.concatenate([np.arange(0.0, 8.0, 0.25), np.arange(8.0, 16.0), np.arange(16.0, 33.0, 2.0)]).tolist())
"""Distances in multiples of the trained length."""
REGION_COLOURS = dict(zip(REGIONS, (BLUE, ORANGE, PURPLE, GREEN, GREY), strict=True))


@dataclass(frozen=True)
class Dial:
    """One scheme at every factor and distance, what its picture is drawn from."""

    request: rc.Request
    spectra: list[rc.Spectrum]
    past: npt.NDArray[np.int64]
    unseen: npt.NDArray[np.int8]
    new: npt.NDArray[np.int8]

    @classmethod
    def of(cls, request: rc.Request, factors: Sequence[float], distances: Sequence[int]) -> Dial:
        """Run the scheme; of pairs past training their number, which they are, and which point at new angles now."""
        rope = request.rope
        spectra = [rc.spectrum(at_factor(request, factor)) for factor in factors]
        unseen = np.stack([past_training(rope, s, distances) for s in spectra])
        new = np.stack([at_unseen_angle(rope, s, distances) for s in spectra])
        return cls(request, spectra, unseen.sum(axis=-1), unseen.astype(np.int8), new.astype(np.int8))

    @property
    def apart(self) -> Array:
        """Degrees between neighbouring tokens on the fastest pair, (factors,)."""
        return np.degrees([s.inv_freq[0] for s in self.spectra])

    @property
    def slower(self) -> Array:
        """How many times slower than in training the fastest pair turns, (factors,)."""
        return np.array([s.slowdown[0] for s in self.spectra])

    @property
    def moved(self) -> npt.NDArray[np.bool_]:
        """Whether neighbours are as far apart as training never showed them, (factors,)."""
        return np.abs(self.slower - 1.0) > 1e-6


def tokens(rope: rc.Rope, spans: Sequence[float]) -> list[int]:
    """Return multiples of the trained length in whole tokens."""
    return [round(span * rope.train_len) for span in spans]


@kept
def dials(
    rope: rc.Rope, requests: Sequence[rc.Request], factors: Sequence[float], spans: Sequence[float], t: Words
) -> Film:
    """Return a dial for each request, at every factor and every distance, in multiples of the trained length."""
    lengths = tokens(rope, spans)
    by = control(t, "factor", factors)
    texts = tuple(f"{length:,} = {span:g}×" for length, span in zip(lengths, spans, strict=True))
    far = Control("distance", t("field.distance"), tuple(map(float, spans)), texts, seconds=8.0)
    drawn = [Dial.of(request, factors, lengths) for request in requests]
    names = [t(f"scheme.{request.scheme}") for request in requests]

    def among(values: Sequence[Texts], before: Sequence[str]) -> list[str | Texts]:
        rows = zip(before, values, strict=True)
        return [part for name, value in rows for part in (t("comma"), name, value)][1:]

    finding = sentence(
        lambda **slots: t("dials_finding", **slots),
        distance=Texts((far,), tuple(f"{length:,}" for length in lengths)),
        counts=among(
            [Texts((by, far), tuple(map(str, dial.past.ravel().tolist()))) for dial in drawn],
            [f"{name} " for name in names],
        ),
    )
    return Film(
        "hands",
        Scene([panel(dial, by, far, lengths, t) for dial in drawn], (by, far), finding),
        lambda: (
            {"pair": np.arange(rope.pairs), "trained_rad": trained_angles(rope)}
            | {
                f"{dial.request.scheme} x{factor:g} rad/token": s.inv_freq
                for dial in drawn
                for factor, s in zip(factors, dial.spectra, strict=True)
            }
        ),
        f"""
        import rope_core as rc
        from rope_core.theory.extension import past_training
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for name, params in {[(each.scheme, dict(each.params)) for each in requests]}:
            s = rc.spectrum(rc.Request(rope, name, params))
            print(name, s.inv_freq[0], past_training(rope, s, {lengths}).sum(axis=1))
        """,
    )


def degrees(dial: Dial) -> tuple[str, ...]:
    """Return the angle between neighbouring tokens at every factor as text, after the trained one where it differs."""
    trained = f"{np.degrees(dial.request.rope.theta[0]):.3g}° → "
    rows = zip(dial.apart.tolist(), dial.moved.tolist(), strict=True)
    return tuple(f"{trained if moved else ''}{value:.3g}°" for value, moved in rows)


def closeness(dial: Dial, t: Words) -> tuple[str, ...]:
    """Return how close neighbouring tokens are, beside training, at every factor as text."""

    def words(slower: float) -> str:
        return t("closer", times=f"{slower:.3g}") if slower > 1 else t("wider", times=f"{1 / slower:.3g}")

    rows = zip(dial.slower.tolist(), dial.moved.tolist(), strict=True)
    return tuple(words(slower) if moved else t("as_trained") for slower, moved in rows)


def either(
    x: float,
    y: float,
    by: tuple[Control, ...],
    texts: Sequence[str],
    bad: npt.NDArray[np.bool_],
    good: str,
    **look: Any,
) -> list[Shape]:
    """Return a text at every stop of controls: red where it is ``bad``, else in the colour ``good``."""
    pairs = list(zip(texts, bad.ravel().tolist(), strict=True))
    red, plain = (tuple(text if wrong is wanted else "" for text, wrong in pairs) for wanted in (True, False))
    return [
        label(x, y, Texts(by, red), RED, bold=True, **look),
        label(x, y, Texts(by, plain), good, bold=True, **look),
    ]


def scaled(dial: Dial, t: Words) -> tuple[str, ...]:
    """Return what the attention factor makes of scores at every factor as text, nothing where it is 1."""
    squares = [s.attention_factor**2 for s in dial.spectra]
    return tuple(t("scaled", square=f"{square:.3g}") if square != 1 else "" for square in squares)


def panel(dial: Dial, by: Control, far: Control, lengths: Sequence[int], t: Words) -> Panel:
    """Return one dial: the slow hands on their rings, neighbouring tokens in the middle, the slow-downs below.

    What training never showed is red: angles of slow hands, and the step of the fastest one.
    """
    rope = dial.request.rope
    name = t(f"scheme.{dial.request.scheme}")
    slow = list(slow_hands(rope))
    rings = np.array(RINGS[: len(slow)])
    inv_freq = np.array([s.inv_freq for s in dial.spectra])
    angle = UP - np.array(lengths)[None, :, None] * inv_freq[:, None, slow]
    hand = Track((by, far), angle)
    start = np.full(len(slow), UP)
    step = Track((by,), UP - inv_freq[:, :1])
    unscaled = UP - rope.theta[0]
    past = [t("past", count=count) if count else t("none_past") for count in dial.past.ravel().tolist()]
    return Panel(
        Axis(-1.2, 1.2),
        Axis(-2.16, 1.12),
        [
            arc(0.0, 0.0, rings, start, start - 2 * np.pi, GREY, 1),
            arc(0.0, 0.0, rings, start, hand, RED, 13),
            named("L", arc(0.0, 0.0, rings, start, start - trained_angles(rope)[slow], SKY, 13)),
            hands(0.0, 0.0, rings, hand, ["ink", RED], 5, paint=Track((by, far), dial.new[:, :, slow])),
            circle(0.0, 0.0, FACE, "paper", sector=True),
            named("θ", arc(0.0, 0.0, WEDGE, UP, step, BLUE, sector=True, opacity=0.3)),
            arc(0.0, 0.0, WEDGE, UP, unscaled, GREY, 2, dash="3 4"),
            hands(0.0, 0.0, WEDGE, np.array([UP, unscaled]), GREY, 2),
            hands(0.0, 0.0, WEDGE, step, [BLUE, RED], 5, paint=Track((by,), dial.moved[:, None].astype(np.int8))),
            *either(-0.02, -0.24, (by,), degrees(dial), dial.moved, BLUE, size=17),
            label(-0.02, -0.43, t("neighbours"), size=13),
            *(
                label(-0.05, ring - 0.05, t("pair", i=i), anchor="end", size=13)
                for ring, i in zip(rings, slow, strict=True)
            ),
            label(0.62, 0.92, t("seen"), SKY, anchor="start", size=13),
            *either(0.0, -1.2, (by, far), past, dial.past > 0, "ink", size=15),
            *either(0.0, -1.38, (by,), closeness(dial, t), dial.moved, "ink", size=15),
            *strip(dial, by, far, t),
            turned(far, 0.0, 0.0, float(rings[0]), Track((by, far), angle[..., :1]), "ink", t("grab", scheme=name)),
        ],
        [name, Texts((by,), scaled(dial, t))],
        width=250,
        height=360,
        equal=True,
    )


def strip(dial: Dial, by: Control, far: Control, t: Words) -> list[Shape]:
    """Return every pair's slow-down as a bar, logarithmic, coloured by what becomes of the pair, and red if past."""
    pairs = dial.request.rope.pairs
    edges = np.linspace(-BARS, BARS, pairs + 1)
    slow = np.array([s.slowdown for s in dial.spectra])
    slow = np.where(np.isfinite(slow), slow, 1.0)
    most = max(float(by.stops[-1]), 2.0)
    height = ROOF * np.clip(np.log(slow) / np.log(most), 0.0, 1.0) + 0.02
    names = [regions_of(at_factor(dial.request, factor)) for factor in by.stops]
    paint = np.array([[REGIONS.index(name) for name in row] for row in names], dtype=np.int8)
    shapes = [
        named(
            "s",
            boxes(
                edges[:-1],
                edges[1:],
                FOOT,
                Track((by,), FOOT + height),
                list(REGION_COLOURS.values()),
                Track((by,), paint),
            ),
        ),
        boxes(edges[:-1], edges[1:], FOOT - 0.09, FOOT - 0.02, ["transparent", RED], Track((by, far), dial.unseen)),
    ]
    places = {"kept": (-BARS, "start"), "blended": (0.0, "middle"), "divided": (BARS, "end"), "own": (0.0, "middle")}
    for region, (x, anchor) in places.items():
        counts = [row.count(region) for row in names]
        if any(counts):
            text = Texts((by,), tuple(t(f"region.{region}", count=count) if count else "" for count in counts))
            shape = label(x, FOOT - 0.24, text, REGION_COLOURS[region], anchor=anchor, size=13)
            shapes.append(named("γ", shape) if region == "blended" else shape)
    return shapes
