"""What breaks when positions or pairs are changed under the model: one head's attention, all heads', the next byte."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rope_core.lab import inside
from rope_core.lab.inside import ForwardTrace, TracePositions
from rope_core.rope import Array
from ui.figures.drawing import Film
from ui.figures.inside import stopping
from ui.figures.inside.reading import byte_letter, byte_position_control, percentage_text
from ui.film import marks
from ui.film.colours import BLUE, DIVERGING_SCALE, GREY, ORANGE, RED, SKY
from ui.film.scene import Axis, Control, NumberTrack, Panel, TextTrack, field_control, scene_in_beats
from ui.text.words import PageTexts

NEXT = 4
FULL = 127
TALL = 105
"""The height of what shows one head, and of what shows all, in px."""


def stopped_pairs_film(name: str, text: bytes, positions: TracePositions, kind: str, t: PageTexts) -> Film:
    """Return a head with its fast and slow pairs stopped, then one's own text, all heads and the next byte."""
    shape = inside.load_numpy_weights(name).shape
    pairs = shape.rope.pairs
    letters = [byte_letter(byte) for byte in text]
    query = byte_position_control(t, "query", letters)
    count = field_control(t, "still", range(pairs + 1), play_seconds=8.0)
    before = inside.cached_trace(name, text, TracePositions())
    settings = [
        replace(positions, still=inside.fastest_or_slowest_pairs(kind, int(stop), pairs)) for stop in count.stops
    ]
    after = [inside.cached_trace(name, text, each) for each in settings]
    moved = np.stack([inside.attention_change(before, each) for each in after])
    chances = np.stack([each.next_byte_probabilities() for each in after])
    slowest = [
        replace(positions, still=inside.fastest_or_slowest_pairs(inside.KINDS[1], int(stop), pairs))
        for stop in count.stops
    ]
    spared = [inside.cached_trace(name, text, each).next_byte_probabilities() for each in slowest]
    back = inside.previous_byte_attention(before)
    layer, head = (int(at) for at in np.unravel_index(back.argmax(), back.shape))
    likely = inside.likeliest_bytes([before.next_byte_probabilities(), *chances], NEXT)
    best = likely[int(np.argmax(before.next_byte_probabilities()[likely]))]
    first = stopping.head_with_stopped_pairs(name)
    one_head = _before_it(query, count, kind, [each.attention[layer, head] for each in after], letters, t)
    trained = before.next_byte_probabilities()
    all_heads = count.texts(
        _whole(kind, k, moved[k], [each[best] for each in (trained, chances[k], spared[k])], byte_letter(best), t)
        for k in range(len(count.stops))
    )
    row = replace(_row(count, kind, pairs, t), first_beat=2)
    scene = scene_in_beats(
        t,
        "breaking",
        (
            count,
            stopping.stopped_pairs_panels(first, count, t),
            stopping.previous_letter_attention_finding(first, count, t),
        ),
        ((count, query), (_look(query, count, after, layer, head, letters, t), row), one_head),
        (count, (_grid(count, moved, t), _next(count, trained, chances, likely, t)), all_heads),
        control_values=({}, {"still": 0}, {"still": 4}),
    )
    places = np.indices(moved.shape).reshape(3, -1)
    return Film(
        "breaking",
        replace(scene, controls=scene.controls[::-1]),
        lambda: (
            dict(zip(("still", "layer", "head"), places, strict=True))
            | {"moved": moved.ravel(), "fast_one_back": first.back[0].ravel(), "slow_one_back": first.back[1].ravel()}
        ),
        f"""
        from dataclasses import replace
        from rope_core.lab import inside
        for kind in inside.KINDS:
            stopped = inside.TracePositions(still=inside.fastest_or_slowest_pairs(kind, still, {pairs}))
            reading = inside.cached_trace({name!r}, {stopping.TEXT!r}, stopped)
            print(kind, reading.attention[{first.layer}, {first.head}, {stopping.CHOSEN}])
            print(inside.previous_byte_attention(reading)[{first.layer}, {first.head}])
        before = inside.cached_trace({name!r}, {text!r}, inside.TracePositions())
        print(before.next_byte_probabilities()[{best}])
        for kind, count in (({kind!r}, 0), ({kind!r}, still), (inside.KINDS[1], still)):
            which = inside.fastest_or_slowest_pairs(kind, count, {pairs})
            reading = inside.cached_trace({name!r}, {text!r}, replace(inside.{positions!r}, still=which))
            print(kind, count, 100 * reading.attention[{layer}, {head}, query])
            print(100 * reading.next_byte_probabilities()[{best}])
            print(inside.attention_change(before, reading).max())
        """,
    )


def _before_it(
    query: Control, count: Control, kind: str, weights: list[Array], letters: list[str], t: PageTexts
) -> TextTrack:
    """Return how much of its attention each byte still gives to the byte before it, as a sentence."""

    def write(at: int, k: int) -> str:
        if at == 0:
            return t("nothing_before")
        trained, now = (percentage_text(float(each[at, at - 1])) for each in (weights[0], weights[k]))
        key = f"stopped_{kind}" if k else "stopped_none"
        return t(key, byte=letters[at], count=k, before=trained, share=now)

    places = [min(at, len(letters) - 1) for at in range(len(query.stops))]
    return TextTrack((query, count), tuple(write(at, k) for at in places for k in range(len(count.stops))))


