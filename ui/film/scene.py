"""A scene: marks in data units, each driven by controls through tracks, packed for the player.

Python computes what every mark is at every stop of its controls; the player (assets/player.js) interpolates between
neighbouring stops, maps data units to pixels and paints. It knows no formula. Tracks are float32, images are bytes.

A mark is a dict with a ``kind`` (see `ui.film.marks`); its numbers are plain numbers, arrays, or `NumberTrack`; its
texts are strings, `TextTrack`, or a list of both that is joined.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ui.film.colours import series_text_colour
from ui.film.sketch import Sketch
from ui.text.words import PageTexts, number_text

Mark = dict[str, Any]
TYPES = {"<f4": "f4", "|i1": "i1", "|u1": "u1"}
MARK_BYTES = 8
WORDS = ("play", "pause", "draw_hint", "draw_show", "draw_again", "then", "step")
BEAT = "beat"
"""The name of the control, and of the page's field, that says which beat is shown, counted from 1."""


@dataclass(frozen=True)
class Control:
    """What the hand, a key or time moves.

    Attributes:
        name: of the page's field that it sets.
        label: in the page's language.
        stops: the values that it can rest at, in rising order; at least two.
        stop_labels: how each stop is written.
        has_slider: whether a slider is drawn for it; its handles are there either way.
        play_seconds: how long playing it from the first stop to the last takes; 0 for none.
        start: where it is while its field has no value.
        first_beat, last_beat: of those in which its slider is drawn, as of a panel.
    """

    name: str
    label: str
    stops: tuple[float, ...]
    stop_labels: tuple[str, ...]
    has_slider: bool = True
    play_seconds: float = 0.0
    start: float | None = None
    first_beat: int = 1
    last_beat: int = 0

    def nearest_stop_index(self, value: float) -> int:
        """Return the index of the stop nearest to ``value``."""
        return int(np.abs(np.asarray(self.stops) - value).argmin())

    @property
    def stop_number(self) -> NumberTrack:
        """The value of the stop itself."""
        return self.numbers(np.array(self.stops))

    @property
    def stop_text(self) -> TextTrack:
        """How the stop is written."""
        return TextTrack((self,), self.stop_labels)

    def numbers(self, values: npt.ArrayLike) -> NumberTrack:
        """Return numbers at every stop, (stops,) for one or (stops, ...) for several."""
        keyframes = np.asarray(values)
        return NumberTrack((self,), keyframes[:, None] if keyframes.ndim == 1 else keyframes)

    def numbers_where(self, there: npt.ArrayLike, values: npt.ArrayLike) -> NumberTrack:
        """Return a number at every stop, nan where it is not ``there``; both (stops,) or one for all."""
        return self.numbers(np.where(there, values, np.nan))

    def texts(self, texts: Iterable[str]) -> TextTrack:
        """Return a text at every stop."""
        return TextTrack((self,), tuple(texts))


def field_control(t: PageTexts, name: str, stops: Sequence[float], **more: Any) -> Control:
    """Return the control of a field under its label, every stop written as numbers are on a page."""
    return Control(name, t(f"field.{name}"), tuple(map(float, stops)), tuple(map(number_text, stops)), **more)


@dataclass(frozen=True)
class NumberTrack:
    """Numbers at every stop of the ``drivers``, at most two: (stops of the first, of the second, values)."""

    drivers: tuple[Control, ...]
    keyframes: npt.NDArray[Any]

    def __post_init__(self) -> None:
        stops = tuple(len(driver.stops) for driver in self.drivers)
        if len(stops) > 2 or self.keyframes.shape[: len(stops)] != stops:
            raise ValueError(
                f"keyframes must have the stops {stops} of at most two controls, got {self.keyframes.shape}"
            )

    def __add__(self, by: float | npt.NDArray[Any]) -> NumberTrack:
        return NumberTrack(self.drivers, self.keyframes + by)

    def __sub__(self, by: float | npt.NDArray[Any]) -> NumberTrack:
        return NumberTrack(self.drivers, self.keyframes - by)

    def numbers_at(self, index: Mapping[str, int]) -> npt.NDArray[Any]:
        """Return the numbers where each control is at its stop ``index``."""
        values: npt.NDArray[Any] = self.keyframes[tuple(index[driver.name] for driver in self.drivers)]
        return values


@dataclass(frozen=True)
class TextTrack:
    """A text at every stop of the ``drivers``, the last one's stops fastest; between stops the nearest's."""

    drivers: tuple[Control, ...]
    keyframes: tuple[str, ...]

    def __post_init__(self) -> None:
        count = int(np.prod([len(driver.stops) for driver in self.drivers]))
        if count != len(self.keyframes):
            raise ValueError(f"keyframes must be one text for each of {count} stops, got {len(self.keyframes)}")


TextOrTrack = str | TextTrack | Sequence[str | TextTrack]


