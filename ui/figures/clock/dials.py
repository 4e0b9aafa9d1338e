"""What the ways to extend a context do to a slow hand and to the fastest one, and how much they slow each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.hf.anatomy import REGIONS, request_pair_effects
from rope_core.rope import Array
from rope_core.theory.extension import TURN, extended_length, reached_untrained_angle_mask, trained_angles, with_factor
from ui.figures.clock import ways
from ui.figures.drawing import Film, cached_figure
from ui.figures.home import degrees_text
from ui.film import marks
from ui.film.colours import MUTED_COLOUR, REGION_COLOURS
from ui.film.scene import Axis, Control, Panel, Paragraph, TextTrack, field_control, scene_in_beats, sentence_parts
from ui.text.words import PageTexts

SPANS = tuple(np.arange(0.0, 4.01, 0.25).tolist())
"""Lengths of a text, in multiples of the trained length."""


@dataclass(frozen=True)
class SchemeDial:
    """One scheme at every factor, each with a text that is factor times as long as training's."""

    request: rc.Request
    factors: tuple[float, ...]

    @cached_property
    def spectra(self) -> list[rc.Spectrum]:
        """The frequencies, one spectrum for each factor."""
        return [rc.spectrum(with_factor(self.request, factor)) for factor in self.factors]

    @property
    def text_lengths(self) -> list[int]:
        """Tokens of the text."""
        return [extended_length(self.request.rope, factor) for factor in self.factors]

    @property
    def has_pair_past_training(self) -> npt.NDArray[np.bool_]:
        """Which pairs are past what training showed at the text's end, bool (factors, pairs)."""
        rows = zip(self.spectra, self.text_lengths, strict=True)
        return np.array([reached_untrained_angle_mask(self.request.rope, s, [length])[0] for s, length in rows])

    def slowdown_factors(self, pair: int) -> Array:
        """Return how many times slower a pair, the last for one beyond it, turns by the factor; 1 where it is still."""
        slow = np.array([s.slowdown[min(pair, self.request.rope.pairs - 1)] for s in self.spectra])
        return np.where(np.isfinite(slow), slow, 1.0)

    @property
    def neighbour_angles(self) -> Array:
        """The angle between neighbouring tokens on the fastest pair, rad."""
        return np.array([s.inv_freq[0] for s in self.spectra])

    @property
    def neighbour_angle_texts(self) -> tuple[str, ...]:
        """The same in degrees, as text."""
        return tuple(map(degrees_text, self.neighbour_angles))

    @property
    def has_unseen_neighbour_angle(self) -> npt.NDArray[np.int8]:
        """Whether neighbours are as far apart as training never showed them."""
        return np.array(np.abs(self.request.rope.theta[0] / self.neighbour_angles - 1.0) > 1e-6, dtype=np.int8)


