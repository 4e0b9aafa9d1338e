"""The map from one sinusoidal vector to a later one, drawn as a rotation."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.encodings.additive import shift_residual
from ui.figures.drawing import Film, kept
from ui.film.colours import BLUE, GREY, RED
from ui.film.scene import Axis, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import circle, hands, label, named, turned
from ui.text.words import Words, powers

CIRCLES = 4
CHECKED = 64


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
        from rope_core.theory.encodings.additive import shift_map, shift_residual
        for delta in {steps[:3]}:
            print(shift_map(delta, {dim}, {base!r}))
            print(shift_residual(delta, range({CHECKED}), {dim}, {base!r}))
        """,
    )
