"""The first picture of the glossary: five faults by the trace each leaves along a text, with reason and command."""

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
CELLS = (("seen",), ("called", "brief"), ("command", "cure"))
LINE_PX = (-13, 6, 22)
"""The baselines of a row's lines from its middle, px."""
COLUMNS = (0.0, 130.0, 302.0, 532.0)
END = 690.0
"""Where the columns of the table start and where it ends, in px."""


@cached_figure
def fault_traces_film(t: PageTexts) -> Film:
    """Return a row for each fault: its error at each token, what is seen, its name, reason, command and cure."""
    control = Control(
        "fault",
        t("field.fault"),
        tuple(float(k) for k in range(1, len(NAMES) + 1)),
        tuple(t(f"fault.{name}.called") for name in NAMES),
        has_slider=False,
        start=1.0,
    )
    known = faults.fault_traces()
    return Film(
        "traces",
        Scene(
            (_table(control, known, t), _rows(control, known, t), _chosen(control, t)),
            (control,),
            control.texts(t(f"fault.{name}.finding") for name in NAMES),
        ),
        lambda: {f"{name} {part}": getattr(known[name], part) for name in NAMES for part in ("tokens", "error")},
        """
        from rope_core.lab import faults
        for name, trace in faults.fault_traces().items():
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
        marks.rect(left[good], right[good], foot, foot + 0.09 * height, TRAINED_COLOUR),
        marks.rect(left[bad], right[bad], foot, high[bad], UNSEEN_COLOUR, opacity=0.15),
        marks.rect(left[bad], right[bad], foot, high[bad], UNSEEN_COLOUR, fill_pattern="hatch"),
    ]
    if trace.wrong > 1:
        x = float(edges[trace.wrong])
        drawn.append(marks.line([x, x], [foot, foot + height], "ink", 1.5, "3 3"))
    return drawn


def _frame(control: Control, low: float, high: float, press_px: int, t: PageTexts) -> Mark:
    """Return the frame about the chosen row, which a press on another row moves there."""
    row = control.numbers(len(NAMES) - np.array(control.stops)[:, None])
    frame = marks.rect(low, high, row + 0.03, row + 0.97, ACTION_COLOUR, opacity=0.1, corner_px=8)
    ring = frame | {"colour": "none", "outline": ACTION_COLOUR, "stroke_width": 2, "opacity": 1.0}
    look: dict[str, Any] = {"radius_px": 0, "press_px": press_px}
    return marks.drag_handle(
        control, (low + high) / 2, row + 0.5, ACTION_COLOUR, t("grab_fault"), [frame, ring], **look
    )


def _traces(known: dict[str, FaultTrace], width: float, end: float, t: PageTexts) -> list[Mark]:
    """Return the bars of every fault with the place where it sets in or its length, and a line between rows."""
    drawn = []
    for k, name in enumerate(NAMES):
        foot = len(NAMES) - k - 1
        drawn += _bars(known[name], 0.0, width, foot + 0.16, 0.68)
        if t.has_label(f"fault.{name}.edge"):
            share = known[name].wrong / len(known[name].tokens)
            # A name has no room left of a line that is near the start.
            edge, anchor = (width * (share - 0.02), "end") if share > 0.4 else (width * (share + 0.03), "start")
            words = t(f"fault.{name}.edge")
            drawn.append(marks.text(edge, foot + 0.62, words, MUTED_COLOUR, anchor=anchor, font_size=13, bold=True))
        else:
            span = t("span", count=f"{known[name].tokens[-1]:,}")
            drawn.append(marks.text(0.0, foot + 0.7, span, MUTED_COLOUR, anchor="start", font_size=13, bold=True))
        if k:
            drawn.append(marks.line([0.0, end], [foot + 1.0, foot + 1.0], GREY, 0.6))
    return drawn


def _table(control: Control, known: dict[str, FaultTrace], t: PageTexts) -> Panel:
    """Return the table for a desk, a unit of its x axis a pixel at 1280 px: all reasons and commands in view."""
    top = float(len(NAMES))
    drawn: list[Mark] = [_frame(control, -8.0, END, 700, t), *_traces(known, 118.0, END, t)]
    start: dict[str, Any] = {"anchor": "start", "halo": False}
    for x, column in zip(COLUMNS, ("trace", "symptom", "reason", "cure"), strict=True):
        look = start | {"font_size": 14, "bold": True}
        drawn.append(marks.text(x, top + 0.18, t(f"head.{column}"), MUTED_COLOUR, **look))
    for k, name in enumerate(NAMES):
        for x, cells in zip(COLUMNS[1:], CELLS, strict=True):
            lines = [line for cell in cells for line in t(f"fault.{name}.{cell}").split("|")]
            for j, line in enumerate(lines):
                named = j == 0 and len(cells) > 1
                look = start | {"font_size": 16 if named else 14, "bold": named}
                drawn.append(marks.text(x, top - k - 0.5, line, dy=LINE_PX[j], **look))
    for dy, scale in zip((0, 17), _scale(control, t), strict=True):
        drawn.append(marks.text(0.0, -0.3, scale, MUTED_COLOUR, dy=dy, **start | {"font_size": 13}))
    drawn.append(drag_hint(END, -0.3, t("press_one"), anchor="end", dy=10))
    return Panel(Axis(-10.0, END + 2), Axis(-0.65, top + 0.4), drawn, height=350, screen="wide")


def _rows(control: Control, known: dict[str, FaultTrace], t: PageTexts) -> Panel:
    """Return the five traces below each other for a phone, each with what is seen and its name."""
    end, top = 10.0, float(len(NAMES))
    drawn: list[Mark] = [_frame(control, -0.12, end, 400, t), *_traces(known, 3.2, end, t)]
    look: dict[str, Any] = {"anchor": "start", "font_size": 13, "halo": False}
    for k, name in enumerate(NAMES):
        y = top - k - 0.5
        for line, dy in zip(t(f"fault.{name}.seen").split("|"), (-14, 3), strict=True):
            drawn.append(marks.text(3.5, y, line, dy=dy, **look))
        drawn.append(marks.text(3.5, y, t(f"fault.{name}.called"), bold=True, dy=20, **look | {"font_size": 14}))
    drawn.append(drag_hint(0.0, top + 0.05, t("press_one"), dy=-8))
    return Panel(
        Axis(-0.15, end + 0.05),
        Axis(-0.02, top + 0.4),
        drawn,
        min_width=330,
        height=305,
        paragraphs=(Paragraph([*_scale(control, t)], MUTED_COLOUR, 14),),
        screen="narrow",
    )


def _chosen(control: Control, t: PageTexts) -> Panel:
    """Return, for a phone, what the chosen fault is called, what causes it, what finds it and what mends it."""
    paragraphs = []
    for line in LINES:
        words = control.texts(t(f"fault.{name}.{line}") for name in NAMES)
        if line == "called":
            paragraphs.append(Paragraph(words, "ink", 20, bold=True))
        else:
            paragraphs.append(Paragraph([t(f"line.{line}"), words], "ink", 15))
    return text_panel(*paragraphs, min_width=280, screen="narrow")


def _scale(control: Control, t: PageTexts) -> list[TextTrack]:
    """Return what the bars measure, in two lines."""
    lines = [t(f"scale_{'guesses' if name == 'long' else 'scores'}").split("|") for name in NAMES]
    return [control.texts(line) for line in zip(*lines, strict=True)]
