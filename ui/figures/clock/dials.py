"""What the ways to extend a context do to a slow hand and to the fastest one, and how much they slow each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.hf.anatomy import REGIONS, regions_of
from rope_core.rope import Array
from rope_core.theory.extension import TURN, at_factor, at_unseen_angle, past_training, reach, slow_hand, trained_angles
from ui.figures.clock import ways
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import GREEN, GREY, ORANGE, REGION_COLOURS
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextOrTrack,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words

UP = np.pi / 2
SMALL = 0.42
"""The radius of a dial among several, in units of a panel 2.3 wide."""
BARS, FOOT, ROOF = 1.12, -0.98, 0.42
SPANS = tuple(np.arange(0.0, 4.01, 0.25).tolist())
"""Lengths of a text, in multiples of the trained length."""


@dataclass(frozen=True)
class Dial:
    """One scheme at every factor, each with a text that is factor times as long as training's."""

    request: rc.Request
    factors: tuple[float, ...]

    @cached_property
    def spectra(self) -> list[rc.Spectrum]:
        """The frequencies, one spectrum for each factor."""
        return [rc.spectrum(at_factor(self.request, factor)) for factor in self.factors]

    @property
    def lengths(self) -> list[int]:
        """Tokens of the text."""
        return [reach(self.request.rope, factor) for factor in self.factors]

    def of_each(self, count: str) -> npt.NDArray[np.bool_]:
        """Return which pairs were "past" what training showed, or are at a "new" angle at the text's end."""
        says = {"past": past_training, "new": at_unseen_angle}[count]
        rows = zip(self.spectra, self.lengths, strict=True)
        return np.array([says(self.request.rope, s, [length])[0] for s, length in rows])

    def angles(self, pair: int) -> Array:
        """Return how far a pair has turned at the text's end, rad."""
        return np.array([s.inv_freq[pair] for s in self.spectra]) * self.lengths

    @property
    def steps(self) -> Array:
        """The angle between neighbouring tokens on the fastest pair, rad."""
        return np.array([s.inv_freq[0] for s in self.spectra])

    @property
    def apart(self) -> tuple[str, ...]:
        """The same in degrees, as text."""
        return tuple(map(degrees, self.steps))

    @property
    def moved(self) -> npt.NDArray[np.int8]:
        """Whether neighbours are as far apart as training never showed them."""
        return np.array(np.abs(self.request.rope.theta[0] / self.steps - 1.0) > 1e-6, dtype=np.int8)


def degrees(angle: float) -> str:
    """Return an angle (rad) as it is written on the page."""
    return f"{np.degrees(angle):.3g}°"


