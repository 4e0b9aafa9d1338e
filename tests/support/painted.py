"""What a browser has painted of a film, held against the film's own numbers."""

import json
import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page

from tests.support.films import numbers, opened

HELD = """name => {
  const film = globalThis.ropeLabFilms.films.get(name), bytes = new Uint8Array(film.buffer);
  let text = '';
  for (let k = 0; k < bytes.length; k += 8192) text += String.fromCharCode(...bytes.subarray(k, k + 8192));
  return btoa(text);
}"""
PAINTED = """name => globalThis.ropeLabFilms.films.get(name).panels.map(panel => ({
  place: {...panel.place.dataset},
  shown: panel.shown && panel.place.clientWidth > 0,
  away: panel.marks.flatMap(({drawn}) => (drawn.whole ?? [drawn]).map(() => Boolean(drawn.away))),
  marks: panel.marks.flatMap(({drawn}) => drawn.whole ?? [drawn]).map(drawn => drawn.pen
    ? [...drawn.pen.getImageData(0, 0, drawn.canvas.width, drawn.canvas.height).data]
    : [...drawn.node.children].map(part =>
      Object.fromEntries(part.getAttributeNames().map(key => [key, part.getAttribute(key)])))),
}))"""


def at(film: Locator) -> dict[str, float]:
    """Return where a film's controls rest."""
    values: dict[str, float] = json.loads(film.get_attribute("data-at") or "{}")
    return values


def pairs(path: str) -> np.ndarray:
    """Return the points of a path of straight lines."""
    return np.array([float(v) for v in re.findall(r"-?[\d.]+", path)]).reshape(-1, 2)


def beats_of(shape: dict[str, Any]) -> dict[str, int]:
    """Return which beats show a shape, as far as it says so."""
    return {name: shape[name] for name in ("first_beat", "last_beat") if name in shape}


def agrees(page: Page, name: str, index: dict[str, int]) -> int:
    """Hold painted lines, points, boxes and hands to the film's numbers at these stops; return how many there were."""
    head, held = opened(b64decode(page.evaluate(HELD, name)))
    compared, beat = 0, index.get("beat", 0) + 1
    look = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "colours"
    for panel, parted in zip(head["panels"], page.evaluate(PAINTED, name), strict=True):
        place = {key: float(value) for key, value in parted["place"].items()}

        def pixels(values: np.ndarray, axis: str, panel: Any = panel, place: Any = place) -> np.ndarray:
            return np.asarray(
                place["left" if axis == "x" else "bottom"] + (values - panel[axis]["low"]) * place[f"s{axis}"]
            )

        within = panel["first_beat"] <= beat and not 0 < panel["last_beat"] < beat
        if not (within and parted["shown"]):
            continue
        whole = [part | beats_of(shape) for shape in panel["marks"] for part in shape.get("grab_marks", [shape])]
        for shape, parts, away in zip(whole, parted["marks"], parted["away"], strict=True):
            if away or shape.get("first_beat", 1) > beat or 0 < shape.get("last_beat", 0) < beat:
                continue
            if shape["kind"] == "heatmap":
                # A byte of a cell is a place among the colours; the canvas has one pixel for each cell.
                cells = numbers(shape["cells"], held, index).ravel()
                shades = numbers(shape[look if look in shape else "colours"], held, index)
                np.testing.assert_array_equal(np.array(parts).reshape(-1, 4)[:, :3], shades[cells.astype(int) + 127])
                compared += cells.size
            if shape["kind"] == "rect":
                sides = [pixels(numbers(shape[side], held, index), side[0]) for side in ("x0", "x1", "y0", "y1")]
                across, right, down, low = np.broadcast_arrays(*sides)
                shown = [part for part in parts if part.get("display") != "none"]
                drawn = np.array([[float(part[key]) for key in ("x", "y", "width", "height")] for part in shown])
                box = [np.minimum(across, right), np.minimum(down, low), abs(right - across), abs(low - down)]
                wanted = np.stack(box, axis=1)[np.isfinite(np.sum(box, axis=0))]
                np.testing.assert_allclose(drawn.reshape(-1, 4), wanted, atol=0.02)
                compared += len(drawn)
            if shape["kind"] not in ("line", "dot", "vector"):
                continue
            x, y = (pixels(numbers(shape[axis], held, index), axis) for axis in "xy")
            parts = [part for part in parts if part.get("display") != "none"]
            if shape["kind"] == "line":
                drawn = pairs(parts[0].get("d", ""))
            elif shape["kind"] == "dot":
                # Many of one colour are one path of points.
                many = [pairs(part["d"].replace("h0", "")) for part in parts if "d" in part]
                drawn = np.array([[float(part["cx"]), float(part["cy"])] for part in parts if "cx" in part])
                drawn = many[0] if many else drawn.reshape(-1, 2)
            else:
                angle, length = (
                    numbers(shape["angle"], held, index),
                    numbers(shape["length"], held, index)
                    * abs(place["sy" if shape.get("length_unit") == "y" else "sx"]),
                )
                x, y = x + length * np.cos(angle), y - length * np.sin(angle)
                tips = [pairs(part["d"])[0] for part in parts if "d" in part]
                ends = [[float(part["x2"]), float(part["y2"])] for part in parts if "x2" in part]
                drawn = np.array(tips if shape["has_head"] else ends).reshape(-1, 2)
            x, y = np.broadcast_arrays(x, y)
            seen = np.isfinite(x + y)
            np.testing.assert_allclose(drawn, np.stack([x[seen], y[seen]], axis=1), atol=0.02)
            compared += len(drawn)
    return compared


