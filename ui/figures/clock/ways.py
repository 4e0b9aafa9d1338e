"""The first picture of the page: a slow and the fastest hand, as trained, all slowed, and only the slow ones slowed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.rope import Array
from rope_core.schemes import KINDS, UNSCALED
from rope_core.theory.extension import TURN, first_pair_under_fifth_turn, trained_angles, untrained_angle_mask
from ui.figures import home
from ui.film import marks
from ui.film.colours import GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import (
    TOP,
    angle_wedge,
    dial_marks,
    drag_hint,
    mark_angle_from_clock,
    turnable_hand,
    verdict_where,
)
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, TextTrack, sentence_parts
from ui.text.words import PageTexts

WAYS = {UNSCALED: "left_alone", KINDS[0]: "all_slowed", KINDS[-1]: "slow_slowed"}
"""What is done to the hands, by the scheme that does it, with the heading's label."""
NEAR = 1e-6
"""How near two angles are for the same, over their size."""
GREYS_AT = 0.35
"""Where the fastest hand is at a word (rad); the next word's is a step further."""
GOAL = 4.0
"""The length of a text, in trained lengths, at which a dashed hand shows where to drag."""


class HandTreatment:
    """One way to treat the hands in texts of several lengths.

    Attributes:
        slow: how far the slow hand has turned at the text's end, rad (lengths).
        unseen: whether it is at an angle that training never showed (lengths).
        step: how far the fastest hand turns from a word to the next, rad (lengths).
        closer: whether that is less than in training (lengths).
    """

    def __init__(self, rope: rc.Rope, scheme: str, spans: Sequence[float]) -> None:
        pair = first_pair_under_fifth_turn(rope)
        lengths = [round(span * rope.train_len) for span in spans]
        spectra = [_spectrum(rope, scheme, span) for span in spans]
        self.slow = np.array([s.inv_freq[pair] * length for s, length in zip(spectra, lengths, strict=True)])
        rows = zip(spectra, lengths, strict=True)
        self.unseen = np.array([untrained_angle_mask(rope, s, [length])[0, pair] for s, length in rows])
        self.step = np.array([s.inv_freq[0] for s in spectra])
        self.closer = self.step < rope.theta[0] * (1 - NEAR)


def _spectrum(rope: rc.Rope, scheme: str, span: float) -> rc.Spectrum:
    """Return a scheme's frequencies where its factor is the text's length over the trained one."""
    given = {} if scheme == UNSCALED else {"factor": max(1.0, span)}
    return rc.spectrum(rc.Request(rope, scheme, given))


degrees = partial(home.degrees_text, whole_from=10.0, below=".2g")


def hand_treatments_finding(rope: rc.Rope, far: Control, t: PageTexts) -> TextTrack:
    """Return what becomes of both hands under the three ways, at every length of the text."""
    alone, linear = (HandTreatment(rope, scheme, far.stops) for scheme in (UNSCALED, KINDS[0]))
    trained = degrees(rope.theta[0])
    rows = zip(alone.slow, linear.step, linear.closer, strict=True)
    texts = tuple(
        t("ways_finding", angle=degrees(angle), step=degrees(step), trained=trained) if closer else t("within_finding")
        for angle, step, closer in rows
    )
    return far.texts(texts)