def _whole(kind: str, count: int, moved: Array, chance: list[float], byte: str, t: PageTexts) -> str:
    """Return which head was moved most and what the next byte's chance became, as a sentence.

    ``chance``: as trained, with the pairs stopped, and with as many of the slowest stopped.
    """
    worst = np.unravel_index(moved.argmax(), moved.shape)
    before, after, slow = (percentage_text(float(each)) for each in chance)
    slots = {"layer": int(worst[0]) + 1, "head": int(worst[1]) + 1, "share": percentage_text(float(moved.max()))}
    return t(
        f"breaking_finding.{kind if count else 'none'}",
        count=count,
        byte=byte,
        before=before,
        after=after,
        slow=slow,
        **slots,
    )


def _look(
    query: Control, count: Control, after: list[ForwardTrace], layer: int, head: int, letters: list[str], t: PageTexts
) -> Panel:
    """Return the text, the byte that looks, and how much of its attention each byte gets."""
    here = np.arange(len(query.stops), dtype=float)
    keys = np.arange(len(letters))
    weights = np.stack([each.attention[layer, head] for each in after], axis=1).astype(float)
    # A single byte has two stops.
    weights = np.concatenate([weights, weights])[: len(query.stops)]
    mark = marks.rect(
        query.numbers(here[:, None] - 0.5), query.numbers(here[:, None] + 0.5), -0.24, 0.0, BLUE, opacity=0.4
    )
    x = Axis(-0.6, len(letters) - 0.4)
    y = Axis(-0.24, 1.0, ((0.0, "0"), (0.5, "50 %"), (1.0, "100 %")), t("weight_axis"))
    drawn = [
        marks.rect(keys - 0.4, keys + 0.4, 0.0, NumberTrack((query, count), weights), RED),
        *(marks.text(float(at), -0.17, letter, font_size=14, bold=True) for at, letter in enumerate(letters)),
        marks.drag_handle(query, query.numbers(here), -0.12, BLUE, t("grab_query"), [mark], radius_px=0),
    ]
    return Panel(x, y, drawn, t("one_title", layer=layer + 1, head=head + 1), min_width=2000, height=TALL)


def _row(count: Control, kind: str, pairs: int, t: PageTexts) -> Panel:
    """Return the pairs in a row, those that are stopped hatched out, and the edge between as the handle."""
    numbers = np.arange(pairs)
    stops = np.array(count.stops)
    fast = kind == inside.KINDS[0]
    edge = stops - 0.5 if fast else pairs - 0.5 - stops
    still = np.stack([numbers < edge_at if fast else numbers > edge_at for edge_at in edge])
    cut = count.numbers(np.stack([edge, edge], axis=1))
    across = Axis(-0.7, pairs - 0.3, title=t("pairs_axis"))
    picture = [
        marks.rect(
            numbers - 0.42,
            numbers + 0.42,
            0.15,
            0.85,
            [SKY, GREY],
            colour_index=count.numbers(still.astype(np.uint8)),
            opacity=0.55,
        ),
        marks.drag_handle(
            count, count.numbers(edge), 0.5, ORANGE, t("grab_still"), [marks.line(cut, [0.0, 1.0], ORANGE)]
        ),
    ]
    title = count.texts(t("stopped", count=k, pairs=pairs) for k in count.stop_labels)
    return Panel(across, Axis(0.0, 1.0), picture, title, min_width=2000, height=34)


def _grid(count: Control, moved: Array, t: PageTexts) -> Panel:
    """Return every head as a cell: how much of its attention has moved."""
    layers, heads = moved.shape[1:]
    cells = np.rint(moved * FULL).astype(np.int8)
    x_axis = Axis(0.0, heads, tuple((head + 0.5, str(head + 1)) for head in range(heads)), t("head_axis"), grid=False)
    up = Axis(
        0.0, layers, tuple((layers - layer - 0.5, str(layer + 1)) for layer in range(layers)), t("layer_axis"), False
    )
    painted = [marks.heatmap(count.numbers(cells), DIVERGING_SCALE, (0.0, heads), (layers, 0.0))]
    return Panel(x_axis, up, painted, t("grid_title"), min_width=160, height=TALL)


def _next(count: Control, trained: Array, chances: Array, likely: list[int], t: PageTexts) -> Panel:
    """Return how likely the likeliest bytes are to come next, as trained and as the pairs are set."""
    rows = np.arange(NEXT)
    return Panel(
        Axis(
            -0.6,
            NEXT - 0.4,
            tuple((float(at), byte_letter(byte)) for at, byte in enumerate(likely)),
            t("next_axis"),
            False,
        ),
        Axis(0.0, 1.0, ((0.0, "0"), (0.5, "50 %"), (1.0, "100 %")), t("chance_axis")),
        [
            marks.rect(rows - 0.4, rows, 0.0, trained[likely], GREY),
            marks.rect(rows, rows + 0.4, 0.0, count.numbers(chances[:, likely]), ORANGE),
            marks.text(NEXT - 0.5, 0.84, t("as_trained"), GREY, anchor="end", bold=True, font_size=14),
            marks.text(NEXT - 0.5, 0.84, t("as_set"), ORANGE, anchor="end", bold=True, font_size=14, dy=18),
        ],
        t("next_title"),
        min_width=160,
        height=TALL,
    )
