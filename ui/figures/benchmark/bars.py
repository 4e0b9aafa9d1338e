"""The first picture of the benchmark: how long our kernel and transformers' function take, in copies of their bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rope_core.bench.traffic import PATHS
from rope_core.bench.view import CaseTiming
from ui.figures.benchmark.words import byte_count_text, implementation_name, seconds_text
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import BLUE, GREY, MUTED_COLOUR, ORANGE
from ui.film.composite_marks import drag_hint
from ui.film.scene import Axis, Control, Mark, Panel, Scene, field_control
from ui.text.words import PageTexts

OURS, PEER = "numba", "transformers"
COLOURS = {OURS: BLUE, "copy": GREY, PEER: ORANGE}
WIDE, LEFT = 12.6, -4.4
"""The longest bar in view, and where names begin, in copies."""
MANY = 512
"""Tokens from which moving bytes takes the time, by the shape of the record's curve."""


def pairs_of(points: Sequence[CaseTiming]) -> dict[int, tuple[CaseTiming, CaseTiming]]:
    """Return our kernel's and transformers' point for each length at which both were recorded, shortest first."""
    kept = {
        (p.case.seq, p.contestant): p
        for p in points
        if (p.case.dtype, p.case.layout, p.case.memory, p.case.direction) == ("float32", "half", "bhsd", "forward")
        and (p.case.device, p.case.inplace, p.allocator) == ("cpu", False, "tuned")
    }
    lengths = sorted({seq for seq, _ in kept})
    return {n: (kept[n, OURS], kept[n, PEER]) for n in lengths if {(n, OURS), (n, PEER)} <= kept.keys()}


@cached_figure
def time_over_copy_film(points: tuple[CaseTiming, ...], hardware: str, t: PageTexts) -> Film:
    """Return a bar for each as long as its time over a copy's, for every recorded number of tokens."""
    pairs = pairs_of(points)
    at = field_control(t, "at", tuple(pairs), start=float(max(pairs)), play_seconds=5.0)
    sizes = [byte_count_text(pair[0].case.tensor_bytes) for pair in pairs.values()]
    counts = {n: t("one_token") if n == 1 else t("many_tokens", count=f"{n:,}") for n in pairs}
    titles = [t("bars_title", tokens=counts[n], size=size) for n, size in zip(pairs, sizes, strict=True)]
    findings = []
    for n, (ours, peer) in pairs.items():
        ratios = {"ours": f"{ours.ratio.median:.2g}", "peer": f"{peer.ratio.median:.2g}"}
        findings.append(t("bars_many" if n >= MANY else "bars_few", tokens=counts[n], **ratios))
    ticks = tuple((float(k), str(k)) for k in range(0, 13, 2))
    panels = [
        Panel(
            Axis(LEFT if wide else 0.0, WIDE + 0.6, ticks, t("bars_axis", hardware=hardware)),
            Axis(-1.0, 2.6),
            _bars(pairs, at, t, wide),
            at.texts(titles),
            height=340 if wide else 300,
            screen="wide" if wide else "narrow",
        )
        for wide in (True, False)
    ]
    return Film(
        "bars",
        Scene(panels, (at,), at.texts(findings)),
        lambda: {
            "tokens": list(pairs),
            OURS: [ours.ratio.median for ours, _ in pairs.values()],
            PEER: [peer.ratio.median for _, peer in pairs.values()],
        },
        """
        from rope_core.bench import view
        for p in view.benchmark_source("intel-xeon").points:
            if p.contestant in ("numba", "transformers"):
                print(p.case.title, p.allocator, p.contestant, round(p.ratio.median, 3))
        """,
    )


def _bars(pairs: dict[int, tuple[CaseTiming, CaseTiming]], at: Control, t: PageTexts, wide: bool) -> list[Mark]:
    """Return a bar a row, its name and time beside it, above it on a narrow screen, and below it what it does."""
    half, size = (0.26, 14) if wide else (0.15, 13)
    drawn: list[Mark] = []
    for row, name in enumerate((OURS, "copy", PEER)):
        y, colour, k = 2.0 - row, COLOURS[name], (OURS, PEER).index(name) if name != "copy" else 0
        own = [pair[k] for pair in pairs.values()]
        ratio = np.array([1.0 if name == "copy" else each.ratio.median for each in own])
        label = t("torch_copy") if name == "copy" else implementation_name(name, t)
        seconds = [e.copy_seconds if name == "copy" else e.seconds.median for e in own]
        took = at.texts(map(seconds_text, seconds))
        way = at.texts(t(f"way.{name}" if n >= MANY or name == "copy" else "way.few") for n in pairs)
        place = (LEFT, y, -4, LEFT, y, 15) if wide else (0.0, y + half, -6, WIDE + 0.5, y + half, -6)
        drawn += [
            marks.rect(0.0, at.numbers(ratio), y - half, y + half, colour, opacity=0.85),
            marks.text(place[0], place[1], label, colour, anchor="start", bold=True, font_size=16, dy=place[2]),
            marks.text(
                place[3], place[4], took, MUTED_COLOUR, anchor="start" if wide else "end", font_size=size, dy=place[5]
            ),
            marks.text(
                at.numbers(ratio[:, None] + 0.15),
                y,
                at.texts(f"{each:.2g}" for each in ratio),
                colour,
                anchor="start",
                bold=True,
                font_size=20,
                dy=7,
            ),
            marks.text(0.0, y - half, way, MUTED_COLOUR, anchor="start", font_size=14 if wide else 13, dy=17),
        ]
    moved = np.cumsum([step.moved for step in PATHS[PEER]])
    whole = np.array([peer.ratio.median if n >= MANY else np.nan for n, (_, peer) in pairs.items()])
    for share in moved[:-1] / moved[-1]:
        x = at.numbers((whole * share)[:, None].repeat(2, axis=1))
        drawn.append(marks.line(x, [-half, half], "paper", 2))
    first = at.numbers_where(np.array(at.stops) == max(at.stops), WIDE)
    return [*drawn, drag_hint(first, -0.85, t("drag_tokens"), anchor="end")]
