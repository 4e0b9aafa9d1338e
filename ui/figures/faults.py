"""The first picture of the glossary: five faults by the trace that each leaves along a text, one of them explained."""

from __future__ import annotations

from typing import Any

import numpy as np

from rope_core.lab import faults
from rope_core.lab.faults import NAMES, FaultTrace
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import drag_hint
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, Scene, TextTrack, text_panel
from ui.text.words import PageTexts

MOST = 1.5
"""The error at which a bar is as high as its row."""
LINES = ("called", "cause", "test", "mend")


@cached_figure
def traces(t: PageTexts) -> Film:
    """Return a row for each fault, its error at each token beside what is seen of it, and the chosen one explained."""
    control = Control(
        "fault",
        t("field.fault"),
        tuple(float(k) for k in range(1, len(NAMES) + 1)),
        tuple(t(f"fault.{name}.called") for name in NAMES),
        has_slider=False,
        start=1.0,
    )
    known = faults.traces()
    texts = {line: control.texts(t(f"fault.{name}.{line}") for name in NAMES) for line in LINES}
    return Film(
        "traces",
        Scene(
            tuple(
                panel
                for wide in (True, False)
                for panel in (_rows(control, known, t, wide), _chosen(control, texts, t, wide))
            ),
            (control,),
            control.texts(t(f"fault.{name}.finding") for name in NAMES),
        ),
        lambda: {f"{name} {part}": getattr(known[name], part) for name in NAMES for part in ("tokens", "error")},
        """
        from rope_core.lab import faults
        for name, trace in faults.traces().items():
            print(name, trace.tokens, trace.error.round(3))
        """,
    )


def _bars(trace: FaultTrace, x0: float, x1: float, foot: float, height: float) -> list[Mark]:
    """Return a trace as bars: green where it is right, hatched where it is wrong, an outline for a filler."""
    count = len(trace.tokens)
    edges = np.linspace(x0, x1, count + 1)
    left, right = edges[:-1] + 0.1 * (x1 - x0) / count, edges[1:]
    at, tokens = np.arange(count), np.array(trace.tokens)
    high = foot + height * np.clip(trace.error / MOST, 0.06, 1.0)
    drawn: list[Mark] = [marks.line([x0, x1], [foot, foot], GREY, 1.2)]
    if (tokens < 0).any():
        pad = tokens < 0
        edge: dict[str, Any] = {"outline": GREY, "stroke_dash": "2 2"}
        drawn.append(marks.rect(left[pad], right[pad], foot, foot + 0.22 * height, "none", **edge))
    good, bad = (at < trace.wrong) & (tokens >= 0), at >= trace.wrong
    drawn += [
        marks.rect(left[good], right[good], foot, foot + 0.14 * height, TRAINED_COLOUR),
        marks.rect(left[bad], right[bad], foot, high[bad], UNSEEN_COLOUR, opacity=0.15),
        marks.rect(left[bad], right[bad], foot, high[bad], UNSEEN_COLOUR, fill_pattern="hatch"),
    ]
    if trace.wrong > 1:
        x = float(edges[trace.wrong])
        drawn.append(marks.line([x, x], [foot, foot + height], "ink", 1.5, "3 3"))
    return drawn


def _rows(control: Control, known: dict[str, FaultTrace], t: PageTexts, wide: bool) -> Panel:
    """Return the five traces below each other; the chosen one is framed, and a press frames another."""
    text, end = (3.1, 10.0) if wide else (3.5, 10.0)
    size = 15 if wide else 13
    top = len(NAMES)
    row = control.numbers(top - np.array(control.stops)[:, None])
    frame = marks.rect(-0.12, end, row + 0.03, row + 0.97, ACTION_COLOUR, opacity=0.1, corner_px=8)
    ring = frame | {"colour": "none", "outline": ACTION_COLOUR, "stroke_width": 2, "opacity": 1.0}
    grip_y = row + 0.5
    drawn: list[Mark] = [
        marks.drag_handle(
            control, end / 2, grip_y, ACTION_COLOUR, t("grab_fault"), [frame, ring], radius_px=0, press_px=400
        )
    ]
    for k, name in enumerate(NAMES):
        foot = top - k - 1
        drawn += _bars(known[name], 0.0, 2.8 if wide else 3.2, foot + 0.16, 0.68)
        if t.has(f"fault.{name}.edge"):
            edge = (2.8 if wide else 3.2) * known[name].wrong / len(known[name].tokens) - 0.06
            words = t(f"fault.{name}.edge")
            drawn.append(marks.text(edge, foot + 0.62, words, MUTED_COLOUR, anchor="end", font_size=13, bold=True))
        look: dict[str, Any] = {"anchor": "start", "font_size": size, "halo": False}
        for line, dy in zip(t(f"fault.{name}.seen").split("|"), (-11 if wide else -14, 8 if wide else 3), strict=True):
            drawn.append(marks.text(text, foot + 0.5, line, dy=dy, **look))
        called, brief, dy = t(f"fault.{name}.called"), t(f"fault.{name}.brief"), -11 if wide else 20
        place = 7.0 if wide else text
        drawn.append(marks.text(place, foot + 0.5, called, bold=True, dy=dy, **look | {"font_size": size + 1}))
        if wide:
            drawn.append(marks.text(place, foot + 0.5, brief, MUTED_COLOUR, dy=8, **look | {"font_size": 14}))
        if k:
            drawn.append(marks.line([0.0, end], [foot + 1.0, foot + 1.0], GREY, 0.6))
    hint = drag_hint(0.0, float(top) + 0.05, t("press_one"), dy=-8)
    return Panel(
        Axis(-0.15, end + 0.05),
        Axis(-0.02, top + 0.4),
        [*drawn, hint],
        min_width=330,
        width_share=1.7,
        height=385 if wide else 268,
        paragraphs=() if wide else (_scale(control, t),),
        screen="wide" if wide else "narrow",
    )


def _chosen(control: Control, texts: dict[str, TextTrack], t: PageTexts, wide: bool) -> Panel:
    """Return what the chosen fault is called, what causes it, what finds it and what mends it."""
    paragraphs = []
    for line in LINES:
        look: dict[str, Any] = (
            {"font_size": 20, "bold": True} if line == "called" else {"font_size": 16 if wide else 15}
        )
        if line != "called":
            paragraphs.append(Paragraph(t(f"line.{line}"), MUTED_COLOUR, 14, bold=True))
        paragraphs.append(Paragraph(texts[line], "ink", **look))
    if wide:
        paragraphs.append(_scale(control, t))
    return text_panel(*paragraphs, min_width=280, screen="wide" if wide else "narrow")


def _scale(control: Control, t: PageTexts) -> Paragraph:
    """Return what the bars measure."""
    scale = control.texts(t(f"scale_{'guesses' if name == 'long' else 'scores'}") for name in NAMES)
    return Paragraph(scale, MUTED_COLOUR, 14)
