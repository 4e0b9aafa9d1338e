"""The attention page: how often rotation mistakes far for near, and one token for another."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.limits import drawn, failures
from ui.figures.colours import BLUE, GREY, ORANGE
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import LOG, axis, dots, headings, in_panel, line, panels, plot, split, vline
from ui.text.words import Words

# A key along the query stands so many standard deviations above a random one.
SIGNAL = 3.0
COUNT, TRIALS, SEED = 2048, 4000, 20
BASES = tuple(float(v) for v in np.logspace(2.5, 9, 27))
LENGTHS = tuple(2**e for e in range(5, 23))


def measured(rope: rc.Rope, base: float, length: int) -> tuple[float, float, float, float]:
    """Return percent of failures of order and locality: exact, and counted on drawn vectors."""
    s = rc.spectrum(rc.Request(rc.Rope(rope.dim, base, rope.train_len)))
    exact, counted = failures(s, length, SIGNAL, COUNT), drawn(s, length, SIGNAL, TRIALS, SEED)
    order, locality, order_drawn, locality_drawn = (100.0 * share for share in (*exact, *counted))
    return order, locality, order_drawn, locality_drawn


@kept
def limits(rope: rc.Rope, t: Words) -> Drawing:
    """Failures of order and of locality against the base at the trained length, and against the length at the base."""
    length = max(rope.train_len, 2)
    by_base = np.array([measured(rope, base, length) for base in BASES])
    by_length = np.array([measured(rope, rope.base, n) for n in LENGTHS])
    data = []
    for panel, (x, values) in enumerate(((BASES, by_base), (LENGTHS, by_length)), 1):
        for column, (key, shade) in enumerate((("order", BLUE), ("locality", ORANGE))):
            label = t(f"fails.{key}") if panel == 1 else ""
            data.append(in_panel(panel, line(x, values[:, column].round(4), shade, name=label)))
            counted = t("fails.drawn", count=f"{TRIALS:,}") if panel == 1 and column == 0 else ""
            marks = dots(x[::2], values[::2, 2 + column].round(4), shade, 8, counted, marker={"symbol": "circle-open"})
            data.append(in_panel(panel, marks))
    columns = split([1, 1], 0.08)
    y = {"range": [0, 54], "dtick": 10}
    figure = plot(
        data,
        height=420,
        margin={"t": 70},
        shapes=[
            vline(rope.base, GREY, 3, "dash"),
            vline(length, GREY, 3, "dash") | {"xref": "x2", "yref": "y2 domain"},
        ],
        annotations=headings(
            [t("fails.by_base", length=f"{length:,}"), t("fails.by_length", base=f"{rope.base:,.0f}")], columns
        ),
        **panels(
            [
                (axis(t("base_axis"), **LOG), axis(t("fails.axis"), **y)),
                (axis(t("fails.tokens"), **LOG), axis("", **y)),
            ],
            columns,
        ),
    )
    here, larger = measured(rope, rope.base, length), measured(rope, 100 * rope.base, length)
    off = np.abs(np.concatenate([by_base, by_length]) @ [[1, 0], [0, 1], [-1, 0], [0, -1]]).max()
    return Drawing(
        "limits",
        figure,
        t(
            "limits_finding",
            length=f"{length:,}",
            base=f"{rope.base:,.0f}",
            order=f"{here[0]:.0f}",
            locality=f"{here[1]:.0f}",
            more_order=f"{larger[0]:.0f}",
            more_locality=f"{larger[1]:.0f}",
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
        from rope_core.theory.limits import drawn, failures
        for base in {BASES[::6]!r}:
            s = rc.spectrum(rc.Request(rc.Rope({rope.dim}, base, {rope.train_len})))
            print(base, failures(s, {length}, {SIGNAL}), drawn(s, {length}, {SIGNAL}, {TRIALS}, {SEED}))
        """,
        wide=True,
    )