def text_at(text: TextOrTrack, index: Mapping[str, int]) -> str:
    """Return a text as it is where each control is at its stop ``index``."""
    if isinstance(text, str):
        return text
    if isinstance(text, TextTrack):
        flat = 0
        for driver in text.drivers:
            flat = flat * len(driver.stops) + index[driver.name]
        return text.keyframes[flat]
    return "".join(text_at(part, index) for part in text)


def sentence_parts(write: Callable[..., str], **slots: TextOrTrack) -> list[str | TextTrack]:
    """Return a sentence whose slots move, in parts: ``write`` is called once, with a mark for every slot.

    >>> sentence_parts("{a} is {b}.".format, a="x", b="y")
    ['x', ' is ', 'y', '.']
    """
    marks = {name: f"\x00{name}\x00" for name in slots}
    parts: list[str | TextTrack] = []
    for piece in filter(None, write(**marks).split("\x00")):
        slot = slots.get(piece, piece)
        parts += [slot] if isinstance(slot, str | TextTrack) else slot
    return parts


@dataclass(frozen=True)
class Axis:
    """A panel's range in data units, with ticks as (value, text); no ticks and no title draw no axis.

    ``grid``: whether a line goes through the panel at each tick.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    title: str = ""
    grid: bool = True


@dataclass(frozen=True)
class Paragraph:
    """A line of text beside a picture, which the browser breaks where it has no room; ``font_size`` in px."""

    content: TextOrTrack
    colour: str = "ink"
    font_size: int = 16
    bold: bool = False


@dataclass(frozen=True)
class Panel:
    """One picture of a film. Panels are side by side and restack where the screen is narrow.

    Attributes:
        x, y: the axes; with ``equal_aspect`` a unit is as long on both, and the panel is as high as that asks for.
        screen: "wide" or "narrow" for a panel that is shown on such a screen alone, as a phone is narrow.
        paragraphs: text above the marks; a panel of paragraphs alone has none, and its axes are not drawn.
        marks: from the back to the front.
        title: above the picture.
        min_width: the least width in px before panels restack.
        width_share: of the width, relative to the other panels.
        height: of the plotting area in px, the greatest one with ``equal_aspect``.
        phone_min_width, phone_height: both on a phone, where others are wanted; 0 for the same.
        first_beat, last_beat: of those that show it, counted from 1; ``last_beat`` 0 for the last of all.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: TextOrTrack = ""
    min_width: int = 300
    width_share: float = 1.0
    height: int = 300
    equal_aspect: bool = False
    first_beat: int = 1
    last_beat: int = 0
    paragraphs: Sequence[Paragraph] = ()
    screen: str = ""
    phone_min_width: int = 0
    phone_height: int = 0


def text_panel(*paragraphs: Paragraph, **layout: Any) -> Panel:
    """Return a panel of paragraphs alone; ``layout``: ``min_width``, ``width_share``, ``first_beat``, ``last_beat``."""
    return Panel(Axis(0.0, 1.0), Axis(0.0, 1.0), (), paragraphs=paragraphs, **layout)


