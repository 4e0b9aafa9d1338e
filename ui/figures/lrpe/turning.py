"""The op under the hand: one pair that is activated and turned, and the numbers of a head before and after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rope_core.lrpe.demo import TOKENS, LrpeExample
from rope_core.rope import Array
from ui.figures.drawing import Film, cached_figure
from ui.figures.lrpe.op import example_recipe, example_table, largest_magnitude_or_one
from ui.figures.plot import scaled_int8
from ui.film import marks
from ui.film.colours import BLUE, DIVERGING_SCALE, GREY, PURPLE
from ui.film.scene import Axis, Control, Mark, NumberTrack, Panel, Scene, TextTrack, field_control, sentence_parts
from ui.text.words import PageTexts

EVERY, FAR = 64, (128, 256, 512, 1024, 2048, 4096)
HALF = 0.5


def offset_stops(value: int) -> tuple[int, ...]:
    """Return the offsets to drag to: every one at first, then doublings, and ``value``."""
    return tuple(sorted({value, *range(EVERY + 1), *FAR}))


@cached_figure
def lrpe_stages_film(case: LrpeExample, head: int, wanted: int, starts: tuple[int, ...], t: PageTexts) -> Film:
    """Return one pair's way through the op, between all numbers of a head before it and after it.

    Args:
        case: the call; its own offset does not count.
        head: which of four.
        wanted: the pair that is shown, or the last one that turns.
        starts: offsets to drag to.
        t: the page's words.
    """
    offset = field_control(t, "offset", starts, play_seconds=8.0)
    token = field_control(t, "token", range(TOKENS))
    at = [replace(case, offset=start) for start in starts]
    x, bar = (part[0, :, head] for part in (case.stages.x, case.stages.activated))
    out = np.stack([each.stages.out[0, :, head] for each in at])
    pair, *dims = case.pair_at(wanted)
    both = offset, token
    positions = np.add.outer(np.array(starts), np.arange(TOKENS))
    phase = positions * float(case.theta_by_head_and_pair[head, pair])
    where = TextTrack(both, tuple(f"{m:,}" for m in positions.ravel().tolist()))
    long = np.hypot(*bar[:, dims].T)
    turn = sentence_parts(
        lambda **slots: t("turn_finding", act=t(f"act.{case.act}"), **slots),
        m=where,
        x=token.texts(number_pair_text(row[dims]) for row in x),
        f=token.texts(number_pair_text(row[dims]) for row in bar),
        rest=TextTrack(
            both,
            tuple(_rest(angle, float(length), t) for row in phase for angle, length in zip(row, long, strict=True)),
        ),
    )
    maps = [
        _cells(values, t(f"map_{name}"), top, dims, token, name, t)
        for name, values, top in (
            ("x", x, largest_magnitude_or_one(x)),
            ("o", offset.numbers(out), largest_magnitude_or_one(out)),
        )
    ]
    circle_of = _circle(
        x[:, dims],
        bar[:, dims],
        phase,
        offset,
        token,
        sentence_parts(lambda **slots: t("pair_title", i=pair, **slots), m=where),
        t,
    )
    return Film(
        "stages",
        Scene((maps[0], circle_of, maps[1]), (offset, token), turn),
        lambda: dict(
            example_table(
                case, X=x, f_of_X=bar, cos_then_sin=case.cos_sin_by_dimension(head), O=case.stages.out[0, :, head]
            )
        ),
        example_recipe(
            case,
            "import numpy as np",
            f"pair, dims, head = {pair}, {dims}, {head}",
            "before, after = (part[0, token, head, dims] for part in (case.stages.x, case.stages.activated))",
            "print(offset + token, before, after, np.hypot(*after))",
            "print(np.degrees((offset + token) * case.theta_by_head_and_pair[head, pair]))",
            "options = case.options | {'offset': offset}",
            "print(lrpe_rotate(case.x, case.theta, **options)[0, token, head, dims])",
        ),
    )


def _rest(angle: float, length: float, t: PageTexts) -> str:
    """Return by how much an activated pair turns; nothing is left to turn where both numbers are 0."""
    return t("turn_keeps", angle=f"{np.degrees(angle):,.0f}", long=f"{length:.3g}") if length else t("turn_nothing")


def number_pair_text(values: Array) -> str:
    """Return two numbers as a reader writes a point."""
    return f"({values[0]:.3g}, {values[1]:.3g})".replace("-", "−")


def _cells(
    values: Array | NumberTrack, title: str, top: float, dims: list[int], token: Control, symbol: str, t: PageTexts
) -> Panel:
    """Return a panel of signed values, a row for each token, the framed token's pair marked in its row."""
    frames = values.keyframes if isinstance(values, NumberTrack) else values
    width = frames.shape[-1]
    shown = scaled_int8(frames[..., ::-1, :], top)
    row = TOKENS - np.arange(TOKENS, dtype=float)[:, None]

    def frame(first: float, last: float, stroke: float) -> Mark:
        sides = np.array([first, last, last, first, first])
        return marks.line(sides, token.numbers(np.hstack([row, row, row - 1, row - 1, row])), "ink", stroke)

    whole = NumberTrack(values.drivers, shown) if isinstance(values, NumberTrack) else shown
    drawn = [
        marks.heatmap(whole, DIVERGING_SCALE, (-HALF, width - HALF), (0.0, float(TOKENS))),
        *(marks.link_symbol(symbol, frame(k - HALF, k + HALF, 3)) for k in dims),
        marks.drag_handle(
            token,
            width / 2 - HALF,
            token.numbers(row - HALF),
            "ink",
            t("grab_token"),
            [frame(-HALF, width - HALF, 1.5)],
            radius_px=0,
        ),
    ]
    return Panel(Axis(-HALF, width - HALF), Axis(0.0, float(TOKENS)), drawn, title, min_width=80, height=200)


