"""What a reader of the wall clock can tell apart, and what source 003's number measures."""

from __future__ import annotations

import numpy as np

from rope_core.theory.clock import WALL, clock_readings
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import (
    bar_trace,
    dot_trace,
    horizontal_band,
    line_trace,
    plotly_axis,
    plotly_figure,
    text_annotation,
    vertical_line,
)
from ui.film.colours import BLUE, GREEN, GREY, RED
from ui.text.words import PageTexts

# What source 003 says the stretched clock measures, seconds.
QUOTED = 129_600.0


@cached_figure
def clock_reading_chart(error: float, slower: float, t: PageTexts) -> Drawing:
    """How far the hands move within a time, and below which time a reader cannot see it."""
    apart = np.linspace(0.0, 12.0, 49)
    both = ((WALL, t("as_built"), BLUE), (WALL.slowed([slower] * 3), t("all_slower", slower=f"{slower:g}"), RED))
    moved = [
        np.array([clock.hand_angle_differences(seconds).max() for seconds in apart.tolist()]) for clock, _, _ in both
    ]
    data = []
    for (clock, name, colour), degrees in zip(both, moved, strict=True):
        data += [
            line_trace(apart, degrees, colour, 5, name),
            dot_trace([clock.finest_difference(error)], [error], colour, 15),
        ]
    figure = plotly_figure(
        data,
        height=340,
        shapes=[horizontal_band(0, error, GREY, 0.3, name=t("unreadable"), showlegend=True)],
        xaxis=plotly_axis(t("time_apart"), range=[0, 12]),
        yaxis=plotly_axis(t("degrees_apart"), range=[0, float(moved[0].max())]),
    )
    fine, coarse = (clock.finest_difference(error) for clock, _, _ in both)
    steps = [float(clock.hand_angle_differences(1.0)[0]) for clock, _, _ in both]
    return Drawing(
        "reading",
        figure,
        t("reading_finding", error=f"{error:g}", slower=f"{slower:g}", fine=f"{fine:.4g}", coarse=f"{coarse:.4g}")
        + t("reading_second", before=f"{steps[0]:.3g}", after=f"{steps[1]:.3g}", answer=t(f"told.{steps[1] > error}")),
        lambda: {"seconds_apart": apart, "as_built_deg": moved[0], "slowed_deg": moved[1]},
        f"""
        from rope_core.theory.clock import WALL
        slow = WALL.slowed([{slower!r}] * 3)
        for clock in (WALL, slow):
            print(clock.finest_difference({error!r}), clock.hand_angle_differences(1.0))
            print(clock.is_distinguishable(1.0, {error!r}))
        """,
    )


def signed_difference_text(value: float) -> str:
    """Return a difference with its sign; a plain 0 where there is none."""
    return f"{value:+,.6g}".replace("-", "−") if abs(value) > 1e-6 else "0"


@cached_figure
def quoted_duration_chart(error: float, t: PageTexts) -> Drawing:
    """Source 003's 129,600 s against what three readings of its sentence measure."""
    rows = clock_readings(error)
    names = [t(f"quote.{row.key}", slow=", ".join(f"{s:.4g}" for s in row.slowdown)) for row in rows]
    data, labels, longest = [], [], QUOTED
    for key, colour, values, below in (
        ("once_round", BLUE, [row.once_round for row in rows], -0.2),
        ("repeats", GREEN, [row.repeats_after for row in rows], 0.2),
    ):
        ends = [value if np.isfinite(value) else 0.0 for value in values]
        longest = max(longest, *ends)
        data.append(bar_trace(ends, names, colour, t(key), orientation="h"))
        # Past the bar and past the dotted line; two bars share a row's height of 0.8.
        labels += [
            text_annotation(
                f"{value:,.0f} s" if np.isfinite(value) else t("never"),
                max(end, QUOTED),
                row + below,
                xanchor="left",
                xshift=6,
                font={"size": 15},
            )
            for row, (value, end) in enumerate(zip(values, ends, strict=True))
        ]
    figure = plotly_figure(
        data,
        height=380,
        shapes=[vertical_line(QUOTED, RED, 4, "dot")],
        annotations=labels,
        barmode="group",
        margin={"b": 96},
        xaxis=plotly_axis(t("seconds"), range=[0, 2 * longest], nticks=4),
        yaxis=plotly_axis(autorange="reversed", automargin=True, tickfont={"size": 15}),
    )
    residuals = {row.key: row.once_round - QUOTED for row in rows}
    return Drawing(
        "quoted",
        figure,
        t("quoted_finding", **{key: signed_difference_text(value) for key, value in residuals.items()}),
        lambda: (
            {"reading": [row.key for row in rows], "slowdown": [str(row.slowdown) for row in rows]}
            | {"once_round_s": [row.once_round for row in rows], "repeats_after_s": [row.repeats_after for row in rows]}
            | {"once_round_minus_129600_s": list(residuals.values())}
        ),
        f"""
        from rope_core.theory.clock import clock_readings
        for claim in clock_readings({error!r}):
            print(claim.key, claim.slowdown, claim.once_round - 129_600, claim.repeats_after)
        """,
    )
