"""The first picture of the glossary: one fault from its trace to the command that finds it, and four to press."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.lab import faults
from rope_core.lab.faults import NAMES, FaultTrace
from rope_core.languages import words
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import drag_hint, text_lines
from ui.film.marks import NumbersOrTrack
from ui.film.scene import Axis, Control, Mark, Panel, Scene
from ui.text.words import PageTexts

MOST = 1.5
"""The error at which a bar is as high as its row."""
FIRST = NAMES.index("long") + 1
"""The fault that is open while none is chosen, counted from 1."""
LINE_PX = 18
"""The height of a line in the terminal."""
SCREEN, LETTERS, ANSWER = "light-dark(#22272e, #0c0e11)", "#e6e8eb", "#f0b050"
LEFT: dict[str, Any] = {"anchor": "start"}
Place = Callable[[npt.NDArray[Any]], NumbersOrTrack]


@cached_figure
def fault_traces_film(t: PageTexts) -> Film:
    """Return the chosen fault's trace, name, cause, command and cure, and a small trace of each to press."""
    control = Control(
        "fault",
        t("field.fault"),
        tuple(float(k) for k in range(1, len(NAMES) + 1)),
        tuple(t(f"fault.{name}.called") for name in NAMES),
        has_slider=False,
        start=float(FIRST),
    )
    known = faults.fault_traces()
    return Film(
        "traces",
        Scene(
            (_desk(control, known, t), _phone(control, known, t)),
            (control,),
            control.texts(t(f"fault.{name}.finding") for name in NAMES),
        ),
        lambda: {f"{name} {part}": getattr(known[name], part) for name in NAMES for part in ("tokens", "error")},
        """
        from rope_core.lab import faults
        for name, trace in faults.fault_traces().items():
            print(name, trace.tokens, trace.error.round(3), trace.command, trace.finding.title())
        """,
    )


def _bars(traces: Sequence[FaultTrace], place: Place, x: float, width: float, foot: float, height: float) -> list[Mark]:
    """Return traces as bars: green where right, hatched where wrong, an outline for a filler; y goes down.

    ``place``: makes one trace's numbers, or the chosen one's, of those of all, (traces, bars).
    """
    count = len(traces[0].tokens)
    edges = np.linspace(x, x + width, count + 1)
    sides = edges[:-1] + 0.1 * width / count, edges[1:]
    at, tokens = np.arange(count), np.array([each.tokens for each in traces])
    wrong = at >= np.array([each.wrong for each in traces])[:, None]
    error = np.clip(np.array([each.error for each in traces]) / MOST, 0.06, 1.0)

    def tops(there: npt.NDArray[Any], share: npt.NDArray[Any] | float) -> NumbersOrTrack:
        return place(np.where(there, foot - height * share, np.nan))

    edge: dict[str, Any] = {"outline": GREY, "stroke_dash": "2 2"}
    filler = [marks.rect(*sides, foot, tops(tokens < 0, 0.22), "none", **edge)] if (tokens < 0).any() else []
    return [
        marks.line([x, x + width], [foot, foot], GREY, 1.2),
        *filler,
        marks.rect(*sides, foot, tops(~wrong & (tokens >= 0), 0.09), TRAINED_COLOUR),
        marks.rect(*sides, foot, tops(wrong, error), UNSEEN_COLOUR, opacity=0.15),
        marks.rect(*sides, foot, tops(wrong, error), UNSEEN_COLOUR, fill_pattern="hatch"),
    ]


