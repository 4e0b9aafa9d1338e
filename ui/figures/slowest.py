"""The first picture of the models page: how far each model's slowest pair turns, and what a longer text adds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from rope_core.hf import survey
from rope_core.hf.survey import SurveyRow
from rope_core.rope import Array
from ui.figures import home
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, GREY, MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import TOP, mark_angle_from_clock, turnable_hand
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, TextOrTrack, TextTrack
from ui.text.words import PageTexts

MODELS = (
    "llama-2-7b",
    "stablelm-3b-4e1t",
    "gemma-2-9b",
    "deepseek-v3",
    "gpt-j-6b",
    "kimi-k2.5",
    "phi-4",
    "qwen3-8b",
    "llama-3.1-8b",
    "gpt-oss-20b",
    "llama-3-8b",
)
"""Known models whose slowest pair stays below a turn in four times their context: one to drag, then the others."""
MOST = 4.0
"""The longest text, in contexts."""
STOPS = tuple(np.arange(1.0, MOST + 0.1, 0.5).tolist())
COLUMNS, RADIUS = 5, 0.36
"""How many dials are in a row, and the radius of each where columns are 1 apart."""


def slowest_pair_rows() -> list[SurveyRow]:
    """Return the rows of the models: the first, then the others from the greatest angle at their context down."""
    of = {row.model.id: row for row in survey.survey_rows() if row.model.id in MODELS}
    first, *others = (of[name] for name in MODELS)
    return [first, *sorted(others, key=lambda row: -row.slowest_angle(row.context))]


def text_length_control(times: Sequence[float], t: PageTexts) -> Control:
    """Return the length of the text, in contexts of each model."""
    labels = tuple(t("times_stop", times=f"{each:g}") for each in times)
    return Control("times", t("field.times"), tuple(map(float, times)), labels, play_seconds=6.0)


degrees = partial(home.degrees_text, whole_from=9.5, below=".1f")


def slowest_pair_angles(row: SurveyRow, far: Control) -> Array:
    """Return how far a row's slowest pair has turned at every length of the text, rad."""
    return np.array([row.slowest_angle(times * row.context) for times in far.stops])


def slowest_pair_turn_finding(row: SurveyRow, far: Control, t: PageTexts) -> TextTrack:
    """Return how far one model's slowest pair turns, and how much of that is new, at every length of the text."""
    within = row.slowest_angle(row.context)
    texts = []
    for times, angle in zip(far.stops, slowest_pair_angles(row, far).tolist(), strict=True):
        given = {"model": row.model.name, "tokens": f"{times * row.context:,.0f}", "angle": degrees(angle)}
        more = {"new": degrees(angle - within)}
        texts.append(t("longer_finding", **given, **more) if times > 1 else t("slowest_finding", **given))
    return far.texts(texts)


