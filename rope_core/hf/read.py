"""Reading a Hugging Face config: from a dict, a file or a config object to plain values, or one clear sentence."""

from __future__ import annotations

import json
import math
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rope_core.errors import ArgumentError, ConfigError, checked_finite, checked_int
from rope_core.rope import MAX_LEN

# A released config.json has some kilobytes; JSON of this size can take forty times its bytes once it is parsed.
MAX_BYTES = 2 * 2**20
MAX_LAYERS = 4096
PLAIN = frozenset({str, int, float, bool, type(None)})
NESTED = (dict, list, tuple, Mapping)
MAX_DEPTH = 32
# A quantised model of 61 layers and 256 experts has an object for each of 47,000 projections; each copy takes time.
MAX_NESTED = 60_000
JsonObjectHook = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def read_config(config: object) -> dict[str, Any]:
    """Return the config as a dict of its own: a dict, a path to a JSON file or its folder, or an object with to_dict().

    Raises ConfigError when the file cannot be read, is no JSON, or holds no object.
    """
    if isinstance(config, str | Path):
        parsed = parse_json_object(read_config_bytes(Path(config)))
        check_nesting_depth(parsed)
        return parsed
    if not isinstance(config, Mapping):
        to_dict = getattr(config, "to_dict", None)
        if not callable(to_dict):
            raise ConfigError("config", "config_given", config)
        config = to_dict()
    if not isinstance(config, Mapping):
        raise ConfigError("config", "config_object", config)
    check_nesting_depth(config)
    return {str(key): value for key, value in config.items()}


def check_nesting_depth(value: object) -> None:
    """Raise ConfigError on more or deeper nesting than any config has, before anything copies or recurses."""
    level: list[Any] = [value]
    held = 0
    for _ in range(MAX_DEPTH):
        held += len(level)
        if held > MAX_NESTED:
            raise ConfigError.from_key("nested_count", limit=MAX_NESTED)
        inner = [item if isinstance(item, list | tuple) else item.values() for item in level]
        # Most leaves are plain values, which the test on an abstract class is slow to tell.
        level = [leaf for item in inner for leaf in item if type(leaf) not in PLAIN and isinstance(leaf, NESTED)]
        if not level:
            return
    raise ConfigError.from_key("nested_depth", limit=MAX_DEPTH)


def read_config_bytes(path: Path) -> bytes:
    """Return the bytes of a JSON file, or of config.json in a folder."""
    try:
        with open_regular(path / "config.json" if path.is_dir() else path) as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ConfigError("config", "file_bytes", f"more than {MAX_BYTES} bytes", limit=MAX_BYTES)
        return text
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError("config", "readable_file" if path.is_file() else "config_file", str(path)) from None


@contextmanager
def open_regular(path: Path, name: str = "config") -> Iterator[BinaryIO]:
    """Open a regular file for reading; ConfigError on anything else, OSError on what cannot be opened."""
    # A pipe would block at open without O_NONBLOCK, and a device has no end.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ConfigError(name, "regular_file", str(path))
        yield file


def load_json(text: str | bytes, pairs: JsonObjectHook | None = None, argument: str = "config") -> Any:
    """Return the value that a JSON text holds; of a repeated name the last value counts, as in transformers.

    ``pairs`` makes a dict of each object's names and values, as json.loads's object_pairs_hook.

    Raises ConfigError that names ``argument`` on text that is no JSON, no UTF-8, nested too deeply, or too long.
    """
    if len(text) > MAX_BYTES:
        raise ConfigError(argument, "json_bytes", f"more than {MAX_BYTES} bytes", limit=MAX_BYTES)
    try:
        value = json.loads(text.removeprefix("\ufeff") if isinstance(text, str) else text, object_pairs_hook=pairs)
        refuse_half_characters(text, value)
    except RecursionError:
        raise ConfigError.from_key("json_depth", argument=argument) from None
    except UnicodeDecodeError:
        raise ConfigError.from_key("utf8", argument=argument) from None
    except UnicodeEncodeError:
        raise ConfigError.from_key("surrogate", argument=argument) from None
    except json.JSONDecodeError as error:
        raise ConfigError.from_key("not_json", argument=argument, detail=str(error)) from None
    except ValueError:  # Python reads no integer of more digits
        raise ConfigError.from_key("json_digits", argument=argument, limit=sys.get_int_max_str_digits()) from None
    return value


def parse_json_object(text: str | bytes, pairs: JsonObjectHook | None = None) -> dict[str, Any]:
    """Return the object that a JSON text holds. Raises ConfigError as ``load_json`` does, and on any other value."""
    value = load_json(text, pairs)
    if not isinstance(value, dict):
        raise ConfigError("config", "json_object", value)
    return value


def refuse_half_characters(text: str | bytes, value: object) -> None:
    """Raise UnicodeEncodeError where a JSON text spells half a character, which no file, terminal or page takes."""
    marks: tuple[Any, Any] = ("\\u", "\0") if isinstance(text, str) else (b"\\u", b"\0")
    if not text.isascii() or any(mark in text for mark in marks):
        json.dumps(value, ensure_ascii=False).encode()


def config_float(path: str, value: object, rule: str = "finite_number", /, **slots: object) -> float:
    """Return ``value`` as float, or raise ConfigError naming ``path``."""
    try:
        return checked_finite(path, value, rule, **slots)
    except ArgumentError as error:
        raise ConfigError(path, error.rule, value) from None


def config_int(path: str, value: object, low: int = 1, high: int = MAX_LEN) -> int:
    """Return ``value`` as int in [low, high], or raise ConfigError naming ``path``."""
    try:
        return checked_int(path, value, low, high)
    except ArgumentError as error:
        raise ConfigError(path, error.rule, value) from None


def config_dict(path: str, value: object) -> dict[str, Any] | None:
    """Return ``value`` as a dict of its own, None for null, or raise ConfigError."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ConfigError(path, "object_or_null", value)
    return {str(key): inner for key, inner in value.items()}


def config_names(path: str, value: object) -> list[str] | None:
    """Return ``value`` as a list of names, None for null, or raise ConfigError."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(path, "list_of_names", value)
    if len(value) > MAX_LAYERS:
        raise ConfigError(path, "names_limit", len(value), limit=MAX_LAYERS)
    return list(value)


def is_truthy(value: object) -> bool:
    """Whether Python's ``or`` keeps ``value``; NaN is kept."""
    return bool(value) or (isinstance(value, float) and math.isnan(value))
