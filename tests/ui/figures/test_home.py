"""The front page's dials."""

from __future__ import annotations

import numpy as np
import pytest

import rope_core as rc
from tests.support.figures import chart
from ui.figures import home as figures
from ui.text.words import Words


@pytest.mark.parametrize("dim, position", [(128, 20), (6, 1000), (2, 3)])
def test_hands_point_where_the_position_turns_them(dim: int, position: int) -> None:
    rope = rc.Rope(dim, 700.0)
    drawing = figures.dials(rope, position, Words("zh", "home"))
    x, y = chart(drawing).data[1].x, chart(drawing).data[1].y
    for dial, pair in enumerate(figures.shown(rope)):
        right, up = figures.centre(dial)
        angle = np.arctan2(y[3 * dial + 1] - up, x[3 * dial + 1] - right)
        assert np.cos(angle - position * rope.theta[pair]) == pytest.approx(1.0, abs=1e-6)


def test_every_frame_is_one_token_further() -> None:
    rope = rc.Rope(8, 100.0)
    drawing = figures.dials(rope, 5, Words("en", "home"))
    frames = chart(drawing).to_dict()["frames"]
    assert [frame["name"] for frame in frames[:2]] == ["5", "6"] and len(frames) == figures.FRAMES
    assert frames[3]["layout"]["title"]["text"] == "token 8"
    assert f"{rope.wavelength[-1]:,.0f}" in drawing.finding
