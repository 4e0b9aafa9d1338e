"""The package's words: every language has the tables, keys and slots of the first."""

import re
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import rope_core
from rope_core.languages import FIRST, LANGUAGES, words

TABLES = sorted(
    path.relative_to(folder).with_suffix("").as_posix()
    for folder in [Path(rope_core.__file__).parent / "text" / FIRST]
    for path in folder.rglob("*.toml")
)
CHINESE = re.compile("[一-鿿。：；，、（）]")


def flat(table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return a table's texts by their keys, joined by slashes."""
    parts = [
        flat(each, f"{prefix}{key}/") if isinstance(each, dict) else {prefix + key: each} for key, each in table.items()
    ]
    return {key: text for part in parts for key, text in part.items()}


@pytest.mark.parametrize("name", TABLES)
def test_a_language_has_the_keys_and_slots_of_the_first(name: str) -> None:
    first = flat(words(FIRST, name))
    assert len(TABLES) == 17 and first
    for lang in LANGUAGES:
        own = flat(words(lang, name))
        assert own.keys() == first.keys()
        for key, text in own.items():
            # Formulas of the ledger have braces; nothing is filled in.
            slots = [
                {s for _, s, _, _ in Formatter().parse(each) if s and "ledger" not in name}
                for each in (text, first[key])
            ]
            # Words stand apart in some languages and not in others: a gap may be empty.
            assert bool(text.strip()) == bool(first[key].strip()) and slots[0] == slots[1], key
            if name != "language":
                assert not CHINESE.search(first[key]), key
                assert lang != "zh" or CHINESE.search(text) or text.strip() == first[key].strip(), key


def test_there_is_no_other_language() -> None:
    with pytest.raises(ValueError, match=r"lang must be one of en, zh, got '\.\./en'"):
        words("../en", "errors")
