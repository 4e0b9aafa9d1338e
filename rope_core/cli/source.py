"""What the subcommands share: where a config and a length come from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rope_core.errors import ConfigError, argument_error, checked_int
from rope_core.hf.hub import fetch_config, is_model_id
from rope_core.hf.read import MAX_BYTES, parse_json_object, read_config

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
    if not source:
        raise ConfigError("config", "config_file", source)
    if not Path(source).exists() and is_model_id(source):
        return fetch_config(source)
    return Path(source)


def load_config(source: str) -> dict[str, Any]:
    """Return the config that `-`, a path or a hub id names. Raises ConfigError on what cannot be read."""
    given = read_source(source)
    return read_config(parse_json_object(given) if isinstance(given, bytes) else given)


def parse_token_count(name: str, text: str | None) -> int | None:
    """Return a length given as text, None where none is. Raises ValueError on letters, such as 128k's."""
    if text is None:
        return None
    try:
        return int(text.replace(",", ""))
    except ValueError:
        raise argument_error(name, "token_count", text) from None


def set_torch_threads(count: int | None) -> None:
    """Set torch's threads, or leave them; raises ValueError on a count that is none."""
    if count is not None:
        import torch

        torch.set_num_threads(checked_int("--threads", count, 1, 4096))