@cached_figure
def clock_hands_film(
    rope: rc.Rope,
    requests: Sequence[rc.Request],
    factors: Sequence[float],
    spans: Sequence[float],
    hands: Sequence[int],
    t: PageTexts,
) -> Film:
    """Return a slow and the fastest hand in a longer text under three ways, then all hands under each request.

    ``hands``: those that can be marked there.
    """
    lengths = [round(span * rope.train_len) for span in spans]
    written = tuple(
        t("length", tokens=f"{length:,}", span=f"{span:g}") for length, span in zip(lengths, spans, strict=True)
    )
    far = Control("distance", t("field.distance"), tuple(map(float, spans)), written, play_seconds=6.0)
    by = field_control(t, "factor", factors, play_seconds=6.0)
    at = field_control(t, "hand", hands, play_seconds=6.0)
    each = [SchemeDial(request, tuple(factors)) for request in requests]
    scene = scene_in_beats(
        t,
        "hands",
        (far, ways.hand_treatment_panels(rope, far, t), ways.hand_treatments_finding(rope, far, t)),
        ((at, by), [hand_slowdown_panel(dial, at, by, t) for dial in each], hand_slowdown_finding(each, at, by, t)),
        control_values=({}, {"factor": 4}),
        pairs=str(rope.pairs),
    )
    return Film(
        "hands",
        scene,
        lambda: (
            {"pair": np.arange(rope.pairs), "trained_rad": trained_angles(rope)}
            | {
                f"{dial.request.scheme} x{factor:g} rad/token": s.inv_freq
                for dial in each
                for factor, s in zip(factors, dial.spectra, strict=True)
            }
        ),
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory.extension import first_pair_under_fifth_turn, reached_untrained_angle_mask
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        length, slow = round(distance * rope.train_len), first_pair_under_fifth_turn(rope)
        for name, params in [("none", {{}}), ("linear", {{"factor": max(1.0, distance)}})]:
            s = rc.spectrum(rc.Request(rope, name, params))
            print(name, np.degrees(s.inv_freq[0]), np.degrees(length * s.inv_freq[slow]))
        for name, params in {[(each.scheme, dict(each.params)) for each in requests]}:
            s = rc.spectrum(rc.Request(rope, name, params | {{"factor": factor}}))
            print(name, s.slowdown[hand], np.degrees(s.inv_freq[0]))
            print(reached_untrained_angle_mask(rope, s, {lengths}).sum(axis=1))
        """,
    )


def hand_slowdown_finding(each: Sequence[SchemeDial], at: Control, by: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return how much each scheme slows the marked hand at a factor."""
    names = [t(f"scheme.{dial.request.scheme}") for dial in each]
    rows = [
        t("comma").join(
            f"{name} {_times(dial.slowdown_factors(hand)[k])}" for name, dial in zip(names, each, strict=True)
        )
        for k in range(len(by.stops))
        for hand in _hands(at)
    ]
    return sentence_parts(
        partial(t, "slowed_finding"), factor=by.stop_text, i=at.stop_text, each=TextTrack((by, at), tuple(rows))
    )


def _hands(at: Control) -> list[int]:
    return [int(stop) for stop in at.stops]


def _times(slow: float) -> str:
    """Return a slow-down with three digits.

    >>> _times(3.6312), _times(4.0)
    ('3.63', '4')
    """
    return f"{slow:.3g}"


def hand_slowdown_panel(dial: SchemeDial, at: Control, by: Control, t: PageTexts) -> Panel:
    """Return how many times slower a scheme lets each hand turn, fast ones above, and what follows for two kinds."""
    rope = dial.request.rope
    pairs, most = rope.pairs, max(float(by.stops[-1]), 2.0)
    slow = np.array([dial.slowdown_factors(pair) for pair in range(pairs)]).T
    names = [request_pair_effects(with_factor(dial.request, factor)) for factor in by.stops]
    paint = np.array([[REGIONS.index(name) for name in row] for row in names], dtype=np.int8)
    tops = -np.arange(pairs, dtype=float)
    bars = marks.rect(
        0.0,
        by.numbers(np.minimum(slow, most)),
        tops - 0.85,
        tops - 0.15,
        list(REGION_COLOURS.values()),
        by.numbers(paint),
    )
    marked = [min(hand, pairs - 1) for hand in _hands(at)]
    hands = np.array(marked, dtype=float)
    half = max(0.5, pairs / 80)
    frame = [
        marks.rect(
            0.0,
            1.02 * most,
            at.numbers(-hands[:, None] - 0.5 - half),
            at.numbers(-hands[:, None] - 0.5 + half),
            "none",
            outline="ink",
            stroke_width=2,
        )
    ]
    middle = at.numbers(-hands[:, None] - 0.5)
    chip = TextTrack((by, at), tuple(f"{_times(row[hand])}×" for row in slow for hand in marked))
    ticks = tuple((v, f"{v:g}×") for v in (1.0, most / 2, most) if v <= most)
    x = Axis(0.0, 1.3 * most, ticks, t("slower_axis"), grid=False)
    y = Axis(-pairs - 0.5, 0.5)
    drawn = [
        marks.link_symbol("s", bars),
        marks.drag_handle(at, 0.0, middle, "ink", t("grab_hand"), frame, radius_px=6),
        marks.text(1.05 * most, middle, chip, anchor="start", bold=True, font_size=14, dy=5),
    ]
    paragraphs = tuple(
        Paragraph(by.texts(texts), colour, 14)
        for texts, colour in (
            (_counts(names, t), MUTED_COLOUR),
            (_neighbours(dial, t), "ink"),
            (_slow_hands(dial, t), "ink"),
        )
    )
    return Panel(x, y, drawn, t(f"scheme.{dial.request.scheme}"), min_width=96, height=200, paragraphs=paragraphs)


def _counts(names: Sequence[Sequence[str]], t: PageTexts) -> tuple[str, ...]:
    """Return how many hands are kept, blended and divided, by the factor."""
    return tuple(
        t("comma").join(t(f"region.{region}", count=row.count(region)) for region in REGIONS if region in row)
        for row in names
    )


def _neighbours(dial: SchemeDial, t: PageTexts) -> tuple[str, ...]:
    """Return how far the fastest hand turns from a word to the next, and whether that is as in training."""
    rows = zip(dial.neighbour_angle_texts, dial.has_unseen_neighbour_angle.tolist(), strict=True)
    return tuple(t("neighbours_closer" if closer else "neighbours_kept", apart=apart) for apart, closer in rows)


def _slow_hands(dial: SchemeDial, t: PageTexts) -> tuple[str, ...]:
    """Return how many of the hands that made no full turn in training leave what it showed, by the factor."""
    slow = int((trained_angles(dial.request.rope) < TURN).sum())
    return tuple(
        t("slow_leave" if count else "slow_stay", count=count, of=slow)
        for count in dial.has_pair_past_training.sum(axis=1).tolist()
    )
