"""The sections that divide the pairs among the axes."""

from __future__ import annotations

import numpy as np

from rope_core.theory.encodings.rotary import AXES, mrope_axes
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import bar_trace, plotly_axis, plotly_figure
from ui.figures.positions.patches import AXIS_COLOURS
from ui.text.words import PageTexts


def interleaved_pair_axes(counts: tuple[int, int, int]) -> np.ndarray | None:
    """Which axis turns each pair when the sections take turns; None where height and width do not find every third."""
    try:
        return mrope_axes(counts, interleaved=True)
    except ValueError:
        return None


@cached_figure
def mrope_section_chart(counts: tuple[int, int, int], t: PageTexts) -> Drawing:
    """Which axis turns each pair: in three blocks, and interleaved where the sections allow it."""
    blocks, mixed = mrope_axes(counts), interleaved_pair_axes(counts)
    total = sum(counts)
    rows = [(1, blocks)] if mixed is None else [(1, blocks), (0, mixed)]
    figure = plotly_figure(
        [
            bar_trace(
                np.flatnonzero(owner == k),
                np.full(int((owner == k).sum()), 0.8),
                colour,
                f"{t(f'axis_name.{AXES[k]}')}: {counts[k]}",
                base=row - 0.4,
                width=0.9,
                marker={"line": {"width": 0}},
                showlegend=bool(row),
            )
            for k, colour in enumerate(AXIS_COLOURS)
            for row, owner in rows
        ],
        height=270,
        barmode="overlay",
        margin={"t": 44},
        xaxis=plotly_axis(t("axis.pair"), range=[-0.6, total - 0.4]),
        yaxis=plotly_axis(tickvals=[1, 0], ticktext=[t("in_blocks"), t("in_turn")], range=[-0.5, 1.5], automargin=True),
    )
    sentence = {"total": total, "counts": f"{counts[0]}, {counts[1]}, {counts[2]}", "block": counts[0] - 1}
    columns = {"pair": np.arange(total), "blocks": blocks}
    if mixed is None:
        finding = t("sections_blocks_only", **sentence)
    else:
        finding = t("sections_finding", turn=int(np.flatnonzero(mixed == 0).max()), **sentence)
        columns["interleaved"] = mixed
    recipe = f"""
        from rope_core.theory.encodings.rotary import mrope_axes
        for mixed in {(False, True) if mixed is not None else (False,)}:
            axes = mrope_axes({counts}, interleaved=mixed)
            print(axes.size, [(axes == k).sum() for k in range(3)], (axes == 0).nonzero()[0].max())
        """
    return Drawing("sections", figure, finding, lambda: columns, recipe)
