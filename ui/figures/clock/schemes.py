"""Figures that set all schemes side by side on one geometry."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.theory.extension import SchemeSpectrum, mean_cosine_per_bin, position_bin_edges, untrained_pair_count
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import (
    LOG,
    PlotlyProps,
    heatmap_trace,
    int8_colour_bar,
    line_end_labels,
    line_trace,
    plotly_axis,
    plotly_figure,
    scaled_int8,
    text_annotation,
)
from ui.film.colours import DIVERGING_SCALE, SERIES_COLOURS
from ui.text.words import PageTexts, markdown_table

IntArray = npt.NDArray[np.int64]

FEW, ACROSS = 6, (3, 4)
CELLS, ROWS = 96, 64


def scheme_list_text(names: Sequence[str], t: PageTexts, after: Callable[[str], str] = lambda name: "") -> str:
    """Return the schemes' labels in a row, each followed by what ``after`` says of it."""
    return t("comma").join(t(f"scheme.{name}") + after(name) for name in names)


@cached_figure
def scheme_cosine_heatmaps(
    rope: rc.Rope, results: Sequence[SchemeSpectrum], length: int, logarithmic: bool, t: PageTexts
) -> Drawing:
    """Source 003's comparison: cos of every pair's angle, position across, pair up, one panel for each scheme."""
    edges = position_bin_edges(length, CELLS, logarithmic)
    pairs = np.unique(np.linspace(0, rope.pairs - 1, min(rope.pairs, ROWS)).astype(int))
    values = [mean_cosine_per_bin(rc.Spectrum.from_inv_freq(each.spectrum.inv_freq[pairs]), edges) for each in results]
    unseen = {each.scheme: untrained_pair_count(rope, each.spectrum, length) for each in results}
    columns, rows = edges.size - 1, pairs.size
    across = ACROSS[len(results) > FEW]
    down = -(-len(results) // across)
    corners = [(k % across * 1.1 * columns, -(k // across) * 1.5 * rows) for k in range(len(results))]
    trained = float(np.interp(rope.train_len, edges, np.arange(edges.size))) - 0.5
    data = [
        heatmap_trace(scaled_int8(z, 1.0), coloraxis="coloraxis", hoverinfo="skip", x0=x, dx=1, y0=y, dy=1)
        for z, (x, y) in zip(values, corners, strict=True)
    ]
    mark = {"type": "line", "line": {"color": "black", "width": 3, "dash": "dot"}}
    place = {"xanchor": "left", "yanchor": "bottom", "align": "left", "font": {"size": 14}}
    titles = [
        text_annotation(f"<b>{t(f'scheme.{name}')}</b><br>{t('unseen', count=count)}", x - 0.5, y + rows - 0.5, **place)
        for (name, count), (x, y) in zip(unseen.items(), corners, strict=True)
    ]
    figure = plotly_figure(
        data,
        height=104 + 200 * down,
        margin={"l": 50, "r": 8, "t": 8, "b": 100},
        font={"size": 14},
        coloraxis=colour_axis(len(results) % across / across, down),
        shapes=[mark | {"x0": x + trained, "x1": x + trained, "y0": y - 0.5, "y1": y + rows - 0.5} for x, y in corners],
        annotations=titles,
        xaxis=position_axis(edges, sorted({x for x, _ in corners}), t("axis.position")),
        yaxis=pair_axis(pairs, sorted({y for _, y in corners}), t("axis.pair")),
    )
    return Drawing(
        "heatmaps",
        figure,
        t(
            "heatmaps_finding",
            length=f"{length:,}",
            trained=f"{rope.train_len:,}",
            pairs=rope.pairs,
            counts=scheme_list_text([each.scheme for each in results], t, lambda name: f"{t('colon')}{unseen[name]}"),
        ),
        lambda: (
            {"first_position": np.tile(edges[:-1], pairs.size), "pair": np.repeat(pairs, edges.size - 1)}
            | {each.scheme: z.ravel() for each, z in zip(results, values, strict=True)}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory.extension import mean_cosine_per_bin, position_bin_edges, untrained_pair_count
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        edges = position_bin_edges({length}, {CELLS}, {logarithmic})
        for name, params, seq_len in {recipe_requests(results)}:
            s = rc.spectrum(rc.Request(rope, name, params, seq_len))
            print(name, untrained_pair_count(rope, s, {length}), "of", rope.pairs, mean_cosine_per_bin(s, edges))
        """,
        wide=True,
    )


def recipe_requests(results: Sequence[SchemeSpectrum]) -> list[tuple[str, dict[str, object], int | None]]:
    """Return what the recipes ask of each scheme, ready to be written as Python."""
    return [(each.scheme, dict(each.request.params), each.request.seq_len) for each in results]


def colour_axis(filled: float, down: int) -> PlotlyProps:
    """Return the one colour scale of all panels: in the places that the last row leaves empty, else below."""
    bar = int8_colour_bar(1.0, parts=2) | {"title": {"text": "cos", "side": "top"}, "orientation": "h"}
    if filled:
        bar |= {"len": 0.9 * (1 - filled), "x": 1.0, "xanchor": "right", "y": 0.3 / down, "yanchor": "middle"}
    else:
        bar |= {"len": 0.7, "y": -0.22 / down, "yanchor": "top"}
    return {"colorscale": DIVERGING_SCALE, "cmin": -127, "cmid": 0, "cmax": 127, "colorbar": bar}


def position_axis(edges: IntArray, lefts: Sequence[float], title: str) -> PlotlyProps:
    """Return cells across, labelled below every panel with the positions at which they begin."""
    last = int(edges[-1])
    decades = [10**e for e in range(len(str(last)))]
    wanted = decades if edges[0] else [0, round(last / 2), last]
    where = np.interp(wanted, edges, np.arange(edges.size)) - 0.5
    return plotly_axis(
        title,
        tickvals=[left + x for left in lefts for x in where.tolist()],
        ticktext=[position_tick_text(p) for p in wanted] * len(lefts),
        range=[-0.5, lefts[-1] + edges.size - 1.5],
        tickangle=0,
        showgrid=False,
        zeroline=False,
    )


def pair_axis(pairs: IntArray, bottoms: Sequence[float], title: str) -> PlotlyProps:
    """Return rows up, labelled beside every panel with the first, middle and last pair."""
    rows = sorted({0, len(pairs) // 2, len(pairs) - 1})
    return plotly_axis(
        title,
        tickvals=[y + row for y in bottoms for row in rows],
        ticktext=[str(pairs[row]) for row in rows] * len(bottoms),
        range=[bottoms[0] - 0.5, bottoms[-1] + 1.4 * len(pairs)],
        showgrid=False,
        zeroline=False,
    )


def position_tick_text(position: int) -> str:
    """Return a position for a tick: 100, 10k, 1M."""
    for size, letter in ((10**6, "M"), (10**3, "k")):
        if position >= size:
            return f"{position / size:.3g}{letter}"
    return str(position)


@cached_figure
def slowdown_chart(rope: rc.Rope, results: Sequence[SchemeSpectrum], t: PageTexts) -> Drawing:
    """Slow-down of every pair under every scheme on one axis, each curve with its name beside it."""
    index = np.arange(rope.pairs)
    curves = [np.where(np.isfinite(s), s, np.nan) for s in (each.spectrum.slowdown for each in results)]
    logs = [np.log10(curve) for curve in curves]
    low, high = min(np.nanmin(c) for c in logs), max(np.nanmax(c) for c in logs)
    room = max(high - low, 0.1)
    names = [t(f"scheme.{each.scheme}") + attention_factor_label(each.spectrum.attention_factor) for each in results]
    shades = [SERIES_COLOURS[k % len(SERIES_COLOURS)] for k in range(len(results))]
    data = []
    for k, (each, curve) in enumerate(zip(results, curves, strict=True)):
        name, dash = t(f"scheme.{each.scheme}"), ("solid", "dash")[k // len(SERIES_COLOURS) % 2]
        data.append(line_trace(index, curve, shades[k], 4, name, dash, mode="lines+markers", marker={"size": 3}))
    ends = [float(log[np.isfinite(log)][-1]) for log in logs]
    labels, heights, margin = line_end_labels(names, ends, shades, 0.085 * room)
    figure = plotly_figure(
        data,
        height=420,
        margin={"r": margin},
        showlegend=False,
        annotations=labels,
        xaxis=plotly_axis(t("axis.pair")),
        yaxis=plotly_axis(
            t("axis.slowdown"),
            **LOG,
            range=[min(low, *heights) - 0.08 * room, max(high, *heights) + 0.08 * room],
            dtick=float(np.log10(2.0)),
        ),
    )
    slow = [each.scheme for each in results if each.spectrum.slowdown[0] > 1.0 + 1e-9]
    by = {each.scheme: each.spectrum for each in results}
    scaled = [each.scheme for each in results if each.spectrum.attention_factor != 1.0]
    return Drawing(
        "slowdowns",
        figure,
        t(
            "slowdowns_finding",
            slow=scheme_list_text(slow, t, lambda name: f" ×{by[name].slowdown[0]:.4g}") if slow else t("nobody"),
            scaled=scheme_list_text(scaled, t, lambda name: attention_factor_text(by[name].attention_factor))
            if scaled
            else t("nobody"),
        ),
        lambda: {"pair": np.arange(rope.pairs)} | {each.scheme: each.spectrum.slowdown for each in results},
        f"""
        import rope_core as rc
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for name, params, seq_len in {recipe_requests(results)}:
            s = rc.spectrum(rc.Request(rope, name, params, seq_len))
            print(name, s.attention_factor, s.attention_factor**2, s.slowdown)
        """,
        wide=True,
    )


def attention_factor_text(factor: float) -> str:
    """Return an attention factor and the square that the logits get."""
    return f" {factor:.3g} (a² = {factor**2:.3g})"


def attention_factor_label(factor: float) -> str:
    """Return what a curve's name says of its attention factor."""
    return f"  a = {factor:.3g}" if factor != 1.0 else ""


def schemes_markdown_table(rope: rc.Rope, results: Sequence[SchemeSpectrum], length: int, t: PageTexts) -> str:
    """Return the schemes' numbers as a Markdown table."""
    columns = {
        "scheme": [t(f"scheme.{each.scheme}") for each in results],
        "first": [f"{each.spectrum.slowdown[0]:.4g}" for each in results],
        "last": [f"{each.spectrum.slowdown[-1]:.4g}" for each in results],
        "kept": [str(int(np.sum(np.isclose(each.spectrum.slowdown, 1.0)))) for each in results],
        "unseen_pairs": [str(untrained_pair_count(rope, each.spectrum, length)) for each in results],
        "attention": [f"{each.spectrum.attention_factor:.3g}" for each in results],
        "logits": [f"{each.spectrum.attention_factor**2:.3g}" for each in results],
    }
    return markdown_table({t(f"head.{head}"): column for head, column in columns.items()}, numbers=True)
