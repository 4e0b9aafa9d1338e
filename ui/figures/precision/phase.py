"""A true arrow and one that is rounded, which drift apart as the position is dragged; then where it was rounded."""

from __future__ import annotations

import math

import numpy as np

import rope_core as rc
from rope_core.theory import precision
from ui.figures.drawing import Film, cached_figure
from ui.figures.precision import position
from ui.figures.precision.formats import REACH, SINGLE, STOPS, spectrum_code
from ui.film import marks
from ui.film.colours import GREY, PURPLE, SKY, YELLOW
from ui.film.scene import (
    Axis,
    Control,
    NumberTrack,
    Panel,
    Scene,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words

UP = math.pi / 2
BY_STAGE = {"inv_freq": PURPLE, "position": SKY, "angle": YELLOW, "table": GREY}
OCTAVE = 4000
"""How many positions of an octave are looked at for the largest error up to there; all where there are fewer."""
LEAST = 0.01
"""Degrees below which an error is not written out."""
HIGH, LINE = 190, 17
"""The height of the curves, and of a line of letters, in px."""
ROOM, ABOVE = 2.0, 2
"""The room for the lines' names: right of the last position in powers of ten, above the highest end in lines."""


def stops(at: int) -> tuple[int, ...]:
    """Return the positions that can be dragged to: eight an octave below 2**20, all powers of two, and ``at``."""
    steps = np.rint(np.geomspace(1, REACH, 141)).astype(int).tolist()
    return tuple(sorted({at, *steps, *STOPS}))


def looked_at() -> np.ndarray:
    """Return the positions at which errors are compared, int64, rising."""
    octaves = [np.linspace(2**e, 2 ** (e + 1), min(2**e, OCTAVE) + 1) for e in range(int(math.log2(REACH)))]
    return np.unique(np.rint(np.concatenate(octaves)).astype(np.int64))


@cached_figure
def drifting(request: rc.Request, dtype: str, positions: tuple[int, ...], t: Words) -> Film:
    """Return a position that ``dtype`` cannot hold, then errors by stage of the pair whose frequency it holds worst.

    In the dials the true arrow is kept upright.
    """
    s = rc.spectrum(request)
    near = position.near_control(t)
    at = field_control(t, "at", positions, play_seconds=12.0, first_beat=2)
    pair = int(np.abs(precision.round_to(s.inv_freq, dtype) - s.inv_freq).argmax())
    single_one, passed = rc.Spectrum.of(s.inv_freq[[pair]]), looked_at()
    errors = {stage: precision.phase_error(single_one, positions, stage, dtype)[:, 0] for stage in SINGLE}
    last = np.searchsorted(passed, positions, side="right") - 1
    largest = {stage: _largest(precision.phase_error(single_one, passed, stage, dtype)[:, 0])[last] for stage in SINGLE}
    written = {
        stage: TextTrack((at,), tuple(off(value, t) for value in each.tolist())) for stage, each in errors.items()
    }
    most = {stage: TextTrack((at,), tuple(off(value, t) for value in each.tolist())) for stage, each in largest.items()}
    where = TextTrack((at,), at.stop_labels)
    texts_of = (
        position.finding(position.Rounding(s, dtype), near, dtype, t),
        sentence_parts(lambda **slots: t("stages_finding", **slots), at=where, **written),
        sentence_parts(lambda **slots: t("largest_finding", **slots), at=where, **most),
    )
    bits = str(precision.DTYPES[dtype][0])
    dials = [_dial(stage, NumberTrack((at,), errors[stage][:, None]), written[stage], at, t) for stage in SINGLE]
    return Film(
        "phase",
        Scene(
            (*position.panels(s, near, dtype, t), *dials, _curves(positions, largest, at, t)),
            (near, at),
            texts_of[-1],
            beats=beats_from_labels(
                t,
                "phase",
                *texts_of,
                hint_controls=("near", "at"),
                control_values=({}, {"at": 1378}, {"at": 1378}),
                dtype=dtype,
                bits=bits,
            ),
        ),
        lambda: (
            {"position": np.array(positions)}
            | {f"{stage}_rad": np.abs(each) for stage, each in errors.items()}
            | {f"{stage}_largest_rad": each for stage, each in largest.items()}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory import precision
        s = {spectrum_code(request)}
        for stage in {SINGLE}:
            print(stage, precision.phase_error(s, [4095], stage, {dtype!r})[0, {pair}])
        """,
    )


def off(error: float, t: Words) -> str:
    """Return an error (rad) as a reader takes it in: degrees up to a turn, then turns."""
    if not math.isfinite(error):
        return t("overflow")
    degrees = math.degrees(abs(error))
    if 0 < degrees < LEAST:
        return t("hardly")
    return f"{degrees:.3g}°" if degrees < 360 else t("turns", count=f"{float(f'{degrees / 360:.3g}'):,.10g}")


def _largest(errors: np.ndarray) -> np.ndarray:
    """Return the largest error so far; from where a format overflows on it is infinite."""
    return np.asarray(np.maximum.accumulate(np.where(np.isnan(errors), np.inf, np.abs(errors))))


def _curves(positions: tuple[int, ...], largest: dict[str, np.ndarray], at: Control, t: Words) -> Panel:
    """Return the largest error of each stage up to every position, each line named at its end."""
    where = np.log10(positions)
    logs = {stage: np.log10(np.where(each > 0, np.degrees(_finite(each)), np.nan)) for stage, each in largest.items()}
    half, every = math.log10(180), np.concatenate(list(logs.values()))
    low = math.floor(min(np.nanmin(every), half))
    high = low + (max(np.nanmax(every), half) - low) / (1 - ABOVE * LINE / HIGH)
    here, end = NumberTrack((at,), where[:, None]), math.log10(REACH)
    line = NumberTrack((at,), np.stack([where, where], axis=1))
    ticks = [
        (k, f"{10.0**k:,g}°" if k > -3 else f"10{raised(k)}°")
        for k in range(low, min(math.floor(high), 4) + 1, 2 if high - low > 4 else 1)
    ]
    ends = {stage: each[np.isfinite(each)][-1] for stage, each in logs.items() if np.isfinite(each).any()}
    return Panel(
        Axis(0.0, end + ROOM, tuple((k, f"{10**k:,}") for k in range(0, 7, 2)), t("position_log")),
        Axis(low, high, tuple(ticks), t("largest_axis")),
        [
            marks.line([0.0, end], [half, half], "ink", 2, "3 5"),
            marks.text(0.0, half, t("half_turn"), anchor="start", dx=6, dy=-7),
            *(marks.line(where, each, BY_STAGE[stage], 3) for stage, each in logs.items()),
            *(
                marks.text(end, place, t(f"stage.{stage}"), BY_STAGE[stage], anchor="start", bold=True, dx=8, dy=5)
                for stage, place in _apart(ends, LINE * (high - low) / HIGH).items()
            ),
            *(marks.dot(here, NumberTrack((at,), each[:, None]), BY_STAGE[stage], 6) for stage, each in logs.items()),
            marks.link_symbol(
                "m",
                marks.drag_handle(
                    at, here, half, "ink", t("grab"), [marks.line(line, [low, high], "ink", 2, "4 4")], radius_px=0
                ),
            ),
        ],
        min_width=250,
        width_share=3.4,
        height=HIGH,
        first_beat=3,
    )


def _apart(ends: dict[str, float], least: float) -> dict[str, float]:
    """Return heights in their order, none nearer than ``least`` to the next: moved up from the lowest."""
    places: dict[str, float] = {}
    for stage in sorted(ends, key=lambda each: ends[each]):
        places[stage] = max([ends[stage], *(place + least for place in places.values())])
    return places


def _dial(stage: str, error: NumberTrack, written: TextTrack, at: Control, t: Words) -> Panel:
    """Return the true arrow, upright, and the one that this stage was rounded for."""
    angle, colour, first = (
        NumberTrack(error.drivers, UP - _finite(error.keyframes)),
        BY_STAGE[stage],
        stage == "inv_freq",
    )
    rounded = marks.vector(0.0, 0.0, 0.95, angle, colour, 6, has_head=True)
    shapes = [
        marks.circle(0.0, 0.0, 1.0, GREY, 2),
        marks.link_symbol("ε", marks.arc(0.0, 0.0, 0.5, UP, angle, colour, 6)),
        marks.link_symbol("θ", marks.vector(0.0, 0.0, 0.95, UP, "ink", 5, has_head=True)),
        marks.turn_handle(at, 0.0, 0.0, 0.95, angle, colour, t("grab_hand"), [rounded], radius_px=0)
        if first
        else rounded,
        marks.text(0.0, -1.3, written, colour, bold=True, font_size=16, dy=10),
    ]
    return Panel(
        Axis(-1.1, 1.1),
        Axis(-1.5, 1.1),
        shapes,
        t("only", stage=t(f"stage.{stage}")),
        min_width=70,
        height=235,
        equal_aspect=True,
        first_beat=2,
        last_beat=0 if first else 2,
    )


def _finite(values: np.ndarray) -> np.ndarray:
    """Return values with nan where a format has overflowed."""
    return np.where(np.isfinite(values), values, np.nan)


def raised(power: int) -> str:
    """Return a power of ten as its small raised digits."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
