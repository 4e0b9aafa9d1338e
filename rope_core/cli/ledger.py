"""`rope ledger`: every claim of the source documents and of papers, checked."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from rope_core.cli.terminal import print_json, print_lines
from rope_core.languages import words
from rope_core.ledger import STATUSES, ClaimResult, claim_records
from rope_core.ledger import check_claims as run_ledger


def _print(results: Sequence[ClaimResult], language: str) -> None:
    """Write each claim with its status, its residual, and why it fails where it does."""
    word = words(language, "commands")["ledger"]
    print_lines(word["title"])
    for result in results:
        text, residual = result.text, "-" if result.residual is None else f"{result.residual:.2g}"
        print_lines(f"{result.id:28s} {word[result.status]}  {residual}", f"    {text.claim[language]}")
        for key, more in (("why", text.why[language]), ("corrected", text.corrected)):
            if more:
                print_lines(f"    {word[key]}: {more}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--json", action="store_true", help="a list of {id, document, where, link, quotes, status, residual, corrected}"
    )


def run(options: argparse.Namespace) -> int:
    """Check every claim of the five source documents, and those of papers: a list and a count per status, or JSON."""

    def progress(done: int, total: int) -> None:
        print_lines(f"{done}/{total}", end="\r", error=True, flush=True)

    results = run_ledger(progress if sys.stderr.isatty() else None)
    if options.json:
        print_json(claim_records(results))
        return 0
    _print(results, options.lang)
    counts, word = Counter(result.status for result in results), words(options.lang, "commands")["ledger"]
    print_lines("; ".join(f"{word[status]}: {counts[status]}" for status in STATUSES))
    return 0
