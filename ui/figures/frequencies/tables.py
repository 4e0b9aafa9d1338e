"""Figures of the frequencies page: the frequencies, the tables they make, and the digits they read."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import encodings, frequency_demo
from ui.figures.colours import BLUE, GREEN, GREY, ORANGE, PHASE, RED, SIGNED
from ui.figures.drawing import Drawing, grid, kept
from ui.figures.frequencies.spans import context_line, read
from ui.figures.plot import (
    POWERS,
    as_bytes,
    axis,
    byte_bar,
    frame,
    headings,
    heatmap,
    hline,
    in_panel,
    line,
    panels,
    play,
    plot,
    split,
    vband,
)
from ui.text.words import Words

CELLS = 49_152
COLUMNS = 512
FRAMES = 48


@kept
def wavelengths(rope: rc.Rope, t: Words) -> Drawing:
    """Wavelength and frequency of each pair, the trained context, and the pairs that never complete a turn."""
    pairs = np.arange(rope.pairs)
    never = frequency_demo.incomplete(rope)
    count = int(never.sum())
    mark = {"size": 7 if rope.pairs <= 64 else 4}
    bands = [vband(rope.pairs - count - 0.5, rope.pairs - 0.5, ORANGE, 0.25)] if count else []
    right = {"overlaying": "y", "side": "right", "showgrid": False}
    figure = plot(
        [
            line(pairs, rope.wavelength, BLUE, name=t("wavelength"), mode="lines+markers", marker=mark, yaxis="y"),
            line(pairs, rope.theta, RED, name=t("frequency"), mode="lines+markers", marker=mark, yaxis="y2"),
        ],
        height=370,
        shapes=[*bands, context_line(rope, t)],
        margin={"r": 76},
        xaxis=axis(t("axis.pair")),
        yaxis=POWERS | {"title": {"text": t("axis.wavelength"), "font": {"color": BLUE}}},
        yaxis2=POWERS | {"title": {"text": t("frequency"), "font": {"color": RED}}} | right,
    )
    sentence = t(
        "wavelengths_finding" if count else "wavelengths_all",
        count=count,
        pairs=rope.pairs,
        context=f"{rope.train_len:,}",
        first=read(rope.wavelength[0]),
        last=read(rope.wavelength[-1]),
    )
    return Drawing(
        "wavelengths",
        figure,
        sentence,
        lambda: {"pair": pairs, "theta": rope.theta, "wavelength": rope.wavelength, "turns": rope.turns},
        f"""
        import rope_core as rc
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        print(rope.wavelength, int((rope.turns < 1).sum()))
        """,
    )


@kept
def heat(rope: rc.Rope, kind: str, span: int, t: Words) -> Drawing:
    """Angle, cosine or sine of every pair over the positions: one row per pair, drawn once."""
    at = frequency_demo.sampled_positions(span, min(COLUMNS, max(96, CELLS // rope.pairs)))
    values = frequency_demo.table(rope, kind, at)
    limit = float(np.pi) if kind == "angle" else 1.0
    step = int(at[1] - at[0]) if at.size > 1 else 1
    bar = byte_bar(limit)
    if kind == "angle":
        bar["ticktext"] = ["−π", "−π/2", "0", "π/2", "π"]
    slow = int((rope.wavelength > span).sum())
    split_shown = 0 < slow < rope.pairs
    look = {"zmin": -127, "zmax": 127, "colorbar": bar, "hoverinfo": "x+y"} | ({} if kind == "angle" else {"zmid": 0})
    scale = PHASE if kind == "angle" else SIGNED
    figure = plot(
        [heatmap(as_bytes(values, limit), scale, x0=0, dx=step, y0=0, dy=1, **look)],
        height=430,
        shapes=[hline(rope.pairs - slow - 0.5, "black", 3, "dash")] if split_shown else [],
        xaxis=axis(t("axis.position")),
        yaxis=axis(t("axis.pair")),
    )
    sentence = t(
        "heat_finding",
        span=f"{span:,}",
        fast=read(span / rope.wavelength[0]),
        last=read(span / rope.wavelength[-1]),
        slow=slow,
        pairs=rope.pairs,
    )
    if split_shown:
        sentence += t("heat_line")
    if step > 1:
        sentence += t("heat_step", step=f"{step:,}")
    return Drawing(
        "heat",
        figure,
        sentence,
        lambda: grid(at, np.arange(rope.pairs), values, ("position", "pair", kind)),
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        positions = frequency_demo.sampled_positions({span}, {at.size})
        print(frequency_demo.table(rc.Rope({rope.dim}, {rope.base!r}), "{kind}", positions))
        """,
    )


