"""The row of margins of each check, and what is known of the check that is chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from rope_core.comparisons.cells import cell, common_limit
from rope_core.comparisons.measured import Contrast
from rope_core.comparisons.nearest import difference
from rope_core.comparisons.rows import ColumnCheck, check_text, checks
from rope_core.comparisons.sentences import (
    attention_factors_of,
    detail_sentences,
    difference_sentence,
    fault_sentences,
    headline_sentences,
    measured_sentence,
    nearest_sentence,
    note_sentences,
    table_words,
)
from ui.figures.drawing import Film
from ui.figures.schemes.measured import contrast_example_sentence
from ui.figures.schemes.pairs import COLOURS, SchemeComparison, comparison_recipe, three_digit_text
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, MUTED_COLOUR, ORANGE, RED, TRAINED_COLOUR
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, Scene, TextTrack, text_panel
from ui.text.words import PageTexts

KEYS = tuple(checks())
STARTS, NARROW_STARTS = (6.2, 7.85, 9.5, 11.1), (0.5, 3.5, 6.5, 9.5)
"""Where each column's cells begin, in the panel's units, on a wide and on a narrow screen; a check's title at 0.5."""
LIMIT_START = 4.85
"""Where the limits begin on a wide screen; on a narrow one they follow the titles."""
CELL_PX, LATIN_PX, WIDE_PX = 72, 6, 14
"""The room of a cell, and about what a letter and a Chinese character take there."""


def check_cell_colour(row: ColumnCheck) -> str:
    """Return the colour of a cell: red breaks what is required, orange does not hold and need not, green holds."""
    if row.holds is None:
        return MUTED_COLOUR
    return RED if row.broken else TRAINED_COLOUR if row.holds else ORANGE


def shortened_scheme_name(name: str) -> str:
    """Return a name that a cell has room for.

    What is in brackets goes first.

    >>> [shortened_scheme_name(name) for name in ("YaRN", "线性内插（PI）", "DeepSeek-V3.2 with a long name")]
    ['YaRN', '线性内插', 'DeepSeek-V3…']
    """
    if sum(LATIN_PX if letter < "⺀" else WIDE_PX for letter in name) > CELL_PX:
        name = re.split(r"[ （(]*[（(]", name)[0] or name
    while sum(LATIN_PX if letter < "⺀" else WIDE_PX for letter in name) > CELL_PX:
        name = name.rstrip("…")[:-1].rstrip(".（( ") + "…"
    return name


def headline(given: SchemeComparison, t: PageTexts) -> list[str]:
    """Return the first cause of what the column in question does not hold, how many checks, and the other causes.

    How many first, where it holds them all.
    """
    own = given.examined_column
    first, *faults = headline_sentences(own, t.lang, given.names[0], lambda name: t(f"scheme.{name}"))
    if own.may_be_trained_on:
        faults.append(t("headline.not_tuned"))
    return [first, *faults]


def nearest_scheme_sentence(given: SchemeComparison, t: PageTexts) -> str:
    """Return which published scheme the column in question is nearest to; "" of a config, which is one."""
    return nearest_sentence(given.examined_column, t.lang, given.names[0], lambda name: t(f"scheme.{name}"))


def difference_from_reference_sentence(given: SchemeComparison, t: PageTexts) -> str:
    """Return where the column in question differs from the chosen one; "" where that is the nearest, or none is."""
    own, other = given.examined_column, given.columns[given.reference]
    if not given.reference or (own.nearest and own.nearest.scheme.name == other.column.name):
        return ""
    factors = attention_factors_of(own, other)
    return difference_sentence(
        "like", given.names[0], given.names[given.reference], difference(own, other), t.lang, factors
    )


def _measured(contrast: Contrast | None, t: PageTexts) -> str:
    """Return what schemes read that hold a check, and those that do not."""
    if contrast is None:
        return t("read.nothing")
    text = t("read.counts", better=contrast.better, worse=contrast.worse, of=contrast.of)
    example = contrast_example_sentence(contrast, t)
    return t("read.both", counts=text, example=example) if example else text


