"""The speeds of the pairs: all by position, all under the base, and the table that attention multiplies by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.drawing import Film, cached_figure
from ui.figures.frequencies import stripes
from ui.figures.frequencies.spans import read
from ui.figures.plot import as_bytes
from ui.film import marks
from ui.film.colours import BLUE, CYCLIC_SCALE, DIVERGING_SCALE, GREEN, GREY, ORANGE, RED
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextOrTrack,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words, short

ROWS = 32
WHOLE, SAMPLED = 256, 176
TALL = 210
MARKED = 0.1
"""How high the marked row is drawn again above the map, over the map's height."""
AFTER = 6
"""Tokens after which the hand of one pair is drawn: the fastest has almost come round."""
UP = np.pi / 2
Ints = npt.NDArray[np.int64]


def pairs_of(dim: int, pair: int) -> tuple[int, ...]:
    """Return the pairs to drag to, at most ``ROWS`` spread evenly, the last and a given one.

    >>> pairs_of(12, 3), pairs_of(128, 3)[:4], pairs_of(128, 2)[-2:]
    ((0, 1, 2, 3, 4, 5), (0, 2, 3, 4), (62, 63))
    """
    pairs = dim // 2
    return tuple(
        sorted({*frequency_demo.sampled_positions(pairs, ROWS).tolist(), min(pair, pairs - 1), max(pairs - 1, 1)})
    )


