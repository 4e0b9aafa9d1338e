"""The attention page: how often rotation mistakes far for near, and one token for another."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.limits import converged_failure_rates, order_and_locality_failure_rates, simulated_failure_rates
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import (
    LOG,
    dot_trace,
    line_trace,
    panel_axes,
    panel_domains,
    panel_titles,
    plotly_axis,
    plotly_figure,
    trace_in_panel,
    vertical_line,
)
from ui.film.colours import BLUE, GREY, ORANGE
from ui.text.words import PageTexts

# A key along the query stands so many standard deviations above a random one.
SIGNAL = 8.0
COUNT, TRIALS, SEED = 1024, 2000, 20
# Drawn vectors check every third point.
EACH = 3
BASES = tuple(float(v) for v in np.logspace(2.5, 9, 27))
LENGTHS = tuple(2**e for e in range(5, 23))


def failure_rates_percent(
    rope: rc.Rope, base: float, length: int, with_simulation: bool = True
) -> tuple[float, float, float, float]:
    """Return percent of failures of order and locality: exact, and counted on drawn vectors, NaN where not wanted."""
    s = rc.spectrum(rc.Request(rc.Rope(rope.dim, base, rope.train_len)))
    shares = simulated_failure_rates(s, length, SIGNAL, TRIALS, SEED) if with_simulation else (np.nan, np.nan)
    order, locality = order_and_locality_failure_rates(s, length, SIGNAL, COUNT)
    return 100.0 * order, 100.0 * locality, 100.0 * shares[0], 100.0 * shares[1]


@cached_figure
def failure_rate_chart(rope: rc.Rope, t: PageTexts) -> Drawing:
    """Failures of order and of locality against the base at the trained length, and against the length at the base."""
    length = max(rope.train_len, 2)
    by_base = np.array([failure_rates_percent(rope, base, length, k % EACH == 0) for k, base in enumerate(BASES)])
    by_length = np.array([failure_rates_percent(rope, rope.base, n, k % EACH == 0) for k, n in enumerate(LENGTHS)])
    data = []
    for panel, (x, values) in enumerate(((BASES, by_base), (LENGTHS, by_length)), 1):
        for column, (key, shade) in enumerate((("order", BLUE), ("locality", ORANGE))):
            label = t(f"fails.{key}") if panel == 1 else ""
            data.append(trace_in_panel(panel, line_trace(x, values[:, column].round(4), shade, name=label)))
            counted = t("fails.drawn", count=f"{TRIALS:,}") if panel == 1 and column == 0 else ""
            marks = dot_trace(
                x[::EACH], values[::EACH, 2 + column].round(4), shade, 8, counted, marker={"symbol": "circle-open"}
            )
            data.append(trace_in_panel(panel, marks))
    columns = panel_domains([1, 1], 0.08)
    y = {"range": [0, 54], "dtick": 10}
    figure = plotly_figure(
        data,
        height=440,
        legend={"y": -0.22, "yanchor": "top"},
        margin={"t": 40, "b": 100},
        shapes=[
            vertical_line(rope.base, GREY, 3, "dash"),
            vertical_line(length, GREY, 3, "dash") | {"xref": "x2", "yref": "y2 domain"},
        ],
        annotations=panel_titles(
            [t("fails.by_base", length=f"{length:,}"), t("fails.by_length", base=f"{rope.base:,.0f}")], columns
        ),
        **panel_axes(
            [
                (plotly_axis(t("base_axis"), **LOG), plotly_axis(t("fails.axis"), **y)),
                (plotly_axis(t("fails.tokens"), **LOG), plotly_axis("", **y)),
            ],
            columns,
        ),
    )
    here, larger = (
        converged_failure_rates(rc.spectrum(rc.Request(rc.Rope(rope.dim, base, rope.train_len))), length, SIGNAL)
        for base in (rope.base, 100 * rope.base)
    )
    both = np.concatenate([by_base, by_length])
    off = np.nanmax(np.abs(both[:, :2] - both[:, 2:]))
    return Drawing(
        "limits",
        figure,
        t(
            "limits_finding",
            length=f"{length:,}",
            base=f"{rope.base:,.0f}",
            order=f"{100 * here[0]:.0f}",
            locality=f"{100 * here[1]:.0f}",
            more_order=f"{100 * larger[0]:.0f}",
            more_locality=f"{100 * larger[1]:.0f}",
            off=f"{off:.1f}",
            signal=f"{SIGNAL:g}",
        ),
        lambda: {
            "base": [*BASES, *[rope.base] * len(LENGTHS)],
            "length": [*[length] * len(BASES), *LENGTHS],
            **{
                name: np.concatenate([by_base[:, k], by_length[:, k]])
                for k, name in enumerate(("order", "locality", "order_drawn", "locality_drawn"))
            },
        },
        f"""
        import rope_core as rc
        from rope_core.theory.limits import converged_failure_rates, order_and_locality_failure_rates
        from rope_core.theory.limits import simulated_failure_rates
        def at(base):
            return rc.spectrum(rc.Request(rc.Rope({rope.dim}, base, {rope.train_len})))
        for base in ({rope.base!r}, {100 * rope.base!r}):
            print(base, {length}, converged_failure_rates(at(base), {length}, {SIGNAL}))
        off = 0.0
        for base, length in {[*((base, length) for base in BASES[::EACH]), *((rope.base, n) for n in LENGTHS[::EACH])]}:
            curve = order_and_locality_failure_rates(at(base), length, {SIGNAL}, {COUNT})
            drawn = simulated_failure_rates(at(base), length, {SIGNAL}, {TRIALS}, {SEED})
            off = max(off, *(abs(a - b) for a, b in zip(curve, drawn)))
        print(100 * off)
        """,
        wide=True,
    )
