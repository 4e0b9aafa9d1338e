"""What a comparison leaves: records for JSON, a pytest file that needs numpy alone, and one HTML page."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.compare import Compared, Row
from rope_core.errors import LANGUAGES, reject

PINNED = ("finite_positive", "not_faster", "monotone", "inside_arc", "not_overslowed", "resolution")
COLOURS = ("#0b6bcb", "#c4122f", "#7a3e9d", "#0f7b3f", "#a15c00", "#444444")


def record(compared: Compared, lang: str = "en") -> dict[str, Any]:
    """Return a column and its checks as JSON can hold them; frequencies in rad/token."""
    setting = compared.setting
    return {
        "name": compared.column.name,
        "dim": setting.rope.dim,
        "base": setting.rope.base,
        "train_len": setting.rope.train_len,
        "factor": setting.factor,
        "length": setting.length,
        "inv_freq": [_number(value) for value in compared.inv_freq],
        "attention_factor": _number(compared.attention_factor),
        "checks": [_check(row, lang) for row in compared.rows],
    }


def _check(row: Row, lang: str) -> dict[str, Any]:
    words = {name: row.text(name, lang) for name in ("formula", "source", "counterexample")}
    marks = {"required": row.required, "by_design": row.by_design, "values": dict(row.values)}
    return {"key": row.key, "holds": row.holds, "margin": row.margin, "pair": row.pair, **words, **marks}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def pytest_file(columns: Sequence[Compared]) -> str:
    """Return a test file that pins frequencies and margins, to run in another repository with numpy alone.

    Each column is a function there, somebody's own as it was given; what is shipped is a list of numbers, to be
    replaced by a call of the code under test.
    """
    pinned, functions = {}, []
    for each in columns:
        if not np.all(np.isfinite(each.inv_freq)):
            raise reject("column", "finite frequencies to pin", each.column.name)
        setting = each.setting
        rows = {row.key: row.margin for row in each.rows if row.key in PINNED and row.margin is not None}
        pinned[each.column.name] = {
            "geometry": [setting.rope.dim, setting.rope.base, setting.rope.train_len, setting.factor, setting.length],
            "trained": setting.trained_to or setting.rope.train_len,
            "attention_factor": each.attention_factor,
            "margins": rows,
            "inv_freq": each.inv_freq.tolist(),
        }
        functions.append(f"    {each.column.name!r}: lambda *geometry: PINNED[{each.column.name!r}]['inv_freq'],")
    text = inspect.getsource(margins)
    return TEST.format(
        margins=text.partition("import numpy.typing as npt")[2].strip(),
        pinned=json.dumps(pinned, indent=1),
        functions="\n".join(functions),
        names=", ".join(repr(each.column.name) for each in columns),
    )


TEST = '''"""Frequencies of rotary position embedding: numbers to a tolerance, each check with its margin in bits.

