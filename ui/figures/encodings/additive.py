"""The encodings page's additive part: the shift map as a rotation, the Hessian term, and the cross terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import rope_core as rc
from rope_core.theory.encodings import (
    cross_terms,
    hessian_term,
    random_hessian,
    relative_residual,
    shift_map,
    shift_residual,
    sinusoidal,
    weights,
    words,
)
from ui.figures import plain as go
from ui.figures.drawing import (
    BLUE,
    COLOURS,
    GREY,
    RED,
    SIGNED,
    Animated,
    Drawing,
    as_bytes,
    byte_bar,
    grid,
    kept,
    styled,
)
from ui.figures.encodings.scores import WIDTH
from ui.text.words import Words

CIRCLES = 4
FRAMES = 64
# Distance of one circle's middle from the next one's, in radii.
STEP = 2.6
POSITIONS = 32
NOISES = np.linspace(0.0, 1.0, 21)
SHIFTS = np.arange(1, 65)


@kept
def rotation(delta: int, base: float, t: Words) -> Drawing:
    """p_i and M p_i of four pairs in their (sin, cos) planes, for every i in turn."""
    dim = 2 * CIRCLES
    positions = np.arange(FRAMES)
    at = sinusoidal(positions, dim, base)
    mapped = at @ shift_map(delta, dim, base).T
    residual = shift_residual(delta, positions, dim, base)
    middles = [(STEP * (j % 2), -STEP * (j // 2)) for j in range(CIRCLES)]
    figure = Animated()

    def hands(row: np.ndarray) -> tuple[list[float | None], list[float | None]]:
        tips = row.reshape(CIRCLES, 2).round(4)
        x = [v for (c, _), tip in zip(middles, tips, strict=True) for v in (c, round(c + float(tip[0]), 4), None)]
        y = [v for (_, c), tip in zip(middles, tips, strict=True) for v in (c, round(c + float(tip[1]), 4), None)]
        return x, y

    for row, name, colour in ((at[0], t("p_i"), BLUE), (mapped[0], t("m_p_i", delta=delta), RED)):
        x, y = hands(row)
        dots = {"size": [0, 13, 0] * CIRCLES, "color": colour, "line": {"width": 0}}
        line = {"width": 5, "color": colour}
        figure.add_trace(go.Scatter(x=x, y=y, mode="lines+markers", name=name, line=line, marker=dots))
    said = go.Scatter(x=[STEP / 2], y=[-STEP / 2], mode="text", text=["i = 0"], showlegend=False, textfont={"size": 18})
    figure.add_trace(said)
    frames = []
    for i in positions.tolist():
        data: list[dict[str, object]] = []
        for row in (at[i], mapped[i]):
            x, y = hands(row)
            data.append({"type": "scatter", "x": x, "y": y})
        frames.append({"name": str(i), "traces": [0, 1, 2], "data": [*data, {"type": "scatter", "text": [f"i = {i}"]}]})
    figure.animate(frames)
    styled(figure, height=470)
    angle = np.degrees(delta * rc.Rope(dim, base).theta)
    for j, (across, up) in enumerate(middles):
        ring = {"x0": across - 1, "x1": across + 1, "y0": up - 1, "y1": up + 1}
        figure.add_shape(type="circle", line={"color": GREY, "width": 2, "dash": "dot"}, **ring)
        figure.add_annotation(x=across, y=up + 1.2, text=f"j = {j}: −{angle[j]:.4g}°", showarrow=False)
    figure.update_xaxes(visible=False, range=[-1.2, STEP + 1.2])
    figure.update_yaxes(visible=False, range=[-STEP - 1.15, 1.45], scaleanchor="x")
    play = {"frame": {"duration": 90, "redraw": False}, "transition": {"duration": 0}, "fromcurrent": True}
    button = {"label": t("play_i"), "method": "animate", "args": [None, play]}
    spot = {"type": "buttons", "x": 1.0, "y": 1.09, "xanchor": "right", "yanchor": "bottom"}
    figure.update_layout(updatemenus=[spot | {"buttons": [button]}], margin={"l": 8, "b": 8, "t": 84})
    return Drawing(
        "rotation",
        figure,
        t("rotation_finding", delta=delta, last=FRAMES - 1, residual=f"{residual:.1e}", angle=f"{angle[0]:.4g}"),
        lambda: (
            {"i": positions}
            | {f"p[{k}]": at[:, k] for k in range(dim)}
            | {f"Mp[{k}]": mapped[:, k] for k in range(dim)}
        ),
        f"""
        from rope_core.theory.encodings import shift_map, shift_residual
        print(shift_map({delta}, {dim}, {base!r}))
        print(shift_residual({delta}, range({FRAMES}), {dim}, {base!r}))
        """,
    )


def hessian_residual(noise: float, gap: float, base: float) -> float:
    """How far p_m^T H p_n is from a function of m - n, as a share of it, for a drawn H."""
    vectors = sinusoidal(np.arange(POSITIONS), WIDTH, base)
    return relative_residual(hessian_term(random_hessian(WIDTH, noise, gap), vectors), np.arange(POSITIONS))


@kept
def hessian_map(noise: float, gap: float, base: float, t: Words) -> Drawing:
    """The Taylor term p_m^T H p_n over (m, n) for one H."""
    vectors = sinusoidal(np.arange(POSITIONS), WIDTH, base)
    term = hessian_term(random_hessian(WIDTH, noise, gap), vectors)
    limit = float(np.abs(term).max())
    figure = go.Figure(
        go.Heatmap(z=as_bytes(term, limit), colorscale=SIGNED, zmid=0, zmin=-127, zmax=127, colorbar=byte_bar(limit))
    )
    styled(figure, height=360, x="n", y="m")
    figure.update_xaxes(constrain="domain")
    figure.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    figure.update_layout(margin={"t": 14})
    where = np.arange(POSITIONS)
    return Drawing(
        "hessian_map",
        figure,
        t("hessian_map_finding", noise=f"{noise:g}", gap=f"{gap:g}", low=f"{term.min():.3g}", high=f"{term.max():.3g}"),
        lambda: grid(where, where, term, ("n", "m", "term")),
        f"""
        import numpy as np
        from rope_core.theory.encodings import hessian_term, random_hessian, sinusoidal
        vectors = sinusoidal(np.arange({POSITIONS}), {WIDTH}, {base!r})
        print(hessian_term(random_hessian({WIDTH}, {noise!r}, {gap!r}), vectors))
        """,
    )


@kept
def hessian_curve(noise: float, gap: float, base: float, t: Words) -> Drawing:
    """How far the term is from a function of m - n, over the size of the entries off H's diagonal."""
    curve = np.array([hessian_residual(float(one), gap, base) for one in NOISES])
    here, diagonal = hessian_residual(noise, gap, base), hessian_residual(0.0, 0.0, base)
    line, mark = {"color": BLUE, "width": 4}, {"size": 17, "color": RED}
    figure = go.Figure(go.Scatter(x=NOISES, y=100 * curve, mode="lines", line=line, showlegend=False))
    figure.add_trace(go.Scatter(x=[noise], y=[100 * here], mode="markers", marker=mark, showlegend=False))
    styled(figure, height=360, x=t("noise_axis"), y=t("off_axis"))
    figure.update_yaxes(range=[-5, 105])
    figure.update_layout(margin={"t": 14})
    return Drawing(
        "hessian_curve",
        figure,
        t("hessian_finding", diagonal=f"{diagonal:.1e}", noise=f"{noise:g}", gap=f"{gap:g}", here=f"{100 * here:.2g}"),
        lambda: {"off_diagonal": NOISES, "residual": curve},
        f"""
        import numpy as np
        from rope_core.theory.encodings import hessian_term, random_hessian, relative_residual, sinusoidal
        where = np.arange({POSITIONS})
        term = hessian_term(random_hessian({WIDTH}, {noise!r}, {gap!r}), sinusoidal(where, {WIDTH}, {base!r}))
        print(relative_residual(term, where))
        """,
    )


