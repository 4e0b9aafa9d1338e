"""What a comparison leaves: records for JSON, a pytest file that needs numpy and pytest, and one HTML page."""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.comparisons import driver, margins
from rope_core.comparisons.cells import cell, common_limit
from rope_core.comparisons.columns import UnreadableColumn
from rope_core.comparisons.compare import with_distinct_names
from rope_core.comparisons.nearest import difference
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn
from rope_core.comparisons.scheme_variants import Difference, published_schemes
from rope_core.comparisons.sentences import (
    detail_sentences,
    headline_sentence,
    headline_sentences,
    mistake_sentence,
    nearest_sentence,
    note_sentences,
    setting_sentence,
    shared_sentences,
    table_words,
    unreadable_sentence,
)
from rope_core.errors import argument_error, error_sentence
from rope_core.findings import finding_record
from rope_core.languages import LANGUAGES, words
from rope_core.programs.engines import engine_sentences
from rope_core.version import __version__

COLOURS = ("#0b6bcb", "#c4122f", "#7a3e9d", "#0f7b3f", "#a15c00", "#444444")


def record(compared: ComparedColumn, lang: str = "en") -> dict[str, Any]:
    """Return a column and its checks as JSON can hold them; frequencies in rad/token."""
    setting = compared.setting
    return {
        "name": compared.column.name,
        "model": setting.model,
        "dim": setting.rope.dim,
        "base": setting.rope.base,
        "train_len": setting.rope.train_len,
        "trained": setting.trained,
        "factor": setting.factor,
        "length": setting.length,
        "fine_tuned": setting.fine_tuned,
        "like": setting.like,
        "holds": not compared.broken,
        "headline": headline_sentence(compared, lang),
        "cause": mistake_sentence(compared, lang),
        "follows": [row.key for row in compared.consequences],
        "nearest": _nearest(compared, lang),
        "inv_freq": [_number(value) for value in compared.inv_freq],
        "attention_factor": _number(compared.attention_factor),
        "checks": [_check(row, lang) for row in compared.rows],
    }


def records(
    columns: Sequence[ComparedColumn], lang: str = "en", unreadable: Sequence[UnreadableColumn] = ()
) -> dict[str, Any]:
    """Return the columns as JSON can hold them, with the version and how the first differs from each other.

    One that is unreadable has an error, and no checks.
    """
    first = columns[0]
    refused = [
        {"name": each.name, "holds": False, "error": error_sentence(each.error, lang), "checks": []}
        for each in unreadable
    ]
    others = [each for each in columns[1:] if each.inv_freq.size == first.inv_freq.size]
    return {
        "version": __version__,
        "exit": exit_code(columns, unreadable),
        "columns": [*(record(each, lang) for each in columns), *refused],
        "against": [{"name": each.column.name, **_difference(difference(first, each))} for each in others],
    }


def exit_code(columns: Sequence[ComparedColumn], unreadable: Sequence[UnreadableColumn] = ()) -> int:
    """Return 2 where a column is unreadable, 1 where one does not hold what is required of it, else 0."""
    return 2 if unreadable else int(any(each.broken for each in columns))


def json_text(columns: Sequence[ComparedColumn], lang: str = "en") -> str:
    """Return the columns' records as JSON."""
    return json.dumps(records(columns, lang), indent=1, ensure_ascii=False)


def _nearest(compared: ComparedColumn, lang: str) -> dict[str, Any] | None:
    nearest = compared.nearest
    if nearest is None:
        return None
    params = {key: list(value) if isinstance(value, tuple) else value for key, value in nearest.scheme.params.items()}
    scheme = {"scheme": nearest.scheme.name, "params": params, "mistake": nearest.mistake}
    return {**scheme, **_difference(nearest.difference), "sentence": nearest_sentence(compared, lang)}


def _difference(apart: Difference) -> dict[str, Any]:
    ratios = {"ratio": _number(apart.ratio), "attention_ratio": _number(apart.attention_ratio)}
    return {"equal": list(apart.equal), "differs": list(apart.other), "pair": apart.pair, **ratios}


