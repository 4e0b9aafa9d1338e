"""What a comparison leaves: records for JSON, a pytest file that needs numpy and pytest, and one HTML page."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from rope_core.comparisons import margins
from rope_core.comparisons.compare import ColumnCheck, ComparedColumn
from rope_core.errors import LANGUAGES, argument_error

COLOURS = ("#0b6bcb", "#c4122f", "#7a3e9d", "#0f7b3f", "#a15c00", "#444444")


def record(compared: ComparedColumn, lang: str = "en") -> dict[str, Any]:
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


def json_text(columns: Sequence[ComparedColumn], lang: str = "en") -> str:
    """Return the columns' records as JSON."""
    return json.dumps({"columns": [record(each, lang) for each in columns]}, indent=1, ensure_ascii=False)


def _check(row: ColumnCheck, lang: str) -> dict[str, Any]:
    words = {name: row.text(name, lang) for name in ("formula", "source", "counterexample")}
    marks = {"required": row.required, "by_design": row.by_design, "values": dict(row.values)}
    return {"key": row.key, "holds": row.holds, "margin": row.margin, "pair": row.pair, **words, **marks}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def pytest_file(columns: Sequence[ComparedColumn]) -> str:
    """Return a test file that pins frequencies and margins, to run in another repository with numpy and pytest.

    Each column is a function there that gives the pinned numbers, to be replaced by the code under test. Pinned is
    every check but that of the programs, at this comparison's thresholds, and that of arguments by a second geometry.
    """
    pinned = {}
    for each in columns:
        if not np.all(np.isfinite(each.inv_freq)):
            raise argument_error("column", "finite frequencies to pin", each.column.name)
        pinned[each.column.name] = [_pinned(at) for at in (each, each.other) if at is not None]
    return TEST.format(
        margins=inspect.getsource(margins).partition("import numpy.typing as npt")[2].strip(),
        pinned=json.dumps(pinned, indent=1),
        functions="\n".join(f"    {name!r}: lambda *geometry: answer({name!r}, *geometry)," for name in pinned),
    )


def _pinned(compared: ComparedColumn) -> dict[str, Any]:
    setting, expected = compared.setting, compared.column.expected
    return {
        "geometry": setting.geometry,
        "trained": setting.trained,
        "allowed": setting.allowed,
        "expected": [*expected(setting.rope, setting.factor).values()] if expected else [],
        "answers": [[n, f.tolist(), float(a)] for n, (f, a) in sorted(compared.answers.items())],
        "margins": {row.key: row.margin for row in compared.rows if row.by_pair and row.key != "programs"},
    }


TEST = '''"""Frequencies of rotary position embedding: numbers to a tolerance, each check with its margin in bits.

Written by `rope compare --pytest`. Replace what FUNCTIONS holds by your own code: (dim, base, train_len, factor,
length) -> inv_freq (dim/2,), rad/token, or (inv_freq, attention factor).
"""

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

{margins}


PINNED = json.loads(r"""{pinned}""")


def answer(name, *geometry):
    """Return what was pinned at a geometry: inv_freq and the attention factor."""
    setting = next(each for each in PINNED[name] if each["geometry"][:4] == [*geometry[:4]])
    return next((f, a) for length, f, a in setting["answers"] if length == geometry[4])


FUNCTIONS = {{
{functions}
}}
TOLERANCE = 1e-5


@pytest.mark.parametrize("name", FUNCTIONS)
def test_frequencies_and_margins(name):
    for pinned in PINNED[name]:
        answers = {{}}
        for length, wanted, factor in pinned["answers"]:
            given = FUNCTIONS[name](*pinned["geometry"][:4], length)
            f, a = given if isinstance(given, tuple) else (given, factor)
            answers[length] = np.asarray(f, dtype=np.float64), float(a)
            np.testing.assert_allclose(answers[length][0], wanted, rtol=TOLERANCE)
            assert a == pytest.approx(factor, rel=TOLERANCE)
        with np.errstate(all="ignore"):
            rest = pinned["geometry"], pinned["trained"], pinned["expected"], pinned["allowed"]
            found = every(answers.__getitem__, *rest)
        for key, margin in pinned["margins"].items():
            least = found[key].min()
            # The digits that a function answers in may be more or fewer, as long as they are enough.
            assert (least >= 0) == (margin >= 0) if key == "float32" else least == pytest.approx(margin, abs=0.01), key
'''


def html_page(columns: Sequence[ComparedColumn], lang: str = "en") -> str:
    """Return one page with the slow-down of each pair and a table of margins; it loads nothing and runs no script."""
    if lang not in LANGUAGES:
        raise argument_error("lang", "one_of", lang, names=LANGUAGES)
    head = "".join(f"<th>{escape(each.column.name)}</th>" for each in columns)
    body, notes = "", ""
    for key, row in {row.key: row for each in columns for row in each.rows}.items():
        by_key = [next((each for each in column.rows if each.key == key), None) for column in columns]
        cells = "".join(f"<td class={_mark(each)}>{escape(cell(each))}</td>" for each in by_key)
        title, formula = (escape(row.text(name, lang)) for name in ("title", "formula"))
        body += f"<tr><th>{title}</th>{cells}</tr>"
        about = " ".join(row.text(name, lang) for name in ("reason", "counterexample", "source"))
        notes += f"<dt>{title}: <code>{formula}</code></dt><dd>{escape(about)}</dd>"
    texts = {"title": {"en": "Schemes", "zh": "方案"}[lang], "axis": {"en": "pair", "zh": "维度对"}[lang]}
    return PAGE.format(lang=lang, svg=_svg(columns), head=head, body=body, notes=notes, **texts)


def _mark(row: ColumnCheck | None) -> str:
    if row is None or row.holds is None:
        return "none"
    return "broken" if row.broken else "holds" if row.holds else "known"


def cell(row: ColumnCheck | None) -> str:
    """Return a check's margin and pair as a cell: bits with a sign, "-" where it cannot be tried."""
    if row is None or row.margin is None:
        return "-"
    size = f"{row.margin:+.2f}" if abs(row.margin) < margins.MOST - 1 else ("-inf" if row.margin < 0 else "+inf")
    return f"{size} @{row.pair}" if row.pair is not None else size


def _svg(columns: Sequence[ComparedColumn]) -> str:
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