@dataclass(frozen=True)
class Beat:
    """One step of a film's telling. It keeps what the step before it showed and adds one thing.

    A panel or mark names the beats that show it by ``first_beat`` and ``last_beat`` (`ui.film.marks.from_beat`,
    `ui.film.marks.up_to_beat`).

    Attributes:
        sentence: the one that this step teaches, above the picture.
        instruction: what the hand is to do.
        finding: the sentence below the picture, which follows the hand; empty for the scene's own.
        hint_control: the control that moves by itself a short way and back on a first visit; empty for none.
        control_values: where controls are put, by name, when the reader comes to this step by its button.
    """

    sentence: TextOrTrack
    instruction: TextOrTrack
    finding: TextOrTrack = ""
    hint_control: str = ""
    control_values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """All that the player needs: panels, what moves them, and the sentence below, which follows.

    ``sketch``: the curve that the reader draws in one of the panels; the finding is then the question.
    ``beats``: the steps in which it is shown, two at least; the page then has a field ``beat``. None: all at once.
    """

    panels: Sequence[Panel]
    controls: Sequence[Control]
    finding: TextOrTrack
    sketch: Sketch | None = None
    beats: Sequence[Beat] = ()

    @property
    def all_controls(self) -> tuple[Control, ...]:
        """The controls, and with beats the one that says which beat is shown."""
        texts = tuple(str(k) for k in range(1, len(self.beats) + 1))
        beat = (Control(BEAT, "", tuple(map(float, texts)), texts, has_slider=False),) if self.beats else ()
        return (*self.controls, *beat)

    def control_values(self, get: Callable[[str], float | None]) -> dict[str, float]:
        """Return where each control is, by name; ``get`` answers a field's value, None where it has none."""
        given = {each.name: get(each.name) for each in self.all_controls}
        return {name: each for name, each in (given | self._starts(given)).items() if each is not None}

    def _starts(self, given: Mapping[str, float | None]) -> dict[str, float | None]:
        return {each.name: each.start for each in self.all_controls if given[each.name] is None}

    def finding_at(self, values: Mapping[str, float]) -> str:
        """Return the finding at the stops nearest to the controls' values, in the beat that is shown."""
        index = {control.name: control.nearest_stop_index(values[control.name]) for control in self.all_controls}
        of_beat = self.beats[index[BEAT]].finding if self.beats else ""
        return text_at(of_beat or self.finding, index)

    def to_bytes(self, name: str, t: PageTexts) -> bytes:
        """Return the scene's name after its length, a mark of the content, and deflated: head's length, head, numbers.

        ``name`` tells it from the other films that a browser has, ASCII; ``t`` has the player's own words.
        """
        numbers: list[bytes] = []
        head = {
            "controls": [vars(control) for control in self.all_controls],
            "panels": [vars(panel) for panel in self.panels],
            "finding": self.finding,
            "beats": [vars(beat) for beat in self.beats],
            "words": {word: t(f"film.{word}") for word in WORDS},
        }
        text = json.dumps(_plain(head, numbers), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        body = struct.pack("<I", len(text)) + text + b"".join(numbers)
        mark = hashlib.sha256(body).digest()[:MARK_BYTES]
        return bytes([len(name)]) + name.encode("ascii") + mark + zlib.compress(body, 9)


BeatParts = tuple[Control | Sequence[Control], Sequence[Panel], TextOrTrack]
"""What a beat adds: the control that it hints at, alone or before others, its panels, and its finding."""
Timed = TypeVar("Timed", Control, Panel)


def _shown_in(part: Timed, first: int, last: int, count: int) -> Timed:
    """Return a control or a panel as beats ``first`` to ``last`` of ``count`` show it; one that names its own stays."""
    own = part.first_beat > 1 or part.last_beat
    return part if own else replace(part, first_beat=first, last_beat=last if last < count else 0)


def scene_in_beats(
    t: PageTexts, name: str, *parts: BeatParts, control_values: Sequence[Mapping[str, float]] = (), **slots: Any
) -> Scene:
    """Return a scene whose beats each show their own panels and move their own control, in this order.

    Their words are the labels ``<name>_say_1``, ``<name>_do_1`` and so on, whose ``slots`` may move; the first sentence
    is the page's claim, and an instruction is in the picture, where there is no such label; ``control_values``: where
    the controls are put, beat by beat.
    """

    def words(label: str, other: str) -> TextOrTrack:
        if t.has_label(label):
            return sentence_parts(lambda **marks: t(label, **marks), **slots)
        return t(other) if other else ""

    count, panels, controls = len(parts), list[Panel](), dict[str, tuple[Control, int, int]]()
    beats, placed = list[Beat](), [*control_values, *[{}] * len(parts)]
    for beat, (given, shown, finding) in enumerate(parts, 1):
        moved = [given] if isinstance(given, Control) else given
        panels += [_shown_in(panel, beat, beat, count) for panel in shown]
        controls |= {each.name: (each, controls.get(each.name, (each, beat))[1], beat) for each in moved}
        say, do = words(f"{name}_say_{beat}", "claim"), words(f"{name}_do_{beat}", "")
        beats.append(Beat(say, do, finding, moved[0].name, placed[beat - 1]))
    timed = tuple(_shown_in(control, first, last, count) for control, first, last in controls.values())
    return Scene(panels, timed, "", beats=beats)


def _plain(value: Any, numbers: list[bytes]) -> Any:
    """Return JSON for a scene's part; arrays go to ``numbers`` and leave their place, type, size and controls."""
    if isinstance(value, NumberTrack):
        by = [driver.name for driver in value.drivers]
        return _stored(value.keyframes, len(by), numbers) | {"by": by}
    if isinstance(value, TextTrack):
        return {"by": [driver.name for driver in value.drivers], "texts": list(value.keyframes)}
    if isinstance(value, np.ndarray):
        return _stored(value, 0, numbers) | {"by": []}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Axis):
        return vars(value)
    if isinstance(value, Paragraph):
        return _plain(vars(value) | {"colour": series_text_colour(value.colour)}, numbers)
    if isinstance(value, Mapping):
        return {name: _plain(item, numbers) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, numbers) for item in value]
    return value


def _stored(array: npt.NDArray[Any], drivers: int, numbers: list[bytes]) -> dict[str, Any]:
    kept = array if array.dtype.str in TYPES else array.astype("<f4")
    start = sum(map(len, numbers))
    data = np.ascontiguousarray(kept).tobytes()
    numbers.append(data + b"\0" * (-len(data) % 4))
    return {"at": start, "type": TYPES[kept.dtype.str], "dims": kept.shape[:drivers], "shape": kept.shape[drivers:]}


WINDOW = 64
"""How many whole numbers a film's control goes up."""


def integer_window(value: int, reach: int = WINDOW) -> tuple[int, ...]:
    """Return the whole numbers 0 to ``reach``, or as many about a value beyond them.

    >>> integer_window(5, 8), integer_window(12, 8)
    ((0, 1, 2, 3, 4, 5, 6, 7, 8), (8, 9, 10, 11, 12, 13, 14, 15, 16))
    """
    first = 0 if value <= reach else value - reach // 2
    return tuple(range(first, first + reach + 1))