def as_python_has_it(page: Page, film: Locator) -> None:
    """Hold a film that rests to its numbers at the stops where its controls are."""
    name = film.evaluate("box => [...globalThis.ropeLabFilms.films].find(([, film]) => film.box === box)[0]")
    controls = {c["name"]: c for c in opened(b64decode(page.evaluate(HELD, name)))[0]["controls"]}
    index = {key: controls[key]["stops"].index(value) for key, value in at(film).items()}
    assert agrees(page, name, index) > 0


FRAME = """film => {
  const panels = [...film.querySelectorAll('.film-panel')].filter(panel => panel.clientWidth);
  const boxes = panels.map(panel => panel.getBoundingClientRect());
  const [x, y] = ['left', 'top'].map(side => Math.min(...boxes.map(box => box[side])));
  const [right, bottom] = ['right', 'bottom'].map(side => Math.max(...boxes.map(box => box[side])));
  return {x, y, width: right - x, height: bottom - y};
}"""
EDGE, CELL, FAR, ALIKE = 16, 4, 64, 0.002
"""Px around a saved picture; pictures are compared by the means of squares of px, so that the smoothing of edges does
not count: how far apart two must be to look different, and the share of those in pictures that are the same."""


def saved(page: Page, kind: str, ground: str) -> Path:
    """Save the picture of the film that leads, whose numbers are unfolded; return the file."""
    page.locator(".film-saves select").first.select_option(ground)
    with page.expect_download() as got:
        page.locator(f"[data-film-save={kind}]").first.click()
    return Path(got.value.path())


def unlike(first: Image.Image, second: Image.Image) -> float:
    """Return the share of squares that look different in two pictures; the larger one is cut."""
    frame = (0, 0, *np.minimum(first.size, second.size).tolist())
    means = [np.asarray(each.convert("RGB").crop(frame).reduce(CELL), dtype=float) for each in (first, second)]
    return float((np.abs(means[0] - means[1]).max(axis=2) > FAR).mean())


def drawn_apart(page: Page, film: Locator, picture: Path) -> tuple[Image.Image, Image.Image]:
    """Return a film's panels as the page shows them, and as a page of its own shows the saved SVG."""
    film.evaluate("film => film.scrollIntoView({block: 'center'})")
    page.mouse.move(0, 0)
    clip = film.evaluate(FRAME)
    shown = page.screenshot(clip=clip)
    other = page.context.new_page()
    other.goto(picture.rename(picture.with_suffix(".svg")).as_uri())
    drawn = other.screenshot(clip=clip | {"x": EDGE, "y": EDGE})
    other.close()
    return Image.open(BytesIO(shown)), Image.open(BytesIO(drawn))
