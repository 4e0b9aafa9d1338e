"""Figures of the frequencies page that answer what a base spans, what a pair measures and how it varies."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import frequency_demo
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, RED, Drawing, kept, styled
from ui.figures.plain import make_subplots
from ui.text.words import Words

CURVE = 2048
DOTS = 128
NEAR = 100


def read(value: float) -> str:
    """A number for a reader: 54,410 or 6.28 or 0.000115."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def context_line(figure: go.Figure, rope: rc.Rope, t: Words) -> None:
    """Draw the trained context across a figure whose y is tokens; named in the legend, where no curve crosses it."""
    label = t("context", n=f"{rope.train_len:,}")
    figure.add_hline(y=rope.train_len, line={"color": GREEN, "width": 3, "dash": "dash"}, name=label, showlegend=True)


@kept
def base_choice(rope: rc.Rope, t: Words) -> Drawing:
    """What a base can span: the slowest pair's wavelength, and how far the sum of cosines stays positive."""
    found = frequency_demo.spans(rope.dim)
    own = frequency_demo.positive_until(rope.dim, rope.base)
    limit = frequency_demo.reach(rope.dim)
    figure = go.Figure()
    line = {"color": BLUE, "width": 4}
    figure.add_trace(go.Scatter(x=found.base, y=found.wavelength, name=t("longest"), mode="lines", line=line))
    steps = {"color": RED, "width": 4}
    figure.add_trace(
        go.Scatter(
            x=found.base, y=found.positive, name=t("positive"), mode="lines+markers", line=steps, marker={"size": 9}
        )
    )
    marks = {"size": 18, "symbol": "diamond", "color": [BLUE, RED], "line": {"width": 2, "color": "white"}}
    figure.add_trace(
        go.Scatter(x=[rope.base] * 2, y=[rope.wavelength[-1], own], mode="markers", marker=marks, showlegend=False)
    )
    figure.add_vline(x=rope.base, line={"color": GREY, "width": 2, "dash": "dot"})
    context_line(figure, rope, t)
    styled(figure, height=400, x=t("field.base"), y=t("tokens"))
    axis = {"type": "log", "exponentformat": "power", "dtick": 1}
    figure.update_layout(xaxis=axis, yaxis=axis)
    times = rope.wavelength[-1] / rope.train_len
    said = t("base_finding", base=f"{rope.base:,.6g}", last=read(rope.wavelength[-1]), times=f"{times:,.3g}")
    if np.isnan(own):
        said += t("base_beyond", limit=f"{limit:,}")
    else:
        share = 100 * own / rope.train_len
        said += t("base_until", until=f"{own - 1:,.0f}", share=f"{share:,.0f}")
    return Drawing(
        "base_choice",
        figure,
        said,
        lambda: {"base": found.base, "longest_wavelength": found.wavelength, "first_negative_distance": found.positive},
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        print(frequency_demo.spans({rope.dim}))
        print(rc.Rope({rope.dim}, {rope.base!r}).wavelength[-1])
        print(frequency_demo.positive_until({rope.dim}, {rope.base!r}))
        """,
    )


@kept
def rulers(rope: rc.Rope, error: float, t: Words) -> Drawing:
    """Each pair as a ruler: from the finest distance it resolves to the longest before it repeats."""
    found = frequency_demo.rulers(rope, error)
    pairs = np.arange(rope.pairs)
    x = np.repeat(pairs.astype(float), 3)
    y = np.full(3 * rope.pairs, np.nan)
    y[0::3], y[1::3] = found.finest, found.longest
    width = 6 if rope.pairs <= 64 else 3
    figure = go.Figure(
        go.Scatter(x=x, y=y, mode="lines", name=t("ruler"), line={"color": BLUE, "width": width}, connectgaps=False)
    )
    context_line(figure, rope, t)
    figure.add_hline(y=1, line={"color": RED, "width": 3, "dash": "dash"})
    note = {"x": 0.99, "xref": "paper", "y": 0, "yref": "y", "xanchor": "right", "yanchor": "bottom"}
    figure.add_annotation(text=t("one_token"), showarrow=False, font={"size": 15, "color": RED}, **note)
    styled(figure, height=400, x=t("axis.pair"), y=t("distance"))
    figure.update_xaxes(range=[-1, rope.pairs])
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    return Drawing(
        "rulers",
        figure,
        t(
            "rulers_finding",
            error=error,
            fine=read(found.finest[0]),
            reach=read(found.longest[0]),
            fine_last=read(found.finest[-1]),
            reach_last=read(found.longest[-1]),
            one=int(found.useful(1.0).sum()),
            whole=int((found.longest > rope.train_len).sum()),
            pairs=rope.pairs,
        ),
        lambda: {"pair": pairs, "finest": found.finest, "longest": found.longest},
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        print(frequency_demo.rulers(rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len}), {error}))
        """,
    )


