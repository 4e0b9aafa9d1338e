"""The project's sources as syntax trees, each parsed and walked once for all tests that read them."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.support import ROOT


def sources(*places: str) -> list[str]:
    """Python files below the given folders (or the files themselves), relative to the root."""
    result = [path for place in places for path in (ROOT / place).rglob("*.py")]
    result += [ROOT / place for place in places if place.endswith(".py")]
    return sorted(str(path.relative_to(ROOT)) for path in result)


@cache
def tree(path: str) -> ast.Module:
    """Return a source's syntax tree; ``path`` is relative to the root."""
    return ast.parse((ROOT / path).read_text("utf-8"), path)


@cache
def nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return a node and all below it."""
    return tuple(ast.walk(node))


def dotted(node: ast.AST) -> str:
    """Return a name with what is before its dots, "" where that is no name."""
    if isinstance(node, ast.Name):
        return node.id
    before = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{before}.{node.attr}" if isinstance(node, ast.Attribute) and before else ""


def last(node: ast.AST) -> str:
    """Return a name without what is before its dots, "" where there is none."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Every module that is imported anywhere in the tree, with its line; importlib.import_module by its literal."""
    for each in nodes(node):
        if isinstance(each, ast.Import):
            yield from ((each.lineno, alias.name) for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            yield from ((each.lineno, f"{each.module}.{alias.name}") for alias in each.names)
        elif isinstance(each, ast.Call) and last(each.func) in ("import_module", "__import__"):
            yield from ((each.lineno, str(arg.value)) for arg in each.args[:1] if isinstance(arg, ast.Constant))
