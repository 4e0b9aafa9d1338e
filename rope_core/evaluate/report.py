"""An evaluation's results as JSON, and as one HTML page with figures that loads nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rope_core.errors import argument_error
from rope_core.evaluate.variants import KEYS, WINDOW
from rope_core.evaluate.words import line_name, report_text
from rope_core.lab import view
from rope_core.lab.estimates import Estimate
from rope_core.lab.view import SweepCell
from rope_core.languages import words
from rope_core.report.html import STYLE, html_header_row, html_row, html_text
from rope_core.report.svg import COLOURS, ChartCurve, svg_line_chart

SCHEMA = 1
KIND = "rope eval"
EvaluationRecord = Mapping[str, Any]


def report_page(report: EvaluationRecord, lang: str) -> str:
    """Return a report as one page, without scripts."""
    title = report_text("title", lang, model=report["model"]["name"])
    unit = report_text(report["text"]["unit"], lang)
    files = ", ".join(report["text"]["files"])
    intro = {**report["text"], "unit": unit, "files": files, "trained": report["trained"]}
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(report_text('intro', lang, **intro))}</p>"]
    if not report["complete"]:
        left = report_text("partial", lang, done=len(report["results"]), cells=report["cells"])
        parts.append(f"<p><b>{escape(left)}</b></p>")
    parts += perplexity_charts(report, lang)
    parts += passkey_tables_html(report, lang)
    parts += copy_charts(report, lang)
    if report["left_out"]:
        rows = [html_row(escape(line_name(key, lang)), html_text(why[lang])) for key, why in report["left_out"].items()]
        parts += [f"<h2>{report_text('left_out', lang)}</h2><table>{''.join(rows)}</table>"]
    parts += [f"<h2>{report_text('how', lang)}</h2>", _how(report, lang)]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style>'
    )
    page_lang = words(lang, "language")["locale"]
    return f'<!DOCTYPE html><html lang="{page_lang}"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def read_report(data: bytes) -> dict[str, Any]:
    """Return a report that ``rope eval`` wrote, checked: what a page draws is there, and every number is one.

    Raises ValueError on anything else.
    """
    try:
        report = json.loads(data, parse_constant=_refused)
        if report["kind"] != KIND or report["schema"] != SCHEMA or report["text"]["unit"] not in ("token", "byte"):
            raise ValueError(report["kind"])
        report["trained"] = int(report["trained"])
        names = report["model"]["name"], *(each["line"] for each in report["results"])
        if not all(isinstance(each, str) for each in names) or not set(names[1:]) <= set(KEYS):
            raise ValueError(names)
        for task, cells in (("perplexity", view.read_cells), ("copy", view.copy_cells)):
            for cell in cells(task_results(report, task)):
                sizes = {len(getattr(cell.curve, part)) for part in ("position", "value", "low", "high")}
                if len(sizes) != 1 or not cell.nats.size or not (cell.curve.value > 0).all() or cell.nats.ndim != 1:
                    raise ValueError(cell.line)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, IndexError):
        raise argument_error("report", "eval_report", f"{len(data):,} bytes") from None
    checked: dict[str, Any] = report
    return checked


def _refused(constant: str) -> float:
    raise ValueError(constant)


def task_results(report: EvaluationRecord, task: str) -> list[Mapping[str, Any]]:
    """Return the results of one task."""
    return [each for each in report["results"] if each["task"] == task]


def line_colour_number(key: str) -> int:
    """Return the number of a line's colour, the same in every figure."""
    return (KEYS.index(key) - 1) % (2 * len(COLOURS)) if key in KEYS else 0