def hand_treatment_panels(rope: rc.Rope, far: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the two hands' names and a column for each way; on a narrow screen a row for each way."""
    ways = {scheme: HandTreatment(rope, scheme, far.stops) for scheme in WAYS}
    trained = float(trained_angles(rope)[first_pair_under_fifth_turn(rope)])
    columns = [_way(rope, far, scheme, way, trained, t, wide=True) for scheme, way in ways.items()]
    rows = [_way(rope, far, scheme, way, trained, t, wide=False) for scheme, way in ways.items()]
    return (_names(rope, t), *columns, _heads(t), *rows)


def _names(rope: rc.Rope, t: PageTexts) -> Panel:
    """Return what the upper and the lower dial of each column are."""
    lines: list[Mark] = []
    slow = (MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR)
    fast = (MUTED_COLOUR, MUTED_COLOUR, TRAINED_COLOUR, TRAINED_COLOUR)
    for y, name, colours in ((0.35, "slow", slow), (-2.25, "fast", fast)):
        lines.append(marks.text(0.0, y, t(f"{name}_name"), anchor="start", bold=True, font_size=16))
        notes = t(f"{name}_notes", turns=f"{rope.turns[0]:,.0f}") if name == "fast" else t(f"{name}_notes")
        for k, (line, colour) in enumerate(zip(notes.split("|"), colours, strict=True)):
            lines.append(marks.text(0.0, y, line, colour, anchor="start", font_size=15, dy=22 * (k + 1)))
    return Panel(Axis(0.0, 1.0), Axis(-3.75, 1.15), lines, min_width=150, width_share=0.3, height=370, screen="wide")


def _heads(t: PageTexts) -> Panel:
    """Return what the left and the right dial of each row are, for a phone."""
    heads = [
        marks.text(x, 0.0, t(f"{name}_head"), bold=True, font_size=14) for x, name in ((0.8, "slow"), (4.9, "fast"))
    ]
    return Panel(Axis(-1.16, 7.3), Axis(-0.5, 0.5), heads, min_width=330, height=16, screen="narrow")


def _way(
    rope: rc.Rope, far: Control, scheme: str, way: HandTreatment, trained: float, t: PageTexts, *, wide: bool
) -> Panel:
    """Return one way's dials: the slow hand at the text's end, and the fastest at a word and at the next."""
    x, y = (0.0, -2.6) if wide else (4.0, 0.0)
    dials = [*_slow(far, way, trained, t, grabbed=scheme == UNSCALED, wide=wide), *_fast(rope, far, way, x, y, t)]
    if scheme == KINDS[-1]:
        right, low = (2.75, -3.72) if wide else (7.2, -1.12)
        frame = marks.rect(-1.14, right, low, 1.12, "none", outline="ink", stroke_width=2, corner_px=8)
        dials.insert(0, frame)
    head = WAYS[scheme]
    times = far.texts(f"{max(1.0, span):g}" for span in far.stops)
    return Panel(
        Axis(-1.16, 2.78 if wide else 7.3),
        Axis(-3.75 if wide else -1.15, 1.15),
        dials,
        sentence_parts(partial(t, head), times=times) if head == "all_slowed" else t(head),
        min_width=200 if wide else 330,
        height=370 if wide else 96,
        equal_aspect=True,
        paragraphs=(Paragraph(t(f"{head}_name"), MUTED_COLOUR, 15),) if wide else (),
        screen="wide" if wide else "narrow",
    )


def _slow(far: Control, way: HandTreatment, trained: float, t: PageTexts, *, grabbed: bool, wide: bool) -> list[Mark]:
    """Return the slow hand at the text's end: green what training showed, hatched what it never did."""
    angle = far.numbers(way.slow)
    beyond = far.numbers(np.clip(way.slow, trained, TURN))
    drawn = [
        marks.wedge(0.0, 0.0, 0.8, TOP - trained, mark_angle_from_clock(beyond), UNSEEN_COLOUR, opacity=0.3),
        *dial_marks(0.0, 0.0, 1.0, angle, trained_angle=trained, arrow=not grabbed),
    ]
    if grabbed:
        goal = way.slow[far.nearest_stop_index(GOAL)] * GOAL / far.stops[far.nearest_stop_index(GOAL)]
        ghost = far.numbers_where(np.array(far.stops) < GOAL - 1, goal)
        drawn += [
            marks.vector(0.0, 0.0, 0.78, mark_angle_from_clock(ghost), GREY, 3, True, stroke_dash="5 4"),
            turnable_hand(far, 0.0, 0.0, 0.97, angle, "ink", t("grab")),
        ]
        drawn += [drag_hint(-1.1, -1.3, t("drag_hand"), font_size=15)] if wide else []
    return drawn + _verdicts(far, way.slow, way.unseen, 1.15, 0.0, (t("in_arc"), t("never_seen")))


def _fast(rope: rc.Rope, far: Control, way: HandTreatment, x: float, y: float, t: PageTexts) -> list[Mark]:
    """Return the fastest hand at a word, grey, and at the next, in a ring that training has shown all round."""
    following = far.numbers(GREYS_AT + way.step)
    return [
        *angle_wedge(x, y, 0.84, GREYS_AT, following),
        *dial_marks(x, y, 1.0, GREYS_AT, GREY, trained_angle=float(trained_angles(rope)[0])),
        *dial_marks(x, y, 1.0, following, ring=False),
        *_verdicts(far, way.step, way.closer, x + 1.15, y, (t("as_trained"), t("too_close"))),
    ]


def _verdicts(
    far: Control, angles: Array, wrong: npt.NDArray[np.bool_], x: float, y: float, labels: tuple[str, str]
) -> list[Mark]:
    """Return an angle with its mark, and what it means in a few words, right of a dial."""
    right, texts = ~wrong, [degrees(angle) for angle in angles.tolist()]
    heads = ([f"{sign} {angle}" for angle in texts] for sign in "✓✗")
    drawn = verdict_where(far, right, x, y, *heads, font_size=19, dy=-6)
    for k in range(2):
        good, bad = (label.split("|")[k] for label in labels)
        drawn += verdict_where(far, right, x, y, good, bad, font_size=14, bold=False, dy=16 + 19 * k)
    return drawn
