"""The first picture of the benchmark: how long our kernel and transformers' function take, in copies of their bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rope_core.bench.traffic import PATHS
from rope_core.bench.view import CaseTiming
from ui.figures.benchmark.words import byte_count_text, seconds_text
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import BLUE, GREY, MUTED_COLOUR, ORANGE, text_colour_on
from ui.film.composite_marks import drag_hint, text_lines
from ui.film.scene import Axis, Control, Mark, Panel, Scene, field_control
from ui.text.words import PageTexts

OURS, PREPARED, PEER = "numba", "numba (bound)", "transformers"
COLOURS = {OURS: BLUE, "copy": GREY, PEER: ORANGE}
WIDE, LEFT = 12.6, -4.4
"""The longest bar in view, and where names begin, in copies."""
RATIO_DIGITS = 2
"""Of times and their ratios, so that the medians shown divide as shown."""
STREAM_BYTES = 2**24
"""Bytes of q and k from which our kernel writes past the cache (rope_core/kernels/cpu.py, which loads torch)."""


def timings_by_tokens(points: Sequence[CaseTiming]) -> dict[int, dict[str, CaseTiming]]:
    """Return the points of our kernel, of its prepared call and of transformers by length, shortest first."""
    kept = {
        (p.case.seq, p.contestant): p
        for p in points
        if (p.case.dtype, p.case.layout, p.case.memory, p.case.direction) == ("float32", "half", "bhsd", "forward")
        and (p.case.device, p.case.inplace, p.allocator) == ("cpu", False, "tuned")
    }
    lengths = sorted({seq for seq, _ in kept})
    grouped = {n: {name: kept[n, name] for name in (OURS, PREPARED, PEER) if (n, name) in kept} for n in lengths}
    return {n: each for n, each in grouped.items() if len(each) == 3}


def is_bound_by_start(timings: Mapping[str, CaseTiming]) -> bool:
    """Return whether our call takes more than twice as long as the same call prepared once."""
    return timings[OURS].ratio.median > 2 * timings[PREPARED].ratio.median


@cached_figure
def time_over_copy_film(points: tuple[CaseTiming, ...], hardware: str, t: PageTexts) -> Film:
    """Return a bar for each as long as its time over a copy's, for every recorded number of tokens."""
    timings = timings_by_tokens(points)
    at = field_control(t, "at", tuple(timings), start=float(max(timings)), play_seconds=5.0)
    titles, findings = [], []
    for n, of in timings.items():
        tokens = t("one_token") if n == 1 else t("many_tokens", count=f"{n:,}")
        size, copy = byte_count_text(of[OURS].case.tensor_bytes), seconds_text(of[OURS].copy_seconds, RATIO_DIGITS)
        ratios = {
            "ours": f"{of[OURS].ratio.median:.{RATIO_DIGITS}g}",
            "peer": f"{of[PEER].ratio.median:.{RATIO_DIGITS}g}",
        }
        titles.append(t("bars_title", tokens=tokens, size=size, copy=copy))
        findings.append(t("bars_few" if is_bound_by_start(of) else "bars_many", tokens=tokens, **ratios))
    ticks = tuple((float(k), str(k)) for k in range(0, 13, 2))
    panels = [
        Panel(
            Axis(LEFT if wide else 0.0, WIDE + 0.6, ticks, t("bars_axis")),
            Axis(-1.0, 2.6),
            [
                *_bars(timings, at, t, wide),
                marks.text(0.0, -1.0, f"float32, {hardware}", MUTED_COLOUR, anchor="start", font_size=13, dy=-8),
            ],
            at.texts(titles),
            height=340 if wide else 365,
            screen="wide" if wide else "narrow",
        )
        for wide in (True, False)
    ]
    return Film(
        "bars",
        Scene(panels, (at,), at.texts(findings)),
        lambda: {
            "tokens": list(timings),
            **{name: [of[name].ratio.median for of in timings.values()] for name in (OURS, PREPARED, PEER)},
        },
        """
        from rope_core.bench import view
        for p in view.benchmark_source("intel-xeon").points:
            if p.contestant in ("numba", "numba (bound)", "transformers"):
                print(p.case.title, p.allocator, p.contestant, round(p.ratio.median, 3))
        """,
    )


def _way(name: str, of: Mapping[str, CaseTiming], t: PageTexts) -> str:
    """Return what a bar's time goes into."""
    if name == OURS and of[OURS].case.tensor_bytes < STREAM_BYTES:
        return t("way.prepared", ratio=f"{of[PREPARED].ratio.median:.{RATIO_DIGITS}g}")
    return t("way.few" if name == PEER and is_bound_by_start(of) else f"way.{name}")


def _bars(timings: Mapping[int, Mapping[str, CaseTiming]], at: Control, t: PageTexts, wide: bool) -> list[Mark]:
    """Return a bar a row, its name and time beside it, above it on a narrow screen, and below it what it does."""
    half, size = (0.26, 14) if wide else (0.15, 13)
    drawn: list[Mark] = []
    for row, name in enumerate((OURS, "copy", PEER)):
        y, colour = 2.0 - row, COLOURS[name]
        own = [of[OURS if name == "copy" else name] for of in timings.values()]
        ratio = np.array([1.0 if name == "copy" else each.ratio.median for each in own])
        seconds = [e.copy_seconds if name == "copy" else e.seconds.median for e in own]
        took = at.texts(seconds_text(each, RATIO_DIGITS) for each in seconds)
        ways = [_way(name, of, t) for of in timings.values()]
        parts = [(way.replace("|", ""), "", "") if wide else way.partition("|") for way in ways]
        lines = [at.texts(part[k] for part in parts) for k in (0, 2)]
        place = (LEFT, y, -4, LEFT, y, 15) if wide else (0.0, y + half, -6, WIDE + 0.5, y + half, -6)
        drawn += [
            marks.rect(0.0, at.numbers(ratio), y - half, y + half, colour, opacity=0.85),
            marks.text(
                place[0], place[1], t(f"bar.{name}"), colour, anchor="start", bold=True, font_size=16, dy=place[2]
            ),
            marks.text(
                place[3], place[4], took, MUTED_COLOUR, anchor="start" if wide else "end", font_size=size, dy=place[5]
            ),
            marks.text(
                at.numbers(ratio[:, None] + 0.15),
                y,
                at.texts(f"{each:.{RATIO_DIGITS}g}" for each in ratio),
                colour,
                anchor="start",
                bold=True,
                font_size=20,
                dy=7,
            ),
            *text_lines(0.0, y - half, lines, anchor="start", font_size=size + wide, dy=18, step=16),
        ]
    moved = np.cumsum([step.moved for step in PATHS[PEER]])
    whole = np.array([np.nan if is_bound_by_start(of) else of[PEER].ratio.median for of in timings.values()])
    ends = np.concatenate([[0.0], moved / moved[-1]])
    for share in ends[1:-1]:
        x = at.numbers((whole * share)[:, None].repeat(2, axis=1))
        drawn.append(marks.line(x, [-half, half], "paper", 2))
    for k, middle in enumerate((ends[1:] + ends[:-1]) / 2, 1):
        drawn.append(
            marks.text(at.numbers(whole * middle), 0.0, str(k), text_colour_on(ORANGE), bold=True, dy=5, halo=False)
        )
    first = at.numbers_where(np.array(at.stops) == max(at.stops), WIDE)
    return [*drawn, drag_hint(first, -0.72, t("drag_tokens"), anchor="end")]
