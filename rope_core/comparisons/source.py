"""What the text of somebody's function says: its name, and the lines that a fault may come from. Nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

USUAL = {0, 1, 2, 0.1, 0.5}
"""Literals that formulas of schemes have whatever the model is."""


@dataclass(frozen=True)
class SourceLine:
    """A line of code: its ``number`` from 1, its ``text`` without indentation, and the ``words`` in question."""

    number: int
    text: str
    words: str


def chosen_function(code: str, name: str = "") -> ast.FunctionDef | None:
    """Return the function that driver.py runs: the one named, else the last of a width or a config; None without one.

    >>> chosen = chosen_function("def g(x): ...\\ndef f(dim, base): ...")
    >>> chosen and chosen.name
    'f'
    """
    try:
        body = [each for each in ast.parse(code).body if isinstance(each, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    fits = (each for each in reversed(body) if [arg.arg for arg in each.args.args][:1] in (["dim"], ["config"]))
    return next((each for each in reversed(body) if each.name == name), None) if name else next(fits, None)


def function_name(code: str) -> str:
    """Return the name of the function that is run; "" where the text has none."""
    chosen = chosen_function(code)
    return chosen.name if chosen else ""


def takes_config(code: str, name: str = "") -> bool:
    """Return whether the function that is run takes a config, as those of transformers do."""
    chosen = chosen_function(code, name)
    return chosen is not None and [arg.arg for arg in chosen.args.args][:1] == ["config"]


def _line(code: str, nodes: Iterable[ast.expr], words: str) -> SourceLine | None:
    number = min((each.lineno for each in nodes), default=0)
    return SourceLine(number, code.splitlines()[number - 1].strip(), words) if number else None


def literal_line(code: str, values: Iterable[float], name: str = "") -> SourceLine | None:
    """Return the line where a literal is in the place of an argument without effect, its literals as words.

    A literal equal to one of ``values``, what the arguments are here, counts before others; USUAL ones never do.

    >>> literal_line("def f(dim, base):\\n    low, high = 20, 46", (4096.0,))
    SourceLine(number=2, text='low, high = 20, 46', words='20, 46')
    """
    chosen = chosen_function(code, name)
    numbers = [
        (node, float(ast.literal_eval(node)))
        for each in (chosen.body if chosen else ())
        for node in ast.walk(each)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in USUAL
    ]
    wanted = [each for each in numbers if each[1] in set(values)] or numbers
    first = min((node.lineno for node, _ in wanted), default=0)
    here = [each for each in wanted if each[0].lineno == first]
    return _line(code, [node for node, _ in here], ", ".join(f"{value:g}" for _, value in here))


def one_sided_line(code: str, name: str = "") -> SourceLine | None:
    """Return the line that bounds on one side only what the function bounds nowhere on the other.

    >>> one_sided_line("def f(dim):\\n    g = dim / 9\\n    return np.minimum(g, 1)")
    SourceLine(number=3, text='return np.minimum(g, 1)', words='np.minimum')
    """
    chosen = chosen_function(code, name)
    calls = [node for node in ast.walk(chosen) if isinstance(node, ast.Call)] if chosen else []
    named = [(node, ast.unparse(node.func)) for node in calls]
    last = {words.rpartition(".")[2] for _, words in named}
    if last & {"clip", "clamp", "where"} or {"minimum", "maximum"} <= last:
        return None
    node, words = next(((n, w) for n, w in named if w.rpartition(".")[2] in ("minimum", "maximum")), (None, ""))
    return _line(code, [node], words) if node else None
