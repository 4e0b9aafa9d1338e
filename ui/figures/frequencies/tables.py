"""The base under the hand: the table that attention multiplies by, and the wavelength of every pair beside it."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.colours import BLUE, GREEN, ORANGE, PHASE, SIGNED
from ui.figures.drawing import Film, kept
from ui.figures.frequencies.spans import read
from ui.figures.plot import as_bytes
from ui.film.scene import Axis, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import boxes, dots, handle, image, label, named, path
from ui.text.words import Words, short

ROWS = 32
WHOLE, SAMPLED = 256, 176
TALL = 275


@kept
def heat(dim: int, bases: tuple[float, ...], contexts: tuple[int, ...], kind: str, span: int, t: Words) -> Film:
    """Return angle, cosine or sine of the pairs over the positions, and their wavelengths, at every base.

    At most ``ROWS`` pairs are drawn, and every position up to ``WHOLE`` of them, else at most ``SAMPLED``.
    """
    at_base, at_context = control(t, "base", bases, seconds=8.0), control(t, "train_len", contexts, slider=False)
    ropes = [rc.Rope(dim, base) for base in bases]
    pairs = ropes[0].pairs
    rows = frequency_demo.sampled_positions(pairs, ROWS)
    positions = frequency_demo.sampled_positions(span, WHOLE if span <= WHOLE else SAMPLED)
    every, step = (int(each[1] - each[0]) if each.size > 1 else 1 for each in (rows, positions))
    limit = float(np.pi) if kind == "angle" else 1.0
    cells = np.stack([as_bytes(frequency_demo.table(rope, kind, positions)[rows], limit) for rope in ropes])
    waves = np.stack([np.log10(rope.wavelength) for rope in ropes])
    trained = np.log10(contexts)[:, None]
    short_of = [[rc.Rope(dim, base, context) for context in contexts] for base in bases]
    never = np.array([[frequency_demo.incomplete(rope).sum() for rope in row] for row in short_of])
    turn = np.array([[rope.pair_at(1.0) for rope in row] for row in short_of])
    turn[(never == 0) | (never == pairs)] = np.nan
    both = at_base, at_context
    border = Track(both, turn[..., None].repeat(2, axis=2))

    low, high = -every / 2, max(rows[-1] + every / 2, pairs - 1.0)
    above = Track(both, np.where(np.isnan(turn), high / 2, (turn + high) / 2)[..., None])
    ticks = tuple((float(pair), str(pair)) for pair in sorted({0, pairs // 4, pairs // 2, 3 * pairs // 4, pairs - 1}))
    up = Axis(low, high, ticks, t("pair_axis", every=every) if every > 1 else t("axis.pair"))
    end = float(positions[-1] + step)
    table = Panel(
        Axis(0.0, end, tuple((span * k / 4, short(span * k // 4)) for k in range(5)), t("axis.position")),
        up,
        [
            image(
                Track((at_base,), cells), PHASE if kind == "angle" else SIGNED, (0.0, end), (low, rows[-1] + every / 2)
            ),
            path((0.0, end), border, "paper", 7),
            path((0.0, end), border, "ink", 3, "9 6"),
        ],
        t(f"table.{kind}"),
        width=330,
        share=1.1,
        height=TALL,
    )
    far = float(np.ceil(max(waves.max(), trained.max()) + 0.2))
    shown = tuple((float(power), short(10.0**power)) for power in range(1, int(far) + 1, 2))
    done = (never[..., None] > pairs - 1 - rows).astype(np.uint8)
    last, longest = Track((at_base,), waves[:, -1:]), tuple(read(rope.wavelength[-1]) for rope in ropes)
    waves_of = Track((at_base,), waves[:, rows])
    limits = Track((at_context,), trained.repeat(2, axis=1))
    wavelength = Panel(
        Axis(0.0, far, shown, t("tokens_axis")),
        up,
        [
            boxes(Track((at_context,), trained), far, low, high, ORANGE, opacity=0.16),
            path((0.0, far), border, "ink", 2, "9 6"),
            named("L", path(limits, (low, high), GREEN, 4)),
            path(Track((at_base,), waves[:, [0, -1]]), (0.0, pairs - 1.0), BLUE, 2),
            named("λ", dots(waves_of, rows.astype(float), (BLUE, ORANGE), 5, Track(both, done))),
            label(waves[0, 0].item(), 0.0, read(ropes[0].wavelength[0]), BLUE, anchor="start", dx=12, dy=4),
            label(last, pairs - 1.0, Texts((at_base,), longest), ORANGE, anchor="end", dx=18, dy=-20, bold=True),
            label(
                far,
                low,
                [t("trained"), " ", Texts((at_context,), at_context.texts)],
                GREEN,
                anchor="end",
                dx=-4,
                dy=-24,
                bold=True,
            ),
            label(
                far,
                above,
                Texts(both, tuple(t("never", count=n, pairs=pairs) if n else "" for n in never.flat)),
                ORANGE,
                anchor="end",
                dx=-4,
                bold=True,
                size=17,
            ),
            label(
                far,
                above,
                Texts(both, tuple(t("no_turn") if n else "" for n in never.flat)),
                ORANGE,
                anchor="end",
                dx=-4,
                dy=20,
            ),
            handle(at_context, Track((at_context,), trained), low, GREEN, t("grab_context"), r=9),
            named("b", handle(at_base, last, pairs - 1.0, ORANGE, t("grab_base"), r=10)),
        ],
        t("wavelength_title"),
        width=330,
        height=TALL,
    )
    finding = sentence(
        lambda **slots: t("heat_finding", pairs=pairs, first=read(ropes[0].wavelength[0]), **slots),
        last=Texts((at_base,), longest),
        count=Texts(both, tuple(map(str, never.flat))),
        context=Texts((at_context,), at_context.texts),
    )
    if step > 1:
        finding.append(t("heat_step", step=f"{step:,}"))
    return Film(
        "heat",
        Scene((table, wavelength), both, finding),
        lambda: {"pair": np.arange(pairs)} | {f"wavelength_at_base_{rope.base:g}": rope.wavelength for rope in ropes},
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        positions = frequency_demo.sampled_positions({span}, {positions.size})
        for base in {bases!r}:
            rope = rc.Rope({dim}, base, {contexts[0]})
            print(base, frequency_demo.table(rope, "{kind}", positions).shape, rope.wavelength[-1])
            print(int(frequency_demo.incomplete(rope).sum()), "of", rope.pairs)
        """,
    )
