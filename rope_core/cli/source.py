"""What the subcommands share: where a config comes from, how an error and a value are shown."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rope_core.checks.records import as_json
from rope_core.errors import LANGUAGES, ConfigError, sentence
from rope_core.hf.hub import fetch, looks_like_id
from rope_core.hf.read import MAX_BYTES, parse, read_config

HELP = "config.json, its folder, - for standard input, or org/name[@revision]"


def read_source(source: str) -> bytes | Path | dict[str, Any]:
    """Return what `-`, a path or a hub id names: text from standard input, the path, or the fetched config.

    Raises ConfigError on standard input that is too long, or an id that cannot be fetched.
    """
    if source == "-":
        text = sys.stdin.buffer.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ConfigError("config", "json_bytes", f"more than {MAX_BYTES} bytes", limit=MAX_BYTES)
        return text
    if not Path(source).exists() and looks_like_id(source):
        return fetch(source)
    return Path(source)


def load(source: str) -> dict[str, Any]:
    """Return the config that `-`, a path or a hub id names. Raises ConfigError on what cannot be read."""
    given = read_source(source)
    return read_config(parse(given) if isinstance(given, bytes) else given)


def add_language(parser: argparse.ArgumentParser) -> None:
    """Add --lang."""
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the sentences")


def guarded(function: Callable[[], int], lang: str) -> int:
    """Run a subcommand's body; a bad argument or config is one sentence on standard error and exit code 2."""
    try:
        return function()
    except ValueError as error:
        print(sentence(error, lang), file=sys.stderr)
        return 2


def print_json(value: object) -> None:
    """Print ``value`` as JSON in ASCII: nothing of a config steers a terminal."""
    print(json.dumps(as_json(value), indent=1))
