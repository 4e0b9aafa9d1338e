"""The frequency figures: traces against formulas written out, their sentences and recipes."""

import math
from inspect import unwrap

import numpy as np
import pytest

from rope_core import Rope
from rope_core.theory import frequency_demo
from tests.support.figures import ROPE, Row, ran
from tests.support.films import FilmRow, to_draw
from ui.figures.drawing import Film
from ui.figures.frequencies import digits as frequencies
from ui.figures.frequencies import drawn, spans, stripes, tables
from ui.film.scene import Mark, NumberTrack, Panel
from ui.text.words import Words

EN = Words("en", "frequencies")
BASES = (1000.0, 10_000.0, 54_321.0, 1e7)


def film(dim: int, kind: str = "cos", span: int = 256, train_len: int = 4096) -> Film:
    built: Film = unwrap(tables.heat)(
        dim, BASES, train_len, tables.pairs_of(dim, 3), kind, span, 10_000.0, 10_000.0, EN
    )
    return built


def of_kind(panel: Panel, kind: str) -> list[Mark]:
    return [part for shape in panel.marks for part in (shape, *shape.get("grab_marks", ())) if part["kind"] == kind]


def test_llama_2_leaves_18_pairs_without_a_turn() -> None:
    texts_of = film(128).scene.finding_at({"base": 10_000, "pair": 0, "beat": 2})
    assert "18 of 64 pairs" in texts_of and "54,410" in texts_of and "4,096" in texts_of


