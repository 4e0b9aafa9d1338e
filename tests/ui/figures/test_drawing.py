"""The parts that all figures share."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import plotly.io

from ui.figures.drawing import Animated, as_bytes, as_csv, byte_bar, grid


def test_bytes_keep_the_colour_to_half_a_step() -> None:
    z = np.linspace(-3, 3, 1001)
    back = as_bytes(z, 3.0).astype(float) / 127 * 3
    assert np.abs(back - z).max() <= 3 / 254 + 1e-12
    assert as_bytes(np.array([-9.0, 9.0]), 3.0).tolist() == [-127, 127]


def test_a_bar_reads_in_the_unit_of_the_quantity() -> None:
    bar = byte_bar(2.0, parts=2)
    assert bar["tickvals"] == [-127.0, 0.0, 127.0] and bar["ticktext"] == ["-2", "0", "2"]


def test_csv_columns_of_different_length_end_blank() -> None:
    text = as_csv({"位置": [1, 2], "x": [0.1]}).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text))) == [["位置", "x"], ["1", "0.1"], ["2", ""]]


def test_a_grid_has_one_row_per_cell() -> None:
    table = grid([10, 20, 30], [1, 2], np.arange(6).reshape(2, 3), ("x", "y", "z"))
    assert list(zip(*(np.asarray(c).tolist() for c in table.values()), strict=True))[4] == (20, 2, 4)


def test_plain_frames_reach_the_browser() -> None:
    figure = Animated([{"type": "scatter", "x": [0], "y": [0]}]).animate([{"name": "1", "traces": [0]}])
    sent = json.loads(plotly.io.to_json(figure, validate=False))
    assert sent["frames"] == [{"name": "1", "traces": [0]}] and len(sent["data"]) == 1
