"""Step 2 of the page: a passage that occurs twice, and how well it is guessed by how far back the first one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rope_core.lab import view
from rope_core.lab.results import ResultRecords
from rope_core.rope import Array
from ui.figures.extrapolation.past import WINDOW, YARN, film_line_colour
from ui.figures.extrapolation.recall import copy_training_label
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR
from ui.film.composite_marks import drag_hint
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, TextTrack, text_panel
from ui.text.words import PageTexts

LINES = {
    "window": (WINDOW, "after_tuning"),
    "tuned": (YARN, "after_tuning"),
    "untuned": (YARN, ""),
    "untaught": (WINDOW, "text_only"),
}
"""The lines of the record and what their weights learned: to copy, on windows, on long texts; or text alone."""
TAUGHT = ("window", "tuned", "untuned")
PASSAGE, TEXT = 64, 1900
"""Bytes of the passage, and of the text that is drawn."""


def copy_perplexity_curves(results: ResultRecords) -> dict[str, tuple[Array, Array]]:
    """Return distances and the second copy's perplexity, float64 (distances,) each, by `LINES`."""
    cells = {(cell.line, copy_training_label(cell.weights)): cell.curve for cell in view.copy_cells(results)}
    return {name: (cells[key].position, cells[key].value) for name, key in LINES.items() if key in cells}


def _written(value: float) -> str:
    return f"{value:.1f}"


def copy_perplexity_finding(
    given: Mapping[str, tuple[Array, Array]], context: int, back: Control, t: PageTexts
) -> TextTrack:
    """Return among how many bytes the window and YaRN guess, inside the window and past it."""
    texts = []
    for k, (stop, label) in enumerate(zip(back.stops, back.stop_labels, strict=True)):
        values = {name: _written(float(y[k])) for name, (_, y) in given.items()}
        texts.append(t("copied_in" if stop <= context else "copied_out", back=label, **values))
    return back.texts(texts)


def copy_perplexity_panels(
    given: Mapping[str, tuple[Array, Array]], context: int, back: Control, t: PageTexts
) -> tuple[Panel, ...]:
    """Return the text with both passages, perplexity by distance, and what each line is."""
    return _text(context, back, t), _chart(given, context, back, t), _cards(given, back, t)


def _text(context: int, back: Control, t: PageTexts) -> Panel:
    stops = np.array(back.stops)[:, None]
    first = marks.rect(back.numbers(-stops - PASSAGE), back.numbers(-stops), 0.55, 1.45, KEY_COLOUR, corner_px=4)
    hint = back.numbers(np.where(stops < 768, -stops - PASSAGE - 20.0, np.nan))

    def bracket(start: float, y: float, colour: str, words: str) -> list[Mark]:
        """Return a bracket to the text's end, with its words at the end that has room for them."""
        look: dict[str, Any] = {"anchor": "end", "dx": -8, "dy": 6}
        if start < -TEXT / 2:
            look = {"anchor": "start", "dx": 6, "dy": -5}
        return [
            marks.line([start, start, 0.0, 0.0], [y + 0.2, y, y, y + 0.2], colour, 3),
            marks.text(start, y, words, colour, bold=True, font_size=14, **look),
        ]

    picture = [
        marks.rect(-float(TEXT), 0.0, 0.62, 1.38, GREY, opacity=0.15, corner_px=4),
        marks.rect(-float(PASSAGE), 0.0, 0.55, 1.45, QUERY_COLOUR, corner_px=4),
        *marks.in_wide_panel(600, drag_hint(hint, 1.0, t("drag_passage"), anchor="end", dy=5)),
        *bracket(-float(context), 0.05, film_line_colour(WINDOW), t("in_window")),
        *bracket(-float(TEXT), -0.85, film_line_colour(YARN), t("all_read")),
        marks.drag_handle(
            back, back.numbers(-stops - PASSAGE / 2), 1.0, KEY_COLOUR, t("grab_passage"), [first], radius_px=0
        ),
    ]
    return Panel(Axis(-float(TEXT), 10.0), Axis(-1.0, 1.6), picture, t("passage_title"), min_width=2000, height=92)


def _chart(given: Mapping[str, tuple[Array, Array]], context: int, back: Control, t: PageTexts) -> Panel:
    top = 1.1 * max(float(y.max()) for _, y in given.values())
    x = np.log2(next(iter(given.values()))[0])
    here = back.numbers(np.log2(np.array(back.stops)))
    low, high = float(x[0]) - 0.2, float(x[-1]) + 0.2
    drawn: list[Mark] = [
        marks.rect(low, np.log2(context), 0.0, top, film_line_colour(WINDOW), opacity=0.12),
        marks.text(np.log2(context), top, t("outside_window"), MUTED_COLOUR, anchor="start", dx=6, dy=14),
    ]
    for name, (_, y) in given.items():
        colour, dash = _look(name)
        drawn += [
            marks.line(x, y, colour, 3 if name in TAUGHT else 2, dash),
            marks.dot(here, back.numbers(y), colour, 7 if name in TAUGHT else 4),
        ]
    across = back.numbers(np.repeat(np.log2(np.array(back.stops))[:, None], 2, axis=1))
    drawn.append(
        marks.drag_handle(back, here, 0.0, "ink", t("grab_passage"), [marks.line(across, (0.0, top), "ink", 2)])
    )
    ticks = tuple(zip(x.tolist(), back.stop_labels, strict=True))
    x_axis = Axis(low, high, ticks, t("back_axis"), grid=False)
    up = Axis(0.0, top, tuple((float(v), str(v)) for v in range(0, int(top) + 1, 2)), t("copied_axis"))
    return Panel(x_axis, up, drawn, min_width=320, width_share=1.5, height=200)


def _look(name: str) -> tuple[str, str]:
    """Return a line's colour and dashes."""
    colour = film_line_colour(LINES[name][0]) if name in TAUGHT else GREY
    return colour, {"untuned": "7 5", "untaught": "2 5"}.get(name, "")


def _cards(given: Mapping[str, tuple[Array, Array]], back: Control, t: PageTexts) -> Panel:
    """Return each line's name and value; of those that learned to copy the best has a mark."""
    best = [min(TAUGHT, key=lambda name, k=k: given[name][1][k]) for k in range(len(back.stops))]  # type: ignore[misc]
    shown: list[Paragraph] = []
    for name in LINES:
        colour, _ = _look(name)
        look: dict[str, Any] = {"font_size": 17, "bold": True} if name in TAUGHT else {"font_size": 15}
        values = tuple(
            f"{'✓ ' if best[k] == name else ''}{t(f'copied.{name}')}: {_written(float(value))}"
            for k, value in enumerate(given[name][1])
        )
        shown.append(Paragraph(back.texts(values), colour if name in TAUGHT else MUTED_COLOUR, **look))
    return text_panel(*shown, Paragraph(t("copied_note"), MUTED_COLOUR, 15), min_width=230)
