"""Positions as drawn, against rotations and counts written out by hand."""

import math
import re
from inspect import unwrap

import numpy as np
import pytest

import rope_core as rc
from rope_core.languages import LANGUAGES
from tests.support.figures import ROPE, Row, chart
from tests.support.films import FilmRow, texts_at, to_draw
from ui.figures.home import degrees_text, single_drawn_pair
from ui.figures.positions import axes as figures
from ui.figures.positions import expected, fillers, packing, patches
from ui.figures.positions.which import padding_and_packing_film
from ui.text.words import PageTexts

T = PageTexts("en", "positions")
AT = {"fillers": 0, "cut": 4, "dropped": 0}


def attention(rope: rc.Rope, query: int, keys: list[int]) -> list[float]:
    """Return softmax over the keys of a vector of ones, each turned at its own position by its matrix."""
    ones = np.ones(rope.dim)
    q = rc.rotation_matrix(query, rope.theta, "half") @ ones
    scores = [float(q @ (rc.rotation_matrix(at, rope.theta, "half") @ ones)) / math.sqrt(rope.dim) for at in keys]
    weights = [math.exp(score - max(scores)) for score in scores]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(128, 1e4)])
def test_the_other_text_s_share_is_softmaxs_of_rotated_vectors(rope: rc.Rope) -> None:
    scene = unwrap(padding_and_packing_film)(rope, T).scene
    row, mixed, parted = (panel for panel in scene.panels if panel.first_beat == panel.last_beat == 2)
    for stop, cut in enumerate(packing.CUTS):
        ids = [*range(cut), *range(10 - cut)]
        share = f"{100 * sum(attention(rope, ids[-1], ids)[:cut]):.0f}"
        finding = scene.finding_at(AT | {"beat": 2, "cut": cut})
        assert f" {share} % of its attention" in finding
        assert (f"seems {ids[-1] - 1} word" in finding) == (ids[-1] > 1)
        at = {"cut": stop}
        numbers = texts_at(row.marks, at)
        assert [each for each in numbers if each.isdigit()] == list(map(str, ids))
        assert T("other_share", share=share) in texts_at(mixed.marks, at)
        assert T("own_share", share="100") in texts_at(parted.marks, at)


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(128, 1e4)])
def test_a_key_that_is_turned_back_has_the_true_distance_and_one_left_as_stored_a_smaller_one(rope: rc.Rope) -> None:
    scene = unwrap(padding_and_packing_film)(rope, T).scene
    theta = rope.theta[[single_drawn_pair(rope)]]
    _, left, back = (panel for panel in scene.panels if panel.first_beat == 3)
    # The first word stays, so “cat” is word 5 of those stored and “mat” comes after nine.
    for gone in range(5):
        at = {"dropped": gone}
        query = rc.rotation_matrix(9 - gone, theta, "half")
        for panel, key in ((left, 5), (back, 5 - gone)):
            between = rc.rotation_matrix(key, theta, "half").T @ query
            hands = [mark["angle"] for mark in panel.marks if mark["kind"] == "vector"]
            k, q = (np.ravel(hand.numbers_at(at))[0] for hand in hands)
            assert np.cos(k - q) == pytest.approx(between[0, 0], abs=1e-9)
            words = texts_at(panel.marks, at)
            assert T("key_turned", n=key) in words and T("query_turned", n=9 - gone) in words
        finding = scene.finding_at(AT | {"beat": 3, "dropped": gone})
        assert gone == 0 or degrees_text(gone * float(theta[0])) in finding
        assert {0: "way", 1: "3 words apart", 2: "2 words apart", 3: "1 word apart", 4: "one place"}[gone] in finding


@pytest.mark.parametrize("lang", list(LANGUAGES))
def test_a_patch_has_the_numbers_of_its_row_and_column(lang: str) -> None:
    t = PageTexts(lang, "positions")
    row, column = patches.patch_drag_order()[8]
    where = t("patch_at", row=2 + row, column=2 + column)
    numbers = {"n0": 2, "n1": 2 + row, "n2": 2 + column}
    finding = unwrap(patches.image_text_film)(t).scene.finding_at({"patch": 8})
    assert finding == t("patch_finding", where=where, after=8, plain=20, **numbers)


