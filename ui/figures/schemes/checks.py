"""The row of margins of each check, and what is known of the check that is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rope_core.comparisons.compare import ColumnCheck, checks, difference, runs_of
from rope_core.comparisons.export import cell
from rope_core.comparisons.margins import MOST
from rope_core.comparisons.measured import Contrast
from rope_core.schemes import SCHEMES
from ui.figures.drawing import Film
from ui.figures.schemes.measured import contrast_example
from ui.figures.schemes.pairs import COLOURS, SchemeComparison, check_sign, recipe, three_digit_text
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, MUTED_COLOUR, ORANGE, RED, TRAINED_COLOUR
from ui.film.scene import Axis, Control, Mark, Panel, Paragraph, Scene, TextTrack, text_panel
from ui.text.words import PageTexts

KEYS = tuple(checks())
STARTS, NARROW_STARTS = (5.2, 7.05, 8.9, 10.75), (0.5, 3.5, 6.5, 9.5)
"""Where each column's cells begin, in the panel's units, on a wide and on a narrow screen; a check's title at 0.5."""
CELL_PX, LATIN_PX, WIDE_PX = 78, 6, 14
"""The room of a cell, and about what a letter and a Chinese character take there."""


def colour_of(row: ColumnCheck) -> str:
    """Return the colour of a cell: red breaks what is required, orange does not hold and need not, green holds."""
    if row.holds is None:
        return MUTED_COLOUR
    return RED if row.broken else TRAINED_COLOUR if row.holds else ORANGE


def cell_text(row: ColumnCheck | None, t: PageTexts) -> str:
    """Return whether a check holds, its margin and its pair; of the attention factor, whose it is."""
    if row is None or row.margin is None:
        return "−"
    if row.key == "finite_positive":
        # It holds or it does not: there is no margin to tell.
        return check_sign(row) + (f" @{row.pair}" if row.broken else "")
    if row.key == "attention_factor":
        source = row.values["source"]
        return shortened(f"{check_sign(row)} {scheme_of(source, t) if source else t('beside.no_source')}")
    margin = f"{row.margin:.2f}" if abs(row.margin) < 10 else f"{row.margin:.0f}"
    margin = margin if abs(row.margin) < MOST - 1 else "-∞" if row.margin < 0 else "∞"
    pair = f" @{row.pair}" if row.marked_pairs else ""
    return f"{check_sign(row)} {margin}{pair}".replace("-", "−")


def shortened(name: str) -> str:
    """Return a name that a cell has room for.

    >>> shortened("YaRN"), shortened("DeepSeek-V3.2 with a long name")
    ('YaRN', 'DeepSeek-V3.…')
    """
    while sum(LATIN_PX if letter < "⺀" else WIDE_PX for letter in name) > CELL_PX:
        name = name.rstrip("…")[:-1].rstrip("（( ") + "…"
    return name


def scheme_of(source: str, t: PageTexts) -> str:
    """Return the name of the scheme that a source is of."""
    return next((t(f"scheme.{name}") for name, each in SCHEMES.items() if each.source == source), source)


def _broken_text(row: ColumnCheck, t: PageTexts) -> str:
    """Return a check that does not hold, with its pairs, or what it says of all pairs at once."""
    slots: dict[str, Any] = {"title": row.text("fault", t.lang), "margin": f"{row.margin:+.2f}".replace("-", "−")}
    if row.key == "attention_factor":
        return t("headline.attention", factor=f"{row.values['factor']:.4g}", **slots)
    if row.key == "arguments":
        key, model = row.values.get("check"), {"base": f"{row.values['base']:,.0f}"}
        if key is None:
            return t("headline.raises", **model, **slots)
        model |= {"length": f"{row.values['train_len']:,}", "factor": f"{row.values['factor']:g}"}
        unused = row.values["without_effect"]
        cause = t("headline.unused", names=", ".join(unused)) if unused else ""
        return t("headline.arguments", **model, check=checks()[key][t.lang]["fault"], cause=cause, **slots)
    if len(row.by_pair) == 1:
        return t("headline.together", **slots)
    return t("headline.pairs", count=len(row.marked_pairs), pairs=runs_of(row.marked_pairs), **slots)


def failed_checks_sentence(given: SchemeComparison, t: PageTexts) -> str:
    """Return what the column in question does not hold, its checks counted as the table marks them, pairs as dots."""
    required = sum(row.required for row in given.mine.rows)
    own, broken = given.names[0], given.mine.broken
    if not broken:
        least = given.mine.least_with_pair or given.mine.least
        at = t("at_pair", pair=least.pair) if least.pair is not None else ""
        title, margin = least.text("title", t.lang), f"{least.margin:+.2f}".replace("-", "−")
        return t("headline.holds", own=own, required=required, title=title, margin=margin, at=at)
    parts = t("headline.and").join(_broken_text(row, t) for row in broken)
    return t("headline.broken", own=own, count=len(broken), required=required, parts=parts)


def against(given: SchemeComparison, t: PageTexts) -> str:
    """Return where the column in question differs from the chosen one; "" where nothing is beside it."""
    if not given.reference:
        return ""
    other = given.columns[given.reference]
    apart = difference(given.mine, other)
    slots: dict[str, Any] = {"name": given.names[given.reference], "pairs": given.theta.size}
    key = "same" if apart.pair is None else "some" if apart.equal else "nowhere"
    if apart.pair is not None:
        slots |= {"pair": apart.pair, "ratio": three_digit_text(apart.ratio)}
        slots |= {"equal": runs_of(apart.equal), "other": runs_of(apart.other)}
    a, b = (f"{each.attention_factor:.4g}" for each in (given.mine, other))
    return t(f"against.{key}", **slots) + t("against.a_same" if a == b else "against.a_other", a=a, b=b)