def _trace(
    control: Control, known: dict[str, FaultTrace], x: float, y: float, width: float, height: float, t: PageTexts
) -> list[Mark]:
    """Return the chosen trace, large: what is right and wrong in words, where it sets in, and its axis."""
    traces, foot = [known[name] for name in NAMES], y + height
    onset = np.array([x + width * each.wrong / len(each.tokens) if each.wrong > 1 else np.nan for each in traces])
    kinds = ["guesses" if name == "long" else "scores" for name in NAMES]
    right, wrong, measure = (
        control.texts(t(f"{word}.{kind}") for kind in kinds) for word in ("right", "wrong", "error")
    )
    ends = [f"token {faults.LENGTH if name == 'long' else known[name].tokens[-1]:,}" for name in NAMES]
    fillers = [t("fillers") if each.tokens[0] < 0 else "0" for each in traces]
    edges = [t(f"fault.{name}.edge") if t.has_label(f"fault.{name}.edge") else "" for name in NAMES]
    look: dict[str, Any] = {"bold": True, "font_size": 15}
    small: dict[str, Any] = {"font_size": 13}
    return [
        marks.text(x, y, measure, MUTED_COLOUR, dy=-30, **LEFT, **small),
        marks.text(x, y, right, TRAINED_COLOUR, dy=-8, **LEFT, **look),
        marks.text(x + width, y, wrong, UNSEEN_COLOUR, anchor="end", dy=-8, **look),
        *_bars(traces, control.numbers, x, width, foot, height),
        marks.line(control.numbers(np.stack([onset, onset], axis=1)), [y, foot], "ink", 1.5, "3 3"),
        marks.text(x, foot, control.texts(fillers), MUTED_COLOUR, dy=17, **LEFT, **small),
        marks.text(control.numbers(onset), foot, control.texts(edges), dy=17, **small | {"bold": True}),
        marks.text(x + width, foot, control.texts(ends), MUTED_COLOUR, anchor="end", dy=17, **small),
    ]


def _chosen_lines(
    control: Control, part: str, x: float, y: NumbersOrTrack, columns: int, t: PageTexts, **style: Any
) -> list[Mark]:
    """Return a text of the chosen fault in lines of about so many letters."""
    lines = [balanced_lines(t(f"fault.{name}.{part}"), columns) for name in NAMES]
    most = max(map(len, lines))
    texts = [control.texts(each[k] if k < len(each) else "" for each in lines) for k in range(most)]
    return text_lines(x, y, texts, **LEFT | style)


def lines_of_columns(text: str, columns: int) -> list[str]:
    """Break a text into lines of so many columns, as of a terminal; a Chinese letter takes two.

    >>> lines_of_columns("rope check config.json", 12)
    ['rope check', 'config.json']
    """
    rows = [""]
    for piece in re.findall(r"[^\s⺀-￯]*(?:[⺀-￯][，。；：）]?|\s+|$)", text):
        if sum(2 if letter >= "⺀" else 1 for letter in (rows[-1] + piece).rstrip()) > columns and rows[-1]:
            rows.append("")
        rows[-1] += piece
    return [row.rstrip() for row in rows]


def balanced_lines(text: str, columns: int) -> list[str]:
    """Break a text into as few lines as so many columns ask for, as equally long as words allow.

    >>> balanced_lines("good up to a length, bad after it", 30)
    ['good up to a length,', 'bad after it']
    """
    count = len(lines_of_columns(text, columns))
    while columns > 1 and len(lines_of_columns(text, columns - 1)) == count:
        columns -= 1
    return lines_of_columns(text, columns)


def _terminal(
    control: Control,
    known: dict[str, FaultTrace],
    place: tuple[float, float, float, int],
    t: PageTexts,
) -> list[Mark]:
    """Return the command that finds the chosen fault and what it says, as in a terminal, and below what mends it.

    ``place``: its left, top and width, and how many columns its lines have.
    """
    x, y, width, columns = place
    severity = words(t.lang, "commands")["check"]
    commands = [lines_of_columns(f"$ {known[name].command}", columns) for name in NAMES]
    findings = [known[name].finding for name in NAMES]
    answers = [lines_of_columns(f"{severity[each.severity]}  {each.title(t.lang)}", columns) for each in findings]
    foot = y + LINE_PX * np.array([len(a) + len(b) for a, b in zip(commands, answers, strict=True)]) + 10
    drawn = [marks.rect(x, x + width, y, control.numbers(foot), SCREEN, outline=GREY, stroke_width=1, corner_px=6)]
    look: dict[str, Any] = {"font_size": 13, "halo": False, "is_code": True}
    for rows, colour, before in ((commands, LETTERS, [0] * len(commands)), (answers, ANSWER, list(map(len, commands)))):
        for k in range(max(map(len, rows))):
            texts = control.texts(each[k] if k < len(each) else "" for each in rows)
            top = control.numbers(y + LINE_PX * (np.array(before) + k))
            drawn.append(marks.text(x + 9, top, texts, colour, dy=19, **LEFT | look))
    return drawn + _chosen_lines(
        control, "mend", x, control.numbers(foot), columns + 5, t, dy=21, font_size=14, step=18
    )


