"""The frequency figures: traces against formulas written out, their sentences and recipes."""

import numpy as np
import plotly.graph_objects as go
import pytest

import rope_core as rc
from tests.support.figures import chart, ran
from ui.figures.frequencies import tables as frequencies
from ui.text.words import LANGUAGES, Words

EN = Words("en", "frequencies")
LLAMA2 = rc.Rope(128, 10_000.0, 4096)
EDGE = rc.Rope(2, 1.0001, 16)
LONG = rc.Rope(1024, 1e6, 131_072)


def named(figure: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in figure.data if trace.name == name)


def test_llama_2_leaves_18_pairs_without_a_turn() -> None:
    drawing = frequencies.wavelengths(LLAMA2, EN)
    assert drawing.finding.startswith("18 of 64 pairs (shaded)")
    assert "54,410" in drawing.finding
    shade = next(shape for shape in chart(drawing).layout.shapes if shape.type == "rect")
    assert (shade.x0, shade.x1) == (45.5, 63.5)
    line = next(shape for shape in chart(drawing).layout.shapes if shape.type == "line")
    assert line.y0 == line.y1 == 4096
    assert "18" in ran(drawing)


@pytest.mark.parametrize("rope", [rc.Rope(16, 7777.0, 512), EDGE, LONG])
def test_wavelength_and_frequency_are_the_formula(rope: rc.Rope) -> None:
    figure = chart(frequencies.wavelengths(rope, EN))
    theta = [rope.base ** (-2 * i / rope.dim) for i in range(rope.dim // 2)]
    np.testing.assert_allclose(named(figure, EN("frequency")).y, theta)
    np.testing.assert_allclose(named(figure, EN("wavelength")).y, [2 * np.pi / one for one in theta])


def test_each_curve_is_on_the_axis_of_its_unit() -> None:
    figure = chart(frequencies.wavelengths(rc.Rope(16, 7777.0, 512), EN))
    assert {trace.name: trace.yaxis for trace in figure.data} == {EN("wavelength"): "y", EN("frequency"): "y2"}
    assert figure.layout.yaxis.type == figure.layout.yaxis2.type == "log"
    assert (figure.layout.yaxis2.overlaying, figure.layout.yaxis2.side) == ("y", "right")


def test_where_every_pair_turns_nothing_is_shaded() -> None:
    drawing = frequencies.wavelengths(EDGE, EN)
    assert "All 1 pairs complete" in drawing.finding
    assert all(shape.type != "rect" for shape in chart(drawing).layout.shapes)


@pytest.mark.parametrize("kind", ["angle", "cos", "sin"])
@pytest.mark.parametrize(("rope", "span"), [(rc.Rope(12, 300.0, 64), 64), (LLAMA2, 131_072), (LONG, 512), (EDGE, 16)])
def test_heat_is_the_table_to_one_byte(kind: str, rope: rc.Rope, span: int) -> None:
    drawing = frequencies.heat(rope, kind, span, EN)
    trace = chart(drawing).data[0]
    rows, columns = trace.z.shape
    assert rows == rope.pairs
    assert rows * columns <= max(frequencies.CELLS, 96 * rows)
    position = (np.arange(columns) * trace.dx)[None, :]
    exact = position * rope.theta[:, None]
    limit = np.pi if kind == "angle" else 1.0
    shown = trace.z / 127 * limit
    if kind == "angle":
        off = np.remainder(exact - shown + np.pi, 2 * np.pi) - np.pi
    else:
        off = getattr(np, kind)(exact) - shown
    assert np.abs(off).max() <= limit / 254 + 1e-7
    assert ("position is drawn" in drawing.finding) == (span > columns)
    assert f"{int((rope.wavelength > span).sum())} of {rope.pairs}" in drawing.finding
    assert len(chart(drawing).to_json()) < 150_000
    assert ran(drawing)


@pytest.mark.parametrize("position", [0, 2718, 1_000_000])
def test_base_ten_digits_are_the_written_ones(position: int) -> None:
    drawing = frequencies.digits(8, 10_000.0, position, EN)
    digits, cos, sin = (np.asarray(trace.y, dtype=float)[1::3] for trace in chart(drawing).data)
    assert digits.astype(int).tolist() == [int(digit) for digit in f"{position % 10_000:04d}"[::-1]]
    quotients = [position / 10**i for i in range(4)]
    np.testing.assert_allclose(cos, np.cos(quotients), atol=1e-4)
    np.testing.assert_allclose(sin, np.sin(quotients), atol=1e-4)
    last = chart(drawing).frames[-1]
    assert chart(drawing).frames[0].name == str(position)
    assert last.name == str(position + frequencies.FRAMES - 1)
    ends = np.asarray(last.data[0].y, dtype=float)[1::3].astype(int)
    assert ends.tolist() == [int(digit) for digit in f"{int(last.name) % 10_000:04d}"[::-1]]
    assert ran(drawing).startswith("10.0") or ran(drawing).startswith("9.99")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_figure_speaks_both_languages(lang: str) -> None:
    t = Words(lang, "frequencies")
    for rope in (rc.Rope(8, 100.0, 64), EDGE):
        for drawing in (
            frequencies.wavelengths(rope, t),
            frequencies.heat(rope, "cos", 2048, t),
            frequencies.digits(2, 2.0, 5, t),
        ):
            assert "{" not in drawing.finding
            assert all(len(np.ravel(column)) for column in drawing.table().values())
