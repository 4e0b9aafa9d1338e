"""Films as a browser reads them, and rows of what a film must show."""

import inspect
import json
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from ui.figures.drawing import Film
from ui.film.scene import Mark, Panel, text_at
from ui.film.static_scene import StaticScene
from ui.text.words import PageTexts

TYPES = {"f4": "<f4", "i1": "|i1", "u1": "|u1"}


@dataclass(frozen=True)
class FilmRow:
    """A film function, its arguments before the words, and its finding built again at some stops.

    ``at``: a value of every control, by name; ``finding``: the whole sentence there, None where its test holds it.
    """

    page: str
    draw: Callable[..., Film]
    given: tuple[Any, ...]
    at: Mapping[str, float]
    finding: Callable[[PageTexts], str] | None = None

    def __str__(self) -> str:
        return f"{self.page}.{inspect.unwrap(self.draw).__name__}"

    def built(self, t: PageTexts) -> Film:
        """Return the film, built anew, its scene whole."""
        film: Film = inspect.unwrap(self.draw)(*self.given, t)
        return film


def to_draw(t: PageTexts) -> str:
    """Return the sentence of a film in which the reader draws."""
    return t("film.draw_then")


def unpacked(data: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Return a packed scene's name, its head and its numbers."""
    name = data[1 : 1 + data[0]].decode("ascii")
    return name, *opened(zlib.decompress(data[1 + data[0] + 8 :]))


def opened(body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the head and the numbers of a scene that is inflated already."""
    (length,) = struct.unpack("<I", body[:4])
    head: dict[str, Any] = json.loads(body[4 : 4 + length])
    return head, body[4 + length :]


def numbers(reference: Any, held: bytes, index: Mapping[str, int]) -> np.ndarray:
    """Return what a shape's attribute holds with each control at its stop ``index``."""
    if not isinstance(reference, dict):
        return np.atleast_1d(np.asarray(reference, dtype=float))
    size = [*reference["dims"], *reference["shape"]]
    kind = np.dtype(TYPES[reference["type"]])
    values = np.frombuffer(held, kind, int(np.prod(size)), reference["at"]).reshape(size)
    return np.asarray(values[tuple(index[driver] for driver in reference["by"])])


def marks_of(panel: Panel, kind: str) -> list[Mark]:
    """Return a panel's marks of a kind, those that are grabbed included."""
    return [part for mark in panel.marks for part in (mark, *mark.get("grab_marks", ())) if part["kind"] == kind]


def texts_at(marks: Sequence[Mark], index: Mapping[str, int]) -> list[str]:
    """Return the texts among marks with each control at its stop ``index``."""
    return [text_at(mark["content"], index) for mark in marks if mark["kind"] == "text"]


@dataclass(frozen=True)
class Shown:
    """A film as a page without a browser has it: its sentence at the values in force, and the sliders drawn.

    ``painted``: the titles and labels of the picture at these values.
    """

    finding: str
    painted: tuple[str, ...]
    sliders: frozenset[str]
    at: Mapping[str, float]


def painted(still: StaticScene) -> tuple[str, ...]:
    """Return the titles and labels that a scene shows where its controls are, in the beat in force."""
    panels = [panel for panel in still.head["panels"] if still._shown(panel)]
    shapes = [shape for panel in panels for shape in panel["marks"] if still._shown(shape)]
    labels = [part for shape in shapes for part in (shape, *shape.get("grab_marks", ())) if part["kind"] == "text"]
    there = [part for part in labels if all(np.isfinite(still.numbers_at_rest(part[axis])).all() for axis in "xy")]
    beside = [each["content"] for panel in panels for each in panel["paragraphs"]]
    texts = [panel["title"] for panel in panels] + beside + [part["content"] for part in there]
    return tuple(filter(None, map(still.text_at_rest, texts)))


def shown(at: AppTest) -> dict[str, Shown]:
    """Return the films of a page by their names."""
    parts = [element.proto for element in at.get("bidi_component")]
    reports = [json.loads(part.json) for part in parts if part.json]
    reported = {text["film"]: text for text in reports if "film" in text}
    films = {}
    for data in (part.bytes for part in parts if part.bytes):
        text = reported[unpacked(data)[0]]
        still = StaticScene(data, text["at"])
        sliders = {each["name"] for each in still.head["controls"] if each["has_slider"]} - {*text["fixed"]}
        beats = still.head["beats"]
        of_beat = still.text_at_rest(beats[still.index["beat"]]["finding"]) if beats else ""
        finding = of_beat or still.text_at_rest(still.head["finding"])
        films[text["film"]] = Shown(finding, painted(still), frozenset(() if text["bare"] else sliders), text["at"])
    return films
