"""Reading a Hugging Face config: from a dict, a file or a config object to plain values, or one clear sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rope_core.errors import ConfigError, finite, show, whole
from rope_core.rope import MAX_LEN

# A released config.json has some kilobytes; JSON of this size can take forty times its bytes once it is parsed.
MAX_BYTES = 2 * 2**20
MAX_LAYERS = 4096
MAX_DEPTH = 32


def refuse(path: str, rule: str, value: object) -> ConfigError:
    """Build the ConfigError that names a config field, its rule and what stood there."""
    return ConfigError(f"{path} must be {rule}, got {show(value)}")


def read_config(config: object) -> dict[str, Any]:
    """Return the config as a dict of its own: a dict, a path to a JSON file or its folder, or an object with to_dict().

    Raises ConfigError when the file cannot be read, is no JSON, or holds no object.
    """
    if isinstance(config, str | Path):
        parsed = parse(read_file(Path(config)))
        shallow(parsed)
        return parsed
    if not isinstance(config, Mapping):
        to_dict = getattr(config, "to_dict", None)
        if not callable(to_dict):
            raise refuse("config", "a dict, a path, or an object with to_dict()", config)
        config = to_dict()
    if not isinstance(config, Mapping):
        raise refuse("config", "an object with named fields", config)
    shallow(config)
    return {str(key): value for key, value in config.items()}


def shallow(value: object) -> None:
    """Raise ConfigError on nesting deeper than any config has, before anything recurses into it."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inner = [list(item.values()) if isinstance(item, Mapping) else item for item in level]
        level = [leaf for item in inner for leaf in item if isinstance(leaf, Mapping | list | tuple)]
        if not level:
            return
    raise ConfigError(f"config must be nested at most {MAX_DEPTH} levels deep, got more")


def read_file(path: Path) -> bytes:
    """Return the bytes of a JSON file, or of config.json in a folder."""
    try:
        target = path / "config.json" if path.is_dir() else path
        if target.stat().st_size > MAX_BYTES:
            raise refuse("config", f"a file of at most {MAX_BYTES} bytes", f"{target.stat().st_size} bytes")
        return target.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise refuse("config", "a readable file", str(path)) from None


def parse(text: str | bytes) -> dict[str, Any]:
    """Return the object that a JSON text holds; of a name that stands twice the last value counts, as in transformers.

    Raises ConfigError on text that is no JSON, no UTF-8, nested too deeply, too long, or no object.
    """
    if len(text) > MAX_BYTES:
        raise refuse("config", f"at most {MAX_BYTES} bytes of JSON", f"{len(text)} bytes")
    try:
        value = json.loads(text.removeprefix("\ufeff") if isinstance(text, str) else text)
        whole_letters(text, value)
    except RecursionError:
        raise ConfigError("config must be JSON nested at most a few hundred levels deep, got more") from None
    except UnicodeDecodeError:
        raise ConfigError("config must be UTF-8 text, got other bytes") from None
    except UnicodeEncodeError:
        raise ConfigError("config must be made of whole characters, got half of a surrogate pair") from None
    except ValueError as error:
        raise ConfigError(f"config must be JSON, got an error: {error}") from None
    if not isinstance(value, dict):
        raise refuse("config", "a JSON object", value)
    return value


def whole_letters(text: str | bytes, value: object) -> None:
    """Raise UnicodeEncodeError where a JSON text spells half a character, which no file, terminal or page takes."""
    marks: tuple[Any, Any] = ("\\u", "\0") if isinstance(text, str) else (b"\\u", b"\0")
    if not text.isascii() or any(mark in text for mark in marks):
        json.dumps(value, ensure_ascii=False).encode()


def number(path: str, value: object, rule: str = "a finite number") -> float:
    """Return ``value`` as float, or raise ConfigError naming ``path``."""
    try:
        return finite(path, value, rule)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def count(path: str, value: object, low: int = 1, high: int = MAX_LEN) -> int:
    """Return ``value`` as int in [low, high], or raise ConfigError naming ``path``."""
    try:
        return whole(path, value, low, high)
    except (ValueError, OverflowError) as error:
        raise ConfigError(str(error)) from None


def table(path: str, value: object) -> dict[str, Any] | None:
    """Return ``value`` as a dict of its own, None for null, or raise ConfigError."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise refuse(path, "an object or null", value)
    return {str(key): inner for key, inner in value.items()}


def names(path: str, value: object) -> list[str] | None:
    """Return ``value`` as a list of names, None for null, or raise ConfigError."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise refuse(path, "a list of names", value)
    if len(value) > MAX_LAYERS:
        raise refuse(path, f"a list of at most {MAX_LAYERS} names", f"{len(value)} names")
    return list(value)


def truthy(value: object) -> bool:
    """Whether Python's ``or`` keeps ``value``; NaN is kept."""
    return bool(value) or (isinstance(value, float) and math.isnan(value))
