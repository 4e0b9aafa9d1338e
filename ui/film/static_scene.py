"""A film as it rests, painted without a browser: for paper, for readers without scripts, for a notebook on a page.

It paints what the player (assets/panel.js, assets/marks.js) paints of the same packed scene, with the same classes.
"""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from itertools import cycle, starmap
from typing import Any
from zlib import crc32

import numpy as np

from rope_core.report.svg import svg_element, svg_number
from ui.film.scene import BEAT, MARK_BYTES, TYPES

KINDS = {code: np.dtype(kind) for kind, code in TYPES.items()}
WIDTH, GAP = 840.0, 16.0
"""Px of the room that panels share, and between two of them."""
SIDE, EDGE = 52.0, 14.0
ScenePart = Mapping[str, Any]
STYLE = """svg{color:#1c2733;--film-paper:#fff;font-family:sans-serif}.film-tick{font-size:13px;fill:currentColor}
.film-axis{font-size:14px;font-weight:600;fill:currentColor}.film-grid{stroke:currentColor;opacity:.14}
.film-label-text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}.film-code{font-family:monospace}.film-pad{fill:currentColor;opacity:.05}"""
"""What film.css says of a picture of its own."""


class StaticScene:
    """A packed scene at rest.

    Args:
        data: as `Scene.to_bytes` writes it.
        values: where each control is, by name.
    """

    def __init__(self, data: bytes, values: Mapping[str, float]) -> None:
        body = zlib.decompress(data[1 + data[0] + MARK_BYTES :])
        (length,) = struct.unpack_from("<I", body)
        self.head: ScenePart = json.loads(body[4 : 4 + length])
        self.held = body[4 + length :]
        self.mark = crc32(body)
        self.index = {
            each["name"]: int(np.abs(np.subtract(each["stops"], values.get(each["name"], each["stops"][0]))).argmin())
            for each in self.head["controls"]
        }

    def beats(self) -> Iterator[tuple[str, str, str]]:
        """Yield what each beat says, its panels as HTML, and the sentence below; of a film without beats one."""
        for k, beat in enumerate(self.head["beats"] or [{"sentence": "", "finding": ""}]):
            self.index[BEAT] = k
            figures = "".join(self.panel_html(panel, svg) for panel, svg, _ in self._painted())
            finding = self.text_at_rest(beat["finding"] or self.head["finding"])
            yield self.text_at_rest(beat["sentence"]), f'<div class="film-panels">{figures}</div>', finding

    def to_standalone_svg(self) -> str:
        """Return the last beat as one SVG of its own."""
        self.index[BEAT] = max(0, len(self.head["beats"]) - 1)
        pieces, y, high = [], 0.0, 0.0
        for panel, svg, (x, width, height) in self._painted(wide=True):
            y, high = (y + high, 0.0) if x == 0 else (y, high)
            title = escape(self.text_at_rest(panel["title"]))
            title_at = {"x": x + width / 2, "y": y + 16, "text_anchor": "middle", "class_": "film-axis"}
            pieces.append(svg_element("text", title, **title_at))
            room = {"x": x, "y": y + 22, "width": width, "height": height}
            frame = "".join(f' {name}="{svg_number(value)}"' for name, value in room.items())
            pieces.append(svg.replace("<svg", f"<svg{frame}", 1))
            high = max(high, height + 22)
        box = f"0 0 {svg_number(WIDTH)} {svg_number(y + high)}"
        inside = f"<style>{STYLE}</style>{''.join(pieces)}"
        return svg_element("svg", inside, xmlns="http://www.w3.org/2000/svg", viewBox=box, width=WIDTH)

    def panel_html(self, panel: ScenePart, svg: str) -> str:
        """Return a panel with its title and paragraphs as HTML."""
        look = "film-panel" if svg else "film-panel film-text"
        title = f'<figcaption class="film-title">{escape(self.text_at_rest(panel["title"]))}</figcaption>'
        place = f'<div class="film-place">{svg}</div>' if svg else ""
        size = f"--share: {panel['width_share']}; --least: {panel['min_width']}px"
        size += f"; --phone-least: {least}px" if (least := panel["phone_min_width"]) else ""
        screen = f' data-screen="{only}"' if (only := panel["screen"]) else ""
        return f'<figure class="{look}"{screen} style="{size}">{title}{self.paragraphs_html(panel)}{place}</figure>'

    def paragraphs_html(self, panel: ScenePart) -> str:
        """Return a panel's paragraphs as HTML."""
        texts = []
        for each in panel["paragraphs"]:
            weight = "; font-weight: 600" if each["bold"] else ""
            look = f"font-size: {each['font_size']}px; color: {_css(each['colour'])}{weight}"
            texts.append(f'<p class="film-paragraph" style="{look}">{escape(self.text_at_rest(each["content"]))}</p>')
        return "".join(texts)

    def text_at_rest(self, part: Any) -> str:
        """Return a text where the controls are."""
        if isinstance(part, str):
            return part
        if isinstance(part, list):
            return "".join(map(self.text_at_rest, part))
        counts, flat = {each["name"]: len(each["stops"]) for each in self.head["controls"]}, 0
        for driver in part["by"]:
            flat = flat * counts[driver] + self.index[driver]
        return str(part["texts"][flat])

    def numbers_at_rest(self, part: Any) -> np.ndarray:
        """Return the numbers of a mark's attribute where the controls are."""
        if not isinstance(part, dict):
            return np.atleast_1d(np.asarray(part, dtype=float))
        size = [*part["dims"], *part["shape"]]
        values = np.frombuffer(self.held, KINDS[part["type"]], int(np.prod(size)), part["at"]).reshape(size)
        return np.asarray(values[tuple(self.index[driver] for driver in part["by"])])

    def _shown(self, part: ScenePart) -> bool:
        """Whether the beat in force shows a panel or a mark."""
        beat = self.index.get(BEAT, 0) + 1
        within = part.get("first_beat", 1) <= beat and not 0 < part.get("last_beat", 0) < beat
        return bool(within and not part.get("after_reveal"))

    def _painted(self, *, wide: bool = False) -> Iterator[tuple[ScenePart, str, tuple[float, float, float]]]:
        """Yield the panels in view as SVG, in rows as a page has them, each with its left edge, width and height.

        ``wide``: without those of narrow screens.
        """
        panels = [
            each for each in self.head["panels"] if self._shown(each) and not (wide and each["screen"] == "narrow")
        ]
        row = list[ScenePart]()
        for panel in [*panels, None]:
            if row and (panel is None or sum(each["min_width"] + GAP for each in [*row, panel]) - GAP > WIDTH):
                room = WIDTH - GAP * (len(row) - 1) - sum(min(each["min_width"], WIDTH) for each in row)
                shares, left = sum(each["width_share"] for each in row), 0.0
                for each in row:
                    width = min(each["min_width"], WIDTH) + max(0.0, room) * each["width_share"] / shares
                    svg, height = _Panel(self, each, width).svg() if each["marks"] else ("", 0.0)
                    yield each, svg, (left, width, height)
                    left += width + GAP
                row = []
            row += [panel] if panel else []


