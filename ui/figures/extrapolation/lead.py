"""The film that leads the page: one model past its trained length, other hands, and the window that forgets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

import rope_core as rc
from rope_core.lab import view
from rope_core.rope import Array
from rope_core.schemes import UNSCALED
from ui.figures.drawing import Film, cached_figure
from ui.figures.extrapolation import past as three
from ui.figures.extrapolation.curves import TICKS
from ui.figures.extrapolation.past import WINDOW, shade
from ui.figures.extrapolation.words import name
from ui.film import marks
from ui.film.colours import GREEN, ORANGE
from ui.film.scene import (
    Axis,
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
from ui.work.extrapolated import Results

LENGTH = 2048
"""Bytes of the text, for which every scheme is set."""
APART = 0.065
"""How far apart names at the lines' ends are at least, as a share of the axis."""
ROOM = 0.36
"""Width of the names, as a share of the text's."""


def price(results: Results) -> dict[str, str]:
    """Return the window's perplexity of a repeated passage, "near" enough to be "seen" and too "far", as text."""
    curve = next(each.curve for each in view.copies(results) if each.line == WINDOW)
    (near, far), (seen, forgotten) = curve.position[[0, -1]], curve.value[[0, -1]]
    return {"near": f"{near:,.0f}", "far": f"{far:,.0f}", "seen": f"{seen:.3g}", "forgotten": f"{forgotten:.3g}"}


@cached_figure
def hesitates(
    curves: Mapping[str, tuple[Array, Array]], rope: rc.Rope, at: tuple[int, ...], cost: Mapping[str, str], t: Words
) -> Film:
    """Return three ways past the trained length, then more lines; a byte is dragged along the text.

    Args:
        curves: position and the logarithm of perplexity, to base 10, by line.
        rope: of the model, whose trained length counts bytes.
        at: bytes to drag to.
        cost: what the window loses, by `price`.
        t: the page's words.
    """
    byte = field_control(t, "byte", at)
    trained, shown = rope.train_len, {line: curves[line] for line in lines_of(t)}
    heights = {line: np.interp(at, *curve) for line, curve in shown.items()}
    past = three.Past(rope, LENGTH, at, curves)
    length = float(max(x[-1] for x, _ in shown.values()))
    low = min(float(y.min()) for _, y in shown.values()) - 0.08
    high = max(float(y.max()) for _, y in shown.values()) + 0.12
    values = {line: TextTrack((byte,), tuple(f"{10**height:.3g}" for height in each)) for line, each in heights.items()}
    where = TextTrack((byte,), byte.stop_labels)
    findings: list[TextOrTrack] = [
        three.finding(past, byte, t),
        *(sentence_parts(partial(t, f"hesitates_finding_{beat}"), at=where, **values, **cost) for beat in (2, 3)),
    ]
    mark = np.array(at, dtype=float)[:, None]
    here = NumberTrack((byte,), mark)
    named_at = dict(zip(shown, apart([float(y[-1]) for _, y in shown.values()], APART * (high - low)), strict=True))
    ticks = tuple((float(x), f"{x:,}") for x in (trained, 512, 1024, 1536, 2048) if x <= length + trained)
    panel = Panel(
        Axis(0.0, length * (1 + ROOM), ticks, t("position_axis")),
        Axis(
            low,
            high,
            tuple((float(np.log10(v)), f"{v:g}") for v in TICKS if low < np.log10(v) < high),
            t("hesitates_axis"),
        ),
        [
            marks.rect(0.0, float(trained), low, high, GREEN, opacity=0.12),
            marks.rect(float(trained), length, low, high, ORANGE, opacity=0.08),
            marks.line((float(trained),) * 2, (low, high), ORANGE, 2, "4 4"),
            marks.text(trained, high, t("past_training"), ORANGE, anchor="start", dx=8, dy=14, bold=True, font_size=14),
            *(
                each
                for line, (x, y) in shown.items()
                for each in (
                    marks.line(x, y, shade(line), 5 if line in (UNSCALED, WINDOW) else 3),
                    marks.dot(here, NumberTrack((byte,), heights[line][:, None]), shade(line), 6),
                    marks.text(
                        length,
                        named_at[line],
                        name(line, t),
                        shade(line),
                        anchor="start",
                        bold=True,
                        dx=12,
                        dy=5,
                        font_size=14,
                    ),
                )
            ),
            marks.drag_handle(
                byte,
                here,
                NumberTrack((byte,), heights[UNSCALED][:, None]),
                shade(UNSCALED),
                t("grab_byte"),
                [marks.line(NumberTrack((byte,), np.repeat(mark, 2, axis=1)), (low, high), "ink", 2)],
                radius_px=9,
            ),
        ],
        height=270,
        first_beat=2,
    )
    return Film(
        "hesitates",
        Scene(
            (*three.panels(past, byte, t), panel),
            (byte,),
            findings[-1],
            beats=beats_from_labels(
                t,
                "hesitates",
                *findings,
                hint_controls=("byte",),
                control_values=({}, {"byte": 1624}, {"byte": 1624}),
                trained=f"{trained:,}",
            ),
        ),
        lambda: (
            {"byte": at, **{line: 10**height for line, height in heights.items()}}
            | {f"{line}_rad": past.angles(line) for line in three.WAYS}
            | {"window_start": past.starts(WINDOW)}
        ),
        """
        from rope_core.lab import records, view
        for cell in view.cells(records.shipped("sweep").results):
            if cell.length == 2048:
                print(cell.line, view.coarser(cell.curve, 32).value[[0, -1]])
        """
        + past.code(),
    )


def lines_of(t: Words) -> tuple[str, ...]:
    """Return the lines that are shown: no scheme, the schemes that the page names, the window."""
    return UNSCALED, *t("hesitates_lines").split(), WINDOW


def apart(heights: list[float], least: float) -> list[float]:
    """Return heights moved up until neighbours are ``least`` apart, in the order given.

    >>> apart([1.0, 0.0, 0.1], 0.5)
    [1.0, 0.0, 0.5]
    """
    moved, free = dict[int, float](), -np.inf
    for k in np.argsort(heights):
        moved[int(k)] = free = max(heights[k], free)
        free += least
    return [moved[k] for k in range(len(heights))]
