"""The functions that figures are built with, against Plotly's own objects and layout."""

import copy
from itertools import pairwise

import numpy as np
import plotly.colors
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly.subplots import make_subplots

from tests.support.figures import unpacked
from ui.figures import plot
from ui.film import colours

RNG = np.random.default_rng(8)


@pytest.mark.parametrize(("rows", "columns", "gap"), [(1, 2, 0.06), (2, 1, 0.09), (2, 4, 0.03), (1, 1, 0.2)])
def test_panels_are_where_plotlys_subplots_are(rows: int, columns: int, gap: float) -> None:
    wide, high = RNG.uniform(0.2, 1.0, columns).tolist(), RNG.uniform(0.2, 1.0, rows).tolist()
    names = [f"panel {k}" for k in range(rows * columns)]
    look = {"horizontal_spacing": gap, "vertical_spacing": gap, "subplot_titles": names}
    theirs = make_subplots(rows, columns, column_widths=wide, row_heights=high, **look).to_dict()["layout"]
    across, down = plot.panel_domains(wide, gap), plot.panel_domains(high[::-1], gap)
    ours = plot.panel_axes([({}, {})] * (rows * columns), across, down)
    assert ours.keys() == {name for name in theirs if "axis" in name}
    for name, axis in ours.items():
        assert axis["anchor"] == theirs[name]["anchor"]
        assert axis["domain"] == pytest.approx(theirs[name]["domain"])
    for mine, other in zip(plot.panel_titles(names, across, down), theirs["annotations"], strict=True):
        assert (mine.pop("x"), mine.pop("y")) == pytest.approx((other.pop("x"), other.pop("y")))
        assert mine == other


def test_lines_across_a_panel_are_plotlys() -> None:
    theirs = go.Figure()
    theirs.add_hline(y=2, line={"color": "red", "width": 3, "dash": "dot"})
    theirs.add_vline(x=5, line={"color": "red", "width": 3, "dash": "solid"})
    theirs.add_hrect(1, 2, fillcolor="red", opacity=0.2, line_width=0)
    theirs.add_vrect(1, 2, fillcolor="red", opacity=0.2, line_width=0)
    ours = [
        plot.horizontal_line(2, "red", 3, "dot"),
        plot.vertical_line(5, "red"),
        plot.horizontal_band(1, 2, "red", 0.2),
        plot.vertical_band(1, 2, "red", 0.2),
    ]
    assert ours == [shape.to_plotly_json() for shape in theirs.layout.shapes]
    assert plot.horizontal_line(2, "red", panel=3) | {"xref": "x domain", "yref": "y"} == plot.horizontal_line(2, "red")
    assert (
        plot.horizontal_line(2, "red", panel=3)["xref"] == "x3 domain"
        and plot.vertical_line(2, "red", panel=3)["xref"] == "x3"
    )


def test_a_figure_has_the_house_style_and_what_is_set_over_it() -> None:
    house = copy.deepcopy(plot.HOUSE)
    figure = plot.plotly_figure([plot.line_trace([1], [2], "red")], height=300, margin={"t": 70}, legend={"y": 1.1})
    layout = go.Figure(figure).layout
    assert (layout.height, layout.margin.t, layout.margin.l, layout.legend.y, layout.legend.x) == (300, 70, 64, 1.1, 0)
    assert house == plot.HOUSE


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">f8", "U3"])
@pytest.mark.parametrize("shape", [(12,), (3, 4), (2, 3, 2), (0,), (0, 3)])
def test_a_packed_array_reads_as_it_was(kind: str, shape: tuple[int, ...]) -> None:
    array = (RNG.normal(size=shape) * 30 + 100).astype(kind)
    for each in (array, array.T, array[::-1], array[..., :1]):
        packed = plot.figure_as_json_values(each)
        back = unpacked(packed) if isinstance(packed, dict) else np.array(packed, dtype=kind).reshape(each.shape)
        np.testing.assert_array_equal(back, each)
        assert isinstance(packed, dict) == (each.size > 0 and kind not in ("f2", "?", ">f8", "U3"))