class _Panel:
    """A panel's room in px, and its marks in it."""

    def __init__(self, still: StaticScene, head: ScenePart, width: float) -> None:
        self.still, self.head, self.width = still, head, width
        place = f"{still.mark} {still.index.get(BEAT)} {still.head['panels'].index(head)}"
        self.name, self.hatches = f"hatch-{crc32(place.encode()):x}", dict[str, str]()
        x, y = head["x"], head["y"]
        named = [bool(axis["ticks"] or axis["title"]) for axis in (x, y)]
        left = SIDE if named[1] else 10.0 if named[0] else 8.0
        right = EDGE if any(named) else 8.0
        top = 30.0 if y["title"] else 12.0 if any(named) else 8.0
        bottom = (54.0 if x["ticks"] and x["title"] else 44.0) if named[0] else 10.0
        inner, wide, high = width - left - right, x["high"] - x["low"], y["high"] - y["low"]
        tall = min(head["height"], abs(inner * high / wide)) if head["equal_aspect"] else head["height"]
        self.height = tall + top + bottom
        self.sx, self.sy = inner / wide, -tall / high
        if head["equal_aspect"]:
            unit = min(abs(self.sx), abs(self.sy))
            self.sx, self.sy = unit * np.sign(self.sx), unit * np.sign(self.sy)
        self.left = left + (inner - abs(self.sx * wide)) / 2
        self.bottom = top + tall - (tall - abs(self.sy * high)) / 2

    def x(self, values: Any) -> np.ndarray:
        return np.asarray(self.left + (self.still.numbers_at_rest(values) - self.head["x"]["low"]) * self.sx)

    def y(self, values: Any) -> np.ndarray:
        return np.asarray(self.bottom + (self.still.numbers_at_rest(values) - self.head["y"]["low"]) * self.sy)

    def svg(self) -> tuple[str, float]:
        """Return the panel, and its height in px."""
        shown = (mark for mark in self.head["marks"] if self.still._shown(mark))
        room = [m for m in shown if m.get("min_panel_px", 0) <= self.width < m.get("max_panel_px", np.inf)]
        drawn = "".join(map(self.mark, room))
        hatches = "".join(starmap(_hatch, self.hatches.items()))
        box = f'viewBox="0 0 {svg_number(self.width)} {svg_number(self.height)}"'
        return f'<svg {box} overflow="visible" aria-hidden="true">{hatches}{self.axes()}{drawn}</svg>', self.height

    def axes(self) -> str:
        """Return grid, labels and titles; a label that would touch the one before it, or the last, is left out."""
        across, up = self.head["x"], self.head["y"]
        right = self.left + self.sx * (across["high"] - across["low"])
        top = self.bottom + self.sy * (up["high"] - up["low"])
        ticks = []
        for at, text in across["ticks"]:
            x, half = self.left + (at - across["low"]) * self.sx, 3.7 * len(text)
            ticks.append((x, min(x, self.width - half), half, text))
        pieces, free = [], -np.inf
        for tick in ticks:
            x, middle, half, text = tick
            if across["grid"]:
                pieces.append(svg_element("line", x1=x, x2=x, y1=top, y2=self.bottom, class_="film-grid"))
            if middle - half >= free and (tick == ticks[-1] or middle + half + 4 <= ticks[-1][1] - ticks[-1][2]):
                pieces.append(_text(text, middle, self.bottom + 18, "middle"))
                free = middle + half + 4
        for at, text in up["ticks"]:
            y = self.bottom + (at - up["low"]) * self.sy
            if up["grid"]:
                pieces.append(svg_element("line", x1=self.left, x2=right, y1=y, y2=y, class_="film-grid"))
            pieces.append(_text(text, self.left - 7, y + 5, "end"))
        low = self.bottom + (40 if ticks else 20)
        for title, x, y, anchor in ((across["title"], right, low, "end"), (up["title"], 2.0, 16.0, "start")):
            pieces += [_text(title, x, y, anchor, "film-axis")] * bool(title)
        return "".join(pieces)

    def mark(self, mark: ScenePart) -> str:
        """Return a mark as the player draws it, with what is grabbed as one thing."""
        paint = getattr(self, mark["kind"])
        inside = "".join(paint(mark))
        return svg_element("g", inside, opacity=mark["opacity"]) if mark.get("opacity") not in (None, 1) else inside

    def line(self, mark: ScenePart) -> Iterator[str]:
        line = {"stroke": _css(mark["colour"]), "stroke_width": mark["stroke_width"], "fill": _css(mark["fill"])}
        d = _through(*np.broadcast_arrays(self.x(mark["x"]), self.y(mark["y"])))
        yield svg_element("path", d=d, stroke_dasharray=mark["stroke_dash"], stroke_linejoin="round", **line)

    def dot(self, mark: ScenePart) -> Iterator[str]:
        for x, y, colour in zip(
            *np.broadcast_arrays(self.x(mark["x"]), self.y(mark["y"])), self.colours(mark), strict=False
        ):
            if np.isfinite(x + y):
                yield svg_element("circle", cx=x, cy=y, r=mark["radius_px"], fill=colour)

    def rect(self, mark: ScenePart) -> Iterator[str]:
        sides = np.broadcast_arrays(*(self.x(mark[k]) for k in ("x0", "x1")), *(self.y(mark[k]) for k in ("y0", "y1")))
        edge = {"rx": mark.get("corner_px", "")}
        if outline := mark.get("outline"):
            edge |= {"stroke": _css(outline), "stroke_width": mark.get("stroke_width", 1.5)}
            edge |= {"stroke_dasharray": mark.get("stroke_dash", "")}
        for (a, b, c, d), colour in zip(np.transpose(sides), self.colours(mark), strict=False):
            if np.isfinite(a + b + c + d):
                room = {"x": min(a, b), "width": abs(b - a), "y": min(c, d), "height": abs(d - c)}
                yield svg_element("rect", **room, fill=self.fill(mark, colour), **edge)

    def vector(self, mark: ScenePart) -> Iterator[str]:
        ends = (
            self.x(mark["x"]),
            self.y(mark["y"]),
            self.still.numbers_at_rest(mark["length"]),
            self.still.numbers_at_rest(mark["angle"]),
        )
        for (x, y, length, angle), colour in zip(
            np.transpose(np.broadcast_arrays(*ends)), self.colours(mark), strict=False
        ):
            if not np.isfinite(x + y + length + angle):
                continue
            reach, c, s = length * self.unit(mark), np.cos(angle), -np.sin(angle)
            size = min(3.2 * mark["stroke_width"], reach / 2) if mark["has_head"] else 0.0
            tx, ty, w = x + reach * c, y + reach * s, size / 1.8
            bx, by = tx - size * c, ty - size * s
            line = {"stroke": colour, "stroke_width": mark["stroke_width"]}
            line |= {"stroke_dasharray": dash} if (dash := mark.get("stroke_dash")) else {"stroke_linecap": "round"}
            yield svg_element("line", x1=x, y1=y, x2=bx, y2=by, **line)
            if mark["has_head"]:
                tip = ((tx, ty), (bx - w * s, by + w * c), (bx + w * s, by - w * c))
                yield svg_element("path", d=_through(*np.transpose(tip)) + "Z", fill=colour)

    def arc(self, mark: ScenePart) -> Iterator[str]:
        for x, y, radius, turns in self.turned(mark):
            look = {"stroke": _css(mark["colour"]), "stroke_width": mark["stroke_width"]}
            d = _through(x + radius * np.cos(turns), y - radius * np.sin(turns))
            yield svg_element("path", d=d, fill="none", stroke_dasharray=mark.get("stroke_dash", ""), **look)

    def wedge(self, mark: ScenePart) -> Iterator[str]:
        for x, y, radius, turns in self.turned(mark):
            inner = mark.get("inner_radius", 0.0) * self.unit(mark)
            back = turns[::-1] if inner else turns[:0]
            d = _through(
                np.concatenate([x + radius * np.cos(turns), x + inner * np.cos(back), [] if inner else [x]]),
                np.concatenate([y - radius * np.sin(turns), y - inner * np.sin(back), [] if inner else [y]]),
            )
            yield svg_element("path", d=f"{d}Z", fill=self.fill(mark, _css(mark["colour"])))

    def turned(self, mark: ScenePart) -> Iterator[tuple[float, float, float, np.ndarray]]:
        """Yield the centre and radius of each arc in px, and angles along it (rad)."""
        ends = (self.still.numbers_at_rest(mark[name]) for name in ("radius", "start_angle", "end_angle"))
        for x, y, r, start, end in np.transpose(np.broadcast_arrays(self.x(mark["x"]), self.y(mark["y"]), *ends)):
            by, radius = end - start, r * self.unit(mark)
            sweep = np.clip(by, -2 * np.pi, 2 * np.pi)
            if radius > 0 and np.isfinite(x + y + start + sweep):
                yield x, y, radius, start + sweep * np.linspace(0.0, 1.0, max(2, int(np.ceil(abs(sweep) / 0.1)) + 1))

    def fill(self, mark: ScenePart, colour: str) -> str:
        """Return the fill of a mark: its colour, or a hatching in it."""
        if mark.get("fill_pattern") != "hatch":
            return colour
        pattern = f"{self.name}-{crc32(colour.encode()):x}"
        self.hatches[pattern] = colour
        return f"url(#{pattern})"

    def text(self, mark: ScenePart) -> Iterator[str]:
        x, y = self.x(mark["x"])[0] + mark.get("dx", 0), self.y(mark["y"])[0] + mark.get("dy", 0)
        if np.isfinite(x + y):
            look = {"font_size": mark.get("font_size", 15), "font_weight": 600 if mark.get("bold") else ""}
            names = ["film-label-text"] * mark.get("halo", True) + ["film-code"] * mark.get("is_code", False)
            look |= {"fill": _css(mark["colour"]), "class_": " ".join(names)}
            text = escape(self.still.text_at_rest(mark["content"]))
            yield svg_element("text", text, x=x, y=y, text_anchor=mark.get("anchor", "middle"), **look)

    def heatmap(self, mark: ScenePart) -> Iterator[str]:
        cells, shades = (
            self.still.numbers_at_rest(mark["cells"]).astype(int),
            self.still.numbers_at_rest(mark["colours"]),
        )
        pixels = shades.reshape(-1, 3)[cells + 127].astype(np.uint8)
        (a, b), (c, d) = self.x(mark["x"]), self.y(mark["y"])
        pixels = pixels[:: 1 if d > c else -1, :: 1 if b > a else -1]
        room = {"x": min(a, b), "y": min(c, d), "width": abs(b - a), "height": abs(d - c)}
        look = {"preserveAspectRatio": "none", "style": "image-rendering:pixelated"}
        yield svg_element(
            "image", href=f"data:image/png;base64,{b64encode(png_bytes(pixels)).decode()}", **room, **look
        )

    def drag_handle(self, mark: ScenePart) -> Iterator[str]:
        yield from map(self.mark, mark["grab_marks"])
        if mark.get("radius_px") == 0:
            return
        x, y = self.x(mark["x"])[0], self.y(mark["y"])[0]
        if "angle" in mark:
            reach, (angle,) = (
                self.still.numbers_at_rest(mark["length"])[0] * self.unit(mark),
                self.still.numbers_at_rest(mark["angle"]),
            )
            x, y = x + reach * np.cos(angle), y - reach * np.sin(angle)
        if np.isfinite(x + y):
            yield svg_element("circle", cx=x, cy=y, r=mark.get("radius_px", 9), fill=_css(mark["colour"]))

    def sketch_input(self, mark: ScenePart) -> Iterator[str]:
        drawn = mark["sketch"]
        (left, right), (low, high) = (
            self.x([drawn["columns"][0], drawn["columns"][-1]]),
            self.y([drawn["levels"][0], drawn["levels"][-1]]),
        )
        yield svg_element("rect", x=left - 12, width=right - left + 24, y=high, height=low - high, class_="film-pad")

    def unit(self, mark: ScenePart) -> float:
        """Return px of a length: in units of x, or of y where the mark says so."""
        return float(abs(self.sy) if mark.get("length_unit") == "y" else self.sx)

    def colours(self, mark: ScenePart) -> Iterator[str]:
        """Yield the colour of each of a mark's parts."""
        several = mark["colour"] if isinstance(mark["colour"], list) else [mark["colour"]]
        if mark.get("colour_index") is not None and isinstance(mark["colour"], list):
            return (_css(several[round(k)]) for k in self.still.numbers_at_rest(mark["colour_index"]).tolist())
        return cycle(map(_css, several))


def png_bytes(pixels: np.ndarray) -> bytes:
    """Return an image, uint8 (rows, columns, 3), as PNG.

    >>> png_bytes(np.zeros((2, 3, 3), dtype=np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    rows, columns, _ = pixels.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")


def _through(x: np.ndarray, y: np.ndarray) -> str:
    """Return a path through points; it breaks where one is no number."""
    pieces, pen = [], "M"
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if not np.isfinite(a + b):
            pen = "M"
            continue
        pieces.append(f"{pen}{svg_number(a)} {svg_number(b)}")
        pen = "L"
    return "".join(pieces)


def _hatch(name: str, colour: str) -> str:
    """Return a fill of diagonal strokes in a colour."""
    stroke = svg_element("line", x1=2, x2=2, y1=0, y2=7, stroke=colour, stroke_width=2)
    turn = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return svg_element("pattern", stroke, id=name, width=7, height=7, **turn)


def _css(colour: str) -> str:
    return {"ink": "currentColor", "paper": "var(--film-paper)"}.get(colour, colour)


def _text(text: str, x: float, y: float, anchor: str, look: str = "film-tick") -> str:
    return svg_element("text", escape(text), x=x, y=y, text_anchor=anchor, class_=look)