@kept
def repeats(rope: rc.Rope, t: Words) -> Drawing:
    """How alike the codes of two positions are over their distance, beside one fast pair that does repeat."""
    span = min(rope.train_len, frequency_demo.reach(rope.dim))
    alike = frequency_demo.similarity(rope, span)
    after = min(int(np.ceil(rope.wavelength[0])), span - 1)
    closest = after + int(alike[after:].argmax())
    shown = np.unique(np.geomspace(1, span, 600).astype(int)) - 1
    figure = go.Figure()
    fast, code = {"color": GREY, "width": 3}, {"color": BLUE, "width": 4}
    near = shown[shown < NEAR]
    single = np.cos(near * rope.theta[0])
    figure.add_trace(go.Scatter(x=near + 1, y=single.astype("f4"), name=t("fast_pair"), mode="lines", line=fast))
    figure.add_trace(go.Scatter(x=shown + 1, y=alike[shown].astype("f4"), name=t("all_pairs"), mode="lines", line=code))
    styled(figure, height=360, x=t("distance_plus"), y=t("similarity"))
    figure.update_xaxes(type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(range=[-1.05, 1.05])
    return Drawing(
        "repeats",
        figure,
        t(
            "repeats_finding",
            first=read(rope.wavelength[0]),
            span=f"{span:,}",
            best=f"{alike[closest]:.3f}",
            at=closest,
        ),
        lambda: {"distance": np.arange(span), "similarity": alike},
        f"""
        import rope_core as rc
        from rope_core.theory import frequency_demo
        print(frequency_demo.similarity(rc.Rope({rope.dim}, {rope.base!r}), {span}))
        """,
    )


@kept
def wave(rope: rc.Rope, pair: int, window: int, t: Words) -> Drawing:
    """One pair's angle, cosine and sine over the position, as curves with the tokens as dots."""
    theta = float(rope.theta[pair])
    turns = window * theta / (2 * np.pi)
    at = np.linspace(0, window, int(min(CURVE, max(200, 16 * turns))))
    tokens = np.arange(window + 1) if window <= DOTS else np.arange(0)
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.09, row_heights=[0.42, 0.58])

    def curve(values: Array, dots: Array, name: str, colour: str, row: int) -> None:
        line = {"color": colour, "width": 3}
        figure.add_trace(
            go.Scatter(x=at.astype("f4"), y=values.astype("f4"), name=name, mode="lines", line=line, legendgroup=name),
            row,
            1,
        )
        if tokens.size:
            mark = {"color": colour, "size": 7}
            dotted = go.Scatter(x=tokens, y=dots.astype("f4"), mode="markers", marker=mark, showlegend=False)
            figure.add_trace(dotted, row, 1)

    curve(theta * at, theta * tokens, t("angle_of"), GREEN, 1)
    curve(np.cos(theta * at), np.cos(theta * tokens), "cos", BLUE, 2)
    curve(np.sin(theta * at), np.sin(theta * tokens), "sin", RED, 2)
    styled(figure, height=430)
    figure.update_xaxes(title_text=t("axis.position"), row=2, col=1)
    figure.update_yaxes(title_text=t("radians"), rangemode="tozero", row=1, col=1)
    figure.update_yaxes(range=[-1.1, 1.1], row=2, col=1)
    said = t(
        "wave_finding",
        i=pair,
        theta=f"{theta:.4g}",
        window=f"{window:,}",
        angle=read(theta * window),
        turns=read(turns),
    )
    return Drawing(
        "wave",
        figure,
        said,
        lambda: {"position": at, "angle": theta * at, "cos": np.cos(theta * at), "sin": np.sin(theta * at)},
        f"""
        import numpy as np
        import rope_core as rc
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta[{pair}]
        angle = theta * np.arange({window + 1})
        print(theta, angle, np.cos(angle), np.sin(angle))
        """,
    )


def shown_pair(rope: rc.Rope, wanted: int) -> int:
    """The pair to draw: the wanted one, or the last one of a narrower rotation."""
    return min(wanted, rope.pairs - 1)
