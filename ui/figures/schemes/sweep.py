"""Where a check first fails: its least margin over target lengths and factors."""

from __future__ import annotations

import numpy as np

from rope_core.comparisons.compare import least_margins
from rope_core.comparisons.rows import check_text
from ui.figures.clock.schemes import position_tick_text
from ui.figures.drawing import Drawing, heatmap_table
from ui.figures.plot import heatmap_trace, int8_colour_bar, plotly_axis, plotly_figure, scaled_int8, text_annotation
from ui.figures.schemes.pairs import SchemeComparison, comparison_recipe, three_digit_text
from ui.film.colours import DIVERGING_SCALE
from ui.text.words import PageTexts

FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MOST, DARK = 4.0, 2.2
"""Bits at which the scale of colours ends, and from which white letters are legible on it."""


def doubled_target_lengths(trained_length: int, max_length: int) -> tuple[int, ...]:
    """Return the trained length and its doubles up to 64 times, none above ``max_length``."""
    return tuple(length for length in (trained_length * 2**k for k in range(7)) if length <= max_length)


def least_margin_chart(given: SchemeComparison, lengths: tuple[int, ...], t: PageTexts) -> Drawing:
    """Return the least margin of the chosen check at each length and factor."""
    column, setting = given.examined_column.column, given.examined_column.setting
    least = least_margins(column, setting, FACTORS, lengths, given.check)
    shown = np.nan_to_num(np.clip(least, -MOST, MOST))
    cells = [
        text_annotation(
            "−" if np.isnan(value) else three_digit_text(round(value, 1)),
            j,
            i,
            font={"size": 13, "color": "white" if abs(value) > DARK else "black"},
        )
        for (i, j), value in np.ndenumerate(least)
    ]
    title = check_text(given.check, "title", t.lang)
    bar = {"colorbar": int8_colour_bar(MOST, t("bits")), "zmin": -127, "zmax": 127}
    figure = plotly_figure(
        [heatmap_trace(scaled_int8(shown, MOST), DIVERGING_SCALE, hoverinfo="skip", **bar)],
        height=330,
        annotations=cells,
        xaxis=plotly_axis(
            t("field.factor"), tickvals=list(range(len(FACTORS))), ticktext=[f"{each:g}" for each in FACTORS]
        ),
        yaxis=plotly_axis(
            t("target_axis"),
            tickvals=list(range(len(lengths))),
            ticktext=[position_tick_text(each) for each in lengths],
        ),
    )
    broken = np.argwhere(least < 0)
    if broken.size:
        i, j = broken[0]
        text = t(
            "sweep_finding",
            name=given.names[0],
            check=title,
            length=f"{lengths[i]:,}",
            factor=f"{FACTORS[j]:g}",
            count=len(broken),
            of=least.size,
        )
    else:
        text = t("sweep_holds", name=given.names[0], check=title, of=least.size)
    return Drawing(
        "sweep",
        figure,
        text,
        lambda: heatmap_table(FACTORS, lengths, least, ("factor", "length", "margin_bits")),
        f"""{comparison_recipe(given)}
from rope_core.comparisons.compare import least_margins
least = least_margins(columns[0].column, columns[0].setting, {FACTORS}, {lengths}, {given.check!r})
print(least, (least < 0).sum(), "of", least.size)
""",
        wide=True,
    )
