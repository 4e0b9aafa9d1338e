"""Every film: it packs, its controls are fields of its page, its texts are whole at every stop, its finding is true."""

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from tests.support import ROOT
from tests.support.figures import numbers_of, run
from tests.support.films import FilmRow, unpacked
from tests.ui.figures.test_every_figure import MODULES, too_long
from ui.film.static_scene import StaticScene
from ui.page.declaration import page_declaration
from ui.text.words import PageTexts

FILMS: list[FilmRow] = [row for module in MODULES for row in getattr(module, "FILMS", ())]
PAGE_BYTES = 150_000


def texts(part: Any) -> Iterator[str]:
    """Return every text that a scene's head holds."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, item in part.items():
            if name not in ("by", "kind"):
                yield from texts(item)
    elif isinstance(part, list):
        for item in part:
            yield from texts(item)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("row", FILMS, ids=str)
def test_a_film_is_whole_and_its_finding_is_rope_cores(row: FilmRow, lang: str) -> None:
    t = PageTexts(lang, row.page)
    film = row.built(t)
    data = film.packed(t).data
    name, head, _ = unpacked(data)
    assert name == f"{row.page}.{film.id}" and len(data) <= PAGE_BYTES
    assert not [text for text in texts(head) if "{" in text or "\x00" in text or text.strip() in ("nan", "inf")]
    fields = {field.name for field in page_declaration(row.page).fields}
    assert {control["name"] for control in head["controls"]} <= fields
    drawn = [shape["sketch"] for panel in head["panels"] for shape in panel["marks"] if shape["kind"] == "sketch_input"]
    sketch = film.scene.sketch
    assert [each["name"] for each in drawn] == ([sketch.name] if sketch else []) and bool(sketch) == bool(film.gap)
    assert {each["name"] for each in drawn} <= fields
    for control in head["controls"]:
        assert (
            control["stops"] == sorted(set(control["stops"]))
            and len(control["stops"]) == len(control["stop_labels"]) > 1
        )
    grips = [shape for panel in head["panels"] for shape in panel["marks"] if shape["kind"] == "drag_handle"]
    points = [grip[axis] for grip in grips for axis in "xy" if isinstance(grip[axis], dict)]
    assert all(point["shape"] == [1] for point in points), "a grip is one point"
    for panel in head["panels"]:
        assert all(panel[axis]["title"] for axis in "xy" if len(panel[axis]["ticks"]) > 1)
    assert not too_long(film.scene.finding_at(row.at))
    assert row.finding is None or film.scene.finding_at(row.at) == row.finding(t)
    assert film.table()
    still = StaticScene(data, film.scene.control_values(lambda name: row.at.get(name)))
    pictures = [ElementTree.fromstring(panels) for _, panels, _ in still.beats()]
    assert len(pictures) == max(1, len(head["beats"])) and all(picture.findall(".//svg/*") for picture in pictures)
    assert not {"nan", "inf"} & {text for each in pictures for node in each.iter() for text in node.attrib.values()}


@pytest.mark.parametrize("share", [1 / 6, 3 / 6, 5 / 6])
@pytest.mark.parametrize("row", {(str(row), repr(row.given)): row for row in FILMS}.values(), ids=str)
def test_a_recipe_prints_the_numbers_of_its_picture_at_the_values_in_force(row: FilmRow, share: float) -> None:
    t = PageTexts("en", row.page)
    film = row.built(t)
    scene = film.scene
    at = {each.name: each.stops[int(share * len(each.stops))] for each in scene.controls}
    printed = run(film.recipe_at(at))
    numbers = np.array([float(each) for each in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]?\d+)?", printed)])
    # A share is written in per cent, an angle within a turn.
    known = np.abs(np.concatenate([numbers, 100 * numbers, numbers % 360]))
    labels = {each.stop_labels[each.nearest_stop_index(at[each.name])] for each in scene.controls}
    names = [t(f"scheme.{name}") for name in rc.SCHEMES]
    # A bound is no number of the picture's.
    names += [t("hardly")] if t.has_label("hardly") else []
    for beat in range(1, max(1, len(scene.beats)) + 1):
        sentence = scene.finding_at(at | {"beat": beat})
        for name in names:
            sentence = sentence.replace(name, "")
        for written, number, unit in numbers_of(sentence):
            printed_too = written in labels or (np.abs(known - number) <= 0.51 * unit).any()
            assert printed_too, f"{written} of “{sentence}” in:\n{printed}"


def test_every_film_function_has_a_row() -> None:
    known = {(inspect.unwrap(row.draw).__module__, inspect.unwrap(row.draw).__name__) for row in FILMS}
    written = {
        (".".join(path.relative_to(ROOT).with_suffix("").parts), node.name)
        for path in (ROOT / "ui" / "figures").rglob("*.py")
        if path.stem != "predicted"
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "Film"
    }
    assert written == known
