"""Every figure: Plotly knows each attribute, the axes have their titles, the finding has rope_core's numbers."""

import ast
import importlib
import inspect
import json
import pkgutil
import re

import plotly.graph_objects as go
import pytest

from tests.support import ROOT
from tests.support.figures import Row, chart, ran
from tests.ui.figures import rows
from ui.figures.drawing import write
from ui.text.words import LANGUAGES, Words

MODULES = [importlib.import_module(f"{rows.__name__}.{each.name}") for each in pkgutil.iter_modules(rows.__path__)]
ROWS: list[Row] = [row for module in MODULES for row in getattr(module, "ROWS", [])]


def title(key: object, t: Words) -> str:
    """Return an axis title: a text key, a key with its slots, a function of the words, or the title itself."""
    if callable(key):
        return str(key(t))
    if isinstance(key, tuple):
        return t(key[0], **key[1])
    return t(str(key)) if t.has(str(key)) else str(key)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_figure_is_plotlys_its_axes_are_named_and_its_numbers_are_rope_cores(row: Row, lang: str) -> None:
    t = Words(lang, row.page)
    drawing = row.drawn(t)
    go.Figure(json.loads(write(drawing.figure)))
    layout = chart(drawing).to_dict()["layout"]
    titles = {name: each.get("title", {}).get("text", "") for name, each in layout.items() if "axis" in name}
    shown = {re.sub("axis", "", name): text for name, text in titles.items() if text and "color" not in name}
    assert shown == {name: title(key, t) for name, key in row.axes.items()}
    assert "{" not in drawing.finding and "nan" not in drawing.finding
    if row.finding is not None:
        assert drawing.finding == row.finding(t)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_recipe_that_needs_no_file_of_the_readers_prints(row: Row) -> None:
    drawing = row.drawn(Words("en", row.page))
    assert drawing.table()
    # The code that reads a config is the page's: tests/ui/figures/test_config.py gives it.
    assert row.page == "config" or ".json" in drawing.recipe or ran(drawing).strip()


def test_every_figure_function_has_a_row() -> None:
    """A function that returns a drawing and is no part of another."""
    known = {(inspect.unwrap(row.draw).__module__, inspect.unwrap(row.draw).__name__) for row in ROWS}
    written = {
        (".".join(path.relative_to(ROOT).with_suffix("").parts), node.name)
        for path in (ROOT / "ui" / "figures").rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.returns and "Drawing" in ast.unparse(node.returns)
    }
    # Parts of others; a fine-tune needs an index of weights, which its own test writes.
    without = {("config.parts", "strip"), ("extrapolation.models", "finetuned")}
    assert written - known == {(f"ui.figures.{module}", name) for module, name in without}
    assert known <= written
