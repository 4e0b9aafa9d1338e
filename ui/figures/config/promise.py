"""The first picture of the config check: does the factor slow the slow pairs enough for the promised length?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.hf import anatomy
from rope_core.schemes import SCHEMES
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import ACTION_COLOUR, GREY, MUTED_COLOUR, REGION_COLOURS, TRAINED_COLOUR, UNSEEN_COLOUR
from ui.film.composite_marks import drag_hint, verdict_marks
from ui.film.scene import (
    Axis,
    Beat,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextOrTrack,
    TextTrack,
    field_control,
    sentence_parts,
)
from ui.text.words import PageTexts

SHOWN = ("kept", "blended", "divided")
TIGHT = 1e-6
"""How near a factor is to the ratio of the two lengths to be it, as the check has it."""
LOW, ZONES = -1.95, (-0.46, -0.28)
"""The foot of the picture, and where the zones are named, in powers of two."""
FIELDS = {"max_len": "max_position_embeddings", "train_len": "original_max_position_embeddings"}
"""The fields that a promise is made of, by what the config resolves them to."""


def has_changeable_factor(rope: rc.HfRope) -> bool:
    """Return whether a rotation has a factor of its own that can be another one."""
    scheme = SCHEMES[rope.request.scheme]
    searched = any(param.kind == "vector" for param in scheme.params)
    return not rope.nope and not scheme.follows_length and not searched and "factor" in rope.request.params


def promised_length(rope: rc.HfRope, keys: Collection[str]) -> int | None:
    """Return the length that a YaRN config promises by its ratio to the trained one; None where its factor is no such.

    ``keys``: of the check's findings, which let a factor pass that a model's card asks for.
    """
    factor, paths = rope.request.params.get("factor"), {name: rope.provenance[name].path for name in FIELDS}
    if "truncate" not in rope.params or any(not str(paths[k]).endswith(name) for k, name in FIELDS.items()):
        return None
    ratio = (rope.max_len or 0) / rope.train_len
    kept = isinstance(factor, int | float) and abs(factor - ratio) <= TIGHT * ratio
    return rope.max_len if ratio > 1 and (kept or "factor_is_not_ratio" in keys) else None


class RequestGrid:
    """A request with each factor and each trained length.

    Attributes:
        slow: each pair's slow-down (factors, lengths, pairs); ``paint``: its region, as an index of SHOWN.
        counts: how many pairs each region has, by name (factors, lengths).
    """

    def __init__(self, request: rc.Request, times: Control, trained: Control) -> None:
        own, self.by = request.rope, (times, trained)
        cells = [
            [
                rc.Request(
                    rc.Rope(own.dim, own.base, int(length)), request.scheme, dict(request.params) | {"factor": factor}
                )
                for length in trained.stops
            ]
            for factor in times.stops
        ]
        self.pairs = own.pairs
        self.slow = np.array([[rc.spectrum(each).slowdown for each in row] for row in cells])
        names = [[anatomy.request_pair_effects(each) for each in row] for row in cells]
        self.paint = np.array([[[SHOWN.index(name) for name in each] for each in row] for row in names], dtype=np.uint8)
        self.counts = {name: (self.paint == k).sum(axis=2) for k, name in enumerate(SHOWN)}
        self.first = self.pairs - self.counts["divided"] - 0.5
        """Where the fully slowed pairs begin (factors, lengths)."""

    def numbers(self, values: npt.NDArray[np.floating]) -> NumberTrack:
        """Return one number a cell as a track."""
        return NumberTrack(self.by, values[..., None])

    def texts(self, write: Callable[[int, int], str]) -> TextTrack:
        """Return a text for each cell, from the indices of its factor and its length."""
        times, trained = self.by
        cells = [(i, j) for i in range(len(times.stops)) for j in range(len(trained.stops))]
        return TextTrack(self.by, tuple(write(i, j) for i, j in cells))


@cached_figure
def promised_length_film(
    request: rc.Request,
    promise: int | None,
    name: str,
    start: float,
    factors: tuple[float, ...],
    lengths: tuple[int, ...],
    t: PageTexts,
) -> Film:
    """Return every pair's slow-down for each factor and trained length, beside the length that the config promises.

    ``promise``: that length, None for none; ``name``: of the config; ``start``: the factor that it opens with.
    """
    own = request.rope
    times = field_control(t, "times", factors, start=start, play_seconds=6.0)
    trained = field_control(t, "trained", lengths, start=float(own.train_len), first_beat=2)
    grid = RequestGrid(request, times, trained)
    reach = np.multiply.outer(np.array(factors), np.array(lengths))
    ratios = np.array([(promise or 0) / length for length in lengths])
    short = np.array([[promise is not None and f < ratio * (1 - TIGHT) for ratio in ratios] for f in factors])
    scheme = t(f"scheme.{request.scheme}")
    counts = {
        key: TextTrack(grid.by, tuple(str(count) for count in each.ravel().tolist()))
        for key, each in grid.counts.items()
    }
    slots = {
        "times": times.stop_text,
        "trained": trained.stop_text,
        "reach": grid.texts(lambda i, j: f"{round(reach[i, j]):,}"),
        **counts,
    }
    moved = sentence_parts(lambda **names: t("whatif_finding", pairs=own.pairs, **names), **slots)
    if promise is None:
        claim, boxes = t("slows", scheme=scheme), []
        first: TextOrTrack = moved
    else:
        claim = t("promise_say", scheme=scheme, times=f"{promise / own.train_len:.3g}")
        first = grid.texts(partial(_finding, grid, reach, short, promise, t))
        boxes = [_config(grid, name, request, promise, ratios, t, wide) for wide in (True, False)]
    pictures = [_picture(grid, promise, ratios, reach, short, t, wide) for wide in (True, False)]
    beats = (Beat(claim, "", first, "times"), Beat(t("trained_say"), "", moved, "trained"))
    return Film(
        "promise",
        Scene((*boxes, *pictures), (times, trained), moved, beats=beats),
        lambda: {
            "factor": np.repeat(factors, len(lengths)),
            "trained": np.tile(lengths, len(factors)),
            **{key: count.ravel() for key, count in grid.counts.items()},
        },
        f"""
        import rope_core as rc
        from rope_core.hf import anatomy
        rope = rc.Rope({own.dim}, {own.base!r}, trained)
        request = rc.Request(rope, {request.scheme!r}, {dict(request.params)!r} | {{"factor": times}})
        regions = anatomy.request_pair_effects(request)
        print("reach", round(times * trained), "promised", {promise}, "pairs", rope.pairs)
        print({{name: regions.count(name) for name in {tuple(SHOWN)!r}}})
        print(rc.spectrum(request).slowdown)
        """,
    )


def _finding(
    grid: RequestGrid,
    reach: npt.NDArray[np.floating],
    short: npt.NDArray[np.bool_],
    promise: int,
    t: PageTexts,
    i: int,
    j: int,
) -> str:
    """Return how far the slow pairs reach with a factor, and what the fast ones still tell apart."""
    given = {"times": grid.by[0].stop_labels[i], "reach": f"{round(reach[i, j]):,}", "promise": f"{promise:,}"}
    if short[i, j]:
        return t("short_finding", **given)
    return t("enough_finding", **given, divided=grid.counts["divided"][i, j], kept=grid.counts["kept"][i, j])


def _picture(
    grid: RequestGrid,
    promise: int | None,
    ratios: npt.NDArray[np.floating],
    reach: npt.NDArray[np.floating],
    short: npt.NDArray[np.bool_],
    t: PageTexts,
    wide: bool,
) -> Panel:
    """Return the slow-downs with their zones, and above them what the promise asks of the slow pairs."""
    times, trained = grid.by
    height, pairs, right = np.log2(grid.slow), np.arange(grid.pairs), grid.pairs - 0.4
    factors = np.log2(np.array(times.stops))[:, None] + 0 * reach
    top = float(max(np.log2(times.stops[-1]), *np.log2(ratios.clip(1.0)))) + 0.75
    curve = NumberTrack(grid.by, height)
    colours = [REGION_COLOURS[name] for name in SHOWN]
    line = marks.line(pairs, curve, "ink", 1.5)
    dots = marks.dot(pairs, curve, colours, 6, NumberTrack(grid.by, grid.paint))
    drawn: list[Mark] = []
    if promise is not None:
        need = np.log2(ratios.clip(1.0))[None, :] + 0 * reach
        hatched = short & (grid.counts["divided"] > 0)
        left, foot, roof = (
            grid.numbers(np.where(hatched, each, np.nan)) for each in (grid.first, factors + 0.22, need)
        )
        middle = grid.numbers(np.where(hatched & (need - factors > 1.3), (grid.first + right) / 2, np.nan))
        drawn += [
            marks.rect(left, right, foot, roof, UNSEEN_COLOUR, opacity=0.14),
            marks.rect(left, right, foot, roof, UNSEEN_COLOUR, fill_pattern="hatch"),
            *(
                marks.text(middle, grid.numbers((factors + need) / 2), text, UNSEEN_COLOUR, bold=True, dy=dy)
                for text, dy in zip(t("never_showed").split("|"), (0, 18), strict=True)
            ),
            marks.line([-0.6, right], NumberTrack(grid.by, need[..., None].repeat(2, 2)), TRAINED_COLOUR, 3, "8 5"),
            marks.text(
                -0.4,
                grid.numbers(need),
                grid.texts(lambda i, j: t("needed", times=f"{ratios[j]:.3g}", promise=f"{promise:,}")),
                TRAINED_COLOUR,
                anchor="start",
                bold=True,
                dy=-9,
                font_size=15,
            ),
        ]
    starts = np.cumsum([0 * reach, *(grid.counts[name] for name in SHOWN)], axis=0) - 0.5
    for k, name in enumerate(SHOWN):
        empty = grid.counts[name] == 0
        x0, x1 = (grid.numbers(np.where(empty, np.nan, each)) for each in (starts[k] + 0.06, starts[k + 1] - 0.06))
        at = grid.numbers(np.where(empty, np.nan, (starts[k] + starts[k + 1]) / 2))
        look = {"font_size": 14, "bold": True}
        drawn += [
            marks.rect(x0, x1, *ZONES, REGION_COLOURS[name]),
            marks.text(at, ZONES[0], t(f"zone.{name}"), REGION_COLOURS[name], dy=17, **look),
            *marks.in_wide_panel(420, marks.text(at, ZONES[0], t(f"turns.{name}"), MUTED_COLOUR, dy=35, font_size=13)),
        ]
    drawn.append(
        marks.text(
            right / 2, ZONES[0], t("pairs_axis", pairs=grid.pairs), MUTED_COLOUR, dy=57 if wide else 38, font_size=14
        )
    )
    grip_y = NumberTrack(grid.by, height[..., -1:])
    drawn += [
        line,
        dots,
        marks.text(
            grid.numbers(np.where(grid.counts["divided"] > 0, grid.pairs - 0.5, np.nan)),
            grid.numbers(factors),
            grid.texts(
                lambda i, j: t(
                    "fits" if wide else "fits_short", times=times.stop_labels[i], reach=f"{round(reach[i, j]):,}"
                )
            ),
            REGION_COLOURS["divided"],
            bold=True,
            anchor="end",
            dy=26,
            font_size=15,
        ),
        *marks.up_to_beat(
            1,
            drag_hint(
                grid.numbers(np.where(short, grid.pairs - 0.5, np.nan)),
                grid.numbers(factors),
                t("drag_up"),
                anchor="end",
                dy=50,
            ),
        ),
        marks.drag_handle(times, grid.pairs - 1.0, grip_y, ACTION_COLOUR, t("grab_times"), [line, dots]),
    ]
    if np.ptp(grid.counts["kept"], axis=1).any():
        edge = np.clip(grid.counts["kept"], 0, grid.pairs - 1)[..., None]
        grip = np.take_along_axis(height, edge, axis=2)
        handle = marks.drag_handle(
            trained,
            NumberTrack(grid.by, edge.astype(float)),
            NumberTrack(grid.by, grip),
            REGION_COLOURS["blended"],
            t("grab_trained"),
        )
        drawn += marks.from_beat(2, handle)
    ticks = tuple((float(k), f"{2**k}") for k in range(int(top) + 1))
    return Panel(
        Axis(-0.6, right),
        Axis(LOW, top, ticks, t("quantity_axis.slowdown")),
        drawn,
        min_width=330,
        width_share=1.8,
        height=350 if wide else 250,
        screen="wide" if wide else "narrow",
    )


def _config(
    grid: RequestGrid,
    model: str,
    request: rc.Request,
    promise: int,
    ratios: npt.NDArray[np.floating],
    t: PageTexts,
    wide: bool,
) -> Panel:
    """Return the fields of the config that make the promise, and whether its factor keeps it; y in px."""
    times, trained = grid.by
    published = float(str(request.params["factor"]))
    high, rows, box, side = (384, (322, 262, 208), 136, 16.0) if wide else (176, (136, 112, 84), 62, 14.0)
    values: tuple[TextOrTrack, ...] = (f"{promise:,}", trained.stop_text)
    caption = tuple(model if k == published else t("changed", name=model) for k in times.stops)
    drawn: list[Mark] = [
        marks.text(0.0, high, times.texts(caption), MUTED_COLOUR, anchor="start", dy=13, font_size=15),
        marks.rect(0.0, 1.0, box + (18 if wide else 8), high - 22, GREY, opacity=0.12, corner_px=8),
    ]
    for (name, field), value, y in zip(FIELDS.items(), values, rows, strict=False):
        drawn.append(marks.text(0.03, float(y), f'"{field}":', anchor="start", halo=False, font_size=side - 1))
        down: dict[str, Any] = (
            {"anchor": "start", "dy": 22, "halo": False} if wide else {"anchor": "end", "halo": False}
        )
        drawn.append(marks.text(0.09 if wide else 0.98, float(y), value, ACTION_COLOUR, bold=True, **down))
        if wide:
            drawn.append(marks.text(0.4, float(y), t(f"is.{name}"), MUTED_COLOUR, font_size=15, **down))
    right = np.isclose(np.array(times.stops)[:, None], ratios[None, :], rtol=TIGHT)

    def sentences(label: str) -> list[TextTrack]:
        """Return a label's sentence where the promise is kept, and where it is not; each empty where the other is."""

        def cell(kept: bool, i: int, j: int) -> str:
            if bool(right[i, j]) != kept:
                return ""
            state = "kept" if kept else "more" if times.stops[i] > ratios[j] else "less"
            given = {"factor": times.stop_labels[i], "ratio": f"{ratios[j]:.4g}", "promise": f"{promise:,}"}
            given |= {"trained": trained.stop_labels[j], "reach": f"{round(times.stops[i] * trained.stops[j]):,}"}
            return t(f"{label}.{state}", **given)

        return [grid.texts(partial(cell, kept)) for kept in (True, False)]

    for colour, there in ((TRAINED_COLOUR, right), (UNSEEN_COLOUR, ~right)):
        x0, x1, end = (grid.numbers(np.where(there, x, np.nan)) for x in (0.015, 0.62, 1.0))
        for right_edge, foot, roof in ((x1, rows[2] - 16.0, rows[2] + 14.0), (end, 1.0, float(box))):
            drawn += [
                marks.rect(x0, right_edge, foot, roof, colour, opacity=0.12, corner_px=6),
                marks.rect(x0, right_edge, foot, roof, "none", outline=colour, stroke_width=1.5, corner_px=6),
            ]
    factor = times.texts(f'"factor": {text}' for text in times.stop_labels)
    drawn.append(marks.text(0.04, float(rows[2]), factor, anchor="start", bold=True, dy=5, halo=False, font_size=side))
    drawn += verdict_marks(0.53, float(rows[2]), *sentences("verdict_mark"), dy=6, halo=False)
    drawn += verdict_marks(0.04, box - 26.0, *sentences("verdict_head"), font_size=18 if wide else 16, halo=False)
    for y, label in zip((54, 79, 104), ("1", "2", "3"), strict=True) if wide else ((46, "phone"),):
        look: dict[str, Any] = {"font_size": 15 if wide else 13, "bold": False, "halo": False}
        drawn += verdict_marks(0.04, float(box - y), *sentences(f"verdict_{label}"), **look)
    return Panel(
        Axis(0.0, 1.0), Axis(0.0, float(high)), drawn, min_width=250, height=high, screen="wide" if wide else "narrow"
    )
