"""What each stage of a student's function gave, as sentences."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rope_core.errors import argument_error
from rope_core.findings import sanitized_text
from rope_core.grade import starter as starters
from rope_core.languages import words


@dataclass(frozen=True)
class StageResult:
    """What a stage of a function gave.

    Attributes:
        points: what passing the stage counts.
        key: what is wrong, a key of the languages' grade.toml; "" where the stage passed.
        slots: the values in the sentence; ``slots["mistake"]`` names a known mistake.
    """

    function: str
    stage: str
    points: float
    key: str = ""
    slots: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the stage passed."""
        return not self.key

    def headline(self, lang: str = "en") -> str:
        """Return function, stage and whether it passed.

        >>> StageResult("rotate", "values", 1.0).headline()
        'rotate, the right values: passed'
        """
        return group_headline([self], lang)

    def sentence(self, lang: str = "en") -> str:
        """Return what is wrong, "" where nothing is."""
        if self.passed:
            return ""
        slots = {name: sanitized_text(str(value)) for name, value in self.slots.items()}
        if self.key == "mistake":
            slots["why"] = words(lang, "grade")["mistake"][self.slots["mistake"]]
        return str(words(lang, "grade")["fault"][self.key]).format_map(slots)


def group_by_mistake(results: Iterable[StageResult]) -> list[list[StageResult]]:
    """Return results in groups: stages of a function that fail by the same mistake, each that passed alone."""
    groups: dict[tuple[str, ...], list[StageResult]] = {}
    for each in results:
        why = each.stage if each.passed else str(each.slots.get("mistake", each.sentence()))
        groups.setdefault((each.function, each.key, why), []).append(each)
    return list(groups.values())


def group_headline(group: Sequence[StageResult], lang: str) -> str:
    """Return a function, the stages of it that gave the same, and whether they passed."""
    texts, items = words(lang, "grade"), words(lang, "language")["items"]
    word: str = texts["word"]["passed" if group[0].passed else "failed"]
    return word.format(function=group[0].function, stage=items.join(texts["stage"][each.stage] for each in group))


def check_python_syntax(source: str, name: str) -> None:
    """Raise ValueError, with the line, where a student's text is no Python."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        detail = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise argument_error("file", "python_file", name, line=line, detail=detail) from None


def stage_results(
    function_name: str, points: Mapping[str, float], lines: Iterable[str], end_reason: tuple[str, Mapping[str, object]]
) -> list[StageResult]:
    """Return a function's stages from the lines that the child wrote, and for the rest why it ended; failed ones first.

    A law that passes above an answer that is wrong would read as praise of it.
    """
    done: dict[str, tuple[str, Mapping[str, object]]] = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # the child was ended within its last line
            break
        done[record["stage"]] = record["key"], record["slots"]
    graded = [StageResult(function_name, stage, worth, *done.get(stage, end_reason)) for stage, worth in points.items()]
    return sorted(graded, key=lambda result: result.passed)


def starter_source(name: str) -> str:
    """Return the lines that a student fills in: a function's signature, and its backward's where it has one."""
    functions = (getattr(starters, each, None) for each in (name, f"{name}_backward"))
    return "\n\n".join(["import numpy as np\n\nArray = np.ndarray\n", *map(inspect.getsource, filter(None, functions))])
