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
    shift_residual,
    sinusoidal,
    weights,
    words,
)
from ui.figures.drawing import Drawing, Film, grid, kept
from ui.figures.encodings.scores import WIDTH
from ui.figures.plot import as_bytes, axis, byte_bar, dots, heatmap, line, plot
from ui.film.colours import BLUE, COLOURS, GREY, RED, SIGNED
from ui.film.scene import Axis, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import circle, hands, label, named, turned
from ui.text.words import Words, powers

CIRCLES = 4
CHECKED = 64
POSITIONS = 32
NOISES = np.linspace(0.0, 1.0, 21)
SHIFTS = np.arange(1, 65)


@kept
def rotation(steps: tuple[int, ...], at: tuple[int, ...], base: float, t: Words) -> Film:
    """Return p_i and M p_i of four pairs in their (sin, cos) planes, for every step and every i."""
    dim = 2 * CIRCLES
    delta, i = control(t, "delta", steps), control(t, "i", at, seconds=8.0)
    theta = rc.Rope(dim, base).theta
    # The planes have the sine to the right and the cosine upwards, so that a growing position turns clockwise.
    first = np.pi / 2 - np.multiply.outer(at, theta)
    blue = Track((i,), first)
    red = Track((delta, i), first - np.multiply.outer(steps, theta)[:, None])
    turns = [
        Texts((delta,), tuple(f"−{angle:.3g}°" if angle else "0°" for angle in np.degrees(np.multiply(steps, each))))
        for each in theta
    ]
    panels = []
    for j in range(CIRCLES):
        shapes = [
            circle(0.0, 0.0, 1.0, GREY, 2, dash="2 5"),
            named("p", hands(0.0, 0.0, 1.0, Track((i,), blue.frames[:, [j]]), BLUE, 5, head=True)),
            named("M", hands(0.0, 0.0, 0.8, Track((delta, i), red.frames[..., [j]]), RED, 5, head=True)),
            named("ω", label(0.0, -1.35, [f"j = {j}: ", turns[j]])),
        ]
        if j == 0:
            shapes += [
                turned(i, 0.0, 0.0, 1.0, Track((i,), blue.frames[:, :1]), BLUE, t("grab_i"), r=10),
                turned(delta, 0.0, 0.0, 0.8, Track((delta, i), red.frames[..., :1]), RED, t("grab_delta"), r=10),
                label(-1.2, 1.15, "p_i", BLUE, anchor="start", bold=True, dx=4, dy=10),
                label(1.2, 1.15, "M p_i", RED, anchor="end", bold=True, dx=-4, dy=10),
            ]
        panels.append(Panel(Axis(-1.2, 1.2), Axis(-1.55, 1.25), shapes, width=150, height=190, equal=True))
    residual = [shift_residual(step, range(CHECKED), dim, base) for step in steps]
    finding = sentence(
        lambda **slots: t("rotation_finding", last=CHECKED - 1, **slots),
        delta=Texts((delta,), delta.texts),
        residual=Texts((delta,), tuple(powers(f"{value:.1e}") for value in residual)),
        angle=Texts((delta,), tuple(f"{angle:.3g}" for angle in np.degrees(np.multiply(steps, theta[0])))),
    )
    return Film(
        "rotation",
        Scene(panels, (delta, i), finding),
        lambda: (
            {"delta": steps, "residual": residual} | {f"turn_{j}": np.multiply(steps, theta[j]) for j in range(CIRCLES)}
        ),
        f"""
        from rope_core.theory.encodings import shift_map, shift_residual
        for delta in {steps[:3]}:
            print(shift_map(delta, {dim}, {base!r}))
            print(shift_residual(delta, range({CHECKED}), {dim}, {base!r}))
        """,
    )


def hessian_residual(noise: float, gap: float, base: float) -> float:
    """How far p_m^T H p_n is from a function of m - n, as a share of it, for a drawn H."""
    vectors = sinusoidal(np.arange(POSITIONS), WIDTH, base)
    return relative_residual(hessian_term(random_hessian(WIDTH, noise, gap), vectors), np.arange(POSITIONS))


@kept
def hessian_map(noise: float, gap: float, base: float, t: Words) -> Drawing:
    """Draw the Taylor term p_m^T H p_n over (m, n) for one H."""
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


def crossing(tokens: Sequence[str], base: float, t: Words) -> Drawing:
    """How much each of the four terms of an additive encoding's score changes when the sentence moves."""
    head, x = weights(WIDTH, base), words(tokens, WIDTH)
    where, plain = np.arange(len(tokens)), np.eye(WIDTH)

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
        sentence, head = {tuple(tokens)!r}, weights({WIDTH}, {base!r})
        x, where = words(sentence, {WIDTH}), np.arange(len(sentence))
        for shift in (0, 1, 64):
            terms = cross_terms(x, sinusoidal(where + shift, {WIDTH}, {base!r}), head.q, head.k)
            print(shift, {{name: term[0, -1] for name, term in terms.items()}})
        """,
    )
