"""What the subcommands share: where a config comes from, and how a value is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.checks.records import as_json
from rope_core.errors import ConfigError, reject
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


def tokens(name: str, text: str | None) -> int | None:
    """Return a length given as text, None where none is. Raises ValueError on letters, such as 128k's."""
    if text is None:
        return None
    try:
        return int(text.replace(",", ""))
    except ValueError:
        raise reject(name, "token_count", text) from None


def named(source: str, names: Sequence[str], single: str) -> dict[str, Any]:
    """Return the arrays that a JSON object, a safetensors or an .npy file holds, by name; the last as ``single``.

    Raises ValueError on a file that cannot be read, or that holds another name.
    """
    path = Path(source)
    if not path.is_file():
        raise reject("file", "regular_file", source)
    if path.suffix == ".npy":
        return {single: np.load(path)}
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        values: dict[str, Any] = load_file(path)
    else:
        values = parse(path.read_bytes())
    for name in values:
        if name not in names:
            raise reject("file", "one_of", name, names=names)
    if single not in values:
        raise reject("file", f"a file with {single}", sorted(values))
    return values


def print_json(value: object) -> None:
    """Print ``value`` as JSON in ASCII: nothing of a config steers a terminal."""
    print(json.dumps(as_json(value), indent=1))
