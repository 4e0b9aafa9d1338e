"""`rope compare`: schemes side by side, what each check measures beside its limit."""

from __future__ import annotations

import argparse
from pathlib import Path

from rope_core.cli.source import parse_token_count
from rope_core.cli.terminal import print_json, print_lines
from rope_core.comparisons.cells import cell, common_limit, padded
from rope_core.comparisons.columns import UnreadableColumn
from rope_core.comparisons.compare import UnreadableColumnsError, compare
from rope_core.comparisons.export import exit_code, html_page, pytest_file, records
from rope_core.comparisons.nearest import difference
from rope_core.comparisons.rows import ComparedColumn
from rope_core.comparisons.scheme_variants import likeable_schemes
from rope_core.comparisons.sentences import (
    attention_factors_of,
    config_sentence,
    difference_sentence,
    fault_sentences,
    headline_sentences,
    nearest_sentence,
    note_sentences,
    setting_sentence,
    shared_sentences,
    table_words,
    unreadable_sentence,
)
from rope_core.errors import argument_error
from rope_core.findings import sanitized_text
from rope_core.languages import words
from rope_core.version import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "columns",
        nargs="+",
        metavar="A",
        help="a scheme, a model of the catalogue, config.json, .npy .csv .safetensors, or FILE.py[:FUNCTION] with "
        "functions of (dim, base, train_len, factor[, seq_len]) or of (config, device, seq_len); without a name each "
        "public one is a column, and it may import files beside it",
    )
    parser.add_argument(
        "--like",
        default="",
        metavar="SCHEME",
        help=f"hold functions and numbers to its frequencies and attention factor: {', '.join(likeable_schemes())}",
    )
    parser.add_argument("--model", help="a model of the catalogue, or a config: the geometry (llama-2-7b)")
    parser.add_argument("--factor", type=float, help="what schemes are given (as the model's config states, or 4)")
    parser.add_argument("--length", help="the target, tokens (factor times the trained length)")
    parser.add_argument("--trained-to", help="tokens that training covered, further training included")
    parser.add_argument(
        "--fine-tuned",
        action=argparse.BooleanOptionalAction,
        help="whether the model is trained on with the scheme, which asks less (yes for a released model, else no)",
    )
    parser.add_argument(
        "--threshold", action="append", default=[], metavar="KEY=N", help="what a check allows; KEY as in --json"
    )
    parser.add_argument("--explain", action="store_true", help="formula, reason, source, counter-example of what fails")
    parser.add_argument("--json", action="store_true", help="columns and checks instead of a table")
    parser.add_argument("--html", metavar="FILE", help="write a page")
    parser.add_argument(
        "--pytest", metavar="FILE", help="write a test file for your functions that needs numpy and pytest"
    )


