"""Figures of the frequencies page that answer what a base spans, what a pair measures and how it varies."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import frequency_demo
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import POWERS, WHOLE, Props, axis, dots, hline, in_panel, line, note, panels, plot, split, vline
from ui.film.colours import BLUE, GREEN, GREY, RED
from ui.text.words import Words

CURVE = 2048
DOTS = 128
NEAR = 100


def read(value: float) -> str:
    """Return a number for a reader: 54,410 or 6.28 or 0.000115."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def context_line(rope: rc.Rope, t: Words) -> Props:
    """Return the trained context across a figure whose y is tokens; named in the legend, where no curve crosses it."""
    label = t("context", n=f"{rope.train_len:,}")
    return hline(rope.train_len, GREEN, 3, "dash", name=label, showlegend=True)


@kept
def base_choice(rope: rc.Rope, t: Words) -> Drawing:
    """Draw what a base can span: the slowest pair's wavelength, and how far the sum of cosines stays positive."""
    results = frequency_demo.spans(rope.dim)
    own = frequency_demo.positive_until(rope.dim, rope.base)
    limit = frequency_demo.reach(rope.dim)
    figure = plot(
        [
            line(results.base, results.wavelength, BLUE, name=t("longest")),
            line(results.base, results.positive, RED, name=t("positive"), mode="lines+markers", marker={"size": 9}),
            dots(
                [rope.base] * 2,
                [rope.wavelength[-1], own],
                [BLUE, RED],
                18,
                marker={"symbol": "diamond", "line": {"width": 2, "color": "white"}},
            ),
        ],
        shapes=[vline(rope.base, GREY, 2, "dot"), context_line(rope, t)],
        xaxis=axis(t("field.base"), **POWERS),
        yaxis=axis(t("tokens"), **POWERS),
    )
    times = rope.wavelength[-1] / rope.train_len
    sentence = t("base_finding", base=f"{rope.base:,.6g}", last=read(rope.wavelength[-1]), times=f"{times:,.3g}")
    if np.isnan(own):
        sentence += t("base_beyond", limit=f"{limit:,}")
    else:
        share = 100 * own / rope.train_len
        sentence += t("base_until", until=f"{own - 1:,.0f}", share=f"{share:,.0f}")
    return Drawing(
        "base_choice",
        figure,
        sentence,
        lambda: {
            "base": results.base,
            "longest_wavelength": results.wavelength,
            "first_negative_distance": results.positive,
        },
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
    results = frequency_demo.rulers(rope, error)
    pairs = np.arange(rope.pairs)
    x = np.repeat(pairs.astype(float), 3)
    y = np.full(3 * rope.pairs, np.nan)
    y[0::3], y[1::3] = results.finest, results.longest
    width = 6 if rope.pairs <= 64 else 3
    beside = {"xref": "paper", "yref": "y", "xanchor": "right", "yanchor": "bottom"}
    figure = plot(
        [line(x, y, BLUE, width, t("ruler"), connectgaps=False)],
        shapes=[context_line(rope, t), hline(1, RED, 3, "dash")],
        annotations=[note(t("one_token"), 0.99, 0, font={"size": 15, "color": RED}, **beside)],
        xaxis=axis(t("axis.pair"), range=[-1, rope.pairs]),
        yaxis=axis(t("distance"), **POWERS),
    )
    return Drawing(
        "rulers",
        figure,
        t(
            "rulers_finding",
            error=error,
            fine=read(results.finest[0]),
            reach=read(results.longest[0]),
            fine_last=read(results.finest[-1]),
            reach_last=read(results.longest[-1]),
            one=int(results.useful(1.0).sum()),
            whole=int((results.longest > rope.train_len).sum()),
            pairs=rope.pairs,
        ),
        lambda: {"pair": pairs, "finest": results.finest, "longest": results.longest},
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
    near = shown[shown < NEAR]
    fast = np.cos(near * rope.theta[0])
    figure = plot(
        [
            line(near + 1, fast.astype("f4"), GREY, 3, t("fast_pair")),
            line(shown + 1, alike[shown].astype("f4"), BLUE, name=t("all_pairs")),
        ],
        height=360,
        xaxis=axis(t("distance_plus"), **POWERS),
        yaxis=axis(t("similarity"), range=[-1.05, 1.05]),
    )
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
    pair = min(pair, rope.pairs - 1)
    theta = float(rope.theta[pair])
    turns = window * theta / (2 * np.pi)
    at = np.linspace(0, window, int(min(CURVE, max(200, 16 * turns))))
    tokens = np.arange(window + 1) if window <= DOTS else np.arange(0)
    data = []
    for panel, name, colour, values, points in (
        (1, t("angle_of"), GREEN, theta * at, theta * tokens),
        (2, "cos", BLUE, np.cos(theta * at), np.cos(theta * tokens)),
        (2, "sin", RED, np.sin(theta * at), np.sin(theta * tokens)),
    ):
        data.append(in_panel(panel, line(at.astype("f4"), values.astype("f4"), colour, 3, name, legendgroup=name)))
        if tokens.size:
            data.append(in_panel(panel, dots(tokens, points.astype("f4"), colour, 7)))
    above = (axis(matches="x2", showticklabels=False), axis(t("radians"), rangemode="tozero"))
    below = (axis(t("axis.position")), axis(range=[-1.1, 1.1]))
    figure = plot(data, height=430, **panels([above, below], WHOLE, split([0.58, 0.42], 0.09)))
    sentence = t(
        "wave_finding",
        i=pair,
        theta=f"{theta:.3g}",
        window=f"{window:,}",
        angle=read(theta * window),
        turns=read(turns),
    )
    return Drawing(
        "wave",
        figure,
        sentence,
        lambda: {"position": at, "angle": theta * at, "cos": np.cos(theta * at), "sin": np.sin(theta * at)},
        f"""
        import numpy as np
        import rope_core as rc
        theta = rc.Rope({rope.dim}, {rope.base!r}).theta[{pair}]
        angle = theta * np.arange({window + 1})
        print(theta, angle, np.cos(angle), np.sin(angle))
        """,
    )