def stems(values: Array) -> list[float | None]:
    """Heights of vertical sticks standing on zero, with gaps between them."""
    return [part for value in values.round(4).tolist() for part in (0, value, None)]


@kept
def digits(width: int, base: float, position: int, t: Words) -> Drawing:
    """The position's digits in base beta beside the cosine and sine that RoPE takes of the same quotients."""
    rope = rc.Rope(width, base)
    beta = encodings.rope_beta(rope)
    feet = [foot for i in range(rope.pairs) for foot in (i, i, None)]
    aside = [None if foot is None else foot + 0.14 for foot in feet]

    def heights(where: int) -> list[list[float | None]]:
        phase = encodings.digit_phases(where, beta, rope.pairs)
        return [stems(part) for part in (encodings.beta_digits(where, beta, rope.pairs), np.cos(phase), np.sin(phase))]

    columns, head = split([1, 1], 0.09), {"size": [0, 14, 0] * rope.pairs, "opacity": 1}
    looks = ((feet, t("digit"), GREEN, 1), (feet, "cos", BLUE, 2), (aside, "sin", RED, 2))
    where = range(position, position + FRAMES)
    still = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    slider = {
        "steps": [{"label": str(w), "method": "animate", "args": [[str(w)], still]} for w in where],
        "currentvalue": {"prefix": t("counted"), "font": {"size": 16, "color": GREY}},
        "ticklen": 0,
        "minorticklen": 0,
        "font": {"color": "rgba(0,0,0,0)"},
        "pad": {"t": 60},
    }
    x = axis(t("digit_axis"), dtick=1, range=[-0.5, rope.pairs - 0.4])
    figure = plot(
        [
            in_panel(panel, line(x, y, colour, 5, name, mode="lines+markers", marker=head | {"color": colour}))
            for y, (x, name, colour, panel) in zip(heights(position), looks, strict=True)
        ],
        height=450,
        frames=[frame(w, {k: {"y": y} for k, y in enumerate(heights(w))}) for w in where],
        margin={"t": 76, "b": 124},
        legend={"y": 1.12},
        updatemenus=play(t("count"), 250, y=1.12),
        sliders=[slider],
        annotations=headings([t("digits_title"), t("waves_title")], columns),
        **panels([(x, axis(range=[0, 1.08 * beta])), (x, axis(range=[-1.1, 1.1]))], columns),
    )
    own = encodings.beta_digits(position, beta, rope.pairs)
    shown = ", ".join(f"{digit:.3g}" for digit in own)
    sentence = t("digits_finding", position=f"{position:,}", beta=f"{beta:.5g}", digits=shown, d=width)
    return Drawing(
        "digits",
        figure,
        sentence,
        lambda: {"digit": own, "phase": encodings.digit_phases(position, beta, rope.pairs)},
        f"""
        import rope_core as rc
        from rope_core.theory import encodings
        beta = encodings.rope_beta(rc.Rope({width}, {base!r}))
        print(beta, encodings.beta_digits({position}, beta, {rope.pairs}))
        print(encodings.digit_phases({position}, beta, {rope.pairs}))
        """,
        wide=True,
    )
