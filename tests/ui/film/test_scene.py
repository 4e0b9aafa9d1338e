"""A scene packed and read back, tracks of differences, and sentences whose slots move."""

import numpy as np
import pytest

from tests.support.films import numbers, unpacked
from ui.film import marks
from ui.film.colours import DIVERGING_SCALE
from ui.film.scene import (
    Axis,
    Beat,
    Control,
    NumberTrack,
    Panel,
    Scene,
    TextTrack,
    sentence_parts,
    text_at,
)
from ui.text.words import Words

A = Control("a", "A", (0.0, 1.0, 2.0), ("0", "1", "2"))
B = Control("b", "B", (5.0, 6.0), ("5", "6"))
T = Words("en", "rotation")


def scene(*shapes: dict[str, object]) -> Scene:
    return Scene([Panel(Axis(0, 1), Axis(0, 1), shapes)], (A, B), "")


def test_a_packed_scene_reads_back_to_float32() -> None:
    rng = np.random.default_rng(0)
    both, single = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 7))
    cells = rng.integers(-127, 128, (3, 2, 5)).astype(np.int8)
    built = scene(
        marks.line(NumberTrack((A, B), both), np.arange(4.0), "ink"),
        marks.dot(NumberTrack((A,), single), 3.5, "ink"),
        marks.heatmap(NumberTrack((A,), cells), DIVERGING_SCALE, (0, 1), (0, 1)),
    )
    name, head, held = unpacked(built.to_bytes("page.film", T))
    assert name == "page.film"
    line, points, picture = head["panels"][0]["marks"]
    for i in range(3):
        for j in range(2):
            at = {"a": i, "b": j}
            np.testing.assert_array_equal(numbers(line["x"], held, at), both[i, j].astype(np.float32))
            np.testing.assert_array_equal(numbers(points["x"], held, at), single[i].astype(np.float32))
            np.testing.assert_array_equal(numbers(picture["cells"], held, at), cells[i])
    np.testing.assert_array_equal(numbers(line["y"], held, {}), np.arange(4.0))
    assert numbers(points["y"], held, {}).tolist() == [3.5]


def test_a_sentence_moves_with_its_slots() -> None:
    texts = TextTrack((A, B), tuple("pqrstu"))
    parts = sentence_parts(lambda **slots: "{x} at {y}{x}.".format(**slots), x=texts, y="here")
    assert text_at(parts, {"a": 1, "b": 1}) == "s at heres."
    assert Scene((), (A, B), parts).finding_at({"a": 1.9, "b": 5}) == "t at heret."


def test_a_track_that_does_not_fit_its_controls_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must have the stops \(3,\)"):
        NumberTrack((A,), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="at most two"):
        NumberTrack((A, B, A), np.zeros((3, 2, 3, 1)))
    with pytest.raises(ValueError, match="each of 6 stops"):
        TextTrack((A, B), ("x",))


def test_a_scene_with_other_numbers_has_another_mark() -> None:
    digests = {scene(marks.dot(x, 0.0, "ink")).to_bytes("f", T)[2:10] for x in (1.0, 2.0)}
    assert len(digests) == 2


def test_beats_are_a_control_and_each_has_its_finding() -> None:
    steps = (
        Beat("say", "do", "first"),
        Beat("say", "do", TextTrack((A,), ("x", "y", "z")), control_values={"a": 2}),
        Beat("say", "do"),
    )
    built = Scene((), (A,), "all", beats=steps)
    assert [(control.name, control.stops) for control in built.all_controls][1:] == [("beat", (1.0, 2.0, 3.0))]
    assert [built.finding_at({"a": 1, "beat": beat}) for beat in (1, 2, 3)] == ["first", "y", "all"]
    assert built.values({"a": 2.0, "beat": 2.0}.get) == {"a": 2.0, "beat": 2.0}
    _, head, _ = unpacked(built.to_bytes("f", T))
    assert (
        len(head["beats"]) == 3
        and head["beats"][1]["finding"]["by"] == ["a"]
        and head["beats"][1]["control_values"] == {"a": 2}
    )
    assert Scene((), (A,), "all").all_controls == (A,)
