"""RoPE inside the block: norms that commute with it, v that stays, the cache, and MLA's split."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.block.demo import (
    first_length_scheme_name,
    mla_absorption_errors,
    norm_rotation_errors,
    stale_logits,
)
from rope_core.theory.block.logit import mla_cache_sizes
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import (
    POWERS,
    PlotlyProps,
    bar_trace,
    line_trace,
    panel_axes,
    panel_domains,
    panel_titles,
    plotly_axis,
    plotly_figure,
    trace_in_panel,
)
from ui.film.colours import BLUE, GREEN, GREY, RED
from ui.text.words import PageTexts, number_text

FLOOR = 1e-17


def residual_bars(names: list[str], values: list[float]) -> PlotlyProps:
    """Return residuals on a logarithmic axis, green where they are rounding only."""
    colours = [GREEN if value < 1e-9 else RED for value in values]
    outside: PlotlyProps = {
        "text": [number_text(value, 3) for value in values],
        "textposition": "outside",
        "cliponaxis": False,
    }
    return bar_trace([max(value, FLOOR) for value in values], names, colours, orientation="h", **outside)


@cached_figure
def norm_commutation_chart(rope: rc.Rope, position: int, factor: float, layout: str, t: PageTexts) -> Drawing:
    """Draw the difference between norm then RoPE and RoPE then norm, for each kind of norm."""
    gaps = norm_rotation_errors(rope, position, factor, layout)
    figure = plotly_figure(
        [residual_bars([t(f"commute.{key}") for key in gaps], list(gaps.values()))],
        height=300,
        margin={"l": 8, "r": 70, "t": 12},
        xaxis=plotly_axis(t("commute_axis"), **POWERS | {"dtick": 8}, range=[-17, 2]),
        yaxis=plotly_axis(autorange="reversed", automargin=True),
    )
    return Drawing(
        "commute",
        figure,
        t(
            "commute_finding",
            factor=f"{factor:g}",
            **{key: number_text(value, 3) for key, value in gaps.items()},
        ),
        lambda: {"norm": list(gaps), "difference": list(gaps.values())},
        f"""
        import rope_core as rc
        from rope_core.theory.block.demo import norm_rotation_errors
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        print(norm_rotation_errors(rope, {position}, {factor!r}, "{layout}"))
        """,
    )


def has_two_pairs(rope: rc.Rope) -> bool:
    """Whether a scheme that follows the length can stretch this rotation: it needs two pairs."""
    return rope.pairs > 1


@cached_figure
def stale_cache_logits_chart(rope: rc.Rope, times: float, t: PageTexts) -> Drawing:
    """Draw the logits of a late query against keys that were cached under earlier frequencies."""
    positions, true, stale = stale_logits(rope, times)
    figure = plotly_figure(
        [line_trace(positions, true, GREY, 6, t("cache.true")), line_trace(positions, stale, RED, 3, t("cache.stale"))],
        height=340,
        xaxis=plotly_axis(t("key_axis")),
        yaxis=plotly_axis(t("logit")),
    )
    worst = int(np.argmax(np.abs(stale - true)))
    finding = t(
        "cache_finding",
        scheme=t(f"scheme.{first_length_scheme_name()}"),
        times=f"{times:g}",
        gap=number_text(float(abs(stale - true)[worst]), 3),
        at=f"{positions[worst]:,}",
    )
    recipe = f"""
        import rope_core as rc
        from rope_core.theory.block.demo import stale_logits
        positions, true, stale = stale_logits(rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len}), {times!r})
        worst = abs(stale - true).argmax()
        print(positions[worst], true[worst], stale[worst], abs(stale - true)[worst])
        """
    return Drawing("cache", figure, finding, lambda: {"position": positions, "true": true, "stale": stale}, recipe)


@cached_figure
def mla_error_and_cache_chart(rank: int, heads: int, position: int, t: PageTexts) -> Drawing:
    """MLA: what absorption costs in exactness with and without the split, and what the cache holds."""
    width, rope_dim = 128, 64
    exact, wrong = mla_absorption_errors(rank, position)
    small, plain = mla_cache_sizes(rank, rope_dim, heads, width)
    sizes, columns = [small, plain], panel_domains([1, 1], 0.2)
    outside: PlotlyProps = {"text": [f"{size:,}" for size in sizes], "textposition": "outside", "cliponaxis": False}
    powers = plotly_axis(**POWERS | {"dtick": 7}, range=[-17, 4])
    figure = plotly_figure(
        [
            residual_bars([t("mla.split"), t("mla.rotated")], [exact, wrong]),
            trace_in_panel(2, bar_trace(["MLA", t("mla.plain")], sizes, [BLUE, GREY], **outside)),
        ],
        height=330,
        annotations=panel_titles([t("mla_error"), t("mla_cache")], columns),
        **panel_axes([(powers, plotly_axis(automargin=True)), ({}, plotly_axis(rangemode="tozero"))], columns),
    )
    return Drawing(
        "latent",
        figure,
        t(
            "latent_finding",
            exact=number_text(exact, 3),
            wrong=number_text(wrong, 3),
            small=f"{small:,}",
            plain=f"{plain:,}",
            times=f"{plain / small:.1f}",
        ),
        lambda: {"case": ["split", "rotated"], "error": [exact, wrong], "cached": sizes},
        f"""
        from rope_core.theory.block.logit import mla_cache_sizes
        from rope_core.theory.block.demo import mla_absorption_errors
        small, plain = mla_cache_sizes({rank}, {rope_dim}, {heads}, {width})
        print(mla_absorption_errors({rank}, {position}), small, plain, plain / small)
        """,
        wide=True,
    )
