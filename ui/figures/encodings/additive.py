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
from ui.figures.colours import BLUE, COLOURS, GREY, RED, SIGNED
from ui.figures.drawing import Drawing, grid, kept
from ui.figures.encodings.scores import WIDTH
from ui.figures.plot import Props, as_bytes, axis, byte_bar, dots, frame, heatmap, line, note, play, plot, scatter
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

    def hands(row: np.ndarray) -> tuple[list[float | None], list[float | None]]:
        tips = row.reshape(CIRCLES, 2).round(4)
        x = [v for (c, _), tip in zip(middles, tips, strict=True) for v in (c, round(c + float(tip[0]), 4), None)]
        y = [v for (_, c), tip in zip(middles, tips, strict=True) for v in (c, round(c + float(tip[1]), 4), None)]
        return x, y

    def moved(i: int) -> dict[int, Props]:
        hands_at = (dict(zip("xy", hands(row), strict=True)) for row in (at[i], mapped[i]))
        return {**dict(enumerate(hands_at)), 2: {"text": [f"i = {i}"]}}

    head = {"size": [0, 13, 0] * CIRCLES, "line": {"width": 0}}
    looks = ((at[0], t("p_i"), BLUE), (mapped[0], t("m_p_i", delta=delta), RED))
    angle = np.degrees(delta * rc.Rope(dim, base).theta)
    ring = {"type": "circle", "line": {"color": GREY, "width": 2, "dash": "dot"}}
    figure = plot(
        [
            line(*hands(row), colour, 5, name, mode="lines+markers", marker=head | {"color": colour})
            for row, name, colour in looks
        ]
        + [scatter([STEP / 2], [-STEP / 2], "text", text=["i = 0"], textfont={"size": 18})],
        height=470,
        frames=[frame(i, moved(i)) for i in positions.tolist()],
        shapes=[ring | {"x0": x - 1, "x1": x + 1, "y0": y - 1, "y1": y + 1} for x, y in middles],
        annotations=[note(f"j = {j}: −{angle[j]:.4g}°", x, y + 1.2) for j, (x, y) in enumerate(middles)],
        updatemenus=play(t("play_i"), 90, y=1.09),
        margin={"l": 8, "b": 8, "t": 84},
        xaxis=axis(visible=False, range=[-1.2, STEP + 1.2]),
        yaxis=axis(visible=False, range=[-STEP - 1.15, 1.45], scaleanchor="x"),
    )
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
    figure = plot(
        [heatmap(as_bytes(term, limit), SIGNED, zmid=0, zmin=-127, zmax=127, colorbar=byte_bar(limit))],
        height=360,
        margin={"t": 14},
        xaxis=axis("n", constrain="domain"),
        yaxis=axis("m", autorange="reversed", scaleanchor="x", constrain="domain"),
    )
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
    curve = np.array([hessian_residual(float(each), gap, base) for each in NOISES])
    here, diagonal = hessian_residual(noise, gap, base), hessian_residual(0.0, 0.0, base)
    figure = plot(
        [line(NOISES, 100 * curve, BLUE), dots([noise], [100 * here], RED, 17)],
        height=360,
        margin={"t": 14},
        xaxis=axis(t("noise_axis")),
        yaxis=axis(t("off_axis"), range=[-5, 105]),
    )
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

    def size(matrix: np.ndarray | int) -> float:
        return float(np.sqrt(np.mean(np.square(matrix))))

    start, unprojected = terms(0, head.q, head.k), terms(0, plain, plain)
    whole, bare = size(sum(start.values())), size(sum(unprojected.values()))
    moved = [terms(int(shift), head.q, head.k) for shift in SHIFTS]
    curves = {name: np.array([size(each[name] - start[name]) / whole for each in moved]) for name in start}
    last = "position_position"
    curves["unprojected"] = np.array(
        [size(terms(int(shift), plain, plain)[last] - unprojected[last]) / bare for shift in SHIFTS]
    )
    figure = plot(
        [
            line(SHIFTS, 100 * curve, colour, name=t(f"term.{name}"), dash="dot" if name == "unprojected" else "solid")
            for (name, curve), colour in zip(curves.items(), COLOURS, strict=False)
        ],
        height=380,
        margin={"t": 100},
        xaxis=axis(t("shift_axis")),
        yaxis=axis(t("change_axis"), range=[-4, 108 * max(float(curve.max()) for curve in curves.values())]),
    )
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