def run(options: argparse.Namespace) -> int:
    """Compare schemes, configs, frequencies and functions: what each check measures beside its limit.

    Exit 0: each required check holds; 1: one does not; 2: a column is unreadable, and the others are judged; 70: a
    fault of this program.
    """
    unreadable = list[UnreadableColumn]()
    try:
        columns = compare(
            *options.columns,
            model=options.model,
            factor=options.factor,
            length=parse_token_count("--length", options.length),
            trained_to=parse_token_count("--trained-to", options.trained_to),
            fine_tuned=options.fine_tuned,
            thresholds=dict(_threshold(text) for text in options.threshold),
            like=options.like,
        )
    except UnreadableColumnsError as error:
        columns, unreadable = error.compared, error.unreadable
    refused = [unreadable_sentence(each, options.lang) for each in unreadable]
    if not columns:
        print_lines(*(sanitized_text(text, 600) for text in refused), error=True)
        return 2
    for path, text in (
        (options.html, html_page(columns, options.lang, unreadable) if options.html else ""),
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
        print_json(records(columns, options.lang, unreadable))
    else:
        _head(columns, options.lang)
        print_lines(*(f"✗ {sanitized_text(text, 600)}" for text in refused))
        _table(columns, options.lang)
        for each in columns:
            _faults(each, options.lang)
        # Of more than two the table says enough, and --json where each differs.
        if len(columns) == 2:
            _difference(columns[0], columns[1], options.lang)
        if options.explain:
            _explanations(columns, options.lang)
    return exit_code(columns, unreadable)


def _threshold(text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    try:
        return key, float(value)
    except ValueError:
        raise argument_error("--threshold", "KEY=NUMBER", text) from None


def _head(columns: list[ComparedColumn], lang: str) -> None:
    """Print what the columns are judged at, then each one's first cause, its count of checks, its nearest scheme."""
    print_lines(f"rope compare {__version__}")
    for sentence in (setting_sentence, config_sentence):
        print_lines(*(sanitized_text(text, 600) for text in shared_sentences(columns, sentence, lang)))
    for each in columns:
        first, *rest = headline_sentences(each, lang)
        first = f"✗ {each.column.name}: {first}" if each.broken else first
        sentences = filter(None, (first, *(rest[:1] if each.broken else ()), nearest_sentence(each, lang)))
        print_lines(*(sanitized_text(text, 1000) for text in sentences))


def _table(columns: list[ComparedColumn], lang: str) -> None:
    """Print a line for each check: its title and limit, what was measured of each column; then what is required."""
    t = words(lang, "commands")["compare"]
    rows = {row.key: row for each in columns for row in each.rows if row.holds is not None}
    names = [sanitized_text(each.column.name) for each in columns]
    cells = {key: [next((row for row in each.rows if row.key == key), None) for each in columns] for key in rows}
    limits = {key: common_limit(by_key) for key, by_key in cells.items()}
    texts = {key: [cell(row, limits[key]) for row in cells[key]] for key in rows}
    widths = [max(14, len(name) + 2, *(len(texts[key][k]) + 2 for key in rows)) for k, name in enumerate(names)]
    print_lines("")
    body = [(row.text("title", lang), limits[key], texts[key]) for key, row in rows.items()]
    for title, limit, each in [("", t["limit"], names), *body]:
        line = "".join(padded(text, width) for text, width in zip(each, widths, strict=True))
        print_lines((padded(title, 36) + padded(limit, 12) + line).rstrip())
    print_lines(table_words(lang, "table")["signs"], table_words(lang, "table")["rule"])


def _faults(each: ComparedColumn, lang: str) -> None:
    """Print each other cause of what a column does not hold, what it need not hold, and notes."""
    t, name = words(lang, "commands")["compare"], sanitized_text(each.column.name)
    folded = {row.key for row in each.consequences}
    lines = [f"✗ {name}: {text}" for text in headline_sentences(each, lang)[2:]]
    for row in (row for row in each.rows if row.holds is False and not row.broken and row.key not in folded):
        # The nearest scheme was named above.
        if row.key != "like":
            lines += [f"! {name}: {text} ({row.excuse_text(lang)})" for text in fault_sentences(row, lang)]
    lines += [f"{name}: {text}" for row in each.rows for text in note_sentences(row, lang)]
    broken = {row.key for row in each.broken}
    unused = next((row.values.get("without_effect") for row in each.rows if row.key == "arguments"), None)
    if unused and "arguments" not in broken and not (each.nearest and each.nearest.alike):
        lines.append(t["without_effect"].format(name=name, names=", ".join(unused)))
    if each.may_be_trained_on:
        lines.append(t["not_tuned"].format(name=name))
    if lines:
        print_lines("", *(sanitized_text(line, 1000) for line in lines))


def _difference(first: ComparedColumn, other: ComparedColumn, lang: str) -> None:
    """Print at which pairs the first column is another's; nothing where their models differ in width."""
    if first.inv_freq.size == other.inv_freq.size:
        name, beside = (sanitized_text(each.column.name) for each in (first, other))
        factors = attention_factors_of(first, other)
        print_lines("", difference_sentence("like", name, beside, difference(first, other), lang, factors))


def _explanations(columns: list[ComparedColumn], lang: str) -> None:
    """Print of each check that some column does not hold its formula, reason and sources."""
    failed = {row.key: row for each in columns for row in each.rows if row.holds is False}
    for row in failed.values():
        parts = (row.text(part, lang) for part in ("formula", "reason", "source", "counterexample"))
        print_lines("", f"{row.text('title', lang)} ({row.key})", *(f"  {text}" for text in parts))