def _table(given: SchemeComparison, at: Control, t: PageTexts, *, wide: bool) -> Panel:
    """Return a row for each check: its limit, what was measured of each column; cells below the title when narrow."""
    lines, starts = (1.0, STARTS) if wide else (1.7, NARROW_STARTS)
    below, size = (0.0, 13) if wide else (0.72, 13)
    drawn: list[Mark] = []
    middle = {key: -lines * k for k, key in enumerate(KEYS)}
    edge = np.array([middle[key] for key in KEYS])[:, None]
    chosen = at.numbers(edge)
    drawn.append(
        marks.rect(
            0.0, 12.6, at.numbers(edge - 0.5 * lines), at.numbers(edge + 0.5 * lines), ACTION_COLOUR, opacity=0.12
        )
    )

    def put(key: str, x: float, y: float, text: str, colour: str, *, bold: bool = False) -> None:
        here = marks.text(x, y, text, colour, anchor="start", font_size=size, dy=5, bold=bold)
        drawn.append(marks.link_symbol(key, here))

    for key in KEYS:
        rows = [next((each for each in column.rows if each.key == key), None) for column in given.columns]
        top, ink = middle[key] + (0.0 if wide else 0.36), "ink" if given.check_row(key).required else MUTED_COLOUR
        title, limit = check_text(key, "title", t.lang), common_limit(rows)
        put(key, 0.5, top, title if wide else f"{title} {limit}", ink)
        if wide and limit:
            put(key, LIMIT_START, top, limit, MUTED_COLOUR)
        for row, x in zip(rows, starts, strict=False):
            colour = check_cell_colour(row) if row else MUTED_COLOUR
            put(key, x, top - below, cell(row, limit), colour, bold=row is not None and row.broken)
    for name, colour, x in zip(given.names, COLOURS, starts, strict=False):
        drawn.append(
            marks.text(
                x, 1.0 * lines, shortened_scheme_name(name), colour, anchor="start", bold=True, font_size=14, dy=5
            )
        )
    if wide:
        drawn.append(marks.text(LIMIT_START, 1.0, t("limit"), MUTED_COLOUR, anchor="start", font_size=13, dy=5))
    drawn.append(marks.drag_handle(at, 0.2, chosen, ACTION_COLOUR, t("grab_check"), radius_px=6, press_px=400))
    low, count = -lines * (len(KEYS) - 0.4), len(KEYS) + 1.2
    return Panel(
        Axis(0.0, 12.6),
        Axis(low, 1.6 * lines),
        drawn,
        "",
        540 if wide else 300,
        2.2,
        int((23 if wide else 36) * count),
        screen="wide" if wide else "narrow",
        paragraphs=(Paragraph(table_words(t.lang, "table")["signs"], MUTED_COLOUR, 14),),
    )


def check_margins_film(given: SchemeComparison, t: PageTexts, measured: Mapping[str, Contrast] | None = None) -> Film:
    """Return margins of each check by column, with the chosen one's formula, reason, source and counter-example.

    ``measured``: what was read of schemes that hold a check, by its key.
    """
    titles = tuple(check_text(key, "title", t.lang) for key in KEYS)
    stops, start = tuple(map(float, range(len(KEYS)))), float(KEYS.index(given.check))
    at = Control("check", t("field.check"), stops, titles, has_slider=False, start=start)

    def text_of(name: str) -> TextTrack:
        return at.texts(t(f"about.{name}", text=given.check_row(key).text(name, t.lang)) for key in KEYS)

    about = [Paragraph([at.texts(titles), ": ", text_of("formula")], ACTION_COLOUR, font_size=15, bold=True)]
    about += [Paragraph(text_of(name), font_size=15) for name in ("reason", "source", "counterexample")]
    if measured:
        about.append(Paragraph(at.texts(_measured(measured.get(key), t) for key in KEYS), font_size=15))
    about.append(Paragraph(at.texts(_beside(given.check_row(key), t) for key in KEYS), MUTED_COLOUR, 15))

    def finding(key: str) -> str:
        row = given.check_row(key)
        if row.holds is None:
            return t("check_finding.untried", name=given.names[0], title=row.text("title", t.lang))
        seen = "; ".join(fault_sentences(row, t.lang)) if row.holds is False else row.text("title", t.lang)
        if row.holds and (measured := measured_sentence(row, t.lang)):
            seen += t("check_finding.colon") + measured
        state = "holds" if row.holds else "broken" if row.broken else "excused"
        return t(f"check_finding.{state}", name=given.names[0], seen=seen, why=row.excuse_text(t.lang))

    sentences = at.texts(map(finding, KEYS))
    panels = (
        _table(given, at, t, wide=True),
        _table(given, at, t, wide=False),
        text_panel(*about, min_width=300, width_share=1.0),
    )
    return Film("margins", Scene(panels, (at,), sentences), lambda: check_table(given), comparison_recipe(given))


def _beside(row: ColumnCheck, t: PageTexts) -> str:
    """Return the numbers beside a check, where it has some a reader looks for."""
    values = row.values
    if row.key == "arguments":
        named = {name: ", ".join(values.get(name, ())) for name in ("unread", "without_effect")}
        return " ".join(t(f"beside.{name}", names=names) for name, names in named.items() if names)
    if row.key == "attention_factor":
        return t("beside.attention", factor=f"{values['factor']:.4g}", source=values["source"] or t("beside.no_source"))
    if row.key == "float32":
        return t("beside.digits", **{key: f"{values[f'{key}_error']:.3g}" for key in ("float32", "bfloat16")})
    if row.key == "not_overslowed" and row.measured is not None and row.measured > 1.05 * values["needed"]:
        return t("beside.needed", needed=three_digit_text(values["needed"]), s=three_digit_text(row.measured))
    if row.key not in ("config", "programs"):
        return ""
    return " ".join((*detail_sentences(row, t.lang), *note_sentences(row, t.lang)))


def check_table(given: SchemeComparison) -> dict[str, list[object]]:
    """Return a row for each check and column."""
    rows = [(name, row) for name, column in zip(given.names, given.columns, strict=True) for row in column.rows]
    return {
        "column": [name for name, _ in rows],
        "check": [row.key for _, row in rows],
        "measured": [row.measured for _, row in rows],
        "limit": [row.limit for _, row in rows],
        "margin_bits": [row.margin for _, row in rows],
        "pair": [row.pair for _, row in rows],
        "required": [row.required for _, row in rows],
        "holds": [row.holds for _, row in rows],
    }