def perplexity_charts(report: EvaluationRecord, lang: str) -> list[str]:
    """Return the last quarter's perplexity by line and length, and the curves at the longest length."""
    cells = view.read_cells(task_results(report, "perplexity"))
    if not cells:
        return []
    lengths = view.cell_lengths(cells)
    by_place = {(each.line, each.length): each for each in cells}
    keys = [key for key in KEYS if any(each.line == key for each in cells)]
    keys.sort(key=lambda key: _last(by_place.get((key, lengths[-1]))))
    rows = [
        html_header_row(
            report_text("line", lang), *(f"{length:,}" for length in lengths), report_text("over_window", lang)
        )
    ]
    base = by_place.get((WINDOW, lengths[-1]))
    for key in keys:
        shown = [_three(each.last) if (each := by_place.get((key, length))) else "" for length in lengths]
        own = by_place.get((key, lengths[-1]))
        over = _three(view.last_quarter_ratio(own, base), "×") if own and base and own is not base else ""
        rows.append(html_row(escape(line_name(key, lang)), *shown, over))
    longest = [each for each in cells if each.length == lengths[-1]]
    curves = [
        ChartCurve(
            line_name(each.line, lang),
            line_colour_number(each.line),
            each.curve.position.tolist(),
            each.curve.value.tolist(),
        )
        for each in longest
    ]
    caption = report_text("position", lang, length=lengths[-1])
    figure = svg_line_chart(curves, report_text("axis_position", lang), caption, report["trained"])
    return [
        f"<h2>{report_text('perplexity', lang)}</h2><table>{''.join(rows)}</table>",
        f"<figure>{figure}<figcaption>{escape(caption)}</figcaption></figure>",
    ]


def _last(cell: SweepCell | None) -> float:
    return cell.last.value if cell else float("inf")


def _three(each: Estimate, sign: str = "") -> str:
    """Return a number with its interval, three digits."""
    ends = f" [{each.low:.3g}, {each.high:.3g}]" if each.has_interval else ""
    return escape(f"{sign}{each.value:.3g}{ends}")


def passkey_tables_html(report: EvaluationRecord, lang: str) -> list[str]:
    """Return numbers found by line, length and depth, shaded by their share."""
    results = task_results(report, "passkey")
    if not results:
        return []
    parts = [f"<h2>{report_text('passkey', lang)}</h2><p>{report_text('tasks_note', lang)}</p>"]
    for length in sorted({each["length"] for each in results}):
        here = [each for each in results if each["length"] == length]
        depths = sorted({each["depth"] for each in here})
        rows = [html_header_row(f"{length:,}", *(f"{report_text('depth', lang)} {depth:g}" for depth in depths))]
        for key in (key for key in KEYS if any(each["line"] == key for each in here)):
            by_depth = {each["depth"]: each for each in here if each["line"] == key}
            cells = "".join(_found(by_depth.get(depth)) for depth in depths)
            rows.append(f"<tr><td>{escape(line_name(key, lang))}</td>{cells}</tr>")
        parts.append(f"<table>{''.join(rows)}</table>")
    return parts


def _found(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "<td></td>"
    share = cell["right"] / cell["trials"]
    return f'<td style="background:rgba(0,114,178,{share / 2:.2f})">{cell["right"]} / {cell["trials"]}</td>'


def copy_charts(report: EvaluationRecord, lang: str) -> list[str]:
    """Return perplexity of the second occurrence against the distance to the first."""
    results = task_results(report, "copy")
    if not results:
        return []
    curves = []
    for key in (key for key in KEYS if any(each["line"] == key for each in results)):
        here = sorted((each for each in results if each["line"] == key), key=lambda each: int(each["distance"]))
        three = [view.interval_from_json(each["copy"]) for each in here]
        curves.append(
            ChartCurve(
                line_name(key, lang),
                line_colour_number(key),
                [float(each["distance"]) for each in here],
                *([getattr(each, part) for each in three] for part in ("value", "low", "high")),
            )
        )
    caption = report_text("copy", lang)
    figure = svg_line_chart(curves, report_text("distance", lang), caption, log_x=True)
    return [f"<h2>{caption}</h2><p>{report_text('tasks_note', lang)}</p><figure>{figure}</figure>"]


def _how(report: EvaluationRecord, lang: str) -> str:
    """Return what ran, as a table of names and values."""
    flat: dict[str, Any] = {**report["model"], **report["ask"], **report["software"]}
    flat |= {"text sha256": report["text"]["sha256"], "window": report["window"]}
    if report["notes"]:
        flat[report_text("noted", lang)] = ", ".join(report["notes"])
    rows = [html_row(f"<code>{escape(name)}</code>", html_text(_plain(value))) for name, value in flat.items()]
    return f"<table>{''.join(rows)}</table>"


def _plain(value: object) -> str:
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    return ", ".join(map(str, value)) if listed else str(value)  # type: ignore[call-overload]


__all__ = ["KIND", "SCHEMA", "read_report", "report_page", "task_results"]