@cached_figure
def dials(
    rope: rc.Rope, requests: Sequence[rc.Request], factors: Sequence[float], spans: Sequence[float], t: Words
) -> Film:
    """Return a slow and the fastest hand in a longer text under three ways, then both hands under each request."""
    lengths = [round(span * rope.train_len) for span in spans]
    written = tuple(
        t("length", tokens=f"{length:,}", span=f"{span:g}") for length, span in zip(lengths, spans, strict=True)
    )
    far = Control("distance", t("field.distance"), tuple(map(float, spans)), written, play_seconds=6.0, last_beat=1)
    by = field_control(t, "factor", factors, play_seconds=6.0, first_beat=2)
    each = [Dial(request, tuple(factors)) for request in requests]
    findings = (ways.finding(rope, far, t), compared(each, by, t))
    pair = slow_hand(rope)
    return Film(
        "hands",
        Scene(
            (*ways.panels(rope, far, t), *(panel(dial, pair, by, t) for dial in each)),
            (far, by),
            findings[-1],
            beats=beats_from_labels(
                t,
                "hands",
                *findings,
                hint_controls=("distance", "factor"),
                control_values=({}, {"factor": 4}),
                pairs=str(rope.pairs),
            ),
        ),
        lambda: (
            {"pair": np.arange(rope.pairs), "trained_rad": trained_angles(rope)}
            | {
                f"{dial.request.scheme} x{factor:g} rad/token": s.inv_freq
                for dial in each
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


def compared(each: Sequence[Dial], by: Control, t: Words) -> TextOrTrack:
    """Return the sentence that names the schemes with hands at new angles, and those that bring neighbours closer."""
    names = [t(f"scheme.{dial.request.scheme}") for dial in each]
    trained = degrees(each[0].request.rope.theta[0]) if each else ""

    def listed(values: Sequence[Sequence[str]]) -> TextTrack:
        """Return at each stop the names that have a text there, with it."""
        columns = zip(*values, strict=True)
        rows = [[f"{name} ({text})" for name, text in zip(names, column, strict=True) if text] for column in columns]
        return TextTrack((by,), tuple(t("comma").join(row) or t("nobody") for row in rows))

    return sentence_parts(
        lambda **slots: t("compared_finding", **slots),
        length=TextTrack((by,), tuple(f"{length:,}" for length in each[0].lengths)) if each else "",
        new=listed(
            [[t("new_hands", count=n) if n else "" for n in map(np.sum, dial.of_each("past"))] for dial in each]
        ),
        closer=listed(
            [
                [
                    t("closer_by", apart=a, trained=trained) if new else ""
                    for a, new in zip(dial.apart, dial.moved, strict=True)
                ]
                for dial in each
            ]
        ),
    )


def seen(
    x: float, y: float, r: float, by: Control, angles: Array, trained: float, new: npt.NDArray[np.bool_], width: float
) -> tuple[list[Mark], Mark]:
    """Return what training showed of a hand's circle and how far it came beyond; and the hand."""
    edge = UP - trained
    beyond = NumberTrack((by,), UP - np.clip(angles, trained, TURN)[:, None])
    rim = [
        marks.arc(x, y, r, edge, UP - TURN, ORANGE, 1.5, stroke_dash="2 5"),
        marks.link_symbol("L", marks.arc(x, y, r, UP, edge, GREEN, width)),
        marks.arc(x, y, r, edge, beyond, ORANGE, width, stroke_dash="4 2"),
    ]
    angle = NumberTrack((by,), (UP - angles)[:, None])
    return rim, marks.vector(
        x, y, r, angle, ["ink", ORANGE], width / 2 + 1, colour_index=NumberTrack((by,), new[:, None].astype(np.int8))
    )


def neighbours(dial: Dial, x: float, y: float, r: float, by: Control) -> tuple[list[Mark], Mark]:
    """Return the fastest hand at a word, at the next one in training; and at the next one under a scheme."""
    step = NumberTrack((by,), UP - dial.steps[:, None])
    rests = [
        marks.circle(x, y, r, GREY, 1.5),
        marks.link_symbol("θ", marks.wedge(x, y, 0.96 * r, UP, step, GREY, opacity=0.25)),
        marks.vector(x, y, r, UP, GREY, 3),
        marks.vector(x, y, r, UP - dial.request.rope.theta[0], GREEN, 2.5),
    ]
    return rests, marks.vector(x, y, r, step, ["ink", ORANGE], 5, colour_index=NumberTrack((by,), dial.moved[:, None]))


def either(
    x: float, y: float, by: Control, texts: Sequence[str], bad: npt.NDArray[np.int8], good: str, **look: object
) -> list[Mark]:
    """Return a text at every stop of a control: amber where training never showed it."""
    pairs = list(zip(texts, bad.tolist(), strict=True))
    amber, plain = (tuple(text if bool(wrong) is wanted else "" for text, wrong in pairs) for wanted in (True, False))
    return [
        marks.text(x, y, TextTrack((by,), amber), ORANGE, bold=True, **look),
        marks.text(x, y, TextTrack((by,), plain), good, bold=True, **look),
    ]


def panel(dial: Dial, pair: int, by: Control, t: Words) -> Panel:
    """Return a scheme's fast hand and slow hand, and below them how much it slows each pair."""
    trained = float(trained_angles(dial.request.rope)[pair])
    left, right, y = -0.58, 0.58, 0.25
    new = dial.of_each("past")[:, pair]
    rests, step = neighbours(dial, left, y, SMALL, by)
    rim, hand = seen(right, y, SMALL, by, dial.angles(pair), trained, dial.of_each("new")[:, pair], 7)
    words = [t("slow_short", angle=degrees(angle)) for angle in dial.angles(pair)]
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-1.4, 0.72),
        [
            *rests,
            step,
            *rim,
            hand,
            *either(left, -0.4, by, [t("fast_short", apart=apart) for apart in dial.apart], dial.moved, "ink", size=13),
            *either(right, -0.4, by, words, new.astype(np.int8), "ink", size=13),
            *strip(dial, by, t),
        ],
        t(f"scheme.{dial.request.scheme}"),
        min_width=120,
        height=215,
        equal_aspect=True,
        first_beat=2,
    )


def strip(dial: Dial, by: Control, t: Words) -> list[Mark]:
    """Return every pair's slow-down as a bar, logarithmic, coloured by what becomes of the pair: the handle."""
    pairs = dial.request.rope.pairs
    edges = np.linspace(-BARS, BARS, pairs + 1)
    slow = np.array([s.slowdown for s in dial.spectra])
    slow = np.where(np.isfinite(slow), slow, 1.0)
    most = max(float(by.stops[-1]), 2.0)
    top = FOOT + 0.03 + ROOF * np.clip(np.log(slow) / np.log(most), 0.0, 1.0)
    names = [regions_of(at_factor(dial.request, factor)) for factor in by.stops]
    paint = np.array([[REGIONS.index(name) for name in row] for row in names], dtype=np.int8)
    colours = list(REGION_COLOURS.values())
    bars = marks.rect(edges[:-1], edges[1:], FOOT, NumberTrack((by,), top), colours, NumberTrack((by,), paint))
    name = t("grab_bars", scheme=t(f"scheme.{dial.request.scheme}"))
    grip = marks.drag_handle(by, BARS, NumberTrack((by,), top[:, -1:]), "ink", name, [bars], radius_px=0)
    shapes = [marks.link_symbol("s", grip if np.ptp(top[:, -1]) else bars)]
    row = FOOT - 0.18
    places = {
        "kept": (-BARS, row, "start"),
        "blended": (0.0, row - 0.2, "middle"),
        "divided": (BARS, row, "end"),
        "own": (0.0, row, "middle"),
    }
    for region, (x, y, anchor) in places.items():
        counts = [each.count(region) for each in names]
        if any(counts):
            text = TextTrack((by,), tuple(t(f"region.{region}", count=count) if count else "" for count in counts))
            shape = marks.text(x, y, text, REGION_COLOURS[region], anchor=anchor, font_size=13)
            shapes.append(marks.link_symbol("γ", shape) if region == "blended" else shape)
    return shapes
