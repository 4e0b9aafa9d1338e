"""`rope ledger`: every claim of the source documents and of papers, checked."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Sequence

from rope_core.cli.words import words
from rope_core.ledger import STATUSES, Result, to_json
from rope_core.ledger import run as run_ledger

COLOURS = dict(zip(STATUSES, ("green", "yellow", "red", "cyan"), strict=True))


def _lines(result: Result, language: str) -> tuple[str, str, str, str]:
    """Return a result as (id, status, residual, sentence) in that language; the sentence says why it fails."""
    word, text = words("ledger", language), result.text
    sentence = text.claim[language]
    if text.why[language]:
        sentence += f"\n{word['why']}: {text.why[language]}"
    if text.corrected:
        sentence += f"\n{word['corrected']}: {text.corrected}"
    residual = "-" if result.residual is None else f"{result.residual:.2g}"
    return result.id, word[result.status], residual, sentence


def _print_rich(results: Sequence[Result], language: str) -> bool:
    try:
        console, table, escape = (importlib.import_module(f"rich.{part}") for part in ("console", "table", "markup"))
    except ImportError:
        return False
    grid = table.Table(title=words("ledger", language)["title"], show_lines=True)
    for column in words("ledger", language)["columns"].split(" | "):
        grid.add_column(column, overflow="fold")
    for result in results:
        name, status, residual, sentence = _lines(result, language)
        grid.add_row(name, f"[{COLOURS[result.status]}]{status}[/]", residual, escape.escape(sentence))
    console.Console().print(grid)
    return True


def _print_plain(results: Sequence[Result], language: str) -> None:
    print(words("ledger", language)["title"])
    for result in results:
        name, status, residual, sentence = _lines(result, language)
        print(f"{name:28s} {status}  {residual}")
        for line in sentence.splitlines():
            print(f"    {line}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--json", action="store_true", help="a list of {id, document, where, link, quotes, status, residual, corrected}"
    )


def run(options: argparse.Namespace) -> int:
    """Check every claim of the five source documents, and those of papers: a table and a count per status, or JSON."""

    def progress(done: int, total: int) -> None:
        print(f"\r{done}/{total}", end="" if done < total else "\r", file=sys.stderr, flush=True)

    results = run_ledger(progress if sys.stderr.isatty() else None)
    if options.json:
        print(json.dumps(to_json(results), ensure_ascii=False, indent=2, allow_nan=False))
        return 0
    if not _print_rich(results, options.lang):
        _print_plain(results, options.lang)
    counts, word = Counter(result.status for result in results), words("ledger", options.lang)
    print("; ".join(f"{word[status]}: {counts[status]}" for status in STATUSES))
    return 0