def _check(row: ColumnCheck, lang: str) -> dict[str, Any]:
    words = {name: row.text(name, lang) for name in ("formula", "source", "counterexample")}
    values = dict(row.values)
    if row.key in ("programs", "config"):
        values |= {"details": detail_sentences(row, lang), "notes": note_sentences(row, lang)}
    if values.get("findings"):
        values["findings"] = [finding_record(each, lang) for each in values["findings"]]
    if values.get("programs"):
        rest = [{key: value for key, value in each.items() if key != "result"} for each in values["programs"]]
        values["programs"] = [
            {**each, "why": engine_sentences(program["result"], lang)}
            for each, program in zip(rest, values["programs"], strict=True)
        ]
    marks = {"required": row.required, "excuse": row.excuse, "values": values}
    numbers: dict[str, Any] = {"margin": row.margin, "measured": row.measured, "limit": row.limit, "pair": row.pair}
    for key, value in numbers.items():
        numbers[key] = float(f"{value:.9g}") if isinstance(value, float) and math.isfinite(value) else value
    numbers["measured"] = None if row.measured is None else _number(numbers["measured"])
    return {"key": row.key, "title": row.text("title", lang), "holds": row.holds, **numbers, **words, **marks}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def pytest_file(columns: Sequence[ComparedColumn], folder: Path | None = None) -> str:
    """Return a test file for another repository, with numpy and pytest: each required check, and the frequencies.

    Code under test are the functions of the columns, where they are in files, named from ``folder``, the test file's;
    any other column's numbers wait for a function that is plugged in, and its tests are skipped until then. Checks that
    a column breaks here are expected to fail, and its frequencies are not pinned.
    """
    columns, pinned, functions, cases = with_distinct_names(columns), {}, "", ""
    for each in columns:
        if not np.all(np.isfinite(each.inv_freq)):
            raise argument_error("column", "finite frequencies to pin", each.column.name)
        name, column, broken = each.column.name, each.column, [row for row in each.rows if row.broken]
        follows = next((row for row in each.rows if row.key == "arguments"), None)
        unused = follows.values.get("without_effect", ()) if follows else ("factor",)
        pinned[name] = {
            "factor": "factor" in (column.takes or ())
            and ("factor" not in unused or any(row is follows for row in broken)),
            "config": dict(column.config_fields),
            "geometries": [_pinned(at, broken) for at in (each, each.other) if at is not None],
        }
        code = "None"
        if column.file is not None and column.function:
            code = repr((os.path.relpath(column.file, folder or Path.cwd()), column.function))
        functions += f"    {name!r}: {code},\n"
        for row in each.rows:
            left_out = ("programs", "config") if each.setting.like else ("programs", "config", "like")
            if not row.required or row.margin is None or row.key in left_out:
                continue
            where = f", pair {row.pair}" if row.marked_pairs else ""
            why = f'"broken when this file was written: {row.text("fault")}{where}"'
            # A literal in the text is told by other means than the numbers that the file can pin.
            strict = row.key != "arguments"
            mark = f", marks=pytest.mark.xfail(reason={why}, strict={strict})" if row.broken else ""
            cases += f"    pytest.param({name!r}, {row.key!r}{mark}),\n"
    return TEST.format(
        margins=inspect.getsource(margins).partition("import numpy.typing as npt")[2].strip(),
        config=f"{inspect.getsource(driver.Parameters)}\n\n{inspect.getsource(driver.Config)}".strip(),
        call=inspect.getsource(driver.call_scheme).strip(),
        pinned=json.dumps(pinned, indent=1),
        functions=functions.rstrip(),
        cases=cases.rstrip(),
        whole=[each.column.name for each in columns if not each.broken],
    )


def _wanted(compared: ComparedColumn) -> list[float] | None:
    """Return the frequencies of the scheme that a column is held to, at its setting; None where none is named."""
    own = compared.setting
    if not own.like:
        return None
    named = next(each for each in published_schemes(*own.published) if each.name == own.like)
    return [float(f) for f in named.inv_freq]