Written by `rope compare --pytest`. Replace what FUNCTIONS holds by your own code: (dim, base, train_len, factor,
length) -> inv_freq (dim/2,), rad/token.
"""

import json

import numpy as np
import numpy.typing as npt
import pytest

{margins}


PINNED = json.loads("""{pinned}""")
FUNCTIONS = {{
{functions}
}}
TOLERANCE = 1e-5


def margins_of(f, dim, base, train_len, factor, length, trained):
    theta = base ** (-np.arange(0, dim, 2) / dim)
    needed = max(length / train_len, factor)
    return {{
        "finite_positive": finite_positive(f).min(),
        "not_faster": not_faster(f, theta).min() + np.log2(1.001),
        "monotone": monotone(f, theta).min() + np.log2(1.001),
        "inside_arc": inside_arc(f, theta, trained, length).min() + np.log2(1.1),
        "not_overslowed": not_overslowed(f, theta, needed).min() + np.log2(1.05),
        "resolution": resolution(f, theta, 2.0).min(),
    }}


@pytest.mark.parametrize("name", [{names}])
def test_frequencies_and_margins(name):
    pinned = PINNED[name]
    f = np.asarray(FUNCTIONS[name](*pinned["geometry"]), dtype=np.float64)
    np.testing.assert_allclose(f, pinned["inv_freq"], rtol=TOLERANCE)
    margins = margins_of(f, *pinned["geometry"], pinned["trained"])
    for key, margin in pinned["margins"].items():
        assert margins[key] == pytest.approx(margin, abs=0.01), key
'''


def html_page(columns: Sequence[Compared], lang: str = "en") -> str:
    """Return one page with the slow-down of each pair and a table of margins; it loads nothing and runs no script."""
    if lang not in LANGUAGES:
        raise reject("lang", "one_of", lang, names=LANGUAGES)
    head = "".join(f"<th>{escape(each.column.name)}</th>" for each in columns)
    body, notes = "", ""
    for key, row in {row.key: row for each in columns for row in each.rows}.items():
        by_key = [next((each for each in column.rows if each.key == key), None) for column in columns]
        cells = "".join(f"<td class={_mark(each)}>{escape(cell(each))}</td>" for each in by_key)
        title, formula = (escape(row.text(name, lang)) for name in ("title", "formula"))
        body += f"<tr><th>{title}</th>{cells}</tr>"
        about = " ".join(row.text(name, lang) for name in ("reason", "counterexample", "source"))
        notes += f"<dt>{title}: <code>{formula}</code></dt><dd>{escape(about)}</dd>"
    texts = {"title": {"en": "Schemes", "zh": "方案"}[lang], "axis": {"en": "pair", "zh": "对"}[lang]}
    return PAGE.format(lang=lang, svg=_svg(columns), head=head, body=body, notes=notes, **texts)


def _mark(row: Row | None) -> str:
    if row is None or row.holds is None:
        return "none"
    return "broken" if row.broken else "holds" if row.holds else "known"


def cell(row: Row | None) -> str:
    """Return a check's margin and pair as a cell: bits with a sign, "-" where it cannot be tried."""
    if row is None or row.margin is None:
        return "-"
    size = f"{row.margin:+.2f}" if abs(row.margin) < margins.MOST - 1 else ("-inf" if row.margin < 0 else "+inf")
    return f"{size} @{row.pair}" if row.pair is not None else size


def _svg(columns: Sequence[Compared]) -> str:
    """Return the slow-downs by pair on a logarithmic axis; what is negative or no number is left out."""
    width, height = 720, 260
    every = np.concatenate([each.slowdown for each in columns])
    good = every[np.isfinite(every) & (every > 0)]
    top = max(float(np.log2(good.max())) if good.size else 0.0, 1.0)
    low = min(float(np.log2(good.min())) if good.size else 0.0, 0.0)
    lines = ""
    for k, each in enumerate(columns):
        s, last = each.slowdown, max(each.slowdown.size - 1, 1)
        points = [
            f"{40 + (width - 60) * i / last:.1f},{20 + (height - 50) * (top - math.log2(v)) / (top - low):.1f}"
            for i, v in enumerate(s.tolist())
            if math.isfinite(v) and v > 0
        ]
        colour = COLOURS[k % len(COLOURS)]
        # Lines that lie on each other show by their dashes.
        dash = f" stroke-dasharray='{12 - 2 * (k % 5)} {3 * (k % 5)}'" if k else ""
        lines += f"<polyline fill='none' stroke='{colour}' stroke-width='2'{dash} points='{' '.join(points)}'/>"
        lines += f"<text x='{50 + 110 * k}' y='14' fill='{colour}'>{escape(each.column.name)}</text>"
    marks = "".join(
        f"<text x='4' y='{24 + (height - 50) * (top - k) / (top - low):.0f}'>{2.0**k:g}</text>"
        for k in range(math.ceil(low), math.floor(top) + 1)
    )
    last = max(each.slowdown.size for each in columns) - 1
    ends = f"<text x='40' y='{height - 6}'>0</text><text x='{width - 30}' y='{height - 6}'>{last}</text>"
    return f"<svg viewBox='0 0 {width} {height}' role='img'>{lines}{marks}{ends}</svg>"


PAGE = """<!doctype html><html lang="{lang}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>body{{font:15px/1.4 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;background:#fff;color:#111}}
svg{{width:100%}}svg text{{font-size:13px}}td,th{{padding:.3em .6em;border-bottom:1px solid #ccc;text-align:left}}
td{{white-space:nowrap}}tr>:first-child{{min-width:9em}}.table{{overflow-x:auto}}dt{{margin-top:.8em;font-weight:bold}}dd{{margin:0}}
.broken{{color:#c4122f;font-weight:bold}}.known{{color:#a15c00}}.holds{{color:#0f7b3f}}</style>
<h1>{title}</h1><p>theta / inv_freq</p>{svg}<p>{axis}</p>
<div class="table"><table><tr><th></th>{head}</tr>{body}</table></div><dl>{notes}</dl></html>
"""