@pytest.mark.parametrize(
    ("dim", "base", "train_len"), [(128, 1e4, 4096), (64, 30.0, 500), (1024, 1e6, 8192), (2, 5.0, 16)]
)
def test_the_marked_row_is_its_pair_at_every_stop(dim: int, base: float, train_len: int) -> None:
    """Wave, arrow and sentence of each pair by angles written out; where it never finished a turn it is amber."""
    pairs = tables.pairs_of(dim, 3)
    built: Film = unwrap(tables.heat)(dim, (base, 2 * base), train_len, pairs, "cos", 256, base, base, EN)
    dial, _, map_panel, _ = built.scene.panels[:4]
    x = np.linspace(0.0, train_len, stripes.POINTS)
    waves = [line for line in of_kind(map_panel, "line") if isinstance(line["y"], NumberTrack)][-3:]
    for stop, pair in enumerate(min(each, dim // 2 - 1) for each in pairs):
        at, theta = {"pair": stop}, base ** (-2 * pair / dim)
        seen, later, amber = (wave["y"].at(at) for wave in waves)
        turned = theta * train_len
        if np.isfinite(seen).all():
            np.testing.assert_allclose(seen, stripes.WAVE + stripes.HALF * np.cos(theta * x), atol=1e-6)
            assert np.isfinite(amber).all() == (turned < 2 * math.pi) != np.isfinite(later).all()
        else:
            assert 2 * math.pi / theta < 10 * 1.25 * train_len / stripes.COLUMNS, "only a fine row has no wave"
        tip = of_kind(dial, "vector")[0]["angle"].at(at)[0]
        assert (np.sin(tip), np.cos(tip)) == pytest.approx((math.cos(turned), math.sin(turned)), abs=1e-6)
        finding_text = built.scene.finding_at({"pair": pairs[stop], "base": base, "beat": 1})
        assert ("new to the model" in finding_text) == (turned < 2 * math.pi)
        assert turned >= 2 * math.pi or f"{math.degrees(turned):.3g}°" in finding_text


def test_a_row_of_the_map_is_the_mean_over_its_columns() -> None:
    """The Gaussian mean by a sum over many places, for pairs from one shade to full contrast."""
    rope, end, columns = Rope(16, 300.0, 200), 250.0, 40
    cells, contrast = frequency_demo.stripes(rope, end, columns)
    part, at = end / columns, np.linspace(-6.0, 6.0, 4001)
    weights = np.exp(-(at**2) / 2) / np.exp(-(at**2) / 2).sum()
    for k in (0, 7, 39):
        places = (k + 0.5) * part + frequency_demo.BLUR * part * at
        want = np.cos(rope.theta[:, None] * places) @ weights
        np.testing.assert_allclose(cells[:, k], want, atol=1e-6)
    assert contrast[0] < 0.1 < 0.9 < contrast[-1]


@pytest.mark.parametrize("kind", ["angle", "cos", "sin"])
@pytest.mark.parametrize(("dim", "span"), [(2, 16), (12, 64), (128, 256), (128, 131_072), (1024, 512)])
def test_every_picture_is_the_table_to_one_byte(kind: str, dim: int, span: int) -> None:
    built = film(dim, kind, span)
    panel = built.scene.panels[-2]
    picture, marked = of_kind(panel, "heatmap")
    cells = picture["cells"].keyframes
    for n, pair in enumerate(tables.pairs_of(dim, 3)[: dim // 2]):
        row = pair // (-(-dim // 2 // cells.shape[1]))
        np.testing.assert_array_equal(marked["cells"].at({"pair": n, "base": 1})[0], cells[1, row])
    assert cells.dtype == np.int8 and cells.shape[0] == len(BASES) and cells.shape[1] <= 32 and cells.shape[2] <= 256
    every, step = -(-dim // 2 // cells.shape[1]), int(panel.x.high) // cells.shape[2]
    assert ("one position in" in str(built.scene.beats[2].finding)) == (step > 1) == (span > 256)
    limit = np.pi if kind == "angle" else 1.0
    for base, shown in zip(BASES, cells / 127 * limit, strict=True):
        theta = np.array([base ** (-2 * i / dim) for i in range(0, dim // 2, every)])
        exact = np.arange(0, span, step) * theta[:, None]
        off = np.remainder(exact - shown + np.pi, 2 * np.pi) - np.pi
        off = off if kind == "angle" else getattr(np, kind)(exact) - shown
        assert np.abs(off).max() <= limit / 254 + 1e-7
    # A row is as high as the pairs that it represents, centred on the one that it shows.
    assert picture["y"] == (-every / 2, (len(theta) - 0.5) * every)
    middles = of_kind(panel, "dot")[0]["y"].keyframes[:, 0]
    assert all(0 <= pair - row < every for pair, row in zip(tables.pairs_of(dim, 3), middles, strict=True) if dim > 2)


@pytest.mark.parametrize(
    ("dim", "kind", "train_len"), [(2, "sin", 4096), (12, "cos", 16), (128, "cos", 4096), (1022, "sin", 131_072)]
)
def test_wavelengths_hands_and_who_completes_a_turn_at_every_stop(dim: int, kind: str, train_len: int) -> None:
    built = film(dim, kind, train_len=train_len)
    panel, _, bar = built.scene.panels[-3:]
    (points,) = of_kind(panel, "dot")
    labels = of_kind(panel, "text")
    rows = points["y"].astype(int)
    assert rows[0] == 0 and len(rows) <= 32 and set(np.diff(rows)) <= {-(-dim // 64)}
    for k, base in enumerate(BASES):
        waves = [2 * math.pi * base ** (2 * i / dim) for i in range(dim // 2)]
        np.testing.assert_allclose(10.0 ** points["x"].keyframes[k], np.array(waves)[rows])
        np.testing.assert_allclose(10.0 ** labels[1]["x"].keyframes[k], waves[-1])
        for n, pair in enumerate(min(stop, dim // 2 - 1) for stop in tables.pairs_of(dim, 3)):
            at = {"pair": n, "base": k}
            turned = 6 * base ** (-2 * pair / dim)
            tip = of_kind(bar, "vector")[-1]["angle"].at(at)[0]
            assert np.isclose(np.sin(tip), math.cos(turned)) and np.isclose(np.cos(tip), -math.sin(turned))
            heights = [shape["y" if kind == "cos" else "x"].at(at)[1] for shape in of_kind(bar, "line")]
            # Up for the cosine; the sine grows to the left, where an arrow from the top turns first.
            exact, way = (math.cos(turned), 1) if kind == "cos" else (math.sin(turned), -1)
            wanted = [way * exact if exact > 0 else np.nan, way * exact if exact < 0 else np.nan]
            assert heights == pytest.approx(wanted, nan_ok=True)
        never = [wave > train_len for wave in waves]
        texts_of = built.scene.finding_at({"base": base, "pair": 0, "beat": 2})
        assert f"{sum(never)} of {dim // 2} pairs" in texts_of
        assert points["colour_index"].at({"base": k}).tolist() == [never[row] for row in rows]


def test_axes_rest_while_the_base_moves_and_name_no_power_of_e() -> None:
    built = unwrap(tables.heat)(128, (1000.0, 7e9, 1e12), 4096, (0, 63), "cos", 256, 1000.0, 1000.0, EN)
    _, base = built.scene.controls
    assert base.stop_labels == ("1,000", "7·10⁹", "10¹²")
    panel = built.scene.panels[-3]
    assert panel.x.low == 0 and 10**panel.x.high > 2 * math.pi * 1e12 ** (126 / 128)
    assert not any("e+" in text for _, text in panel.x.ticks)
    assert ran(built)


@pytest.mark.parametrize("position", [0, 2718, 1_000_000])
def test_base_ten_digits_are_the_written_ones(position: int) -> None:
    at = frequencies.positions(position)
    built: Film = unwrap(frequencies.digits)(8, 10_000.0, at, EN)
    assert {position, 0, 1_000_000} < set(at)
    digits, cos, sin = (shape["y"].keyframes for panel in built.scene.panels for shape in of_kind(panel, "dot"))
    sticks = [
        shape["y"].keyframes.reshape(-1, 4, 3) for panel in built.scene.panels for shape in of_kind(panel, "line")
    ]
    for k, where in enumerate(at):
        assert digits[k].astype(int).tolist() == [int(digit) for digit in f"{where % 10_000:04d}"[::-1]]
        quotients = [where / 10**i for i in range(4)]
        np.testing.assert_allclose(cos[k], np.cos(quotients), atol=1e-9)
        np.testing.assert_allclose(sin[k], np.sin(quotients), atol=1e-9)
    for stick, heights in zip(sticks, (digits, cos, sin), strict=True):
        np.testing.assert_array_equal(stick[..., 0], 0)
        np.testing.assert_array_equal(stick[..., 1], heights)
        assert np.isnan(stick[..., 2]).all()
    assert ran(built).startswith("10.0") or ran(built).startswith("9.99")


def own_digits(t: Words) -> str:
    beta = 300.0 ** (2 / 8)
    own = [math.floor(77 / beta**m) % beta for m in range(4)]
    shown = ", ".join(f"{digit:.3g}" for digit in own)
    return t("digits_finding", position="77", beta=f"{beta:.3g}", digits=shown, d=8)


ROWS = [
    Row("frequencies", spans.repeats, (ROPE,)),
]
STOPS = (100.0, 700.0, 5e4), 300
AT = {"base": 700, "pair": 3, "beat": 2}
FILMS = [
    FilmRow("frequencies", tables.heat, (16, *STOPS, (0, 3, 7), "sin", 9000, 700.0, 700.0), AT),
    FilmRow("frequencies", frequencies.digits, (8, 300.0, frequencies.positions(77)), {"position": 77}, own_digits),
    FilmRow("frequencies", drawn.unfinished, (16, 500), {}, to_draw),
]
