"""What a stage finds wrong in a student's answer, and the call that judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rope_core.grade.remote import exception_record, from_json_array
from rope_core.rope import Array

SubmittedFunctions = Mapping[str, Callable[..., Any]]
MOST_LINES = 2**20


class GradingStageError(Exception):
    """A failed stage: a key of the languages' grade.toml with the values of its slots, all of them JSON."""

    def __init__(self, key: str, **slots: object) -> None:
        super().__init__(key)
        self.key, self.slots = key, slots


class StudentFunctions:
    """The functions of a student's file, called with copies; whatever goes wrong is a GradingStageError."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.functions = functions

    def call(self, name: str, *arguments: Any) -> Any:
        """Return the student's answer. Raises Fault where the function is missing or raises."""
        function = self.functions.get(name)
        if not callable(function):
            raise GradingStageError("missing", name=name)
        try:
            return function(*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))
        except BaseException as error:
            raise failure_of_exception(error) from None

    def array(self, name: str, shape: tuple[int, ...], *arguments: Any) -> Any:
        """Return the student's answer as an array of ``shape``, or raise Fault."""
        return checked_answer_array(name, self.call(name, *arguments), shape)


def failure_of_exception(error: BaseException) -> GradingStageError:
    """Return the GradingStageError for an exception in a student's file, with the last line of that file."""
    return exception_failure(**exception_record(error))


def exception_failure(error: str, detail: str, lines: list[Any]) -> GradingStageError:
    """Return the error for an exception by its name, its text, and the lines of the student's file on its way."""
    words = error.strip() or Exception.__name__, detail.strip()
    text, line = ": ".join(filter(None, words)), lines[-1] if lines else None
    if isinstance(line, int) and 0 < line <= MOST_LINES:
        return GradingStageError("raised", line=line, error=text)
    return GradingStageError("not_called", error=text)


def reply_value(name: str, reply: Any) -> Any:
    """Return what a function answered elsewhere. Raises Fault where it raised, or gave no numbers."""
    if reply.get("missing"):
        raise GradingStageError("missing", name=name)
    if "error" in reply:
        raise exception_failure(str(reply["error"])[:100], str(reply["detail"])[:200], list(reply["lines"]))
    value = from_json_array(reply["value"])
    if value is None:
        raise GradingStageError("kind", name=name, got=str(reply["value"].get("type"))[:100])
    return value


def checked_answer_array(name: str, answer: Any, shape: tuple[int, ...]) -> Any:
    """Return an answer as a numpy array of ``shape``, or raise Fault on what is none."""
    try:
        values = np.asarray(answer)
    except Exception:
        raise GradingStageError("kind", name=name, got=type(answer).__name__) from None
    if values.dtype.kind not in "fiu":
        raise GradingStageError("kind", name=name, got=type(answer).__name__)
    if values.shape != shape:
        raise GradingStageError("shape", name=name, expected=str(shape), got=str(values.shape))
    return values


def call_text(name: str, arguments: tuple[Any, ...]) -> str:
    """Return a call as text, arrays by their shape.

    >>> call_text("rotate", (np.ones((2, 4)), "half"))
    "rotate(array(2, 4), 'half')"
    """
    texts = [f"array{a.shape}" if isinstance(a, np.ndarray) else repr(a) for a in arguments]
    return f"{name}({', '.join(texts)})"


def differing_element_mask(got: Array, expected: Array, tolerance: float, relative: bool) -> Any:
    """Return where two arrays differ by more than ``tolerance``, NaN included, bool of their shape."""
    scale = np.abs(expected) if relative else 1.0
    with np.errstate(invalid="ignore", over="ignore"):
        return ~(np.abs(got - expected) <= tolerance * scale)


def compare_with_oracle(
    cases: list[tuple[str, tuple[Any, ...], Any]],
    oracle: Callable[..., Any],
    mistakes: SubmittedFunctions,
    tolerance: float,
    relative: bool = False,
) -> None:
    """Compare (function, arguments, answer) with the oracle; a mistake that gives every wrong answer is named.

    Raises Fault: "mistake" with its key, else "different" with the first element that differs.
    """
    wrong = []
    for name, arguments, answer in cases:
        expected = np.asarray(oracle(*arguments))
        got = np.asarray(answer, dtype=np.float64)
        off = differing_element_mask(got, expected, tolerance, relative)
        if off.any():
            wrong.append((name, arguments, got, expected, tuple(int(i) for i in np.argwhere(off)[0])))
    if not wrong:
        return
    name, arguments, got, expected, at = wrong[0]
    seen = {"call": call_text(name, arguments), "where": str(list(at))}
    seen |= {"expected": f"{expected[at]:.7g}", "got": f"{got[at]:.7g}"}
    for key, mistaken in mistakes.items():
        if not any(differing_element_mask(w[2], np.asarray(mistaken(*w[1])), tolerance, relative).any() for w in wrong):
            raise GradingStageError("mistake", mistake=key, **seen)
    raise GradingStageError("different", **seen)
