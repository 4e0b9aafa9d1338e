"""A film painted without a browser: its numbers in px, by hand, and what each step shows."""

import zlib
from base64 import b64decode
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from ui.film import marks
from ui.film.colours import DIVERGING_SCALE
from ui.film.scene import Axis, Beat, Control, NumberTrack, Panel, Paragraph, Scene, TextTrack, text_panel
from ui.film.static_scene import StaticScene
from ui.text.words import PageTexts

A = Control("a", "A", (0.0, 1.0, 2.0), ("0", "1", "2"))
T = PageTexts("en", "rotation")
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*shapes: dict[str, Any], beat: int = 1, equal: bool = False) -> ElementTree.Element:
    """Return the picture of one panel, 0 to 10 across and 0 to 5 up, with A at 1."""
    panel = Panel(Axis(0, 10), Axis(0, 5), shapes, min_width=840, height=100, equal_aspect=equal)
    beats = (Beat("one", "", "first"), Beat("two", "", "second")) if beat == 2 else ()
    data = Scene([panel], (A,), "it", beats=beats).to_bytes("page.film", T)
    (picture,) = ElementTree.fromstring(StaticScene(data, {"a": 1.0}).to_standalone_svg()).findall(f"{SVG}svg")
    return picture


def numbers(node: ElementTree.Element | None, *names: str) -> list[float]:
    assert node is not None
    return [float(node.attrib[name]) for name in names]


def test_shapes_lie_where_their_numbers_say() -> None:
    """A bare panel leaves 8 px on its sides and at its top, 10 below: 82.4 px a unit across, 20 up."""
    x = NumberTrack((A,), np.array([[0.0], [5.0], [10.0]]))
    picture = drawn(
        marks.rect(x, 6.0, 1.0, 2.0, "#abcdef"),
        marks.dot(np.array([2.5, np.nan]), [5.0, 1.0], ["#111111", "#222222"], radius_px=3),
        marks.line(np.array([0.0, 10.0, np.nan, 5.0]), [0.0, 5.0, 0.0, 2.5], "ink"),
        marks.vector(5.0, 2.0, 1.0, np.pi / 2, "#333333", stroke_width=2),
        marks.text(0.0, 0.0, ["a < ", TextTrack((A,), ("x", "y", "z"))], dx=2, dy=-3),
        marks.after_reveal(marks.text(0.0, 0.0, "hidden")),
        marks.drag_handle(A, x, 2.5, "ink", "grip", [marks.arc(x, 2.5, 1.0, 0.0, np.pi / 2, "ink")]),
    )
    assert numbers(picture.find(f"{SVG}rect"), "x", "y", "width", "height") == [420.0, 68.0, 82.4, 20.0]
    (dot, grip) = picture.findall(f"{SVG}circle")
    assert numbers(dot, "cx", "cy", "r") == [214.0, 8.0, 3.0] and dot.attrib["fill"] == "#111111"
    assert numbers(grip, "cx", "cy", "r") == [420.0, 58.0, 9.0]
    line, bow = picture.findall(f"{SVG}path")
    assert line.attrib["d"] == "M8 108L832 8M420 58" and line.attrib["stroke"] == "currentColor"
    assert bow.attrib["d"].startswith("M502.4 58L") and bow.attrib["d"].endswith("L420 -24.4")
    assert numbers(picture.find(f"{SVG}line"), "x1", "y1", "x2", "y2") == [420.0, 68.0, 420.0, -14.4]
    (text,) = picture.findall(f"{SVG}text")
    assert text.text == "a < y" and numbers(text, "x", "y") == [10.0, 105.0]


def test_where_units_are_equal_a_circle_is_round() -> None:
    (bow,) = drawn(marks.arc(5.0, 2.5, 2.5, 0.0, 2 * np.pi, "ink"), equal=True).findall(f"{SVG}path")
    points = np.array([[float(v) for v in point.split()] for point in bow.attrib["d"][1:].split("L")])
    np.testing.assert_allclose(np.hypot(*(points - [420.0, 58.0]).T), 50.0, atol=0.01)


def test_cells_have_their_colours_and_the_first_row_lies_where_it_should() -> None:
    cells = np.array([[-127, 0], [127, 5]], dtype=np.int8)
    (node,) = drawn(marks.heatmap(cells, DIVERGING_SCALE, (0, 10), (0, 5))).findall(f"{SVG}image")
    png = b64decode(node.attrib["href"].partition(",")[2])
    at = png.index(b"IDAT")
    lines = zlib.decompress(png[at + 4 : at + 4 + int.from_bytes(png[at - 4 : at])])
    # Python's first row is the lowest, the file's the highest; each line begins with its filter.
    pixels = np.frombuffer(lines, np.uint8).reshape(2, 7)[::-1, 1:].reshape(2, 2, 3)
    np.testing.assert_array_equal(pixels, marks.scale_colours(DIVERGING_SCALE)[cells.astype(int) + 127])
    assert numbers(node, "x", "y", "width", "height") == [8.0, 8.0, 824.0, 100.0]


@pytest.mark.parametrize(("beat", "texts"), [(1, ["first"]), (2, ["first", "second"])])
def test_each_step_shows_its_own_and_the_file_shows_the_last(beat: int, texts: list[str]) -> None:
    shapes = [marks.text(1.0, 1.0, "first"), *marks.from_beat(2, marks.text(1.0, 2.0, "second"))]
    assert [node.text for node in drawn(*shapes, beat=beat).findall(f"{SVG}text")] == texts
    panel = Panel(Axis(0, 10), Axis(0, 5), shapes, "a & b")
    beats = (Beat("one", "", "first"), Beat("two <", "", "second"))
    still = StaticScene(Scene([panel], (A,), "it", beats=beats).to_bytes("page.film", T), {})
    says, shown, findings = zip(*still.beats(), strict=True)
    assert says == ("one", "two <") and findings == ("first", "second")
    assert ["second" in each for each in shown] == [False, True] and all("a &amp; b" in each for each in shown)


def test_hatches_rings_outlines_and_what_a_narrow_panel_leaves_out() -> None:
    wide, narrow = drawn(*marks.in_wide_panel(600, marks.dot([1.0], [1.0], "#111111"))), 700
    assert len(wide.findall(f"{SVG}circle")) == 1
    assert not drawn(*marks.in_wide_panel(narrow + 9999, marks.dot([1.0], [1.0], "#111111"))).findall(f"{SVG}circle")
    ring = drawn(marks.wedge(5.0, 2.5, 2.0, 0.0, np.pi, "#123456", inner_radius=1.0, fill_pattern="hatch"))
    (pattern,), (path,) = ring.findall(f"{SVG}pattern"), ring.findall(f"{SVG}path")
    assert path.attrib["fill"] == f"url(#{pattern.attrib['id']})" and path.attrib["d"].count("M") == 1
    (box,) = drawn(marks.rect(1, 2, 1, 2, "none", outline="#222222", stroke_dash="5 4")).findall(f"{SVG}rect")
    assert (box.attrib["stroke"], box.attrib["stroke-dasharray"]) == ("#222222", "5 4")


def test_paragraphs_stand_beside_a_picture_and_follow_the_hand() -> None:
    beside = text_panel(Paragraph(TextTrack((A,), ("low", "mid", "<high>")), "#123456", 20, bold=True))
    data = Scene([beside], (A,), "it").to_bytes("page.film", T)
    ((_, panels, _),) = StaticScene(data, {"a": 2.0}).beats()
    assert (
        "&lt;high&gt;" in panels
        and "font-size: 20px; color: #123456; font-weight: 600" in panels
        and "<svg" not in panels
    )
