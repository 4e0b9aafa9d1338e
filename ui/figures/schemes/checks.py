"""The row of margins of each check, and what is known of the check that is chosen."""

from __future__ import annotations

import numpy as np

from rope_core.comparisons.compare import Row, checks
from rope_core.comparisons.export import cell
from ui.figures.drawing import Film
from ui.figures.schemes.pairs import COLOURS, Comparison, recipe
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, MUTED_COLOUR, ORANGE, RED, TRAINED_COLOUR
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, Scene, TextTrack, text_panel
from ui.text.words import Words

KEYS = tuple(checks())
STARTS = (6.2, 7.75, 9.3, 10.85)
"""Where each column's cells begin, in the panel's units; the check's title begins at 0.4."""


def colour_of(row: Row) -> str:
    """Return the colour of a cell: red breaks what is required, orange does not hold and need not, green holds."""
    if row.holds is None:
        return MUTED_COLOUR
    return RED if row.broken else TRAINED_COLOUR if row.holds else ORANGE


def _table(given: Comparison, at: Control, t: Words, *, wide: bool) -> Panel:
    """Return a row of margins for each check; on a narrow screen the cells are below the title."""
    lines = 1.0 if wide else 2.0
    drawn: list[Mark] = []
    edge = np.array(at.stops)[:, None] * -lines
    chosen = at.numbers(edge)
    drawn.append(
        marks.rect(
            0.0, 12.4, at.numbers(edge - 0.5 * lines), at.numbers(edge + 0.5 * lines), ACTION_COLOUR, opacity=0.12
        )
    )
    for k, key in enumerate(KEYS):
        y = -lines * k + (0.0 if wide else 0.45)
        title = checks()[key][t.lang]["title"]
        drawn.append(marks.link_symbol(key, marks.text(0.5, y, title, anchor="start", font_size=14, bold=True, dy=5)))
        for column, x in zip(given.columns, STARTS if wide else (0.5, 3.4, 6.3, 9.2), strict=False):
            row = next((each for each in column.rows if each.key == key), None)
            text = cell(row).replace("-", "−")
            look = {"anchor": "start", "font_size": 14, "dy": 5, "bold": row is not None and row.broken}
            here = marks.text(x, y if wide else y - 0.9, text, colour_of(row) if row else MUTED_COLOUR, **look)
            drawn.append(marks.link_symbol(key, here))
    names = zip(given.names, COLOURS, STARTS if wide else (0.5, 3.4, 6.3, 9.2), strict=False)
    drawn += [
        marks.text(x, lines * 0.95, name, colour, anchor="start", bold=True, font_size=14) for name, colour, x in names
    ]
    drawn.append(marks.drag_handle(at, 0.2, chosen, ACTION_COLOUR, t("grab_check"), radius_px=6, press_px=400))
    low = -lines * (len(KEYS) - 1) - 0.6 * lines
    return Panel(
        Axis(0.0, 12.4),
        Axis(low, 1.6 * lines),
        drawn,
        "",
        320,
        2.2,
        int(26 * lines * len(KEYS) * (1.0 if wide else 0.8)),
        screen="wide" if wide else "narrow",
    )


def margins_of(given: Comparison, t: Words) -> Film:
    """Return margins of each check by column, with the chosen one's formula, reason, source and counter-example."""
    titles = tuple(checks()[key][t.lang]["title"] for key in KEYS)
    at = Control("check", t("field.check"), tuple(map(float, range(len(KEYS)))), titles, has_slider=False)

    def text_of(name: str) -> TextTrack:
        return at.texts(t(f"about.{name}", text=given.row(key).text(name, t.lang)) for key in KEYS)

    about = [Paragraph(at.texts(titles), font_size=17, bold=True), Paragraph(text_of("formula"), ACTION_COLOUR)]
    about += [Paragraph(text_of(name), font_size=15) for name in ("reason", "source", "counterexample")]
    about.append(Paragraph(at.texts(_beside(given.row(key), t) for key in KEYS), MUTED_COLOUR, 15))

    def finding(key: str) -> str:
        row = given.row(key)
        state = "broken" if row.broken else "design" if row.by_design else "optional"
        state = "untried" if row.holds is None else "holds" if row.holds else state
        at_pair = t("at_pair", pair=row.pair) if row.pair is not None else ""
        return t(
            f"check_finding.{state}",
            name=given.names[0],
            title=row.text("title", t.lang),
            margin=cell(row).partition(" ")[0].replace("-", "−"),
            at=at_pair,
        )

    sentences = at.texts(map(finding, KEYS))
    panels = (
        _table(given, at, t, wide=True),
        _table(given, at, t, wide=False),
        text_panel(*about, min_width=300, width_share=1.0),
    )
    return Film("margins", Scene(panels, (at,), sentences), lambda: table(given), recipe(given))


def _beside(row: Row, t: Words) -> str:
    """Return the numbers beside a check, where it has some a reader looks for."""
    values = row.values
    if row.key == "arguments":
        parts = []
        if values.get("error"):
            parts.append(t("beside.error", error=values["error"]))
        parts += [
            t(f"beside.{name}", names=", ".join(values[name]))
            for name in ("unread", "without_effect")
            if values.get(name)
        ]
        if values.get("check") and row.holds is False:
            title = checks()[values["check"]][t.lang]["title"]
            parts.append(
                t("beside.elsewhere", check=title, base=f"{values['base']:,.0f}", length=f"{values['train_len']:,}")
            )
        return " ".join(parts)
    if row.key == "attention_factor":
        return t("beside.attention", factor=f"{values['factor']:.4g}", source=values["source"] or t("beside.no_source"))
    if row.key == "float32":
        return t("beside.bfloat16", error=f"{values['bfloat16_error']:.3g}")
    return ""


def table(given: Comparison) -> dict[str, list[object]]:
    """Return a row for each check and column."""
    rows = [(name, row) for name, column in zip(given.names, given.columns, strict=True) for row in column.rows]
    return {
        "column": [name for name, _ in rows],
        "check": [row.key for _, row in rows],
        "margin_bits": [row.margin for _, row in rows],
        "pair": [row.pair for _, row in rows],
        "required": [row.required for _, row in rows],
        "holds": [row.holds for _, row in rows],
    }
