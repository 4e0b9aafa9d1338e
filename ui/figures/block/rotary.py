"""RoPE inside the block: norms that commute with it, v that stays, the cache, and MLA's split."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.block import mla_cache
from rope_core.theory.block.demo import commuting, latent_attention, length_scheme, shifted_outputs, stale_logits
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, RED, Animated, Drawing, kept, styled
from ui.figures.plain import make_subplots
from ui.text.words import Words

FRAMES = 40
FLOOR = 1e-17
PLAY = {"frame": {"duration": 110, "redraw": False}, "transition": {"duration": 0}, "fromcurrent": True}


def power(value: float) -> str:
    """A residual for a reader: 1.2e-15 or 0.482."""
    return f"{value:.1e}" if value < 1e-3 else f"{value:.3g}"


def bars(names: list[str], values: list[float], limit: float = 1e-9) -> go.Bar:
    """Residuals on a logarithmic axis, green where they are rounding only."""
    return go.Bar(
        y=names,
        x=[max(value, FLOOR) for value in values],
        text=[power(value) for value in values],
        textposition="outside",
        cliponaxis=False,
        orientation="h",
        marker={"color": [GREEN if value < limit else RED for value in values]},
        showlegend=False,
    )


@kept
def commute(rope: rc.Rope, position: int, factor: float, layout: str, t: Words) -> Drawing:
    """The difference between norm then RoPE and RoPE then norm, for each kind of norm."""
    gaps = commuting(rope, position, factor, layout)
    figure = go.Figure(bars([t(f"commute.{key}") for key in gaps], list(gaps.values())))
    styled(figure, height=300, x=t("commute_axis"), margin={"l": 8, "r": 70, "t": 12, "b": 52})
    figure.update_xaxes(type="log", range=[-17, 2], exponentformat="power", dtick=8)
    figure.update_yaxes(autorange="reversed", automargin=True)
    return Drawing(
        "commute",
        figure,
        t("commute_finding", factor=f"{factor:g}", **{key: power(value) for key, value in gaps.items()}),
        lambda: {"norm": list(gaps), "difference": list(gaps.values())},
        f"""
        import rope_core as rc
        from rope_core.theory.block.demo import commuting
        print(commuting(rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len}), {position}, {factor!r}, "{layout}"))
        """,
    )


@kept
def values(rope: rc.Rope, pair: int, t: Words) -> Drawing:
    """One pair of attention's output while the whole text moves: v as it is, and v rotated."""
    shifts = np.arange(FRAMES)
    found = shifted_outputs(rope, shifts)
    start = 2 * min(pair, rope.pairs - 1)
    paths = [part[:, start : start + 2] for part in (found.plain, found.rotated)]
    moved = [float(np.abs(part - part[0]).max()) for part in paths]
    figure = Animated()
    for path, name, colour, size in zip(paths, ("v_plain", "v_rotated"), (GREEN, RED), (22, 15), strict=True):
        line = {"width": 3, "color": colour}
        figure.add_trace(go.Scatter(x=path[:, 0], y=path[:, 1], mode="lines", line=line, showlegend=False))
        mark = {"size": size, "color": colour}
        figure.add_trace(go.Scatter(x=path[-1:, 0], y=path[-1:, 1], mode="markers", name=t(name), marker=mark))
    figure.animate(
        {
            "name": str(s),
            "traces": [1, 3],
            "data": [{"type": "scatter", "x": [path[s, 0]], "y": [path[s, 1]]} for path in paths],
        }
        for s in range(FRAMES)
    )
    button = {"label": t("play"), "method": "animate", "args": [None, PLAY]}
    place = {"type": "buttons", "x": 1.0, "y": 1.0, "xanchor": "right", "yanchor": "bottom"}
    styled(figure, height=400, x=t("out_first", i=start), y=t("out_second", i=start + 1))
    reach = 1.25 * max(float(np.abs(path).max()) for path in paths)
    figure.update_layout(updatemenus=[{**place, "buttons": [button]}], legend={"y": -0.24, "yanchor": "top"})
    figure.update_layout(margin={"b": 104})
    figure.update_xaxes(range=[-reach, reach])
    figure.update_yaxes(range=[-reach, reach], scaleanchor="x")
    return Drawing(
        "values",
        figure,
        t("values_finding", shift=FRAMES - 1, plain=power(moved[0]), rotated=power(moved[1])),
        lambda: {
            "shift": shifts,
            "plain_first": paths[0][:, 0],
            "plain_second": paths[0][:, 1],
            "rotated_first": paths[1][:, 0],
            "rotated_second": paths[1][:, 1],
        },
        f"""
        import rope_core as rc
        from rope_core.theory.block.demo import shifted_outputs
        out = shifted_outputs(rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len}), range({FRAMES}))
        for part in (out.plain, out.rotated):
            print(abs(part - part[0])[:, {start} : {start + 2}].max())
        """,
    )