@pytest.mark.parametrize("rope", [ROPE, rc.Rope(128, 1e4)])
def test_fillers_counted_for_stored_words_alone_bring_them_nearer(rope: rc.Rope) -> None:
    scene = unwrap(padding_and_packing_film)(rope, T).scene
    theta = rope.theta[[single_drawn_pair(rope)]]
    dials = [panel for panel in scene.panels if panel.equal_aspect and panel.last_beat == 1]
    assert len(dials) == 2
    for count in range(fillers.MOST + 1):
        # Keys are stored by a program that numbers the places of the row; the new word counts the mask alone.
        mask = [0] * count + [1] * 6
        places, real = list(range(len(mask))), np.cumsum(mask) - 1
        cat, mat = places[count + 1], int(real[-1])
        finding_text = scene.finding_at(AT | {"beat": 1, "fillers": count})
        sentences = {
            4: "for 4 words apart, as",
            3: "3 words apart, not 4",
            2: "2 words apart, not 4",
            1: "1 word apart, not",
        }
        assert sentences.get(mat - cat, "as if they stood in one place") in finding_text
        between = rc.rotation_matrix(cat, theta, "half").T @ rc.rotation_matrix(mat, theta, "half")
        for panel in dials:
            key, query = (
                mark["angle"].numbers_at({"fillers": count})[0] for mark in panel.marks if mark["kind"] == "vector"
            )
            assert np.cos(key - query) == pytest.approx(between[0, 0], abs=1e-9)


def test_the_words_about_an_image_stand_in_their_order_with_their_numbers() -> None:
    labels = [
        shape
        for panel in unwrap(patches.image_text_film)(T).scene.panels
        for shape in panel.marks
        if shape["kind"] == "text"
    ]
    places = {shape["x"]: shape["content"] for shape in labels if re.fullmatch(r"\d \d \d", str(shape["content"]))}
    assert [places[x] for x in sorted(places)] == ["0 0 0", "1 1 1", "8 8 8", "9 9 9"]


@pytest.mark.parametrize("counts", [(5, 4, 3), (2, 1, 1), (24, 20, 20)])
def test_sections_colour_every_pair_once_in_each_row(counts: tuple[int, int, int]) -> None:
    drawing = figures.mrope_section_chart(counts, T)
    rows: dict[float, dict[int, str]] = {}
    for trace in chart(drawing).data:
        for pair in trace.x:
            rows.setdefault(trace.base, {})[int(pair)] = trace.marker.color
    order = dict(zip(patches.AXIS_COLOURS, range(3), strict=True))
    blocks = [order[rows[0.6][pair]] for pair in range(sum(counts))]
    turns = [order[rows[-0.4][pair]] for pair in range(sum(counts))]
    assert blocks == [0] * counts[0] + [1] * counts[1] + [2] * counts[2]
    assert [turns.count(axis) for axis in range(3)] == list(counts)
    assert all(axis in (0, pair % 3) for pair, axis in enumerate(turns))


def test_sections_that_cannot_take_turns_are_drawn_in_blocks_only() -> None:
    drawing = figures.mrope_section_chart((16, 24, 24), T)
    assert {trace.base for trace in chart(drawing).data} == {0.6}
    assert "cannot be interleaved" in drawing.finding and "interleaved" not in drawing.table()


ROWS = [Row("positions", figures.mrope_section_chart, ((24, 20, 20),))]
FILMS = [
    FilmRow("positions", padding_and_packing_film, (ROPE,), {"fillers": 2, "cut": 3, "dropped": 2, "beat": 3}),
    FilmRow("positions", patches.image_text_film, (), {"patch": patches.WIDE - 1}),
    FilmRow("positions", expected.renumbered_key_score_sketch, (ROPE,), {}, to_draw),
]
