"""Every figure: Plotly knows each attribute, both languages state the same numbers, its recipe prints."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from tests.support import ROOT
from tests.support.figures import Row, chart, numbers_of, ran
from tests.ui import figures
from ui.figures.drawing import Drawing, figure_to_json
from ui.notebook.drawn import draw_page_until
from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS
from ui.page.state import Field
from ui.text.words import PageTexts

NAMES = [each.name for each in pkgutil.iter_modules(figures.__path__)]
MODULES = [
    importlib.import_module(f"{figures.__name__}.{name}")
    for name in NAMES
    if not name.startswith(("test_every", "test_predicted"))
]
ROWS: list[Row] = [row for module in MODULES for row in getattr(module, "ROWS", [])]
SAMPLED = 50
# Strokes, counts, sorted bars and sampled rows that the table has in another form.
DERIVED = {
    *(
        "benchmark.bandwidth_chart",
        "benchmark.traffic_chart",
        "config.pair_overview_chart",
        "config.wavelength_overlay_chart",
    ),
    *(
        "encodings.score_by_offset_chart",
        "extrapolation.finetune",
        "frequencies.code_similarity_chart",
        "inside.pair_size_chart",
        "ledger.residual_chart",
    ),
    *(
        "models.rotating_share_chart",
        "models.wavelength_range_chart",
        "positions.mrope_section_chart",
        "attention.attention_entropy_chart",
    ),
}
# Its steps carry their names.
UNTITLED = ("block.mla_error_and_cache_chart",)


def numbers(text: str) -> set[str]:
    """Return the numbers of a sentence; one digit alone may be a word in the other language."""
    return set(re.findall(r"\d[\d,.]*\d", text))


def too_long(text: str) -> list[str]:
    """Return the numbers of a sentence that have more than three digits and a fraction, or Python's e."""
    written = re.findall(r"(?<![\w.,])\d[\d,]*\.\d+(?![\w.])|(?<!\w)\d(?:\.\d+)?e[-+]\d+", text)
    return [each for each in written if "e" in each or len(re.sub(r"\D", "", each).lstrip("0")) > 3]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_figure_is_plotlys_its_axes_are_named_and_its_numbers_are_the_same_in_both_languages(row: Row) -> None:
    findings = []
    for lang in LANGUAGES:
        t = PageTexts(lang, row.page)
        drawing = row.drawn(t)
        go.Figure(json.loads(figure_to_json(drawing.figure)))
        layout = chart(drawing).to_dict()["layout"]
        titles = [axis.get("title", {}).get("text") for name, axis in layout.items() if re.match("[xy]axis", name)]
        assert any(titles) == (str(row) not in UNTITLED) and "{" not in str(titles)
        assert not re.search(r"\{|\bnan\b|\binf\b", drawing.finding), drawing.finding
        # What an engineer is to set is given with all its digits.
        assert str(row) == "config.extension_slowdown_chart" or not too_long(drawing.finding), drawing.finding
        assert row.finding is None or drawing.finding == row.finding(t)
        findings.append(drawing.finding)
    assert numbers(findings[0]) == numbers(findings[1])


def as_numbers(values: Any) -> np.ndarray | None:
    """Return values as numbers, None for names and for one value alone."""
    try:
        each = np.asarray(values, dtype=float).ravel()
    except (TypeError, ValueError):
        return None
    return each if each.size > 1 else None