def cacheable(rope: rc.Rope) -> bool:
    """Whether a scheme that follows the length can stretch this rotation: it needs two pairs."""
    return rope.pairs > 1


@kept
def cache(rope: rc.Rope, times: float, t: Words) -> Drawing:
    """The logits of a late query against keys that were cached under earlier frequencies."""
    positions, true, stale = stale_logits(rope, times)
    figure = go.Figure()
    for name, numbers, colour, width in (("true", true, GREY, 6), ("stale", stale, RED, 3)):
        line = {"width": width, "color": colour}
        figure.add_trace(go.Scatter(x=positions, y=numbers, mode="lines", name=t(f"cache.{name}"), line=line))
    styled(figure, height=340, x=t("key_axis"), y=t("logit"))
    worst = int(np.argmax(np.abs(stale - true)))
    return Drawing(
        "cache",
        figure,
        t(
            "cache_finding",
            scheme=t(f"scheme.{length_scheme()}"),
            times=f"{times:g}",
            gap=power(float(abs(stale - true)[worst])),
            at=f"{positions[worst]:,}",
        ),
        lambda: {"position": positions, "true": true, "stale": stale},
        f"""
        import rope_core as rc
        from rope_core.theory.block.demo import stale_logits
        print(stale_logits(rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len}), {times!r}))
        """,
    )


@kept
def latent(rank: int, heads: int, position: int, t: Words) -> Drawing:
    """MLA: what absorption costs in exactness with and without the split, and what the cache holds."""
    width, rope_dim = 128, 64
    exact, wrong = latent_attention(rank, position)
    small, plain = mla_cache(rank, rope_dim, heads, width)
    figure = make_subplots(1, 2, horizontal_spacing=0.2, subplot_titles=(t("mla_error"), t("mla_cache")))
    figure.add_trace(bars([t("mla.split"), t("mla.rotated")], [exact, wrong]), 1, 1)
    sizes = [small, plain]
    figure.add_trace(
        go.Bar(
            x=["MLA", t("mla.plain")],
            y=sizes,
            text=[f"{size:,}" for size in sizes],
            textposition="outside",
            cliponaxis=False,
            marker={"color": [BLUE, GREY]},
            showlegend=False,
        ),
        1,
        2,
    )
    styled(figure, height=330)
    figure.update_xaxes(type="log", range=[-17, 4], dtick=7, exponentformat="power", row=1, col=1)
    figure.update_yaxes(automargin=True, row=1, col=1)
    figure.update_yaxes(rangemode="tozero", row=1, col=2)
    return Drawing(
        "latent",
        figure,
        t(
            "latent_finding",
            exact=power(exact),
            wrong=power(wrong),
            small=f"{small:,}",
            plain=f"{plain:,}",
            times=f"{plain / small:.1f}",
        ),
        lambda: {"case": ["split", "rotated"], "error": [exact, wrong], "cached": sizes},
        f"""
        from rope_core.theory.block import mla_cache
        from rope_core.theory.block.demo import latent_attention
        print(latent_attention({rank}, {position}), mla_cache({rank}, {rope_dim}, {heads}, {width}))
        """,
        wide=True,
    )