@cached_figure
def heat(
    dim: int,
    bases: tuple[float, ...],
    train_len: int,
    shown: tuple[int, ...],
    kind: str,
    span: int,
    own: float,
    base: float,
    t: Words,
) -> Film:
    """Return every pair at every position at one base, then all wavelengths by the base, then the table of both.

    ``shown``: the pairs to drag to; ``base``: of the first picture; ``own``: the base that the table begins at.
    At most ``ROWS`` pairs are drawn there, and every position up to ``WHOLE``, else ``SAMPLED``.
    """
    at_base = field_control(t, "base", bases, play_seconds=8.0, first_beat=2, last_beat=2)
    ropes = [rc.Rope(dim, base, train_len) for base in bases]
    pairs = ropes[0].pairs
    rows = frequency_demo.sampled_positions(pairs, ROWS)
    at_pair, which = field_control(t, "pair", shown, play_seconds=8.0, last_beat=1), np.minimum(shown, pairs - 1)
    opening = rc.Rope(dim, base, train_len)
    return Film(
        "heat",
        Scene(
            (
                *stripes.panels(opening, at_pair, t),
                lengths(ropes, rows, at_base, t),
                table(ropes, rows, which, (at_pair, at_base), kind, span, t),
                hand(ropes, which, at_pair, at_base, t, kind),
            ),
            (at_pair, at_base),
            "",
            beats=beats_from_labels(
                t,
                "heat",
                stripes.finding(opening, at_pair, t),
                *findings(ropes, which, (at_pair, at_base), kind, span, t),
                hint_controls=("pair", "base", "pair"),
                control_values=({}, {}, {"pair": 4, "base": own}),
            ),
        ),
        lambda: {"pair": np.arange(pairs)} | {f"wavelength_at_base_{rope.base:g}": rope.wavelength for rope in ropes},
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        positions = frequency_demo.sampled_positions({span}, {WHOLE if span <= WHOLE else SAMPLED})
        for base in {bases!r}:
            rope = rc.Rope({dim}, base, {train_len})
            print(base, frequency_demo.table(rope, "{kind}", positions).shape, rope.wavelength[-1])
            print(int(frequency_demo.incomplete(rope).sum()), "of", rope.pairs)
        """,
    )


def hand(ropes: Sequence[rc.Rope], which: Ints, at_pair: Control, at_base: Control, t: Words, kind: str) -> Panel:
    """Return the hand of one pair after a few tokens, and what the table has of it."""
    both = at_pair, at_base
    angle = AFTER * np.array([rope.theta for rope in ropes]).T[which]
    turned_by = [f"{each:.3g}°" for each in np.degrees(angle).ravel().tolist()]
    pairs = [t("hand_title", i=i, after=AFTER, angle="{}") for i in which.tolist() for _ in ropes]
    tip = NumberTrack(both, UP + angle[..., None])
    rest = np.zeros((*angle.shape, 1))
    shapes: list[Mark] = [
        marks.circle(0.0, 0.0, 1.0, GREY, 2),
        marks.wedge(0.0, 0.0, 0.5, UP, tip, GREY, opacity=0.25),
        marks.vector(0.0, 0.0, 1.0, UP, GREY, 3),
        marks.turn_handle(
            at_pair,
            0.0,
            0.0,
            1.0,
            tip,
            "ink",
            t("grab_hand"),
            [marks.vector(0.0, 0.0, 1.0, tip, "ink", 6, has_head=True)],
            radius_px=0,
        ),
    ]
    if kind in ("cos", "sin"):
        height = frequency_demo.TABLES[kind](angle)[..., None]
        for colour, seen in ((BLUE, height > 0), (RED, height < 0)):
            bar = NumberTrack(both, np.concatenate([rest, np.where(seen, height, np.nan)], axis=-1))
            x, y = ((0.0, 0.0), bar) if kind == "cos" else (NumberTrack(both, -bar.keyframes), (0.0, 0.0))
            shapes.append(marks.line(x, y, colour, 7))
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-1.15, 1.15),
        shapes,
        TextTrack(both, tuple(title.format(each) for title, each in zip(pairs, turned_by, strict=True))),
        min_width=90,
        width_share=0.6,
        height=TALL,
        equal_aspect=True,
        first_beat=3,
    )


def findings(
    ropes: Sequence[rc.Rope],
    which: Ints,
    both: tuple[Control, Control],
    kind: str,
    span: int,
    t: Words,
) -> tuple[TextOrTrack, ...]:
    """Return the sentences of the last two beats."""
    at_pair, at_base = both
    theta = np.array([rope.theta for rope in ropes]).T[which]
    pair = TextTrack((at_pair,), tuple(map(str, which.tolist())))
    wave = TextTrack(both, tuple(map(read, (2 * np.pi / theta).ravel().tolist())))
    never = [str(frequency_demo.incomplete(rope).sum()) for rope in ropes]
    values = np.degrees(AFTER * theta) if kind == "angle" else frequency_demo.TABLES[kind](AFTER * theta)
    unit = "°" if kind == "angle" else ""
    step = -(-span // (WHOLE if span <= WHOLE else SAMPLED))
    last = sentence_parts(
        lambda **slots: t("table_finding", after=AFTER, kind=t(f"tip.{kind}"), **slots),
        i=pair,
        wave=wave,
        value=TextTrack(both, tuple(f"{value:.3g}{unit}".replace("-", "−") for value in values.ravel().tolist())),
    )
    return (
        sentence_parts(
            lambda **slots: t("base_under_hand", pairs=ropes[0].pairs, context=f"{ropes[0].train_len:,}", **slots),
            base=TextTrack((at_base,), at_base.stop_labels),
            last=TextTrack((at_base,), tuple(read(rope.wavelength[-1]) for rope in ropes)),
            count=TextTrack((at_base,), tuple(never)),
        ),
        [*last, t("heat_step", step=f"{step:,}")] if step > 1 else last,
    )


def lengths(ropes: Sequence[rc.Rope], rows: Ints, at_base: Control, t: Words) -> Panel:
    """Return the tokens that a turn of each pair takes, and which of them training did not show whole."""
    pairs, train_len = ropes[0].pairs, ropes[0].train_len
    waves = np.stack([np.log10(rope.wavelength) for rope in ropes])
    trained = float(np.log10(train_len))
    never = np.array([frequency_demo.incomplete(rope).sum() for rope in ropes])
    far = float(np.ceil(max(waves.max(), trained) + 0.2))
    low, high = -0.03 * pairs - 0.5, 1.03 * pairs - 0.5
    waves_of, y = NumberTrack((at_base,), waves[:, rows]), rows.astype(float)
    done = NumberTrack((at_base,), (never[:, None] > pairs - 1 - rows).astype(np.int8))
    last = NumberTrack((at_base,), waves[:, -1:])
    slowest = TextTrack((at_base,), tuple(read(rope.wavelength[-1]) for rope in ropes))
    side = {"anchor": "end", "dx": -8} if trained > far / 2 else {"anchor": "start", "dx": 8}
    right = {"anchor": "end", "dx": -4}
    return Panel(
        Axis(0.0, far, tuple((float(p), short(10.0**p)) for p in range(1, int(far) + 1, 2)), t("tokens_axis")),
        Axis(low, high, pair_ticks(pairs), pair_title(rows, t)),
        [
            marks.rect(trained, far, low, high, ORANGE, opacity=0.16),
            marks.link_symbol("λ", marks.dot(waves_of, y, ("ink", ORANGE), 5, done)),
            marks.text(waves[0, 0].item(), 0.0, read(ropes[0].wavelength[0]), anchor="end", dx=-8, dy=-10),
            marks.text(last, pairs - 1.0, slowest, anchor="end", dx=18, dy=-18, bold=True),
            marks.link_symbol("L", marks.line((trained, trained), (low, high), GREEN, 5)),
            marks.text(trained, low, t("trained", length=f"{train_len:,}"), GREEN, dy=-10, bold=True, **side),
            *(
                marks.text(far, 0.4 * pairs, TextTrack((at_base,), text), ORANGE, dy=dy, **right)
                for dy, text in (
                    (0, tuple(t("never", count=n, pairs=pairs) if n else "" for n in never)),
                    (20, tuple(t("no_turn") if n else "" for n in never)),
                )
            ),
            marks.link_symbol("b", marks.drag_handle(at_base, last, pairs - 1.0, "ink", t("grab_base"), radius_px=10)),
        ],
        t("wavelength_title"),
        min_width=220,
        width_share=1.2,
        height=TALL,
        first_beat=2,
        last_beat=2,
    )


def pair_ticks(pairs: int) -> tuple[tuple[float, str], ...]:
    """Return ticks at the first, the last and three pairs between."""
    return tuple((float(pair), str(pair)) for pair in sorted({0, pairs // 4, pairs // 2, 3 * pairs // 4, pairs - 1}))


def pair_title(rows: Ints, t: Words) -> str:
    """Return the title of an axis of pairs, which says how many are left out."""
    every = int(rows[1] - rows[0]) if rows.size > 1 else 1
    return t("pair_axis", every=every) if every > 1 else t("axis.pair")


def table(
    ropes: Sequence[rc.Rope], rows: Ints, which: Ints, both: tuple[Control, Control], kind: str, span: int, t: Words
) -> Panel:
    """Return the angle, cosine or sine of the pairs over the positions, and the row of one pair, marked."""
    at_pair, at_base = both
    pairs = ropes[0].pairs
    positions = frequency_demo.sampled_positions(span, WHOLE if span <= WHOLE else SAMPLED)
    every, step = (int(each[1] - each[0]) if each.size > 1 else 1 for each in (rows, positions))
    limit, scale = (float(np.pi), CYCLIC_SCALE) if kind == "angle" else (1.0, DIVERGING_SCALE)
    cells = np.stack([as_bytes(frequency_demo.table(rope, kind, positions)[rows], limit) for rope in ropes])
    low, high = -every / 2, rows[-1] + every / 2
    end = float(positions[-1] + step)
    row = np.searchsorted(rows, which, side="right") - 1
    middle = rows[row][:, None].astype(float)
    strip = max(high, pairs - 1.0) + MARKED * pairs * np.array([0.3, 1.3])
    edge = NumberTrack((at_pair,), middle + np.array([-1, -1, 1, 1, -1]) * every / 2)
    frame = [
        marks.line((0.0, end, end, 0.0, 0.0), edge, colour, width) for colour, width in (("paper", 3.5), ("ink", 1.5))
    ]
    return Panel(
        Axis(0.0, end, tuple((span * k / 4, short(span * k // 4)) for k in range(5)), t("axis.position"), grid=False),
        Axis(low, strip[1], (*pair_ticks(pairs), (float(strip.mean()), t("marked"))), pair_title(rows, t), grid=False),
        [
            marks.heatmap(NumberTrack((at_base,), cells), scale, (0.0, end), (low, high)),
            marks.heatmap(
                NumberTrack(both, np.swapaxes(cells, 0, 1)[row][:, :, None]), scale, (0.0, end), tuple(strip.tolist())
            ),
            marks.drag_handle(at_pair, end, NumberTrack((at_pair,), middle), "ink", t("grab_row"), frame, radius_px=0),
            marks.dot(float(AFTER), NumberTrack((at_pair,), middle), "paper", 6),
            marks.dot(float(AFTER), NumberTrack((at_pair,), middle), "ink", 4),
        ],
        t(f"table.{kind}"),
        min_width=220,
        width_share=1.2,
        height=TALL,
        first_beat=3,
    )