def _tiles(
    control: Control,
    known: dict[str, FaultTrace],
    places: npt.NDArray[Any],
    size: tuple[float, float],
    bars: tuple[float, float, float, float],
    t: PageTexts,
) -> list[Mark]:
    """Return each fault's small trace, and the frame about the open one, which a press on another one moves there.

    ``places``: of their left upper corners, (faults, 2); ``bars``: left, width, foot and height of the bars in a tile.
    """
    (wide, high), (left, width, foot, height) = size, bars
    x, y = (control.numbers(places[:, k]) for k in (0, 1))
    box: dict[str, Any] = {"corner_px": 8}
    frame = marks.rect(x, x + wide, y, y + high, ACTION_COLOUR, opacity=0.12, **box)
    ring = frame | {"colour": "none", "outline": ACTION_COLOUR, "stroke_width": 2, "opacity": 1.0}
    drawn = [marks.rect(a, a + wide, b, b + high, "none", outline=GREY, stroke_width=0.7, **box) for a, b in places]
    grip = marks.drag_handle(control, x + wide / 2, y + high / 2, ACTION_COLOUR, t("grab_fault"), [frame, ring])
    drawn.append(grip | {"radius_px": 0, "press_px": round(max(wide, high) / 2)})
    for name, (a, b) in zip(NAMES, places, strict=True):
        drawn += _bars([known[name]], lambda numbers: numbers[0], a + left, width, b + foot, height)
    return drawn


def _desk(control: Control, known: dict[str, FaultTrace], t: PageTexts) -> Panel:
    """Return the chain from trace to command on a desk, over a row of traces to press; a unit is a px at 1280 px."""
    width, height, card = 740.0, 352.0, 226.0
    drawn: list[Mark] = [marks.rect(0.0, width, 0.0, card, ACTION_COLOUR, opacity=0.05, corner_px=8)]
    drawn.append(marks.rect(0.0, width, 0.0, card, "none", outline=ACTION_COLOUR, stroke_width=2, corner_px=8))
    for x, step in ((14.0, "seen"), (252.0, "named"), (472.0, "found")):
        drawn.append(marks.text(x, 21, t(f"head.{step}"), ACTION_COLOUR, bold=True, **LEFT))
    drawn += [marks.text(x, 110, "➜", ACTION_COLOUR, font_size=26) for x in (233.0, 453.0)]
    drawn += _trace(control, known, 14.0, 76.0, 200.0, 118.0, t)
    drawn += _chosen_lines(control, "called", 252, 62, 40, t, bold=True, font_size=19)
    drawn += _chosen_lines(control, "cause", 252, 90, 25, t, font_size=15)
    drawn += _terminal(control, known, (472.0, 34.0, 258.0, 28), t)
    places = np.stack([np.linspace(0.0, width - 140, len(NAMES)), np.full(len(NAMES), card + 34)], axis=1)
    drawn += _tiles(control, known, places, (140, 92), (10, 120, 42, 34), t)
    for name, (x, y) in zip(NAMES, places, strict=True):
        drawn += text_lines(x + 70, y, t(f"fault.{name}.seen").split("|"), dy=60, step=17, font_size=13, halo=False)
    drawn.append(drag_hint(0.0, card, t("press_one"), dy=23))
    return Panel(Axis(0.0, width), Axis(height, 0.0), drawn, height=round(height), screen="wide")


def _phone(control: Control, known: dict[str, FaultTrace], t: PageTexts) -> Panel:
    """Return the same on a phone, from the trace down, over rows to press; a unit is a px at 390 px."""
    width, row, top = 350.0, 36.0, 352.0
    drawn = _trace(control, known, 2.0, 42.0, width - 4, 62.0, t)
    drawn += _chosen_lines(control, "called", 2, 152, 40, t, bold=True, font_size=18)
    drawn += _chosen_lines(control, "cause", 2, 172, 48, t, font_size=14, step=17)
    drawn += _terminal(control, known, (0.0, 202.0, width, 41), t)
    places = np.stack([np.zeros(len(NAMES)), top + row * np.arange(len(NAMES))], axis=1)
    drawn += _tiles(control, known, places, (width, row - 3), (6, 84, 28, 23), t)
    for name, (_, y) in zip(NAMES, places, strict=True):
        drawn.append(marks.text(98, y, t(f"fault.{name}.seen").replace("|", ""), dy=21, font_size=14, **LEFT))
    drawn.append(drag_hint(0.0, top, t("press_one"), dy=-7))
    height = top + row * len(NAMES)
    return Panel(Axis(0.0, width), Axis(height, 0.0), drawn, min_width=330, height=round(height), screen="narrow")