def holds(columns: list[np.ndarray], x: np.ndarray | None, y: np.ndarray | None) -> bool:
    """Return whether one row of the columns has each point's numbers, the heights as they are or in per cent."""
    given = [each for each in (x, y) if each is not None]
    at = np.flatnonzero(np.isfinite(given).all(axis=0))
    at = at[:: max(1, at.size // SAMPLED)]

    def alike(values: np.ndarray, column: np.ndarray) -> np.ndarray:
        return np.asarray(np.isclose(values[at, None], column, rtol=0.01, atol=1e-4))

    heights = [scale * column for column in columns for scale in (1, 100)]
    if len(given) == 1:
        return any(alike(given[0], column).any(axis=1).all() for column in heights)
    pairs = ((first, other) for first in columns for other in heights if first.size == other.size)
    return any((alike(given[0], first) & alike(given[1], other)).any(axis=1).all() for first, other in pairs)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_recipe_prints_and_what_is_drawn_stands_in_the_table(row: Row) -> None:
    drawing = row.drawn(PageTexts("en", row.page))
    columns = [each for each in map(as_numbers, drawing.table().values()) if each is not None]
    for trace in chart(drawing).data if str(row) not in DERIVED else ():
        x, y = (as_numbers(getattr(trace, axis, None)) for axis in "xy")
        line = trace.type in ("scatter", "bar") and not getattr(trace, "fill", None)
        if line and (x is not None or y is not None):
            assert holds(columns, x, y), trace.name
    # A report's file is the reader's own.
    assert ".json" in drawing.recipe or (ran(drawing).strip() and unprinted(drawing, row.page) == [])


# Times that the page takes anew, by their column: the recipe takes its own.
TIMED = {"precision.ways": "time_over_copy"}
STOPS = 3


def elsewhere(field: Field, stop: int) -> Any:
    """Return another value of a page's control, near its default; None where it stays."""
    if field.name in ("model", "layer", "dim", "beat") or field.name.startswith("allow_") or field.kind == "text":
        return None
    if field.name == "scheme":
        return ("yarn", "ntk", "linear")[stop]
    if field.kind == "choice":
        at = field.choices.index(field.default) if field.default in field.choices else 0
        return field.choices[(at + 1 + stop) % len(field.choices)]
    if field.kind == "bool" or field.default is None:
        return None if stop % 2 or field.default is None else not field.default
    by = (1, 2, -1)[stop]
    if field.steps:
        at = int(np.argmin([abs(each - field.default) for each in field.steps])) + by
        return field.steps[min(max(at, 0), len(field.steps) - 1)]
    step = max(field.step or 1, 2 if field.even else 1)
    return min(max(field.default + by * step, field.low), field.high)


def printed_by(drawing: Drawing) -> np.ndarray:
    """Return what a recipe prints and names, as thousands of other units, in per cent and within a turn."""
    texts = re.findall(r"(?<![\w.])-?\d[\d_]*\.?\d*(?:e[-+]?\d+)?", ran(drawing) + drawing.recipe)
    numbers = np.array([float(each.replace("_", "")) for each in texts])
    return np.asarray(
        np.abs(np.concatenate([*(numbers * 1e3**unit for unit in range(-4, 5)), 100 * numbers, numbers % 360]))
    )


def unprinted(drawing: Drawing, page: str) -> list[str]:
    """Return the numbers of a figure's sentence that its recipe does not print."""
    t, known, sentence = PageTexts("en", page), printed_by(drawing), drawing.finding
    if column := TIMED.get(f"{page}.{drawing.id}"):
        known = np.append(known, np.array(drawing.table()[column], dtype=float))
    # Numbers that are a name's, and the level of all intervals.
    for words in (*(t(f"scheme.{scheme}") for scheme in rc.SCHEMES), "Llama 4", "2-D", "p-RoPE 0.75", "95 %"):
        sentence = sentence.replace(words, "")
    every = numbers_of(sentence)
    return [written for written, number, unit in every if not (np.abs(known - number) <= 0.51 * unit).any()]


@pytest.mark.parametrize("page", SECTIONS)
def test_a_recipe_prints_the_numbers_of_its_figure_at_the_values_in_force(page: str) -> None:
    fields = {field.name: field for field in page_declaration(page).fields}
    for stop in range(STOPS):
        values = {name: value for name, field in fields.items() if (value := elsewhere(field, stop)) is not None}
        for name, drawing in draw_page_until(page, None, "en", None, values).shown.items():
            if not isinstance(drawing, Drawing):
                continue
            assert unprinted(drawing, page) == [], f"{name} at {values}: {drawing.finding}"


def test_every_figure_function_has_a_row() -> None:
    """A function that returns a drawing and is no part of another."""
    known = {(inspect.unwrap(row.draw).__module__, inspect.unwrap(row.draw).__name__) for row in ROWS}
    written = {
        (".".join(path.relative_to(ROOT).with_suffix("").parts), node.name)
        for path in (ROOT / "ui" / "figures").rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.returns and "Drawing" in ast.unparse(node.returns)
    }
    # A fine-tune needs an index of weights, which its own test writes.
    without = {("extrapolation.models", "finetune_perplexity_chart")}
    assert written - known == {(f"ui.figures.{module}", name) for module, name in without}
    assert known <= written
