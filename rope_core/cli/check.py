"""`rope check`: findings on configs, for people, for programs and for CI."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rope_core.checks.case import SEVERITIES, VERSIONS, Finding, printable
from rope_core.checks.findings import check, check_text
from rope_core.errors import LANGUAGES, ConfigError
from rope_core.hf.hub import fetch, looks_like_id
from rope_core.hf.read import MAX_BYTES

CLEAN = {"en": "nothing found", "zh": "没有发现问题"}
WORDS = {
    "en": {"error": "error", "warning": "warning", "note": "note"},
    "zh": {"error": "错误", "warning": "警告", "note": "说明"},
}


def read_source(source: str) -> bytes | Path | dict[str, Any]:
    """What `-`, a path or a hub id stands for: text from standard input, the path, or the fetched config.

    Raises ConfigError on standard input that is too long, or an id that cannot be fetched.
    """
    if source == "-":
        text = sys.stdin.buffer.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ConfigError(f"config must be at most {MAX_BYTES} bytes, got more")
        return text
    if not Path(source).exists() and looks_like_id(source):
        return fetch(source)
    return Path(source)


def as_json(value: object) -> Any:
    """``value`` as JSON can hold it: numbers that are not finite become their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return value if isinstance(value, str | int | float) or value is None else str(value)


def as_record(one: Finding, lang: str) -> dict[str, Any]:
    """A finding with its sentences, for JSON."""
    return {
        "key": one.key,
        "severity": one.severity,
        "field": one.field,
        "layer_type": one.layer_type,
        "values": as_json(dict(one.values)),
        "title": one.title(lang),
        "why": one.why(lang),
        "change": one.change(lang),
        "source": one.source,
        "versions": list(one.versions),
    }


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    made = argparse.ArgumentParser(prog="rope check", description=main_check.__doc__)
    made.add_argument("config", nargs="+", help="config.json, its folder, - for standard input, or org/name[@revision]")
    made.add_argument("--layer-type", help="only findings on these layers")
    made.add_argument("--seq-len", type=int, help="the length to be used, tokens")
    made.add_argument(
        "--transformers", choices=VERSIONS, default=VERSIONS[-1], help="the version that reads the config"
    )
    made.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    made.add_argument("--fail-on", choices=("error", "warning"), default="warning", help="least severity for exit 1")
    made.add_argument("--ignore", action="append", default=[], metavar="KEY", help="leave this finding out; repeatable")
    made.add_argument("--lang", choices=LANGUAGES, default="en")
    return made


def main_check(argv: Sequence[str]) -> int:
    """Check what a config's RoPE really does. Exit 0: nothing above note; 1: warnings or errors; 2: unreadable."""
    asked = parser().parse_args(argv)
    results: dict[str, list[Finding]] = {}
    unreadable: dict[str, str] = {}
    for source in asked.config:
        try:
            given = read_source(source)
            options = (asked.transformers, asked.layer_type, asked.seq_len)
            found = check_text(given, *options) if isinstance(given, bytes) else check(given, *options)
            results[source] = [one for one in found if one.key not in asked.ignore]
        except ValueError as error:
            unreadable[source] = str(error)
            print(f"{source}: {error}" if len(asked.config) > 1 else error, file=sys.stderr)
    failing = SEVERITIES[: SEVERITIES.index(asked.fail_on) + 1]
    code = 2 if unreadable else int(any(one.severity in failing for found in results.values() for one in found))
    if asked.json:
        files = [
            {"config": name, "findings": [as_record(one, asked.lang) for one in found]}
            for name, found in results.items()
        ]
        files += [{"config": name, "unreadable": sentence} for name, sentence in unreadable.items()]
        print(
            json.dumps({"transformers": asked.transformers, "exit": code, "files": files}, ensure_ascii=False, indent=1)
        )
        return code
    for name, found in results.items():
        show_table(name, found, asked.lang)
    return code


def show_table(name: str, found: list[Finding], lang: str) -> None:
    """Print one config's findings as a table; plain lines where rich is not installed."""
    if not found:
        print(f"{name}: {CLEAN[lang]}")
        return
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        for one in found:
            print(f"{name}: {WORDS[lang][one.severity]} [{one.key}] {printable(one.field)}: {one.title(lang)}")
            print(f"    {one.why(lang)}\n    {one.change(lang)}\n    {one.source}")
        return
    colours = {"error": "bold red", "warning": "yellow", "note": "cyan"}
    table = Table(title=Text(name), box=box.SIMPLE, show_header=False, title_justify="left")
    table.add_column()
    table.add_column(overflow="fold")
    for one in found:
        head = Text(f"{WORDS[lang][one.severity]}\n", style=colours[one.severity])
        where = printable(f"{one.field} ({one.layer_type})" if one.layer_type else one.field)
        body = Text.assemble(
            (f"{one.title(lang)}\n", "bold"), f"{where}  [{one.key}]\n{one.why(lang)}\n{one.change(lang)}\n"
        )
        table.add_row(head, body.append(one.source, style="dim"))
    Console(soft_wrap=False).print(table)
