"""`rope ledger`: every claim of the source documents, checked."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Sequence

from rope_core.ledger import STATUSES, Result, to_json
from rope_core.ledger import run as run_ledger

WORDS = {
    "en": {
        "title": "Ledger: every claim of the five source documents, checked",
        "columns": ("id", "status", "residual", "claim"),
        "why": "why",
        "corrected": "corrected",
        **{status: status for status in STATUSES},
    },
    "zh": {
        "title": "账本：逐条核对五份资料中的每个论断",
        "columns": ("编号", "结论", "残差", "论断"),
        "why": "原因",
        "corrected": "更正",
        **dict(zip(STATUSES, ("成立", "有条件成立", "原文有误", "经验结论，此处不判定"), strict=True)),
    },
}
COLOURS = dict(zip(STATUSES, ("green", "yellow", "red", "cyan"), strict=True))


def _lines(result: Result, language: str) -> tuple[str, str, str, str]:
    """Return a result as (id, status, residual, sentence) in that language; the sentence says why it fails."""
    word, text = WORDS[language], result.text
    sentence = text.claim[language]
    if text.why[language]:
        sentence += f"\n{word['why']}: {text.why[language]}"
    if text.corrected:
        sentence += f"\n{word['corrected']}: {text.corrected}"
    residual = "-" if result.residual is None else f"{result.residual:.2g}"
    return result.id, str(word[result.status]), residual, sentence


def _print_rich(results: Sequence[Result], language: str) -> bool:
    try:
        console, table, escape = (importlib.import_module(f"rich.{part}") for part in ("console", "table", "markup"))
    except ImportError:
        return False
    grid = table.Table(title=WORDS[language]["title"], show_lines=True)
    for column in WORDS[language]["columns"]:
        grid.add_column(column, overflow="fold")
    for result in results:
        name, status, residual, sentence = _lines(result, language)
        grid.add_row(name, f"[{COLOURS[result.status]}]{status}[/]", residual, escape.escape(sentence))
    console.Console().print(grid)
    return True


def _print_plain(results: Sequence[Result], language: str) -> None:
    print(WORDS[language]["title"])
    for result in results:
        name, status, residual, sentence = _lines(result, language)
        print(f"{name:28s} {status}  {residual}")
        for line in sentence.splitlines():
            print(f"    {line}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--json", action="store_true", help="a list of {id, document, where, quotes, status, residual, corrected}"
    )


def run(options: argparse.Namespace) -> int:
    """Check every claim of the five source documents: a table and a count per status, or JSON."""

    def progress(done: int, total: int) -> None:
        print(f"\r{done}/{total}", end="" if done < total else "\r", file=sys.stderr, flush=True)

    results = run_ledger(progress if sys.stderr.isatty() else None)
    if options.json:
        print(json.dumps(to_json(results), ensure_ascii=False, indent=2, allow_nan=False))
        return 0
    if not _print_rich(results, options.lang):
        _print_plain(results, options.lang)
    counts = Counter(result.status for result in results)
    print("; ".join(f"{WORDS[options.lang][status]}: {counts[status]}" for status in STATUSES))
    return 0