def test_arrays_in_a_list_are_numbers() -> None:
    """Plotly.js decodes the bytes of a whole value; rows of bytes are an empty figure without an error."""
    rows = [np.array([1.5, np.nan]), np.array([3, 4])]
    assert plot.figure_as_json_values({"z": rows, "x": tuple(rows)}) == {
        "z": [[1.5, None], [3, 4]],
        "x": [[1.5, None], [3, 4]],
    }


def test_integers_too_large_for_four_bytes_stay_numbers() -> None:
    assert plot.figure_as_json_values(np.array([2**31, 1])) == [2**31, 1]
    assert plot.figure_as_json_values(np.array([-(2**31), 2**31 - 1]))["dtype"] == "i4"


def test_what_is_no_number_becomes_null_and_numpys_numbers_become_pythons() -> None:
    given = {"x": [np.float64(1.5), float("nan"), (np.int64(2), float("inf"))], "name": "NaN", "visible": True}
    assert plot.figure_as_json_values(given) == {"x": [1.5, None, [2, None]], "name": "NaN", "visible": True}


@pytest.mark.parametrize(("name", "scale"), [("RdBu", colours.DIVERGING_SCALE), ("Viridis", colours.SEQUENTIAL_SCALE)])
def test_the_colour_scales_are_plotlys(name: str, scale: colours.ColourScale) -> None:
    theirs = plotly.colors.get_colorscale(name)
    assert [stop for stop, _ in scale] == pytest.approx([stop for stop, _ in theirs])
    for (_, ours), (_, colour) in zip(scale, theirs, strict=True):
        rgb = plotly.colors.hex_to_rgb(colour) if colour[0] == "#" else plotly.colors.unlabel_rgb(colour)
        assert tuple(int(part) for part in rgb) == plotly.colors.hex_to_rgb(ours)


def test_bytes_keep_the_colour_to_half_a_step() -> None:
    z = np.linspace(-3, 3, 1001)
    back = plot.scaled_int8(z, 3.0).astype(float) / 127 * 3
    assert np.abs(back - z).max() <= 3 / 254 + 1e-12
    assert plot.scaled_int8(np.array([-9.0, 9.0]), 3.0).tolist() == [-127, 127]


def test_error_bars_reach_from_low_to_high() -> None:
    assert plot.error_bars([2.0], [1.5], [4.0], thickness=3) == {
        "type": "data",
        "symmetric": False,
        "array": [2.0],
        "arrayminus": [0.5],
        "thickness": 3,
    }


@settings(max_examples=60)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.floats(0.01, 2))
def test_labels_keep_their_order_and_do_not_touch(heights: list[float], least: float) -> None:
    moved = plot.spread_heights(heights, least)
    order = sorted(range(len(heights)), key=heights.__getitem__)
    ranked = [moved[i] for i in order]
    assert all(b - a >= least - 1e-9 for a, b in pairwise(ranked))
    assert sum(moved) == pytest.approx(sum(heights), abs=1e-6)
    if all(b - a >= least for a, b in pairwise(sorted(heights))):
        assert moved == pytest.approx(heights)


def test_a_long_name_of_a_curve_breaks_once_and_the_names_stand_farther_apart() -> None:
    short, _, narrow = plot.line_end_labels(["NTK", "YaRN"], [1.0, 1.0], ["red", "blue"], 0.5, [1])
    long, _, wide = plot.line_end_labels(["按比例（proportional）", "YaRN, tuned"], [1.0, 1.0], ["red", "blue"], 0.5)
    assert [each["text"] for each in short + long] == [
        "NTK",
        "<b>YaRN</b>",
        "按比例<br>（proportional）",
        "YaRN, tuned",
    ]
    assert long[1]["y"] - long[0]["y"] == pytest.approx(1.4 * (short[1]["y"] - short[0]["y"]))
    assert narrow < wide < 16 + plot.label_width_px("按比例（proportional）")