def _circle(
    given: Array,
    pairs: Array,
    phase: Array,
    offset: Control,
    token: Control,
    title: list[str | TextTrack],
    t: PageTexts,
) -> Panel:
    """Return one pair as it is, after the activation, and after the turn; a token's longest arrow has length 1."""
    both = offset, token
    size = np.maximum(np.hypot(*given.T), np.hypot(*pairs.T))

    def arrow(values: Array) -> tuple[NumberTrack, Array]:
        return token.numbers(np.hypot(*values.T) / size), np.arctan2(values[:, 1], values[:, 0])

    (raw, from_), (reach, before) = arrow(given), arrow(pairs)
    start, after = token.numbers(before), NumberTrack(both, (before + phase)[..., None])
    cross = np.array([-1.1, 1.1, np.nan, 0.0, 0.0])
    blue = marks.vector(0.0, 0.0, reach, after, BLUE, 6, has_head=True)
    picture = [
        marks.line(cross, cross[::-1], GREY, 1),
        marks.circle(0.0, 0.0, reach, GREY, 1, stroke_dash="3 4"),
        marks.link_symbol("x", marks.vector(0.0, 0.0, raw, token.numbers(from_), GREY, 4, has_head=True)),
        marks.link_symbol("R", marks.arc(0.0, 0.0, 0.3, start, after, BLUE, 3)),
        marks.link_symbol("f", marks.vector(0.0, 0.0, reach, start, PURPLE, 5, has_head=True)),
        marks.link_symbol(
            "o", marks.turn_handle(offset, 0.0, 0.0, reach, after, BLUE, t("grab_turned"), [blue], radius_px=0)
        ),
        *(
            marks.text(-1.35, 1.3 - 0.24 * k, t(f"arrow_{name}"), colour, anchor="start", bold=True)
            for k, (name, colour) in enumerate((("x", GREY), ("f", PURPLE), ("o", BLUE)))
        ),
    ]
    return Panel(Axis(-1.4, 1.2), Axis(-1.2, 1.45), picture, title, min_width=145, height=260, equal_aspect=True)
