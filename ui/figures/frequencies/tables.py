"""The speeds of the pairs: one under the hand, all under the base, and the table that attention multiplies by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.drawing import Film, kept
from ui.figures.frequencies.spans import read
from ui.figures.plot import as_bytes
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, PHASE, RED, SIGNED
from ui.film.scene import Axis, Control, Panel, Scene, Shape, Text, Texts, Track, beats, control, sentence
from ui.film.shapes import arc, boxes, circle, dots, handle, hands, image, label, named, path, since, turned, until
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


@kept
def heat(
    dim: int,
    bases: tuple[float, ...],
    train_len: int,
    shown: tuple[int, ...],
    kind: str,
    span: int,
    own: float,
    t: Words,
) -> Film:
    """Return one pair's hand and wavelength, then all wavelengths at every base, then the table of pairs and positions.

    ``shown``: the pairs to drag to; ``own``: the base that the table begins at. At most ``ROWS`` pairs are drawn, and
    every position up to ``WHOLE``, else ``SAMPLED``.
    """
    at_base = control(t, "base", bases, seconds=8.0, since=2, until=2)
    ropes = [rc.Rope(dim, base, train_len) for base in bases]
    pairs = ropes[0].pairs
    rows = frequency_demo.sampled_positions(pairs, ROWS)
    at_pair, which = control(t, "pair", shown, seconds=8.0, until=1), np.minimum(shown, pairs - 1)
    return Film(
        "heat",
        Scene(
            (
                hand(ropes, which, at_pair, at_base, t, until=1),
                lengths(ropes, rows, which, (at_pair, at_base), t),
                table(ropes, rows, which, (at_pair, at_base), kind, span, t),
                hand(ropes, which, at_pair, at_base, t, kind, since=3),
            ),
            (at_pair, at_base),
            "",
            beats=beats(
                t,
                "heat",
                *findings(ropes, which, (at_pair, at_base), kind, span, t),
                hints=("pair", "base", "pair"),
                at=({}, {}, {"pair": 4, "base": own}),
                base=Texts((at_base,), at_base.texts),
                first=read(ropes[0].wavelength[0]),
                ratio=Texts((at_base,), tuple(f"{rope.base ** (2 / dim):.3g}" for rope in ropes)),
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


def hand(
    ropes: Sequence[rc.Rope], which: Ints, at_pair: Control, at_base: Control, t: Words, kind: str = "", **shown: int
) -> Panel:
    """Return the hand of one pair after a few tokens, and with ``kind`` what the table has of it."""
    both = at_pair, at_base
    angle = AFTER * np.array([rope.theta for rope in ropes]).T[which]
    turned_by = [f"{each:.3g}°" for each in np.degrees(angle).ravel().tolist()]
    pairs = [t("hand_title", i=i, after=AFTER, angle="{}") for i in which.tolist() for _ in ropes]
    tip = Track(both, UP + angle[..., None])
    rest = np.zeros((*angle.shape, 1))
    shapes: list[Shape] = [
        circle(0.0, 0.0, 1.0, GREY, 2),
        arc(0.0, 0.0, 0.5, UP, tip, GREY, sector=True, opacity=0.25),
        hands(0.0, 0.0, 1.0, UP, GREY, 3),
        turned(
            at_pair, 0.0, 0.0, 1.0, tip, "ink", t("grab_hand"), [hands(0.0, 0.0, 1.0, tip, "ink", 6, head=True)], r=0
        ),
    ]
    if kind in ("cos", "sin"):
        height = frequency_demo.TABLES[kind](angle)[..., None]
        for colour, seen in ((BLUE, height > 0), (RED, height < 0)):
            bar = Track(both, np.concatenate([rest, np.where(seen, height, np.nan)], axis=-1))
            x, y = ((0.0, 0.0), bar) if kind == "cos" else (Track(both, -bar.frames), (0.0, 0.0))
            shapes.append(path(x, y, colour, 7))
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-1.15, 1.15),
        shapes,
        Texts(both, tuple(title.format(each) for title, each in zip(pairs, turned_by, strict=True))),
        width=90,
        share=0.6,
        height=TALL,
        equal=True,
        **shown,
    )


def findings(
    ropes: Sequence[rc.Rope],
    which: Ints,
    both: tuple[Control, Control],
    kind: str,
    span: int,
    t: Words,
) -> tuple[Text, ...]:
    """Return the sentences of the three beats."""
    at_pair, at_base = both
    theta = np.array([rope.theta for rope in ropes]).T[which]
    pair = Texts((at_pair,), tuple(map(str, which.tolist())))
    wave = Texts(both, tuple(map(read, (2 * np.pi / theta).ravel().tolist())))
    never = [str(frequency_demo.incomplete(rope).sum()) for rope in ropes]
    values = np.degrees(AFTER * theta) if kind == "angle" else frequency_demo.TABLES[kind](AFTER * theta)
    unit = "°" if kind == "angle" else ""
    step = -(-span // (WHOLE if span <= WHOLE else SAMPLED))
    last = sentence(
        lambda **slots: t("table_finding", after=AFTER, kind=t(f"tip.{kind}"), **slots),
        i=pair,
        wave=wave,
        value=Texts(both, tuple(f"{value:.3g}{unit}".replace("-", "−") for value in values.ravel().tolist())),
    )
    return (
        sentence(
            lambda **slots: t("hand_finding", after=AFTER, **slots),
            i=pair,
            wave=wave,
            angle=Texts(both, tuple(f"{angle:.3g}°" for angle in np.degrees(AFTER * theta).ravel().tolist())),
        ),
        sentence(
            lambda **slots: t("base_under_hand", pairs=ropes[0].pairs, context=f"{ropes[0].train_len:,}", **slots),
            base=Texts((at_base,), at_base.texts),
            last=Texts((at_base,), tuple(read(rope.wavelength[-1]) for rope in ropes)),
            count=Texts((at_base,), tuple(never)),
        ),
        [*last, t("heat_step", step=f"{step:,}")] if step > 1 else last,
    )


def lengths(ropes: Sequence[rc.Rope], rows: Ints, which: Ints, both: tuple[Control, Control], t: Words) -> Panel:
    """Return the tokens that a turn of each pair takes; then which of them training did not show whole."""
    at_pair, at_base = both
    pairs, train_len = ropes[0].pairs, ropes[0].train_len
    waves = np.stack([np.log10(rope.wavelength) for rope in ropes])
    trained = float(np.log10(train_len))
    never = np.array([frequency_demo.incomplete(rope).sum() for rope in ropes])
    far = float(np.ceil(max(waves.max(), trained) + 0.2))
    low, high = -0.03 * pairs - 0.5, 1.03 * pairs - 0.5
    waves_of, y = Track((at_base,), waves[:, rows]), rows.astype(float)
    here, level = Track(both, waves.T[which][..., None]), Track((at_pair,), which[:, None].astype(float))
    named_at = Track(both, np.minimum(waves.T[which], 0.55 * far)[..., None])
    tokens = tuple(t("tokens_each", wave=read(10**wave)) for wave in waves.T[which].ravel().tolist())
    passed = Track((at_pair,), (which[:, None] >= rows).astype(np.int8))
    done = Track((at_base,), (never[:, None] > pairs - 1 - rows).astype(np.int8))
    last = Track((at_base,), waves[:, -1:])
    slowest = Texts((at_base,), tuple(read(rope.wavelength[-1]) for rope in ropes))
    side = {"anchor": "end", "dx": -8} if trained > far / 2 else {"anchor": "start", "dx": 8}
    right = {"anchor": "end", "dx": -4}
    return Panel(
        Axis(0.0, far, tuple((float(p), short(10.0**p)) for p in range(1, int(far) + 1, 2)), t("tokens_axis")),
        Axis(low, high, pair_ticks(pairs), pair_title(rows, t)),
        [
            *since(2, boxes(trained, far, low, high, ORANGE, opacity=0.16)),
            *until(
                1,
                named("λ", dots(waves_of, y, (GREY, "ink"), 4, passed)),
                label(named_at, level, Texts(both, tokens), anchor="start", dx=16, dy=5, bold=True),
                handle(at_pair, here, level, "ink", t("grab_pair"), r=10),
            ),
            *since(
                2,
                named("λ", dots(waves_of, y, ("ink", ORANGE), 5, done)),
                label(waves[0, 0].item(), 0.0, read(ropes[0].wavelength[0]), anchor="end", dx=-8, dy=-10),
                label(last, pairs - 1.0, slowest, anchor="end", dx=18, dy=-18, bold=True),
                named("L", path((trained, trained), (low, high), GREEN, 5)),
                label(trained, low, t("trained", length=f"{train_len:,}"), GREEN, dy=-10, bold=True, **side),
                *(
                    label(far, 0.4 * pairs, Texts((at_base,), text), ORANGE, dy=dy, **right)
                    for dy, text in (
                        (0, tuple(t("never", count=n, pairs=pairs) if n else "" for n in never)),
                        (20, tuple(t("no_turn") if n else "" for n in never)),
                    )
                ),
                named("b", handle(at_base, last, pairs - 1.0, "ink", t("grab_base"), r=10)),
            ),
        ],
        t("wavelength_title"),
        width=220,
        share=1.2,
        height=TALL,
        until=2,
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
    limit, scale = (float(np.pi), PHASE) if kind == "angle" else (1.0, SIGNED)
    cells = np.stack([as_bytes(frequency_demo.table(rope, kind, positions)[rows], limit) for rope in ropes])
    low, high = -every / 2, rows[-1] + every / 2
    end = float(positions[-1] + step)
    row = np.searchsorted(rows, which, side="right") - 1
    middle = rows[row][:, None].astype(float)
    strip = max(high, pairs - 1.0) + MARKED * pairs * np.array([0.3, 1.3])
    edge = Track((at_pair,), middle + np.array([-1, -1, 1, 1, -1]) * every / 2)
    frame = [path((0.0, end, end, 0.0, 0.0), edge, colour, width) for colour, width in (("paper", 3.5), ("ink", 1.5))]
    return Panel(
        Axis(0.0, end, tuple((span * k / 4, short(span * k // 4)) for k in range(5)), t("axis.position"), grid=False),
        Axis(low, strip[1], (*pair_ticks(pairs), (float(strip.mean()), t("marked"))), pair_title(rows, t), grid=False),
        [
            image(Track((at_base,), cells), scale, (0.0, end), (low, high)),
            image(Track(both, np.swapaxes(cells, 0, 1)[row][:, :, None]), scale, (0.0, end), tuple(strip.tolist())),
            handle(at_pair, end, Track((at_pair,), middle), "ink", t("grab_row"), frame, r=0),
            dots(float(AFTER), Track((at_pair,), middle), "paper", 6),
            dots(float(AFTER), Track((at_pair,), middle), "ink", 4),
        ],
        t(f"table.{kind}"),
        width=220,
        share=1.2,
        height=TALL,
        since=3,
    )
