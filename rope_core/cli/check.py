"""`rope check`: findings on configs, for people, for programs and for CI."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rope_core.checks.against import agreement, overridden
from rope_core.checks.case import SEVERITIES, VERSIONS, Finding
from rope_core.checks.findings import ON_REQUEST, by_severity, check, check_text, known
from rope_core.cli.output import sarif, show_json, show_table
from rope_core.cli.source import HELP, add_language, guarded, load, read_source
from rope_core.errors import reject, sentence
from rope_core.hf.read import parse, read_config

SKIPPED = ("node_modules", "__pycache__")
MOST_FILES = 10_000


def add_output(parser: argparse.ArgumentParser) -> None:
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
    add_language(parser)


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(prog="rope check", description=main_check.__doc__)
    made.add_argument("config", nargs="+", help=f"{HELP}; of a folder every config.json below it")
    made.add_argument("--layer-type", help="only findings on these layers")
    made.add_argument("--seq-len", type=int, help="the length to be used, tokens")
    made.add_argument(
        "--transformers", choices=VERSIONS, default=VERSIONS[-1], help="the version that reads the config"
    )
    made.add_argument("--with", dest="other", metavar="CONFIG", help="another config that must turn alike")
    made.add_argument("--override", metavar="JSON", help="what an engine's override does to the config, as JSON")
    made.add_argument(
        "--all", action="store_true", help=f"with the notes that most models get: {', '.join(ON_REQUEST)}"
    )
    add_output(made)
    return made


def main_check(argv: Sequence[str]) -> int:
    """Check what a config's RoPE really does. Exit 0: nothing above note; 1: warnings or errors; 2: unreadable."""
    asked = parser().parse_args(argv)
    return guarded(lambda: _run(asked), asked.lang)


def _run(asked: argparse.Namespace) -> int:
    known_keys(asked.ignore)
    results: dict[str, list[Finding]] = {}
    unreadable: dict[str, str] = {}
    for source in [file for given in asked.config for file in below(given)]:
        try:
            results[source] = _checked(read_source(source), asked)
        except ValueError as error:
            unreadable[source] = sentence(error, asked.lang)
    return report(results, unreadable, asked, asked.transformers)


def _checked(given: bytes | Path | dict[str, Any], asked: argparse.Namespace) -> list[Finding]:
    """The findings on one config."""
    options = (asked.transformers, asked.layer_type, asked.seq_len)
    if asked.other is not None or asked.override is not None:
        config, extra = read_config(parse(given) if isinstance(given, bytes) else given), list[Finding]()
        if asked.override is not None:
            config, extra = overridden(config, parse(asked.override))
        if asked.other is not None:
            extra += agreement(config, load(asked.other))
        kept = [one for one in extra if asked.layer_type is None or one.layer_type in (None, asked.layer_type)]
        return by_severity([*kept, *check(config, *options, everything=asked.all)])
    if isinstance(given, bytes):
        return check_text(given, *options, everything=asked.all)
    return check(given, *options, everything=asked.all)


def known_keys(keys: Sequence[str]) -> None:
    """Raise ValueError on a key of --ignore that no finding has."""
    for key in keys:
        if key not in known():
            from difflib import get_close_matches

            near = get_close_matches(key, known(), 3, 0.5) or sorted(known())[:3]
            raise reject("--ignore", "finding_key", key, near=near)


def below(source: str) -> Iterator[str]:
    """Yield the configs that an argument names: itself, or every config.json below a folder."""
    path = Path(source)
    if source == "-" or not path.is_dir():
        yield source
        return
    files = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        files += [str(Path(folder) / "config.json")] if "config.json" in names else []
        if len(files) > MOST_FILES:
            raise reject("config", "files_limit", source, limit=MOST_FILES)
    alone = [str(path / "config.json")]
    yield from [source] if files in ([], alone) else files


def report(
    results: dict[str, list[Finding]], unreadable: dict[str, str], asked: argparse.Namespace, version: str
) -> int:
    """Print findings as asked and return the exit code."""
    shown = SEVERITIES[: SEVERITIES.index(asked.min_severity) + 1]
    failing = SEVERITIES[: SEVERITIES.index(asked.fail_on) + 1]
    results = {
        name: [one for one in found if one.severity in shown and one.key not in asked.ignore]
        for name, found in results.items()
    }
    code = 2 if unreadable else int(any(one.severity in failing for found in results.values() for one in found))
    many = len(results) + len(unreadable) > 1
    for name, text in unreadable.items():
        print(f"{name}: {text}" if many else text, file=sys.stderr)
    if asked.json:
        show_json(results, unreadable, version, code, asked.lang)
    elif asked.sarif:
        print(json.dumps(sarif(results, unreadable, asked.lang), ensure_ascii=False, indent=1))
    else:
        for name, found in results.items():
            show_table(name, found, asked.lang)
    return code