def _pinned(compared: ComparedColumn, broken: Sequence[ColumnCheck]) -> dict[str, Any]:
    setting, expected = compared.setting, compared.column.expected
    # What a scheme does at another geometry, as its formula has it there, is no fault of its arguments.
    follows = "arguments" not in {row.key for row in broken}
    left_out = {"like", *(row.key for row in compared.rows if follows and row.holds is False)}
    return {
        "geometry": setting.geometry,
        "trained": setting.trained,
        "allowed": setting.allowed,
        "expected": [*expected(setting.rope, setting.factor).values()] if expected else [],
        "wanted": _wanted(compared),
        "steady": bool(compared.column.source or compared.column.alike),
        "lengths": sorted(compared.answers),
        "inv_freq": None if broken else [f.tolist() for _, (f, _) in sorted(compared.answers.items())],
        "attention_factor": [float(a) for _, (_, a) in sorted(compared.answers.items())],
        "checks": [row.key for row in compared.rows if row.required and row.by_pair and row.key not in left_out],
    }


TEST = '''"""Rotary position embedding: each check that is required, and frequencies to a tolerance, at two geometries.

Written by `rope compare --pytest`. FUNCTIONS names the code under test: a file beside this one and its function, or a
function itself, of (dim, base, train_len, factor[, seq_len]) or as in transformers of (config, device, seq_len). It
returns inv_freq (dim/2,), rad/token, or (inv_freq, attention factor). None: nothing is tested until one stands there.
"""

import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

FUNCTIONS = {{
{functions}
}}
TOLERANCE = 1e-5

{margins}


{config}


{call}


PINNED = json.loads(r"""{pinned}""")
WHOLE = {whole}
CASES = [
{cases}
]


def function_of(name):
    """Return the code under test."""
    given = FUNCTIONS[name]
    if given is None:
        pytest.skip(f"no code under test: put a function, or its file and name, at {{name!r}} in FUNCTIONS")
    if callable(given):
        return given
    path = root = (Path(__file__).parent / given[0]).resolve()
    while root == path or (root / "__init__.py").is_file():
        root = root.parent
    # Imports of a file start above its packages; those of a script beside it.
    sys.path += [str(each) for each in (root, path.parent) if str(each) not in sys.path]
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, given[1])


def answers_of(name, pinned):
    """Return inv_freq and attention factor by length; no numbers for a short text on which the code fails."""
    answers, function = {{}}, function_of(name)
    dim, base, train_len, factor, _ = pinned["geometry"]
    for length in pinned["lengths"]:
        try:
            given = call_scheme(function, dim, base, train_len, factor, length, PINNED[name]["config"])
            f, a = given if isinstance(given, tuple) else (given, 1.0)
            if np.iscomplexobj(f):
                raise ValueError("inv_freq must be real")
            answers[length] = np.asarray(f, dtype=np.float64), float(a)
        except Exception:
            if length >= train_len:
                raise
            answers[length] = np.full(dim // 2, np.nan), 1.0
    return answers


@pytest.mark.parametrize("name", WHOLE)
def test_frequencies(name):
    for pinned in PINNED[name]["geometries"]:
        answers = answers_of(name, pinned)
        for length, wanted, factor in zip(pinned["lengths"], pinned["inv_freq"], pinned["attention_factor"]):
            np.testing.assert_allclose(answers[length][0], wanted, rtol=TOLERANCE, err_msg=str(pinned["geometry"]))
            assert answers[length][1] == pytest.approx(factor, rel=TOLERANCE)


@pytest.mark.parametrize("name, key", CASES)
def test_check(name, key):
    geometries = PINNED[name]["geometries"]
    pinned = geometries[-1] if key == "arguments" else geometries[0]
    answers = answers_of(name, pinned)
    with np.errstate(all="ignore"):
        rest = (pinned[name] for name in ("geometry", "trained", "expected", "allowed"))
        wanted = None if pinned["wanted"] is None else np.asarray(pinned["wanted"])
        found = every(answers.__getitem__, *rest, wanted, pinned["steady"])
    for each in pinned["checks"] if key == "arguments" else [key]:
        below = np.flatnonzero(found[each] < 0).tolist()
        assert not below, f"{{each}} at {{pinned['geometry']}}: {{found[each].min():.3g}} bits, pairs {{below}}"
    if key == "arguments":
        assert len(geometries) > 1, "the function failed at another geometry"
        if PINNED[name]["factor"]:
            dim, base, train_len, factor, length = pinned["geometry"]
            twice = call_scheme(function_of(name), dim, base, train_len, 2 * factor, length, PINNED[name]["config"])
            f, a = twice if isinstance(twice, tuple) else (twice, 1.0)
            same = np.array_equal(np.asarray(f, dtype=np.float64), answers[length][0])
            assert not (same and a == answers[length][1]), "factor has no effect"
        dim, *rest = pinned["geometry"]
        narrow = max(2, dim // 4 * 2)
        try:
            given = call_scheme(function_of(name), narrow, *rest, PINNED[name]["config"])
        except Exception:
            return  # a table of one width answers no other
        assert len(given[0] if isinstance(given, tuple) else given) == narrow // 2, "dim has no effect"
'''


