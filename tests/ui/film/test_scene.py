"""A scene packed and read back, tracks of differences, and sentences whose slots move."""

import numpy as np
import pytest

from tests.support.films import numbers, unpacked
from ui.film import marks
from ui.film.colours import DIVERGING_SCALE
from ui.film.scene import (
    Axis,
    Beat,
    BeatParts,
    Control,
    NumberTrack,
    Panel,
    Scene,
    TextTrack,
    scene_in_beats,
    sentence_parts,
    text_at,
)
from ui.text.words import PageTexts

A = Control("a", "A", (0.0, 1.0, 2.0), ("0", "1", "2"))
B = Control("b", "B", (5.0, 6.0), ("5", "6"))
T = PageTexts("en", "rotation")


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
    assert built.control_values({"a": 2.0, "beat": 2.0}.get) == {"a": 2.0, "beat": 2.0}
    _, head, _ = unpacked(built.to_bytes("f", T))
    assert (
        len(head["beats"]) == 3
        and head["beats"][1]["finding"]["by"] == ["a"]
        and head["beats"][1]["control_values"] == {"a": 2}
    )
    assert Scene((), (A,), "all").all_controls == (A,)


def test_numbers_and_texts_of_a_control_are_tracks_with_one_value_or_several_at_each_stop() -> None:
    assert A.stop_number.keyframes.tolist() == [[0.0], [1.0], [2.0]] and text_at(A.stop_text, {"a": 2}) == "2"
    assert A.numbers([[1, 2], [3, 4], [5, 6]]).numbers_at({"a": 1}).tolist() == [3, 4]
    shown = A.numbers_where([True, False, True], 7.0) + 0.5
    assert shown.numbers_at({"a": 0}).tolist() == [7.5] and np.isnan(shown.numbers_at({"a": 1})).all()
    assert text_at(A.texts(map(str, "xyz")), {"a": 1}) == "y"


def test_each_beat_shows_its_own_panels_and_moves_its_own_controls() -> None:
    panels = [Panel(Axis(0, k), Axis(0, 1), ()) for k in range(4)]
    parts: list[BeatParts] = [(A, panels[:1], "x"), (A, panels[1:3], "y"), ((B, A), panels[3:], "z")]
    both = scene_in_beats(T, "circle", *parts, control_values=({}, {"a": 1}))
    assert [(each.first_beat, each.last_beat) for each in both.panels] == [(1, 1), (2, 2), (2, 2), (3, 0)]
    assert [(each.name, each.first_beat, each.last_beat) for each in both.controls] == [("a", 1, 0), ("b", 3, 0)]
    assert [each.hint_control for each in both.beats] == ["a", "a", "b"]
    assert [each.control_values for each in both.beats] == [{}, {"a": 1}, {}] and both.beats[0].sentence
    assert both.finding_at({"a": 0, "b": 5, "beat": 2}) == "y"
