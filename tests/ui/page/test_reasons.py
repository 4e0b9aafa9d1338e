"""Refusals in the page's language, from the very errors that the package raises."""

from __future__ import annotations

import pytest

from rope_core import Rope
from rope_core.schemes import SCHEMES
from rope_core.theory.clock import WALL
from rope_core.theory.extension import clocks, extensions, reach
from ui.page.reasons import PATTERNS, reason
from ui.text.words import LANGUAGES, Words


def raised() -> dict[str, str]:
    """One real refusal for each pattern."""
    with pytest.raises(ValueError) as beyond:
        reach(Rope(128, 1e4, 16_777_216), 1024.0)
    vector = next(name for name in SCHEMES if "short_factor" in SCHEMES[name].defaults())
    found = extensions(Rope(8), {vector: {"short_factor": (1.0, 2.0)}}, 8192)[1]
    slow = clocks(WALL, {"dynamic": {"factor": 4.0}}, 10**9, 16)[1]
    narrow = extensions(Rope(2), {"ntk": {"factor": 2.0}}, 8192)[1]
    return {
        "too_long": str(beyond.value),
        "vector": str(found[vector]),
        "clock_length": str(slow["dynamic"]),
        "two_pairs": str(narrow["ntk"]),
    }


def test_every_pattern_meets_the_refusal_it_is_for() -> None:
    assert raised().keys() == PATTERNS.keys()
    for name, message in raised().items():
        for lang in LANGUAGES:
            t = Words(lang, "clock")
            said = reason(message, t)
            assert said != message and "must be" not in said
            assert said.startswith(t(f"reason.{name}").split("{")[0])


def test_the_numbers_are_carried_over() -> None:
    said = {name: reason(message, Words("zh", "clock")) for name, message in raised().items()}
    assert "16,777,216" in said["too_long"] and "1,024" in said["too_long"] and "2,147,483,647" in said["too_long"]
    assert "short_factor" in said["vector"] and "4 对" in said["vector"]
    assert "维数为 2 " in said["two_pairs"]


def test_an_unknown_refusal_stays_as_it_is() -> None:
    assert reason("x must be even, got 3", Words("zh", "clock")) == "x must be even, got 3"
