"""What one head does while the model reads: where a query looks, what content and position give, pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from rope_core.lab import inside
from rope_core.lab.inside import TracePositions
from ui.figures.drawing import Drawing, Film
from ui.figures.plot import bar_trace, dot_trace, plotly_axis, plotly_figure
from ui.film import marks
from ui.film.colours import BLUE, GREY, ORANGE
from ui.film.scene import Axis, Control, NumberTrack, Panel, Scene, sentence_parts
from ui.text.words import PageTexts, number_text

PRINTABLE = range(33, 127)


def byte_letter(byte: int) -> str:
    """Return one byte as a letter: a space as ␣, what cannot be printed as two hexadecimal digits.

    >>> byte_letter(97), byte_letter(32), byte_letter(10)
    ('a', '␣', '0a')
    """
    return "␣" if byte == 32 else chr(byte) if byte in PRINTABLE else f"{byte:02x}"


def signed_score_text(value: float) -> str:
    """Return a score with its sign as printers set it.

    >>> signed_score_text(-1.25), signed_score_text(0.5), signed_score_text(-0.04)
    ('−1.2', '0.5', '0.0')
    """
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "−")


def percentage_text(share: float) -> str:
    """Return a share as a percentage that never rounds up to all or down to none.

    >>> percentage_text(0.0), percentage_text(0.0004), percentage_text(0.34), percentage_text(0.9996)
    ('0', '<0.1', '34', '>99.9')
    """
    if 0 < share < 0.001:
        return "<0.1"
    if 0.999 < share < 1:
        return ">99.9"
    return f"{100 * share:.0f}" if 0.1 <= share <= 0.9 or share in (0, 1) else f"{100 * share:.1f}"


def reading_recipe(name: str, text: bytes, positions: TracePositions) -> str:
    """Return the lines that read the text again."""
    return f"""
        from rope_core.lab import inside
        reading = inside.cached_trace({name!r}, {text!r}, inside.{positions!r})"""


def head_attention_film(name: str, text: bytes, positions: TracePositions, layer: int, head: int, t: PageTexts) -> Film:
    """Return where each query of a head looks, and each score's part by content and by position; drag the query.

    ``layer`` and ``head`` are counted from 1.
    """
    layer, head = layer - 1, head - 1
    reading = inside.cached_trace(name, text, positions)
    length = len(text)
    letters = [byte_letter(byte) for byte in text]
    query = byte_position_control(t, "query", letters)
    keys = np.arange(length)
    weights = reading.attention[layer, head].astype(float)
    content, position = np.zeros((2, length, length))
    for at in range(length):
        still, turned = (shares.sum(axis=1) for shares in reading.pair_score_shares(layer, head, at))
        content[at, : at + 1], position[at, : at + 1] = still, turned - still
    most = weights.argmax(axis=1)
    here = np.arange(length)
    low, high = min(content.min(), position.min()), max(content.max(), position.max())
    room = 0.06 * (high - low)
    row = -0.1
    x = Axis(-0.6, length - 0.4)
    y = Axis(-0.2, 1.0, ((0.0, "0"), (0.5, "50 %"), (1.0, "100 %")), t("weight_axis"))
    picture = [
        marks.rect(_one(query, here - 0.5), _one(query, here + 0.5), -0.2, 0.0, ORANGE, opacity=0.35),
        marks.rect(keys - 0.42, keys + 0.42, 0.0, query.numbers(weights), BLUE),
        *(
            marks.text(float(at), row, letter, font_size=13, anchor="middle", bold=True)
            for at, letter in enumerate(letters)
        ),
        marks.drag_handle(query, _one(query, here), 0.03, ORANGE, t("grab_query"), radius_px=9),
    ]
    look = Panel(x, y, picture, t("look_title", layer=layer + 1, head=head + 1), min_width=330, height=230)
    up = Axis(low - room, high + room, tuple((v, signed_score_text(v)) for v in (low, 0.0, high)), t("score_axis"))
    painted = [
        marks.line([-0.6, length - 0.4], [0.0, 0.0], GREY, 1),
        marks.rect(keys - 0.42, keys, 0.0, query.numbers(content), GREY),
        marks.rect(keys, keys + 0.42, 0.0, query.numbers(position), ORANGE),
        marks.text(-0.5, high, t("by_content"), GREY, anchor="start", bold=True, font_size=15),
        marks.text(-0.5, high, t("by_position"), ORANGE, anchor="start", bold=True, font_size=15, dy=20),
    ]
    split = Panel(Axis(-0.6, length - 0.4), up, painted, t("split_title"), min_width=330, height=230)
    finding = sentence_parts(
        lambda **slots: t("looks_finding", **slots),
        query=query.texts(letters),
        seen=query.texts(letters[k] for k in most),
        back=query.texts(str(at - k) for at, k in enumerate(most)),
        share=query.texts(f"{100 * weights[at, k]:.0f}" for at, k in enumerate(most)),
        content=query.texts(signed_score_text(content[at, k]) for at, k in enumerate(most)),
        position=query.texts(signed_score_text(position[at, k]) for at, k in enumerate(most)),
    )
    seen = np.tril_indices(length)
    return Film(
        "looks",
        Scene((look, split), (query,), finding),
        lambda: {
            "query": seen[0],
            "key": seen[1],
            "weight": weights[seen],
            "content": content[seen],
            "position": position[seen],
        },
        reading_recipe(name, text, positions) + f"\n        print(reading.attention[{layer}, {head}])",
    )


def pair_score_share_film(
    name: str, text: bytes, positions: TracePositions, layer: int, head: int, query: int, t: PageTexts
) -> Film:
    """Return each pair's share of one query's score of a key, without and with rotation; drag the key.

    ``layer`` and ``head`` are counted from 1.
    """
    layer, head = layer - 1, head - 1
    query = min(query, len(text) - 1)
    reading = inside.cached_trace(name, text, positions)
    letters = [byte_letter(byte) for byte in text[: query + 1]]
    key = byte_position_control(t, "key", letters)
    # The first byte has one key, itself, and a control has two stops.
    here = np.arange(len(key.stops)) % (query + 1)
    still, turned = (share[here] for share in reading.pair_score_shares(layer, head, query))
    waves = inside.load_numpy_weights(name).shape.rope.wavelength
    numbers = np.arange(waves.size)
    moved = turned - still
    most = np.abs(moved).argmax(axis=1)
    low, high = min(still.min(), turned.min()), max(still.max(), turned.max())
    room = 0.06 * (high - low)
    ticks = tuple((float(i), number_text(float(f"{waves[i]:.2g}"))) for i in numbers[::3])
    drawn = [
        marks.rect(query - 0.5, query + 0.5, 0.1, 0.9, ORANGE, opacity=0.35),
        marks.rect(_one(key, here - 0.5), _one(key, here + 0.5), 0.1, 0.9, BLUE, opacity=0.35),
        *(
            marks.text(float(at), 0.5, letter, font_size=13, anchor="middle", bold=True)
            for at, letter in enumerate(letters)
        ),
        marks.drag_handle(key, _one(key, here), 0.12, BLUE, t("grab_key"), radius_px=9),
    ]
    keys = Panel(Axis(-0.6, query + 0.6), Axis(0.0, 1.0), drawn, t("key_title"), min_width=900, height=70)
    bars = Panel(
        Axis(-0.7, waves.size - 0.3, ticks, t("wave_axis")),
        Axis(low - room, high + room, tuple((v, signed_score_text(v)) for v in (low, 0.0, high)), t("share_axis")),
        [
            marks.line([-0.7, waves.size - 0.3], [0.0, 0.0], GREY, 1),
            marks.rect(numbers - 0.4, numbers, 0.0, key.numbers(still), GREY),
            marks.rect(numbers, numbers + 0.4, 0.0, key.numbers(turned), BLUE),
            marks.text(waves.size - 0.4, high, t("without"), GREY, anchor="end", bold=True, font_size=15),
            marks.text(waves.size - 0.4, high, t("with"), BLUE, anchor="end", bold=True, font_size=15, dy=20),
        ],
        [t("pairs_title"), " ", key.texts(signed_score_text(v) for v in turned.sum(axis=1))],
        min_width=330,
        height=250,
    )
    finding = sentence_parts(
        lambda **slots: t("pairs_finding", query=letters[query], **slots),
        seen=key.texts(letters[at] for at in here),
        back=key.texts(str(query - at) for at in here),
        pair=key.texts(str(i) for i in most),
        wave=key.texts(number_text(float(f"{waves[i]:.2g}")) for i in most),
        part=key.texts(signed_score_text(moved[at, i]) for at, i in enumerate(most)),
        all=key.texts(signed_score_text(v) for v in moved.sum(axis=1)),
    )
    return Film(
        "pairs",
        Scene((keys, bars), (key,), finding),
        lambda: {
            "key": np.repeat(here, waves.size),
            "pair": np.tile(numbers, here.size),
            "content": still.ravel(),
            "score": turned.ravel(),
        },
        f"""{reading_recipe(name, text, positions)}
        still, turned = reading.pair_score_shares({layer}, {head}, {query})
        print({query} - key, "back", turned[key] - still[key], (turned[key] - still[key]).sum())
        print(inside.load_numpy_weights({name!r}).shape.rope.wavelength)
        """,
    )


def pair_size_chart(name: str, text: bytes, positions: TracePositions, t: PageTexts) -> Drawing:
    """Return how large each pair of q and k is beside its head's mean: the heads' mean and their largest."""
    largest = inside.cached_trace(name, text, positions).relative_pair_sizes()
    rope = inside.load_numpy_weights(name).shape.rope
    _, layers, count, pairs = largest.shape
    numbers = np.arange(pairs)
    held = np.bincount(largest[1].argmax(axis=-1).ravel(), minlength=pairs)
    top = int(held.argmax())
    figure = plotly_figure(
        [
            bar_trace(numbers, largest[0].mean(axis=(0, 1)), GREY, t("of_queries")),
            bar_trace(numbers, largest[1].mean(axis=(0, 1)), BLUE, t("of_keys")),
            dot_trace(numbers, largest[1].max(axis=(0, 1)), ORANGE, 9, t("of_one_head")),
        ],
        height=380,
        barmode="group",
        xaxis=plotly_axis(
            t("wave_axis"),
            tickvals=numbers.tolist(),
            ticktext=[number_text(float(f"{w:.2g}")) for w in rope.wavelength],
        ),
        yaxis=plotly_axis(t("size_axis"), rangemode="tozero"),
        legend={"orientation": "h", "y": 1.12},
    )
    each = np.indices(largest.shape[1:]).reshape(3, -1)
    return Drawing(
        "sizes",
        figure,
        t(
            "sizes_finding",
            heads=int(held[top]),
            all=layers * count,
            wave=number_text(float(f"{rope.wavelength[top]:.2g}")),
            turns=f"{rope.turns[top]:.1f}",
            most=f"{largest[1].max():.1f}",
        ),
        lambda: (
            dict(zip(("layer", "head", "pair"), each, strict=True))
            | {"query": largest[0].ravel(), "key": largest[1].ravel()}
        ),
        f"""{reading_recipe(name, text, positions)}
        rope, (q, k) = inside.load_numpy_weights({name!r}).shape.rope, reading.relative_pair_sizes()
        print(q.max(axis=(0, 1)), k.max(axis=(0, 1)), k.max())
        for pair, of in enumerate(rope.wavelength):
            print(float(f"{{of:.2g}}"), rope.turns[pair], (k.argmax(axis=-1) == pair).sum(), "of", k[..., 0].size)
        """,
        wide=True,
    )


def byte_position_control(t: PageTexts, name: str, letters: list[str], **more: Any) -> Control:
    """Return a control over the bytes of a text, each written as its place and its letter."""
    stops = tuple(float(at) for at in range(max(2, len(letters))))
    texts = tuple(f"{at + 1} {letter}" for at, letter in enumerate([*letters, *letters][: len(stops)]))
    return Control(name, t(f"field.{name}"), stops, texts, **more)


def _one(control: Control, values: np.ndarray) -> NumberTrack:
    """Return one moving number as a track."""
    return control.numbers(np.asarray(values, dtype=float))
