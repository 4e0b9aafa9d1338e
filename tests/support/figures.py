"""Drawings as Plotly's own objects, and rows of what a figure must show, for tests that look at them."""

import inspect
import io
import re
import textwrap
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

import rope_core as rc
from rope_core.theory import extension
from ui.figures.drawing import Drawing
from ui.text.words import PageTexts

ROPE = rc.Rope(16, 700.0, 256)


@cache
def extended(length: int) -> list[extension.SchemeSpectrum]:
    """Return every scheme at its default parameters on the small geometry of the tests."""
    return extension.scheme_spectra(ROPE, {name: {} for name in extension.compared_schemes()}, length)[0]


@dataclass(frozen=True)
class Row:
    """A figure function, its arguments before the words, and its finding made again: None where its test holds it."""

    page: str
    draw: Callable[..., Drawing | None]
    given: tuple[Any, ...]
    finding: Callable[[PageTexts], str] | None = None

    def __str__(self) -> str:
        return f"{self.page}.{inspect.unwrap(self.draw).__name__}"

    def drawn(self, t: PageTexts) -> Drawing:
        """Return the figure, drawn anew."""
        drawing: Drawing | None = inspect.unwrap(self.draw)(*self.given, t)
        assert drawing is not None
        return drawing


def unpacked(value: Any) -> Any:
    """Return Plotly's JSON with its typed arrays as numpy's, as plotly.js reads them."""
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(b64decode(value["bdata"]), value["dtype"])
        return array.reshape([int(size) for size in value["shape"].split(",")]) if "shape" in value else array
    if isinstance(value, dict):
        return {name: unpacked(item) for name, item in value.items()}
    return [unpacked(item) for item in value] if isinstance(value, list) else value


def chart(drawing: Drawing) -> go.Figure:
    """Return a drawing's figure as Plotly's object; raises ValueError for an attribute that Plotly does not know."""
    return go.Figure(unpacked(drawing.figure))


@cache
def run(code: str) -> str:
    """Return what lines of Python print; the same lines are run once."""
    out = io.StringIO()
    with redirect_stdout(out):
        exec(code, {})
    return out.getvalue()


def ran(drawing: Drawing) -> str:
    """Return what a drawing's recipe prints."""
    return run(textwrap.dedent(drawing.recipe))


def read(text: str) -> float:
    """Return the number that a figure writes as 2.2·10⁻¹⁶ or 10⁻⁵."""
    plain = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(re.sub(r"^10(?=-)", "1e", plain).replace("·10", "e"))


def numbers_of(sentence: str) -> Iterator[tuple[str, float, float]]:
    """Yield the numbers of a sentence: as written, and what the number and its last digit are worth."""
    plain = re.sub(r"(?<![\w·.])10(?=⁻)", "1·10", sentence)
    plain = plain.translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789"))
    for text, power in re.findall(r"(?<![\w.])-?(\d[\d,]*(?:\.\d+)?)(?:·10(-?\d+))?(?!\w)", plain):
        digits = text.replace(",", "").rstrip(".")
        whole, _, part = digits.partition(".")
        # Three digits are written of a large number.
        unit = 10.0 ** (-len(part) if part or len(whole) < 4 else len(whole) - len(whole.rstrip("0")))
        yield text, float(digits) * 10.0 ** int(power or 0), unit * 10.0 ** int(power or 0)
