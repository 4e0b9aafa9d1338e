"""Running the ledger, and printing it."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rope_core.errors import reject
from rope_core.ledger import (
    d000,
    d001,
    d002,
    d003,
    d003_clock,
    d003_extend,
    d003_order,
    d003_proof,
    d004_block,
    d004_position,
    d004_rope,
)
from rope_core.ledger.entry import CLAIMS, LANGUAGES, STATUSES, Check, Text, texts

DOCUMENT_MODULES = (
    d000,
    d001,
    d002,
    d003_order,
    d003,
    d003_extend,
    d003_clock,
    d003_proof,
    d004_block,
    d004_position,
    d004_rope,
)

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Result:
    """One claim, checked.

    Attributes:
        id, document: "000-theta-paper", "000".
        check: what was found: residuals and tolerance.
        text: the words.
    """

    id: str
    document: str
    check: Check
    text: Text

    @property
    def status(self) -> str:
        """One of STATUSES, derived from the residuals."""
        return self.check.status

    @property
    def residual(self) -> float | None:
        """Residual of the claim as printed; None for an empirical one."""
        return self.check.printed


def run(progress: Progress | None = None, only: Sequence[str] | None = None) -> list[Result]:
    """Check every claim, in document order; under ten seconds for all of them.

    Args:
        progress: called with (checked, of how many) after each.
        only: ids to check; None means all.

    Raises:
        ValueError: on an id that is no claim's.
    """
    names = sorted(CLAIMS, key=lambda name: name[:3]) if only is None else list(only)
    for name in names:
        if name not in CLAIMS:
            raise reject("only", "ids of the ledger", name)
    words, results = texts(), []
    for done, name in enumerate(names, start=1):
        results.append(Result(name, name[:3], CLAIMS[name](), words[name]))
        if progress is not None:
            progress(done, len(names))
    return results


def to_json(results: Sequence[Result] | None = None) -> list[dict[str, Any]]:
    """Return the ledger as plain data: a list of {id, document, where, quotes, status, residual, corrected}.

    ``quotes`` are the document's own characters but for white space and "&"; ``residual`` is None for an empirical
    claim; ``corrected`` is LaTeX, None where nothing needs correction.
    """
    return [
        {
            "id": r.id,
            "document": r.document,
            "where": r.text.where,
            "quotes": list(r.text.quotes),
            "status": r.status,
            "residual": r.residual,
            "corrected": r.text.corrected,
        }
        for r in (run() if results is None else results)
    ]


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


def lines(result: Result, language: str) -> tuple[str, str, str, str]:
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
        name, status, residual, sentence = lines(result, language)
        grid.add_row(name, f"[{COLOURS[result.status]}]{status}[/]", residual, escape.escape(sentence))
    console.Console().print(grid)
    return True


def _print_plain(results: Sequence[Result], language: str) -> None:
    print(WORDS[language]["title"])
    for result in results:
        name, status, residual, sentence = lines(result, language)
        print(f"{name:28s} {status}  {residual}")
        for line in sentence.splitlines():
            print(f"    {line}")


def main_ledger(argv: Sequence[str] | None = None) -> int:
    """Run ``rope ledger [--json] [--lang en|zh]`` and return the exit code, 0.

    Without --json it prints a table and a count per status; progress goes to standard error on a terminal.
    """
    parser = argparse.ArgumentParser(prog="rope ledger", description=str(WORDS["en"]["title"]))
    parser.add_argument(
        "--json", action="store_true", help="a list of {id, document, where, quotes, status, residual, corrected}"
    )
    parser.add_argument("--lang", choices=LANGUAGES, default="en")
    options = parser.parse_args(argv)

    def progress(done: int, total: int) -> None:
        print(f"\r{done}/{total}", end="" if done < total else "\r", file=sys.stderr, flush=True)

    results = run(progress if sys.stderr.isatty() else None)
    if options.json:
        print(json.dumps(to_json(results), ensure_ascii=False, indent=2, allow_nan=False))
        return 0
    if not _print_rich(results, options.lang):
        _print_plain(results, options.lang)
    counts = Counter(result.status for result in results)
    print("; ".join(f"{WORDS[options.lang][status]}: {counts[status]}" for status in STATUSES))
    return 0
