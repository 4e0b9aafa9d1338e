"""The words of the commands, from words.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads(resources.files("rope_core.cli").joinpath("words.toml").read_text(encoding="utf-8"))


def command_texts(table_name: str, lang: str) -> dict[str, str]:
    """Return one table's texts in "en" or "zh".

    >>> command_texts("engines", "en")["width"]
    'rotates other pairs'
    """
    return {key: row[lang] for key, row in _texts()[table_name].items()}
