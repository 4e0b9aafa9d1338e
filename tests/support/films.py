"""Films as a browser reads them, and rows of what a film must show."""

import inspect
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from ui.figures.drawing import Film
from ui.text.words import Words

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
    finding: Callable[[Words], str] | None = None

    def __str__(self) -> str:
        return f"{self.page}.{inspect.unwrap(self.draw).__name__}"

    def built(self, t: Words) -> Film:
        """Return the film, built anew, its scene whole."""
        film: Film = inspect.unwrap(self.draw)(*self.given, t)
        return film


def to_draw(t: Words) -> str:
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
    return np.asarray(
        values[tuple(index[d] if isinstance(d, str) else index[d[0]] - index[d[1]] + d[2] for d in reference["by"])]
    )


def sentence(part: Any, controls: Mapping[str, Any], index: Mapping[str, int]) -> str:
    """Return a text of a scene's head with each control at its stop ``index``."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "".join(sentence(each, controls, index) for each in part)
    flat = 0
    for driver in part["by"]:
        first, second, offset = (driver, driver, 0) if isinstance(driver, str) else driver
        apart = not isinstance(driver, str)
        count = len(controls[first]["stops"]) + (len(controls[second]["stops"]) - 1) * apart
        flat = flat * count + index[first] - (index[second] - offset) * apart
    return str(part["texts"][flat])


@dataclass(frozen=True)
class Shown:
    """A film as a page without a browser has it: its sentence at the values in force, and the sliders drawn.

    ``painted``: the titles and labels of the picture at these values.
    """

    finding: str
    painted: tuple[str, ...]
    sliders: frozenset[str]
    at: Mapping[str, float]


def painted(head: Mapping[str, Any], held: bytes, index: Mapping[str, int]) -> tuple[str, ...]:
    """Return the titles and labels that a scene shows with each control at its stop ``index``, in the beat in force."""
    controls, beat = {control["name"]: control for control in head["controls"]}, index.get("beat", 0) + 1

    def seen(part: Mapping[str, Any]) -> bool:
        return bool(part.get("since", 1) <= beat and not 0 < part.get("until", 0) < beat and not part.get("later"))

    panels = [panel for panel in head["panels"] if seen(panel)]
    texts = [sentence(panel["title"], controls, index) for panel in panels]
    shapes = [
        part for panel in panels for shape in panel["shapes"] if seen(shape) for part in (shape, *shape.get("of", ()))
    ]
    for shape in shapes:
        if shape["kind"] == "label":
            place = np.concatenate([numbers(shape[axis], held, index).ravel() for axis in "xy"])
            texts += [sentence(shape["text"], controls, index)] * bool(np.isfinite(place).all())
    return tuple(filter(None, texts))


def shown(at: AppTest) -> dict[str, Shown]:
    """Return the films of a page by their names."""
    parts = [element.proto for element in at.get("bidi_component")]
    scenes = [unpacked(part.bytes) for part in parts if part.bytes]
    reports = [json.loads(part.json) for part in parts if part.json]
    reported = {text["film"]: text for text in reports if "film" in text}
    films = {}
    for name, head, held in scenes:
        text, controls = reported[name], {control["name"]: control for control in head["controls"]}
        # As the player does where a value lies past what this text or record has.
        index = {
            key: int(np.abs(np.subtract(each["stops"], text["at"][key])).argmin()) for key, each in controls.items()
        }
        drawn = [key for key, control in controls.items() if control["slider"] and key not in text["fixed"]]
        sliders = frozenset() if text["bare"] else frozenset(drawn)
        beat = head["beats"][index["beat"]]["finding"] if head["beats"] else ""
        finding = sentence(beat or head["finding"], controls, index)
        films[name] = Shown(finding, painted(head, held, index), sliders, text["at"])
    return films
