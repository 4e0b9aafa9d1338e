"""The palette measured: every kind of colour vision, both backgrounds, and the scales of the heatmaps."""

import itertools
import math

import numpy as np
import numpy.typing as npt
import plotly.colors
import pytest

from rope_core.bench import view
from tests.support.figures import chart
from ui.figures.benchmark import times as benchmark
from ui.film import colours
from ui.text.words import PageTexts

Array = npt.NDArray[np.float64]

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB: what a dichromat sees.
# https://www.inf.ufrgs.br/~oliveira/pubs_files/CVD_Simulation/CVD_Simulation.html
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
APART, SERIES = 10.0, 3.0


def lab(shares: Array) -> Array:
    """CIELAB (D65) of linear sRGB."""
    x = TO_XYZ @ np.clip(shares, 0, 1) / (0.95047, 1.0, 1.08883)
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def seen(colour: str, vision: str) -> Array:
    """CIELAB of ``#RRGGBB`` as such an eye sees it."""
    return lab(VISION[vision] @ colours.linear_rgb(colour))


def hexed(colour: str) -> str:
    """``rgb(r, g, b)`` or ``#RRGGBB`` as ``#RRGGBB``."""
    return colour if colour[0] == "#" else f"#{bytes(int(c) for c in plotly.colors.unlabel_rgb(colour)).hex()}"


def steps(scale: colours.ColourScale, vision: str, count: int = 33) -> Array:
    """CIELAB of a scale at equal steps, (count, 3)."""
    sampled = plotly.colors.sample_colorscale([list(stop) for stop in scale], np.linspace(0, 1, count).tolist())
    return np.stack([seen(hexed(colour), vision) for colour in sampled])


@pytest.mark.parametrize("vision", VISION)
def test_any_two_series_differ(vision: str) -> None:
    pairs = itertools.combinations(colours.SERIES_COLOURS, 2)
    near = {(a, b): math.dist(seen(a, vision), seen(b, vision)) for a, b in pairs}
    assert {pair: apart for pair, apart in near.items() if apart < APART} == {}


@pytest.mark.parametrize("colour", colours.SERIES_COLOURS)
def test_a_series_stands_out_from_both_backgrounds(colour: str) -> None:
    assert min(colours.contrast_ratio(colour, colours.LIGHT), colours.contrast_ratio(colour, colours.DARK)) >= SERIES
    light, dark = colours.TEXT_COLOURS[colour]
    assert colours.contrast_ratio(light, colours.LIGHT) >= 4.5 and colours.contrast_ratio(dark, colours.DARK) >= 4.5
    assert (
        colours.contrast_ratio(colour, {"black": "#000000", "white": "#FFFFFF"}[colours.text_colour_on(colour)]) >= 4.5
    )


def test_faded_words_are_legible() -> None:
    light, dark = colours.TEXT_COLOURS[colours.FADED]
    assert colours.contrast_ratio(light, "#E8F2F8") >= 4.5 and colours.contrast_ratio(dark, colours.DARK) >= 4.5


@pytest.mark.parametrize("vision", VISION)
def test_an_amount_grows_lighter_all_the_way(vision: str) -> None:
    assert np.diff(steps(colours.SEQUENTIAL_SCALE, vision)[:, 0]).min() > 0.5


@pytest.mark.parametrize("vision", VISION)
def test_a_sign_is_two_ends_and_a_light_middle(vision: str) -> None:
    along = steps(colours.DIVERGING_SCALE, vision)
    middle = len(along) // 2
    assert np.diff(along[: middle + 1, 0]).min() > 0.3 and np.diff(along[middle:, 0]).max() < -0.3
    for less, more in zip(along[:middle], along[:middle:-1], strict=True):
        reach = abs(less[0] - along[middle, 0])
        assert reach < 10 or math.dist(less, more) >= APART


def test_no_two_contestants_of_a_record_look_alike() -> None:
    """There are more contestants than colours: a look is a colour with a mark."""
    words = PageTexts("en", "benchmark")
    for name in view.shipped_benchmark_names():
        points = view.shipped_benchmarks(name).points
        for kind in view.case_kinds(points):
            figure = chart(benchmark.bandwidth_chart(view.case_kind_timings_by_length(points, kind), name, words))
            looks = [(line.line.color, line.marker.symbol) for line in figure.data]
            assert len(set(looks)) == len(looks)
