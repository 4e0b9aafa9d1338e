"""Figures of the benchmark page: recorded times, and what they are on paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rope_core.bench import view
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.statistics import SampleSummary
from rope_core.bench.view import CaseTiming
from ui.figures.benchmark.words import GIGA, MEGA, byte_count_text, implementation_name, seconds_text
from ui.figures.drawing import Drawing
from ui.figures.plot import (
    LOG,
    PlotlyProps,
    bar_trace,
    dot_trace,
    error_bars,
    line_trace,
    plotly_axis,
    plotly_figure,
    text_annotation,
    vertical_line,
)
from ui.film.colours import BLUE, GREEN, GREY, LINE, ORANGE, PURPLE, RED, SERIES_COLOURS, SKY, YELLOW
from ui.text.words import PageTexts

LOOKS = {
    "numba": BLUE,
    "numba (raw)": SKY,
    "numba (bound)": LINE,
    "triton": BLUE,
    "triton (raw)": SKY,
    "transformers": RED,
    "transformers compiled": ORANGE,
    "eager": PURPLE,
    "complex": YELLOW,
    "compiled": GREEN,
}


BELOW = {"orientation": "h", "x": 0, "xanchor": "left", "y": 0, "yref": "container", "yanchor": "bottom"}


def contestant_colour(contestant: str, place: int = 0) -> str:
    """Return the contestant's own colour; the rest take turns."""
    return LOOKS.get(contestant, SERIES_COLOURS[place % len(SERIES_COLOURS)])


def ratio_error_bars(ratios: Sequence[SampleSummary], **look: Any) -> PlotlyProps:
    """Return the error bars of ratios."""
    low, high = [ratio.low for ratio in ratios], [ratio.high for ratio in ratios]
    return error_bars([ratio.median for ratio in ratios], low, high, **look)


def timings_recipe(name: str, kind: BenchmarkCase, what: str) -> str:
    """Python lines that read a source's points of one kind and print ``what`` of each point p."""
    return f"""
        from rope_core.bench import view
        from rope_core.bench.cases import BenchmarkCase
        kind = {kind!r}
        for p in view.case_kind_timings_by_length(view.benchmark_source({name!r}).points, kind):
            print(p.case.seq, p.contestant, {what})
        """


def timings_table(points: Sequence[CaseTiming]) -> dict[str, list[object]]:
    """Points as named columns."""
    return {
        "tokens": [p.case.seq for p in points],
        "contestant": [p.contestant for p in points],
        "allocator": [p.allocator for p in points],
        "seconds": [p.seconds.median for p in points],
        "seconds_p20": [p.seconds.p20 for p in points],
        "seconds_p80": [p.seconds.p80 for p in points],
        "over_copy": [p.ratio.median for p in points],
        "over_copy_low": [p.ratio.low for p in points],
        "over_copy_high": [p.ratio.high for p in points],
        "bytes_per_second": [p.bandwidth for p in points],
        "copy_bytes_per_second": [p.floor for p in points],
        "error": [p.error for p in points],
        "page_faults": [p.faults for p in points],
    }


def contestant_names(points: Sequence[CaseTiming]) -> list[str]:
    """Contestants among points: ours, peers, then visitors' own, each once."""
    order = (*view.OURS, *view.PEERS)
    return sorted({p.contestant for p in points}, key=lambda n: (order.index(n) if n in order else len(order), n))


def bandwidth_chart(points: Sequence[CaseTiming], name: str, t: PageTexts, *, all_contestants: bool = True) -> Drawing:
    """GB/s against the bytes of q and k, one curve a contestant, the copy's as a dashed line.

    Without ``all_contestants`` three lines that are named at their ends: the copy, our kernel, transformers.
    """
    entry = view.ENTRY[points[0].case.device]
    few = not all_contestants and entry in contestant_names(points)
    if few:
        points = [p for p in points if p.contestant in (entry, "transformers")]
    floors = sorted({(p.case.tensor_bytes, p.floor) for p in points})
    x, y = [size / MEGA for size, _ in floors], [floor / GIGA for _, floor in floors]
    data = [line_trace(x, y, GREY, name=t("copy"), dash="dash", mode="lines+markers")]
    for place, contestant in enumerate(contestant_names(points)):
        own = [p for p in points if p.contestant == contestant]
        data.append(
            line_trace(
                [p.case.tensor_bytes / MEGA for p in own],
                [p.bandwidth / GIGA for p in own],
                contestant_colour(contestant, place),
                5 if contestant in view.ENTRY.values() else 3,
                implementation_name(contestant, t),
                mode="lines+markers",
                marker={"size": 12, "symbol": place % 8},
            )
        )
    powers = {"type": "log", "dtick": 1}
    # An end's name would stretch the axis that it stands beside.
    fit = {"range": np.log10([0.7 * min(x), 1.4 * max(x)]).tolist()} if few else {}
    steps = [step * 10**power for power in range(-3, 6) for step in (1, 2, 5)]
    heights = {"tickvals": steps, "ticktext": [f"{step:,g}" for step in steps]} if few else {}
    ends = (
        [
            text_annotation(
                f"<b>{trace['name']}</b>",
                *np.log10([trace["x"][-1], trace["y"][-1]]),
                xanchor="left",
                xshift=10,
                font={"color": trace["line"]["color"], "size": 15},
            )
            for trace in data
        ]
        if few
        else []
    )
    figure = plotly_figure(
        data,
        height=340 if few else 390,
        legend=BELOW,
        showlegend=not few,
        annotations=ends,
        margin={"t": 12, "r": 130 if few else 20},
        xaxis=plotly_axis(t("size_axis"), **powers, **fit),
        yaxis=plotly_axis(t("bandwidth_axis"), **powers, **heights),
    )
    kind = view.case_without_length(points[0].case)
    return Drawing(
        "curves",
        figure,
        kernel_bandwidth_finding(points, t),
        lambda: timings_table(points),
        timings_recipe(name, kind, "p.case.tensor_bytes, p.bandwidth, p.ratio"),
    )


