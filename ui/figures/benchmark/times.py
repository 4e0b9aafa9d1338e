"""Figures of the benchmark page: recorded times, and what they are on paper."""

from __future__ import annotations

from collections.abc import Sequence

from rope_core.bench import view
from rope_core.bench.cases import Case
from rope_core.bench.view import Point
from ui.figures import plain as go
from ui.figures.benchmark.words import GIGA, MEGA, size_text, time_text, who
from ui.figures.drawing import BLUE, COLOURS, GREEN, GREY, LINE, ORANGE, PURPLE, RED, SKY, YELLOW, Drawing, styled
from ui.text.words import Words

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


def colour(contestant: str, place: int = 0) -> str:
    """The contestant's own colour; the rest take turns."""
    return LOOKS.get(contestant, COLOURS[place % len(COLOURS)])


def recipe(name: str, kind: Case, what: str) -> str:
    """Python lines that read a source's points of one kind and print ``what`` of each point p."""
    return f"""
        from rope_core.bench import view
        from rope_core.bench.cases import Case
        kind = {kind!r}
        for p in view.of_kind(view.source({name!r}).points, kind):
            print(p.case.seq, p.contestant, {what})
        """


def rows(points: Sequence[Point]) -> dict[str, list[object]]:
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


def names_of(points: Sequence[Point]) -> list[str]:
    """Contestants among points: ours, peers, then visitors' own, each once."""
    order = (*view.OURS, *view.PEERS)
    return sorted({p.contestant for p in points}, key=lambda n: (order.index(n) if n in order else len(order), n))


def curves(points: Sequence[Point], name: str, t: Words) -> Drawing:
    """GB/s against the bytes of q and k, one curve a contestant, the copy's as a dashed line."""
    figure = go.Figure()
    floors = sorted({(p.case.tensor_bytes, p.floor) for p in points})
    x, y = [size / MEGA for size, _ in floors], [floor / GIGA for _, floor in floors]
    dashed = {"color": GREY, "width": 4, "dash": "dash"}
    figure.add_trace(go.Scatter(x=x, y=y, mode="lines+markers", name=t("copy"), line=dashed))
    for place, contestant in enumerate(names_of(points)):
        own = [p for p in points if p.contestant == contestant]
        line = {"color": colour(contestant, place), "width": 5 if contestant in view.ENTRY.values() else 3}
        figure.add_trace(
            go.Scatter(
                x=[p.case.tensor_bytes / MEGA for p in own],
                y=[p.bandwidth / GIGA for p in own],
                mode="lines+markers",
                name=who(contestant, t),
                line=line,
                marker={"size": 12, "symbol": place % 8},
            )
        )
    styled(figure, height=440, x=t("size_axis"), y=t("bandwidth_axis"))
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    figure.update_layout(legend=BELOW)
    kind = view.kind(points[0].case)
    return Drawing("curves", figure, curves_finding(points, t), lambda: rows(points), recipe(name, kind, "p.bandwidth"))


def curves_finding(points: Sequence[Point], t: Words) -> str:
    """Our kernel's bandwidth at the largest size, beside the copy's."""
    last = [p for p in points if p.case.tensor_bytes == max(q.case.tensor_bytes for q in points)]
    ours = view.reference(last)
    size = size_text(last[0].case.tensor_bytes)
    if ours is None:
        return t("curves_finding_floor", size=size, floor=f"{last[0].floor / GIGA:.3g}")
    return t(
        "curves_finding",
        size=size,
        who=who(ours.contestant, t),
        rate=f"{ours.bandwidth / GIGA:.3g}",
        floor=f"{ours.floor / GIGA:.3g}",
        ratio=f"{ours.ratio.median:.2f}",
        low=f"{ours.ratio.low:.2f}",
        high=f"{ours.ratio.high:.2f}",
    )


def speed_ups(points: Sequence[Point], name: str, t: Words) -> Drawing:
    """How many times longer everybody else takes than our kernel on one case; bars with intervals."""
    ours = view.reference(points)
    assert ours is not None, "the page asks only where ours was measured"
    others = sorted((p for p in points if p is not ours), key=lambda p: p.ratio.median)
    times = [view.speed_up(ours, p) for p in others]
    figure = go.Figure(
        go.Bar(
            y=[f"{who(p.contestant, t)}  {s.median:.2f}×" for p, s in zip(others, times, strict=True)],
            x=[s.median for s in times],
            orientation="h",
            marker={"color": [colour(p.contestant) for p in others]},
            error_x={
                "type": "data",
                "array": [s.high - s.median for s in times],
                "arrayminus": [s.median - s.low for s in times],
                "thickness": 3,
            },
        )
    )
    figure.add_vline(x=1, line={"color": BLUE, "width": 4, "dash": "dash"})
    styled(
        figure,
        height=120 + 42 * len(others),
        x=t("speed_up_axis", who=who(ours.contestant, t)),
        margin={"l": 64, "r": 16, "t": 34, "b": 72},
    )
    figure.update_yaxes(automargin=True)
    figure.update_layout(margin={"r": 30})
    rivals = [(p, s) for p, s in zip(others, times, strict=True) if p.contestant in view.PEERS]
    finding = t("alone_finding", who=who(ours.contestant, t), time=time_text(ours.seconds.median))
    if rivals:
        best, by = min(rivals, key=lambda one: one[1].median)
        verdict = "faster" if by.low > 1 else "slower" if by.high < 1 else "same"
        values = {"ratio": f"{by.median:.2f}", "low": f"{by.low:.2f}", "high": f"{by.high:.2f}"}
        sizes = {"tokens": f"{ours.case.seq:,}", "who": who(ours.contestant, t), "peer": who(best.contestant, t)}
        finding = t(f"speed_up_finding.{verdict}", **values, **sizes)
    return Drawing(
        "speed_ups",
        figure,
        finding,
        lambda: rows(points) | {"speed_up": [view.speed_up(ours, p).median for p in points]},
        recipe(name, view.kind(ours.case), "p.seconds, p.ratio"),
    )


def errors(points: Sequence[Point], name: str, t: Words) -> Drawing:
    """The largest difference from float64 against the time as a multiple of the copy's, one mark a contestant."""
    figure = go.Figure()
    for place, contestant in enumerate(names_of(points)):
        p = next(p for p in points if p.contestant == contestant)
        figure.add_trace(
            go.Scatter(
                x=[p.ratio.median],
                y=[p.error],
                mode="markers",
                name=who(contestant, t),
                marker={"size": 18, "color": colour(contestant, place), "symbol": place % 8},
                error_x={
                    "type": "data",
                    "array": [p.ratio.high - p.ratio.median],
                    "arrayminus": [p.ratio.median - p.ratio.low],
                    "thickness": 2,
                },
            )
        )
    styled(figure, height=420, x=t("over_copy_axis"), y=t("error_axis"))
    figure.add_vline(x=1, line={"color": GREY, "width": 3, "dash": "dash"})
    figure.update_xaxes(type="log", dtick="D2")
    figure.update_yaxes(rangemode="tozero", exponentformat="e", tickformat=".1e", nticks=6)
    figure.update_layout(legend=BELOW)
    least, most = min(points, key=lambda p: p.error), max(points, key=lambda p: p.error)
    finding = t(
        "error_finding",
        dtype=points[0].case.dtype,
        least=f"{least.error:.1e}",
        best=who(least.contestant, t),
        most=f"{most.error:.1e}",
        worst=who(most.contestant, t),
    )
    kind = view.kind(points[0].case)
    return Drawing("errors", figure, finding, lambda: rows(points), recipe(name, kind, "p.error, p.ratio"))
