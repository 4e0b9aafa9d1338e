"""Drawings as Plotly's own objects, for tests that look at them."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ui.figures.drawing import Drawing


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
