"""No house dialect in names and docstrings: the list is ui/text/forbidden.toml; rooms join once they are clean."""

import ast
import re
import tomllib
from collections.abc import Iterator

import pytest

from tests.support import ROOT
from tests.support.sources import nodes, tree

FORBIDDEN: dict[str, list[str]] = tomllib.loads((ROOT / "ui/text/forbidden.toml").read_text(encoding="utf-8"))
ROOMS = (
    "app.py",
    "benchmarks/*.py",
    "deploy/*.py",
    "examples/*.py",
    "pages/**/*.py",
    "rope_core/**/*.py",
    "tests/**/*.py",
    "tools/**/*.py",
    "ui/**/*.py",
)


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that the code gives: variables, parameters, fields, functions, classes."""
    for node in nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in nodes(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def dialect(tree: ast.AST) -> list[str]:
    """Return the lines with a forbidden word, in the order of names and docstrings; a name counts by its parts."""
    whole, parts = set(FORBIDDEN["variables"]), set(FORBIDDEN["names"])
    broken = [f"{line}: {name}" for line, name in names(tree) if name in whole or set(name.lower().split("_")) & parts]
    pattern = re.compile(rf"\b(?:{'|'.join(FORBIDDEN['docstrings'])})\b", re.IGNORECASE)
    return broken + [f"{line}: {match[0]}" for line, text in docstrings(tree) for match in pattern.finditer(text)]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_no_dialect(room: str) -> None:
    files = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob(room))]
    assert files
    broken = [f"{path}:{line}" for path in files for line in dialect(tree(path))]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    "source",
    [
        "said = 1",
        "def told_twice(): pass",
        '"""The hands stand."""',
        "def f(one): pass",
    ],
)
def test_a_planted_word_is_seen(source: str) -> None:
    assert dialect(ast.parse(source))


def test_the_field_s_words_pass() -> None:
    text = '"""Return the standard angles; understand and outstanding are other words."""'
    assert dialect(ast.parse(f"{text}\nsaid_ = 1")) == ["2: said_"]
    assert dialect(ast.parse('def doors_open(): pass\n"text that stands in a string is no docstring"')) == []
    assert dialect(ast.parse("def read_one(): pass")) == []