def html_page(columns: Sequence[ComparedColumn], lang: str = "en", unreadable: Sequence[UnreadableColumn] = ()) -> str:
    """Return one page with the slow-down of each pair and a table of margins; it loads nothing and runs no script."""
    if lang not in LANGUAGES:
        raise argument_error("lang", "one_of", lang, names=LANGUAGES)
    t = table_words(lang, "table")
    head = "".join(f"<th>{escape(each.column.name)}</th>" for each in columns)
    body, notes = "", ""
    for key, row in {row.key: row for each in columns for row in each.rows if row.holds is not None}.items():
        by_key = [next((each for each in column.rows if each.key == key), None) for column in columns]
        limit = common_limit(by_key)
        cells = "".join(f"<td class={_mark(each)}>{escape(cell(each, limit))}</td>" for each in by_key)
        title, formula = (escape(row.text(name, lang)) for name in ("title", "formula"))
        meant = any(each is not None and each.required for each in by_key)
        body += f"<tr><th{'' if meant else ' class=note'}>{title}</th><td>{escape(limit)}</td>{cells}</tr>"
        about = " ".join(row.text(name, lang) for name in ("reason", "counterexample", "source"))
        notes += f"<dt>{title}: <code>{formula}</code></dt><dd>{escape(about)}</dd>"
    setting = "<br>".join(map(escape, [f"rope {__version__}", *shared_sentences(columns, setting_sentence, lang)]))
    faults = ""
    for each in columns:
        first, *rest = headline_sentences(each, lang)
        items = "".join(f"<li>{escape(line)}</li>" for line in rest)
        faults += f"<p>{escape(first)} {escape(nearest_sentence(each, lang))}</p><ul class=broken>{items}</ul>"
    faults += "".join(f"<p class=broken>{escape(unreadable_sentence(each, lang))}</p>" for each in unreadable)
    svg, locale = _svg(columns), words(lang, "language")["locale"]
    texts = {name: escape(t[name]) for name in ("title", "axis", "signs", "rule", "slowdown")}
    return PAGE.format(lang=locale, setting=setting, svg=svg, head=head, body=body, notes=notes, faults=faults, **texts)


def _mark(row: ColumnCheck | None) -> str:
    if row is None or row.holds is None:
        return "none"
    return "broken" if row.broken else "holds" if row.holds else "known"


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
td{{white-space:nowrap}}.note,tr:first-child>:first-child{{color:#666;font-weight:normal}}tr>:first-child{{min-width:9em}}.table{{overflow-x:auto}}dt{{margin-top:.8em;font-weight:bold}}dd{{margin:0}}
.broken{{color:#c4122f;font-weight:bold}}.known{{color:#a15c00}}.holds{{color:#0f7b3f}}</style>
<h1>{title}</h1><p>{setting}</p>{faults}<p>{slowdown}</p>{svg}<p>{axis}</p>
<div class="table"><table><tr><th></th><th></th>{head}</tr>{body}</table></div>
<p>{signs}<br>{rule}</p><dl>{notes}</dl></html>
"""
