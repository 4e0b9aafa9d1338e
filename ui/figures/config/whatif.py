"""The check's pairs under the hand: what another factor or trained length would keep, blend and divide."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.hf import anatomy
from rope_core.schemes import SCHEMES
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import REGION_COLOURS
from ui.film.scene import Axis, NumberTrack, Panel, Scene, TextTrack, field_control, sentence_parts
from ui.text.words import Words

SHOWN = ("kept", "blended", "divided")
MOST = 64.0


def offered(rope: rc.HfRope) -> bool:
    """Return whether a rotation has a factor of its own that can be another one."""
    scheme = SCHEMES[rope.request.scheme]
    searched = any(param.kind == "vector" for param in scheme.params)
    return not rope.nope and not scheme.follows_length and not searched and "factor" in rope.request.params


@cached_figure
def moved(request: rc.Request, factors: tuple[float, ...], lengths: tuple[int, ...], t: Words) -> Film:
    """Return every pair's slow-down for each factor and trained length, coloured by what becomes of the pair."""
    own = request.rope
    times = field_control(t, "times", factors, start=float(str(request.params["factor"])))
    trained = field_control(t, "trained", lengths, start=float(own.train_len))
    cells = [
        [
            rc.Request(rc.Rope(own.dim, own.base, length), request.scheme, dict(request.params) | {"factor": factor})
            for length in lengths
        ]
        for factor in factors
    ]
    slow = np.array([[rc.spectrum(each).slowdown for each in row] for row in cells])
    names = [[anatomy.regions_of(each) for each in row] for row in cells]
    paint = np.array([[[SHOWN.index(name) for name in each] for each in row] for row in names], dtype=np.uint8)
    by, pairs = (times, trained), np.arange(own.pairs)
    counts = {name: (paint == k).sum(axis=2) for k, name in enumerate(SHOWN)}
    height = np.log10(slow)
    top = float(np.log10(max(factors))) * 1.08
    ticks = tuple((float(np.log10(v)), f"{v:g}") for v in (1, 2, 4, 8, 16, 32, 64) if v <= max(factors))
    edge = np.clip(counts["kept"], 0, own.pairs - 1)[..., None]
    shapes = [
        marks.line(pairs, NumberTrack(by, height), "ink", 1.5),
        marks.dot(pairs, NumberTrack(by, height), [REGION_COLOURS[name] for name in SHOWN], 6, NumberTrack(by, paint)),
    ]
    for k, name in enumerate(SHOWN):
        words = TextTrack(by, tuple(t(f"region.{name}", count=count) for count in counts[name].ravel().tolist()))
        shapes.append(
            marks.text(0.0, top, words, REGION_COLOURS[name], anchor="start", bold=True, dx=8, dy=16 + 20 * k)
        )
    if np.ptp(counts["kept"], axis=1).any():
        grip = np.take_along_axis(height, edge, axis=2)
        shapes.append(
            marks.drag_handle(
                trained,
                NumberTrack(by, edge.astype(float)),
                NumberTrack(by, grip),
                REGION_COLOURS["blended"],
                t("grab_trained"),
            )
        )
    shapes.append(
        marks.drag_handle(
            times, own.pairs - 1.0, NumberTrack(by, height[..., -1:]), REGION_COLOURS["divided"], t("grab_times")
        )
    )
    panel = Panel(
        Axis(
            -0.6,
            own.pairs - 0.4,
            tuple((float(k), str(k)) for k in sorted({0, own.pairs // 2, own.pairs - 1})),
            t("axis.pair"),
        ),
        Axis(-0.04 * top, top, ticks, t("quantity_axis.slowdown")),
        shapes,
        height=170,
    )
    reach = [[f"{round(factor * length):,}" for length in lengths] for factor in factors]
    finding = sentence_parts(
        lambda **slots: t("whatif_finding", pairs=own.pairs, **slots),
        times=TextTrack((times,), times.stop_labels),
        trained=TextTrack((trained,), trained.stop_labels),
        reach=TextTrack(by, tuple(text for row in reach for text in row)),
        **{name: TextTrack(by, tuple(str(count) for count in counts[name].ravel().tolist())) for name in SHOWN},
    )
    return Film(
        "whatif",
        Scene((panel,), by, finding),
        lambda: {
            "factor": np.repeat(factors, len(lengths)),
            "trained": np.tile(lengths, len(factors)),
            **{name: count.ravel() for name, count in counts.items()},
        },
        f"""
        import rope_core as rc
        from rope_core.hf import anatomy
        rope = rc.Rope({own.dim}, {own.base!r}, {own.train_len})
        request = rc.Request(rope, {request.scheme!r}, {dict(request.params)!r})
        print(rc.spectrum(request).slowdown, anatomy.regions_of(request))
        """,
    )
