"""Figures of the frequencies page: the frequencies, the tables they make, and the digits they read."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import encodings, frequency_demo
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, ORANGE, RED, SIGNED, Drawing, as_bytes, byte_bar, grid, kept, styled
from ui.figures.frequencies.spans import context_line, read
from ui.figures.plain import make_subplots
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
    figure = go.Figure()
    for name, values, colour, axis in (
        ("wavelength", rope.wavelength, BLUE, "y"),
        ("frequency", rope.theta, RED, "y2"),
    ):
        mark = {"size": 7 if rope.pairs <= 64 else 4}
        line = {"color": colour, "width": 4}
        figure.add_trace(
            go.Scatter(x=pairs, y=values, yaxis=axis, name=t(name), mode="lines+markers", line=line, marker=mark)
        )
    if count:
        figure.add_vrect(x0=rope.pairs - count - 0.5, x1=rope.pairs - 0.5, fillcolor=ORANGE, opacity=0.25, line_width=0)
    context_line(figure, rope, t)
    styled(figure, height=370, x=t("axis.pair"))
    scale = {"type": "log", "exponentformat": "power", "dtick": 1}
    figure.update_layout(
        margin={"r": 76},
        yaxis=scale | {"title": {"text": t("axis.wavelength"), "font": {"color": BLUE}}},
        yaxis2=scale
        | {"title": {"text": t("frequency"), "font": {"color": RED}}, "overlaying": "y", "side": "right"}
        | {"showgrid": False},
    )
    said = t(
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
        said,
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
    looks = {"colorscale": "Phase"} if kind == "angle" else {"colorscale": SIGNED, "zmid": 0}
    step = int(at[1] - at[0]) if at.size > 1 else 1
    bar = byte_bar(limit)
    if kind == "angle":
        bar["ticktext"] = ["−π", "−π/2", "0", "π/2", "π"]
    figure = go.Figure(
        go.Heatmap(
            z=as_bytes(values, limit),
            x0=0,
            dx=step,
            y0=0,
            dy=1,
            zmin=-127,
            zmax=127,
            colorbar=bar,
            hoverinfo="x+y",
            **looks,
        )
    )
    slow = int((rope.wavelength > span).sum())
    split = 0 < slow < rope.pairs
    if split:
        figure.add_hline(y=rope.pairs - slow - 0.5, line={"color": "black", "width": 3, "dash": "dash"})
    styled(figure, height=430, x=t("axis.position"), y=t("axis.pair"))
    said = t(
        "heat_finding",
        span=f"{span:,}",
        fast=read(span / rope.wavelength[0]),
        last=read(span / rope.wavelength[-1]),
        slow=slow,
        pairs=rope.pairs,
    )
    if split:
        said += t("heat_line")
    if step > 1:
        said += t("heat_step", step=f"{step:,}")
    return Drawing(
        "heat",
        figure,
        said,
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
    figure = make_subplots(1, 2, subplot_titles=[t("digits_title"), t("waves_title")], horizontal_spacing=0.09)

    def heights(where: int) -> list[list[float | None]]:
        phase = encodings.digit_phases(where, beta, rope.pairs)
        return [stems(part) for part in (encodings.beta_digits(where, beta, rope.pairs), np.cos(phase), np.sin(phase))]

    looks = ((feet, t("digit"), GREEN, 1), (feet, "cos", BLUE, 2), (aside, "sin", RED, 2))
    for y, (x, name, colour, column) in zip(heights(position), looks, strict=True):
        sizes = [0, 14, 0] * rope.pairs
        trace = go.Scatter(
            x=x,
            y=y,
            name=name,
            mode="lines+markers",
            line={"color": colour, "width": 5},
            marker={"size": sizes, "color": colour, "opacity": 1},
        )
        figure.add_trace(trace, 1, column)
    frames = range(position, position + FRAMES)
    figure.frames = [
        go.Frame(data=[{"type": "scatter", "y": y} for y in heights(where)], traces=[0, 1, 2], name=str(where))
        for where in frames
    ]
    styled(figure, height=450, x=t("digit_axis"))
    still = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate", "transition": {"duration": 0}}
    play = {"frame": {"duration": 250, "redraw": False}, "transition": {"duration": 0}, "fromcurrent": True}
    button = {"label": t("count"), "method": "animate", "args": [None, play]}
    figure.update_layout(
        margin={"t": 76, "b": 124},
        legend={"y": 1.12},
        updatemenus=[
            {"type": "buttons", "x": 1, "y": 1.12, "xanchor": "right", "yanchor": "bottom", "buttons": [button]}
        ],
        sliders=[
            {
                "steps": [{"label": str(w), "method": "animate", "args": [[str(w)], still]} for w in frames],
                "currentvalue": {"prefix": t("counted"), "font": {"size": 16, "color": GREY}},
                "ticklen": 0,
                "minorticklen": 0,
                "font": {"color": "rgba(0,0,0,0)"},
                "pad": {"t": 60},
            }
        ],
    )
    figure.update_annotations(font={"size": 16})
    figure.update_xaxes(dtick=1, range=[-0.5, rope.pairs - 0.4])
    figure.update_yaxes(range=[0, 1.08 * beta], row=1, col=1)
    figure.update_yaxes(range=[-1.1, 1.1], row=1, col=2)
    own = encodings.beta_digits(position, beta, rope.pairs)
    shown = ", ".join(f"{digit:.3g}" for digit in own)
    said = t("digits_finding", position=f"{position:,}", beta=f"{beta:.5g}", digits=shown, d=width)
    return Drawing(
        "digits",
        figure,
        said,
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