def crossing(sentence: Sequence[str], base: float, t: Words) -> Drawing:
    """How much each of the four terms of an additive encoding's score changes when the sentence moves."""
    head, x = weights(WIDTH, base), words(sentence, WIDTH)
    where, plain = np.arange(len(sentence)), np.eye(WIDTH)

    def terms(shift: int, w_q: np.ndarray, w_k: np.ndarray) -> dict[str, np.ndarray]:
        return cross_terms(x, sinusoidal(where + shift, WIDTH, base), w_q, w_k)

    def size(matrix: np.ndarray) -> float:
        return float(np.sqrt(np.mean(np.square(matrix))))

    start, unprojected = terms(0, head.q, head.k), terms(0, plain, plain)
    whole, bare = size(sum(start.values())), size(sum(unprojected.values()))
    moved = [terms(int(shift), head.q, head.k) for shift in SHIFTS]
    curves = {name: np.array([size(one[name] - start[name]) / whole for one in moved]) for name in start}
    last = "position_position"
    curves["unprojected"] = np.array(
        [size(terms(int(shift), plain, plain)[last] - unprojected[last]) / bare for shift in SHIFTS]
    )
    figure = go.Figure()
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        line = {"color": colour, "width": 4, "dash": "dot" if name == "unprojected" else "solid"}
        figure.add_trace(go.Scatter(x=SHIFTS, y=100 * curve, mode="lines", name=t(f"term.{name}"), line=line))
    styled(figure, height=380, x=t("shift_axis"), y=t("change_axis"))
    figure.update_yaxes(range=[-4, 108 * max(float(curve.max()) for curve in curves.values())])
    figure.update_layout(margin={"t": 100})
    half = size(start["word_position"] + start["position_word"]) / whole
    return Drawing(
        "crossing",
        figure,
        t(
            "crossing_finding",
            share=f"{100 * half:.0f}",
            cross=f"{100 * max(curves['word_position'].max(), curves['position_word'].max()):.0f}",
            projected=f"{100 * curves[last].max():.0f}",
            unprojected=f"{curves['unprojected'].max():.1e}",
        ),
        lambda: {"shift": SHIFTS} | curves,
        f"""
        import numpy as np
        from rope_core.theory.encodings import cross_terms, sinusoidal, weights, words
        sentence, head = {tuple(sentence)!r}, weights({WIDTH}, {base!r})
        x, where = words(sentence, {WIDTH}), np.arange(len(sentence))
        for shift in (0, 1, 64):
            terms = cross_terms(x, sinusoidal(where + shift, {WIDTH}, {base!r}), head.q, head.k)
            print(shift, {{name: term[0, -1] for name, term in terms.items()}})
        """,
    )