def _measured(contrast: Contrast | None, t: PageTexts) -> str:
    """Return what schemes read that hold a check, and those that do not."""
    if contrast is None:
        return t("read.nothing")
    text = t("read.counts", better=contrast.better, worse=contrast.worse, of=contrast.of)
    example = contrast_example(contrast, t)
    return t("read.both", counts=text, example=example) if example else text


def _table(given: SchemeComparison, at: Control, t: PageTexts, *, wide: bool) -> Panel:
    """Return a row of margins for each check; on a narrow screen the cells are below the title."""
    lines, starts = (1.0, STARTS) if wide else (1.7, NARROW_STARTS)
    below, size = (0.0, 13) if wide else (0.72, 13)
    drawn: list[Mark] = []
    middle = {key: -lines * (k + (key in KEYS[KEYS.index("attention_factor") :])) for k, key in enumerate(KEYS)}
    edge = np.array([middle[key] for key in KEYS])[:, None]
    chosen = at.numbers(edge)
    drawn.append(
        marks.rect(
            0.0, 12.6, at.numbers(edge - 0.5 * lines), at.numbers(edge + 0.5 * lines), ACTION_COLOUR, opacity=0.12
        )
    )

    def line(y: float, title: str, cells: Iterable[tuple[str, str, bool]], key: str) -> None:
        top = y if wide else y + 0.36
        drawn.append(marks.link_symbol(key, marks.text(0.5, top, title, anchor="start", font_size=13, dy=5)))
        for (text, colour, bold), x in zip(cells, starts, strict=False):
            here = marks.text(x, top - below, text, colour, anchor="start", font_size=size, dy=5, bold=bold)
            drawn.append(marks.link_symbol(key, here))

    for key in KEYS:
        rows = [next((each for each in column.rows if each.key == key), None) for column in given.columns]
        cells = [
            (cell_text(row, t), colour_of(row) if row else MUTED_COLOUR, row is not None and row.broken) for row in rows
        ]
        line(middle[key], checks()[key][t.lang]["title"], cells, key)
    factors = [(f"a = {each.attention_factor:.4g}", "ink", False) for each in given.columns]
    line(middle["attention_factor"] + lines, t("attention_row"), factors, "attention_factor")
    for name, colour, x in zip(given.names, COLOURS, starts, strict=False):
        drawn.append(marks.text(x, 1.0 * lines, shortened(name), colour, anchor="start", bold=True, font_size=14, dy=5))
    drawn.append(marks.drag_handle(at, 0.2, chosen, ACTION_COLOUR, t("grab_check"), radius_px=6, press_px=400))
    low, count = -lines * (len(KEYS) + 0.6), len(KEYS) + 2.2
    return Panel(
        Axis(0.0, 12.6),
        Axis(low, 1.6 * lines),
        drawn,
        "",
        540 if wide else 300,
        2.2,
        int((23 if wide else 36) * count),
        screen="wide" if wide else "narrow",
        paragraphs=(Paragraph(t("margin_head"), MUTED_COLOUR, 14),),
    )


def margins_film(given: SchemeComparison, t: PageTexts, measured: Mapping[str, Contrast] | None = None) -> Film:
    """Return margins of each check by column, with the chosen one's formula, reason, source and counter-example.

    ``measured``: what was read of schemes that hold a check, by its key.
    """
    titles = tuple(checks()[key][t.lang]["title"] for key in KEYS)
    stops, start = tuple(map(float, range(len(KEYS)))), float(KEYS.index(given.check))
    at = Control("check", t("field.check"), stops, titles, has_slider=False, start=start)

    def text_of(name: str) -> TextTrack:
        return at.texts(t(f"about.{name}", text=given.row(key).text(name, t.lang)) for key in KEYS)

    about = [Paragraph([at.texts(titles), ": ", text_of("formula")], ACTION_COLOUR, font_size=15, bold=True)]
    about += [Paragraph(text_of(name), font_size=15) for name in ("reason", "source", "counterexample")]
    if measured:
        about.append(Paragraph(at.texts(_measured(measured.get(key), t) for key in KEYS), font_size=15))
    about.append(Paragraph(at.texts(_beside(given.row(key), t) for key in KEYS), MUTED_COLOUR, 15))

    def finding(key: str) -> str:
        row = given.row(key)
        state = "broken" if row.broken else "design" if row.by_design else "optional"
        state = "untried" if row.holds is None else "holds" if row.holds else state
        at_pair = t("at_pair", pair=row.pair) if row.marked_pairs else ""
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
    return Film("margins", Scene(panels, (at,), sentences), lambda: check_table(given), recipe(given))


def _beside(row: ColumnCheck, t: PageTexts) -> str:
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
            title, length = checks()[values["check"]][t.lang]["title"], f"{values['train_len']:,}"
            model = {"base": f"{values['base']:,.0f}", "length": length, "factor": f"{values['factor']:g}"}
            parts.append(t("beside.elsewhere", check=title, **model))
        return " ".join(parts)
    if row.key == "attention_factor":
        return t("beside.attention", factor=f"{values['factor']:.4g}", source=values["source"] or t("beside.no_source"))
    if row.key == "float32":
        return t("beside.digits", **{key: f"{values[f'{key}_error']:.3g}" for key in ("float32", "bfloat16")})
    return ""


def check_table(given: SchemeComparison) -> dict[str, list[object]]:
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
