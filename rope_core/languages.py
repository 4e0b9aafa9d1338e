"""The languages and the package's words: a folder of rope_core/text is a language, and no other file lists them.

A third language is a folder here and one in ui/text, with the files of "en". ``language.toml`` holds its own name, its
locale, what joins the items and the clauses of a list, and the frame of an error.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

FIRST = "en"
_FOLDER = resources.files("rope_core") / "text"


@cache
def _table(lang: str, name: str) -> dict[str, Any]:
    return tomllib.loads(_FOLDER.joinpath(lang, f"{name}.toml").read_text(encoding="utf-8"))


_CODES = {each.name for each in _FOLDER.iterdir() if each.is_dir()} - {FIRST}
LANGUAGES: dict[str, str] = {lang: _table(lang, "language")["name"] for lang in (FIRST, *sorted(_CODES))}
"""Each language's name in itself, by code; FIRST comes first."""


def words(lang: str, name: str) -> dict[str, Any]:
    """Return the words of rope_core/text/<lang>/<name>.toml; raises ValueError on a language that is none.

    >>> words("en", "errors")["rule"]["finite_number"], words("en", "language")["locale"]
    ('a finite number', 'en')
    """
    if lang not in LANGUAGES:
        raise ValueError(f"lang must be one of {', '.join(LANGUAGES)}, got {lang!r}")
    return _table(lang, name)


def language_of_locale(locale: str | None) -> str:
    """Return the language that a browser's locale asks for, FIRST where there is none of it.

    >>> language_of_locale("zh-TW"), language_of_locale("de"), language_of_locale(None)
    ('zh', 'en', 'en')
    """
    lang = (locale or "").lower().partition("-")[0]
    return lang if lang in LANGUAGES else FIRST


def other_language(lang: str) -> str:
    """Return the language that a glossary sets beside this one.

    >>> other_language("en"), other_language("zh")
    ('zh', 'en')
    """
    return next(other for other in LANGUAGES if other != lang)
