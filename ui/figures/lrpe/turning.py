"""The op under the hand: one head's numbers before and after, and one pair of a token on its circle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rope_core.lrpe.demo import TOKENS, Case
from rope_core.rope import Array
from ui.figures.colours import BLUE, GREEN, GREY, SIGNED
from ui.figures.drawing import Film, kept
from ui.figures.lrpe.op import cells, couple, limit, recipe
from ui.figures.plot import as_bytes
from ui.film.scene import Axis, Control, Panel, Scene, Shape, Texts, Track, control, sentence
from ui.film.shapes import arc, circle, handle, hands, image, label, named, path, turned
from ui.text.words import Words

EVERY, FAR = 64, (128, 256, 512, 1024, 2048, 4096)
HALF = 0.5


def offsets(value: int) -> tuple[int, ...]:
    """Return the offsets to drag to: every one at first, then doublings, and ``value``."""
    return tuple(sorted({value, *range(EVERY + 1), *FAR}))


@kept
def stages(case: Case, head: int, wanted: int, starts: tuple[int, ...], t: Words) -> Film:
    """Return X, f(X), the turn and O of one head at every offset, and one pair on its circle.

    Args:
        case: the call; its own offset does not count.
        head: which of four.
        wanted: the pair that is framed, or the last one that turns.
        starts: offsets to drag to.
        t: the page's words.
    """
    offset, token = control(t, "offset", starts, seconds=8.0), control(t, "token", range(TOKENS), slider=False)
    at = [replace(case, offset=start) for start in starts]
    x, bar = (part[0, :, head] for part in (case.stages.x, case.stages.activated))
    out = np.stack([each.stages.out[0, :, head] for each in at])
    turn = np.stack([each.turn_table(head) for each in at])
    pair, *dims = case.pair_at(wanted)
    name = t(f"act.{case.act}")
    top = limit(bar, out)
    maps = [
        _cells(x, "X", limit(x), dims, token, "x", t),
        _cells(bar, t("activated", act=name), top, dims, token, "f", t),
        _cells(Track((offset,), np.nan_to_num(turn)), t("turn"), 1.0, dims, token, "R", t),
        _cells(Track((offset,), out), "O", top, dims, token, "o", t),
    ]
    both = offset, token
    positions = np.add.outer(np.array(starts), np.arange(TOKENS))
    phase = positions * float(case.theta_grid[head, pair])
    finding = sentence(
        lambda **slots: t("stages_finding", pair=pair, act=name, **slots),
        m=Texts(both, tuple(f"{m:,}" for m in positions.ravel().tolist())),
        f=Texts((token,), tuple(couple(row[dims]) for row in bar)),
        angle=Texts(both, tuple(f"{angle:,.4g}" for angle in phase.ravel().tolist())),
        o=Texts(both, tuple(couple(row[dims]) for rows in out for row in rows)),
    )
    return Film(
        "stages",
        Scene((*maps, _circle(bar[:, dims], phase, offset, token, pair, t)), (offset, token), finding),
        lambda: cells(case, X=x, f_of_X=bar, cos_then_sin=case.turn_table(head), O=case.stages.out[0, :, head]),
        recipe(case, "print(lrpe_rotate(case.x, case.theta, **case.options)[0, :, " + f"{head}])"),
    )


def _cells(
    values: Array | Track, title: str, top: float, dims: list[int], token: Control, symbol: str, t: Words
) -> Panel:
    """Return a panel of signed values, tokens from the top, with the framed token's pair in it."""
    frames = values.frames if isinstance(values, Track) else values
    width = frames.shape[-1]
    shown = as_bytes(frames[..., ::-1, :], top)
    row = TOKENS - np.arange(TOKENS, dtype=float)[:, None]
    frame = np.hstack([row, row, row - 1, row - 1, row])
    shapes: list[Shape] = [
        image(
            Track(values.by, shown) if isinstance(values, Track) else shown,
            SIGNED,
            (-HALF, width - HALF),
            (0.0, float(TOKENS)),
        )
    ]
    for k in dims:
        sides = np.array([k - HALF, k + HALF, k + HALF, k - HALF, k - HALF])
        shapes.append(named(symbol, path(sides, Track((token,), frame), "ink", 3)))
    shapes.append(handle(token, float(dims[0]), Track((token,), row - HALF), "ink", t("grab_token"), r=4))
    return Panel(
        Axis(-HALF, width - HALF, ((0.0, "0"), (width - 1.0, str(width - 1))), t("dimension")),
        Axis(0.0, float(TOKENS), ((TOKENS - HALF, "0"), (HALF, str(TOKENS - 1))), t("token_axis")),
        shapes,
        f"{title}  ±{top:.3g}",
        width=128,
        height=150,
    )


def _circle(pairs: Array, phase: Array, offset: Control, token: Control, pair: int, t: Words) -> Panel:
    """Return the framed pair before the turn and after it; shade its first quarter where f is never negative."""
    both = offset, token
    length = np.hypot(*pairs.T)
    reach = Track((token,), (length / (float(length.max()) or 1.0))[:, None])
    before = np.arctan2(pairs[:, 1], pairs[:, 0])
    after = Track(both, (before + phase)[..., None])
    quarter = [arc(0.0, 0.0, 1.0, 0.0, np.pi / 2, GREEN, sector=True, opacity=0.18)] if (pairs >= 0).all() else []
    return Panel(
        Axis(-1.15, 1.15),
        Axis(-1.5, 1.15),
        [
            *quarter,
            circle(0.0, 0.0, 1.0, GREY, 1),
            named("f", hands(0.0, 0.0, reach, Track((token,), before[:, None]), GREEN, 5, head=True)),
            named("o", hands(0.0, 0.0, reach, after, BLUE, 5, head=True)),
            turned(offset, 0.0, 0.0, reach, after, BLUE, t("grab_turned"), r=9),
            label(-1.1, -1.38, "f(X)", GREEN, anchor="start", bold=True, size=15),
            label(1.1, -1.38, "O", BLUE, anchor="end", bold=True, size=15),
        ],
        t("pair_title", i=pair),
        width=128,
        height=170,
        equal=True,
    )