def kernel_bandwidth_finding(points: Sequence[CaseTiming], t: PageTexts) -> str:
    """Our kernel's bandwidth at the largest size, beside the copy's."""
    last = [p for p in points if p.case.tensor_bytes == max(q.case.tensor_bytes for q in points)]
    ours = view.own_reference_timing(last)
    size = byte_count_text(last[0].case.tensor_bytes)
    if ours is None:
        return t("curves_finding_floor", size=size, floor=f"{last[0].floor / GIGA:.3g}")
    peer = next((p for p in last if p.contestant == "transformers"), None)
    faster = ours.ratio.high < 1 and ours.case.device == "cpu" and not ours.case.inplace
    return t(
        "curves_finding_peer" if peer else "curves_finding",
        size=size,
        who=implementation_name(ours.contestant, t),
        ratio=f"{ours.ratio.median:.2f}",
        low=f"{ours.ratio.low:.2f}",
        high=f"{ours.ratio.high:.2f}",
        peer=f"{peer.ratio.median:.3g}" if peer else "",
    ) + (t("curves_faster") if faster else "")


def speed_up_chart(points: Sequence[CaseTiming], name: str, t: PageTexts) -> Drawing:
    """How many times longer everybody else takes than our kernel on one case; bars with intervals."""
    ours = view.own_reference_timing(points)
    assert ours is not None, "the page asks only where ours was measured"
    others = sorted((p for p in points if p is not ours), key=lambda p: p.ratio.median)
    times = [view.speedup_over_peer(ours, p) for p in others]
    figure = plotly_figure(
        [
            bar_trace(
                [s.median for s in times],
                [
                    f"{implementation_name(p.contestant, t)}  {s.median:.2f}×"
                    for p, s in zip(others, times, strict=True)
                ],
                [contestant_colour(p.contestant) for p in others],
                orientation="h",
                error_x=ratio_error_bars(times, thickness=3),
            )
        ],
        height=120 + 42 * len(others),
        shapes=[vertical_line(1, BLUE, 4, "dash")],
        margin={"r": 30, "b": 72},
        xaxis=plotly_axis(t("speed_up_axis", who=implementation_name(ours.contestant, t))),
        yaxis=plotly_axis(automargin=True),
    )
    rivals = [(p, s) for p, s in zip(others, times, strict=True) if p.contestant in view.PEERS]
    finding = t("alone_finding", who=implementation_name(ours.contestant, t), time=seconds_text(ours.seconds.median))
    if rivals:
        best, by = min(rivals, key=lambda each: each[1].median)
        verdict = "faster" if by.low > 1 else "slower" if by.high < 1 else "same"
        values = {"ratio": f"{by.median:.2f}", "low": f"{by.low:.2f}", "high": f"{by.high:.2f}"}
        sizes = {
            "tokens": f"{ours.case.seq:,}",
            "who": implementation_name(ours.contestant, t),
            "peer": implementation_name(best.contestant, t),
        }
        finding = t(f"speed_up_finding.{verdict}", **values, **sizes)
    return Drawing(
        "speed_ups",
        figure,
        finding,
        lambda: timings_table(points) | {"speed_up": [view.speedup_over_peer(ours, p).median for p in points]},
        f"""
        from rope_core.bench import view
        from rope_core.bench.cases import BenchmarkCase
        case = {ours.case!r}
        kind = view.case_without_length(case)
        points = view.case_kind_timings_by_length(view.benchmark_source({name!r}).points, kind)
        points = [p for p in points if p.case == case]
        ours = view.own_reference_timing(points)
        for p in points:
            print(p.contestant, p.seconds, view.speedup_over_peer(ours, p))
        """,
    )


def error_and_time_chart(points: Sequence[CaseTiming], name: str, t: PageTexts) -> Drawing:
    """Draw the largest difference from float64 against the time as a multiple of the copy's, one mark a contestant."""
    data = []
    for place, contestant in enumerate(contestant_names(points)):
        p = next(p for p in points if p.contestant == contestant)
        symbol, interval = {"symbol": place % 8}, ratio_error_bars([p.ratio], thickness=2)
        shade, label = contestant_colour(contestant, place), implementation_name(contestant, t)
        data.append(dot_trace([p.ratio.median], [p.error], shade, 18, label, marker=symbol, error_x=interval))
    figure = plotly_figure(
        data,
        height=420,
        shapes=[vertical_line(1, GREY, 3, "dash")],
        legend=BELOW,
        xaxis=plotly_axis(t("over_copy_axis"), **LOG, dtick="D2"),
        yaxis=plotly_axis(t("error_axis"), rangemode="tozero", exponentformat="e", tickformat=".1e", nticks=6),
    )
    least, most = min(points, key=lambda p: p.error), max(points, key=lambda p: p.error)
    finding = t(
        "error_finding",
        dtype=points[0].case.dtype,
        least=f"{least.error:.1e}",
        best=implementation_name(least.contestant, t),
        most=f"{most.error:.1e}",
        worst=implementation_name(most.contestant, t),
    )
    kind = view.case_without_length(points[0].case)
    return Drawing(
        "errors", figure, finding, lambda: timings_table(points), timings_recipe(name, kind, "p.error, p.ratio")
    )