def slowest_pair_panels(shown: Sequence[SurveyRow], far: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the model whose arrow is dragged, and the others in two rows; on a narrow screen one above the other."""
    both = (True, False)
    return tuple(draw for wide in both for draw in (_one(shown[0], far, t, wide), _others(shown[1:], far, t, wide)))


def _longer(far: Control, text: Sequence[str], at_first: str = "") -> TextTrack:
    """Return a text for each length above the context, and another for lengths up to it."""
    return far.texts(each if k > 1 else at_first for k, each in zip(far.stops, text, strict=True))


def _dial(row: SurveyRow, far: Control, x: float, y: float, radius: float, stroke_width: float) -> list[Mark]:
    """Return a circle with what the context shows in green, the rest hatched, what is met there filled, no arrow."""
    within = TOP - row.slowest_angle(row.context)
    turned = mark_angle_from_clock(far.numbers(slowest_pair_angles(row, far)))
    rest = marks.wedge(x, y, radius, within, TOP - 2 * np.pi, UNSEEN_COLOUR, fill_pattern="hatch", opacity=0.35)
    return [
        rest,
        marks.wedge(x, y, radius, within, turned, UNSEEN_COLOUR, opacity=0.3),
        marks.wedge(x, y, radius, within, turned, UNSEEN_COLOUR, fill_pattern="hatch"),
        marks.wedge(x, y, radius, TOP, within, TRAINED_COLOUR),
        marks.circle(x, y, radius, GREY, 1.5),
        marks.dot([x], [y], "ink", stroke_width / 1.2),
    ]


def _one(row: SurveyRow, far: Control, t: PageTexts, wide: bool) -> Panel:
    """Return the dial whose arrow is dragged, with its words below, or beside it on a narrow screen."""
    turned, within = slowest_pair_angles(row, far), row.slowest_angle(row.context)
    goal = mark_angle_from_clock(row.slowest_angle(MOST * row.context))
    drawn = [
        *_dial(row, far, 0.0, 0.0, 1.0, 6),
        marks.vector(0.0, 0.0, 0.8, goal, GREY, 3, True, stroke_dash="5 4"),
        turnable_hand(far, 0.0, 0.0, 0.97, far.numbers(turned), "ink", t("grab_arrow")),
    ]
    new = [t("new_angles", angle=degrees(each - within)) for each in turned.tolist()]
    upper, lower = t("rest_unseen").split("|")
    for text, y in ((_longer(far, [""] * len(new), upper), -0.42), (_longer(far, new, lower), -0.6)):
        drawn.append(marks.text(0.0, y, text, UNSEEN_COLOUR, bold=True))
    tokens = [t("text_of", tokens=f"{times * row.context:,.0f}") for times in far.stops]
    drawn.append(
        marks.text(
            0.52, 0.02, _longer(far, [""] * len(new), t("at_most", times=f"{MOST:g}")), MUTED_COLOUR, font_size=13
        )
    )
    now = _longer(far, tokens, "☞ " + t("drag_arrow"))
    seen = [t("seen_within", tokens=f"{row.context:,}"), t("seen", angle=degrees(within))]
    explained = t("its_slowest", pairs=row.rope.inv_freq.size).split("|")
    if wide:
        drawn += [
            marks.text(0.0, -1.0, "".join(seen), TRAINED_COLOUR, bold=True, font_size=16, dy=28),
            marks.text(0.0, -1.0, now, ACTION_COLOUR, bold=True, font_size=16, dy=54),
        ]
    else:
        look: dict[str, Any] = {"anchor": "start", "font_size": 14}
        drawn.append(marks.text(1.15, 0.75, row.model.name, **look | {"bold": True, "font_size": 18}))
        drawn += [marks.text(1.15, 0.51 - 0.22 * k, line, MUTED_COLOUR, **look) for k, line in enumerate(explained)]
        drawn += [
            marks.text(1.15, -0.3 - 0.22 * k, line, TRAINED_COLOUR, bold=True, **look) for k, line in enumerate(seen)
        ]
        drawn.append(marks.text(1.15, -0.82, now, ACTION_COLOUR, bold=True, **look))
    return Panel(
        Axis(-1.3, 1.3) if wide else Axis(-1.05, 3.35),
        Axis(-1.55, 1.05) if wide else Axis(-1.05, 1.05),
        drawn,
        row.model.name if wide else "",
        min_width=260,
        width_share=0.55 if wide else 1.0,
        height=320 if wide else 160,
        equal_aspect=True,
        paragraphs=(Paragraph("".join(explained), MUTED_COLOUR, 15),) if wide else (),
        screen="wide" if wide else "narrow",
    )


def _others(shown: Sequence[SurveyRow], far: Control, t: PageTexts, wide: bool) -> Panel:
    """Return a small dial for each model: its name, how much its context shows, and how much is new."""
    drawn: list[Mark] = []
    size, pitch, last = (14, 1.62, 57) if wide else (12, 2.0, 34)
    for k, row in enumerate(shown):
        x, y = float(k % COLUMNS), -pitch * (k // COLUMNS)
        turned, within = slowest_pair_angles(row, far), row.slowest_angle(row.context)
        angle = mark_angle_from_clock(far.numbers(turned))
        name = row.model.name.removesuffix(" 4E1T").removesuffix(" 14B")
        lines = [name] if wide else name.replace("-V", " V").rsplit(" ", 1)
        drawn += [
            *_dial(row, far, x, y, RADIUS, 2.5),
            marks.vector(x, y, 0.97 * RADIUS, angle, "ink", 2.5, has_head=True),
        ]
        for up, line in enumerate(reversed(lines)):
            drawn.append(marks.text(x, y + RADIUS, line, bold=wide, font_size=size, dy=-9 - 15 * up))
        new = [t("new", angle=degrees(each - within)) for each in turned.tolist()]
        below: list[tuple[TextOrTrack, str, int]] = [(degrees(within), TRAINED_COLOUR, 19)]
        below += [(t("within", tokens=f"{row.context:,}"), MUTED_COLOUR, 38)] if wide else []
        below += [] if wide else [(_longer(far, [""] * len(new), f"{row.context:,}"), MUTED_COLOUR, last)]
        for text, colour, dy in (*below, (_longer(far, new), UNSEEN_COLOUR, last)):
            drawn.append(marks.text(x, y - RADIUS, text, colour, bold=colour != MUTED_COLOUR, font_size=size, dy=dy))
    longer = [t("ten_longer", times=f"{times:g}") for times in far.stops]
    across = Axis(-0.5, COLUMNS - 0.5)
    y_axis = Axis(-pitch - RADIUS - (0.5 if wide else 0.6), RADIUS + (0.25 if wide else 0.5))
    title = _longer(far, longer, t("ten_more" if wide else "ten_more_short"))
    return Panel(
        across, y_axis, drawn, title, min_width=300, height=380, equal_aspect=True, screen="wide" if wide else "narrow"
    )
