"""`rope check`: findings on configs, for people, for programs and for CI."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rope_core.checks.against import apply_override, rotation_difference_findings
from rope_core.checks.check import ON_REQUEST, check, check_text, finding_severities_and_titles, sorted_by_severity
from rope_core.cli.output import findings_record, findings_sarif, print_findings_table
from rope_core.cli.source import HELP, load_config, parse_token_count, read_source
from rope_core.cli.terminal import print_json, print_lines
from rope_core.errors import argument_error, error_sentence
from rope_core.findings import SEVERITIES, VERSIONS, Finding
from rope_core.hf.read import parse_json_object, read_config
from rope_core.hf.resolve import layer_types

SKIPPED = ("node_modules", "__pycache__")
MOST_FILES = 10_000


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `rope check` and `rope verify` share: formats, severities, keys to leave out, the language."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    form.add_argument("--sarif", action="store_true", help="a SARIF 2.1.0 log, for code scanning")
    parser.add_argument("--fail-on", choices=("error", "warning"), default="warning", help="least severity for exit 1")
    parser.add_argument(
        "--min-severity", choices=SEVERITIES, default="note", help="leave out what is less; it does not count either"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="KEY", help="leave this finding out; repeatable"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", nargs="+", help=f"{HELP}; of a folder every config.json below it")
    parser.add_argument("--layer-type", help="only findings on these layers")
    parser.add_argument("--seq-len", help="the length to be used, tokens")
    parser.add_argument(
        "--transformers",
        default=VERSIONS[-1],
        metavar="VERSION",
        help="the version that reads the config: 4.57, or 5.0 to 5.24 (the default)",
    )
    parser.add_argument("--with", dest="other", metavar="CONFIG", help="another config that must rotate as this one")
    parser.add_argument("--override", metavar="JSON", help="what an engine's override does to the config, as JSON")
    parser.add_argument(
        "--all", action="store_true", help=f"with the notes that most models get: {', '.join(ON_REQUEST)}"
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Check what a config's RoPE really does. Exit 0: nothing above note; 1: warnings or errors; 2: unreadable."""
    options.seq_len = parse_token_count("--seq-len", options.seq_len)
    check_ignored_keys(options.ignore)
    results: dict[str, list[Finding]] = {}
    unreadable: dict[str, str] = {}
    for source in [file for given in options.config for file in config_sources(given)]:
        try:
            results[source] = _checked(read_source(source), options)
        except ValueError as error:
            unreadable[source] = error_sentence(error, options.lang)
    return print_report(results, unreadable, options, options.transformers)


def _checked(given: bytes | Path | dict[str, Any], options: argparse.Namespace) -> list[Finding]:
    """Return the findings on a config."""
    how = (options.transformers, options.layer_type, options.seq_len)
    if options.other is not None or options.override is not None:
        config, extra = read_config(parse_json_object(given) if isinstance(given, bytes) else given), list[Finding]()
        if options.override is not None:
            config, extra = apply_override(config, parse_json_object(options.override))
        if options.other is not None:
            extra += rotation_difference_findings(
                config, load_config(options.other), options.seq_len, options.layer_type
            )
            if not layer_types(config):
                # The layer type of the other config: this one has a single rotation.
                how = (options.transformers, None, options.seq_len)
        kept = [
            finding
            for finding in extra
            if options.layer_type is None or finding.layer_type in (None, options.layer_type)
        ]
        # A base that the override drops is told as its loss, not as a base that the file lacks.
        dropped = any(finding.key == "override_loses" and finding.severity == "error" for finding in extra)
        own = check(config, *how, everything=options.all)
        return sorted_by_severity([*kept, *(each for each in own if not (dropped and each.key.startswith("base_")))])
    if isinstance(given, bytes):
        return check_text(given, *how, everything=options.all)
    return check(given, *how, everything=options.all)


def check_ignored_keys(keys: Sequence[str]) -> None:
    """Raise ValueError on a key of --ignore that no finding has."""
    for key in keys:
        if key not in finding_severities_and_titles():
            from difflib import get_close_matches

            near = (
                get_close_matches(key, finding_severities_and_titles(), 3, 0.5)
                or sorted(finding_severities_and_titles())[:3]
            )
            raise argument_error("--ignore", "finding_key", key, near=near)


def config_sources(source: str) -> Iterator[str]:
    """Yield the configs that an argument names: itself, or every config.json below a folder."""
    path = Path(source)
    if source in ("", "-") or not path.is_dir():
        yield source
        return
    files, waiting = list[str](), [str(path)]
    while waiting:
        folder = waiting.pop()
        try:
            inside = sorted(os.scandir(folder), key=lambda each: each.name, reverse=True)
        except OSError:
            continue
        files += [str(Path(folder) / each.name) for each in inside if each.name == "config.json"]
        waiting += [each.path for each in inside if each.is_dir(follow_symlinks=False) and _searched(each.name)]
        if len(files) > MOST_FILES:
            raise argument_error("config", "files_limit", source, limit=MOST_FILES)
    alone = [str(path / "config.json")]
    yield from [source] if files in ([], alone) else files


def _searched(folder: str) -> bool:
    return folder not in SKIPPED and not folder.startswith(".")


def print_report(
    results: dict[str, list[Finding]], unreadable: dict[str, str], options: argparse.Namespace, version: str
) -> int:
    """Print findings as options and return the exit code."""
    shown = SEVERITIES[: SEVERITIES.index(options.min_severity) + 1]
    failing = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1]
    results = {
        name: [finding for finding in findings if finding.severity in shown and finding.key not in options.ignore]
        for name, findings in results.items()
    }
    code = (
        2
        if unreadable
        else int(any(finding.severity in failing for findings in results.values() for finding in findings))
    )
    for name, text in unreadable.items():
        print_lines(f"{name}: {text}", error=True)
    if options.json:
        print_json(findings_record(results, unreadable, version, code, options.lang))
    elif options.sarif:
        print_json(findings_sarif(results, unreadable, options.lang))
    else:
        for name, findings in results.items():
            print_findings_table(name, findings, options.lang)
    return code
