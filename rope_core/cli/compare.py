"""`rope compare`: schemes side by side, what each check measures beside its limit."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from rope_core.cli.source import parse_token_count
from rope_core.cli.terminal import print_json, print_lines
from rope_core.comparisons.cells import cell, fault_sentences, limit_text, padded
from rope_core.comparisons.compare import UNTRAINED, ComparedColumn, compare, difference, runs_of
from rope_core.comparisons.export import html_page, pytest_file, record
from rope_core.errors import argument_error
from rope_core.findings import sanitized_text
from rope_core.languages import words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "columns",
        nargs="+",
        metavar="A",
        help="a scheme, a model of the catalogue, config.json, .npy .csv .safetensors, or FILE.py[:FUNCTION] with a "
        "function of (dim, base, train_len, factor[, seq_len]) or of (config, device, seq_len)",
    )
    parser.add_argument("--model", help="a model of the catalogue, or a config: the geometry (llama-2-7b)")
    parser.add_argument("--factor", type=float, help="what schemes are given (4, as on the page)")
    parser.add_argument("--length", help="the target, tokens (factor times the trained length)")
    parser.add_argument("--trained-to", help="tokens that training covered, further training included")
    parser.add_argument(
        "--fine-tuned",
        action=argparse.BooleanOptionalAction,
        help="whether the model is trained on with the scheme, which asks less (released models are, others are not)",
    )
    parser.add_argument(
        "--threshold", action="append", default=[], metavar="KEY=N", help="what a check allows; KEY as in --json"
    )
    parser.add_argument("--json", action="store_true", help="columns and checks instead of a table")
    parser.add_argument("--html", metavar="FILE", help="write a page")
    parser.add_argument(
        "--pytest", metavar="FILE", help="write a test file for your functions that needs numpy and pytest"
    )


def run(options: argparse.Namespace) -> int:
    """Compare schemes, configs, frequencies and functions: what each check measures beside its limit.

    Exit 0: each required check holds; 1: one does not; 2: unreadable; 70: a fault of this program.
    """
    columns = compare(
        *options.columns,
        model=options.model,
        factor=options.factor,
        length=parse_token_count("--length", options.length),
        trained_to=parse_token_count("--trained-to", options.trained_to),
        fine_tuned=options.fine_tuned,
        thresholds=dict(_threshold(text) for text in options.threshold),
    )
    for path, text in (
        (options.html, html_page(columns, options.lang) if options.html else ""),
        (options.pytest, pytest_file(columns, Path(options.pytest).parent) if options.pytest else ""),
    ):
        if path:
            try:
                Path(path).write_text(text, encoding="utf-8")
            except OSError as error:
                raise argument_error(
                    "the file to write", "one in a folder that can be written", error.filename
                ) from None
    if options.json:
        print_json({"columns": [record(each, options.lang) for each in columns]})
    else:
        _table(columns, options.lang)
    return int(any(each.broken for each in columns))


def _threshold(text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    try:
        return key, float(value)
    except ValueError:
        raise argument_error("--threshold", "KEY=NUMBER", text) from None


def _difference(first: ComparedColumn, other: ComparedColumn, t: Mapping[str, str]) -> None:
    """Print at which pairs the first column is another's; nothing where their models differ in width."""
    if first.inv_freq.size != other.inv_freq.size:
        return
    apart = difference(first, other)
    names = {"name": sanitized_text(first.column.name), "other": sanitized_text(other.column.name)}
    slots = {**names, "ratio": f"{apart.attention_ratio:.4g}", "most": f"{apart.ratio:.4g}", "pair": apart.pair}
    text = t["equal"] if apart.pair is None else t["apart"]
    print_lines("", text.format(equal=runs_of(apart.equal) or "-", pairs=runs_of(apart.other), **slots))


def _table(columns: list[ComparedColumn], lang: str) -> None:
    """Print a line for each check: its title and limit, what was measured of each column; then what does not hold."""
    t = words(lang, "commands")["compare"]
    rows = {row.key: row for each in columns for row in each.rows}
    names = [sanitized_text(each.column.name) for each in columns]
    cells = {key: [next((row for row in each.rows if row.key == key), None) for each in columns] for key in rows}
    meant = {key: any(row is not None and row.required for row in by_key) for key, by_key in cells.items()}
    titles = {key: f"{'*' if meant[key] else ' '} {row.text('title', lang)}" for key, row in rows.items()}
    limits = {key: next(filter(None, map(limit_text, by_key)), "") for key, by_key in cells.items()}
    lines = [("", t["limit"], names), *((titles[key], limits[key], [cell(row) for row in cells[key]]) for key in rows)]
    width = max(14, *(len(name) + 2 for name in names))
    for title, limit, texts in lines:
        line = padded(title, 36) + padded(limit, 12) + "".join(padded(text, width) for text in texts)
        print_lines(line.rstrip())
    print_lines(t["signs"])
    for other in columns[1:]:
        _difference(columns[0], other, t)
    for name, each in zip(names, columns, strict=True):
        for row in (row for row in each.rows if row.holds is False):
            known = t["by_design"] if row.by_design else t["required"] if row.broken else t["not_required"]
            faults = (f"{name}: {sanitized_text(each, 1000)}" for each in fault_sentences(row, lang))
            print_lines("", *faults, f"  ({known}; {row.key})")
            print_lines(*(f"  {row.text(part, lang)}" for part in ("formula", "reason", "counterexample", "source")))
        print_lines(*(f"{name}: {sanitized_text(text, 600)}" for row in each.rows for text in row.notes(lang)))
        broken = {row.key for row in each.broken}
        unused = next((row.values.get("without_effect") for row in each.rows if row.key == "arguments"), None)
        if unused and "arguments" not in broken:
            print_lines("", t["without_effect"].format(name=name, names=", ".join(unused)))
        if each.column.rope is not None and not each.setting.fine_tuned and broken & {*UNTRAINED}:
            print_lines("", t["not_tuned"].format(name=name))
