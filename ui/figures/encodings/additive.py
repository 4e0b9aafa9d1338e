"""The map from one sinusoidal vector to a later one, drawn as a rotation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import rope_core as rc
from rope_core.theory.encodings.additive import sinusoidal_shift_residual
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import BLUE, GREY, RED
from ui.film.scene import Axis, NumberTrack, Panel, Scene, field_control, sentence_parts
from ui.text.words import PageTexts, exponent_text, number_text

CIRCLES = 4
CHECKED = 64


def _degrees(steps: Sequence[int], theta: float) -> list[str]:
    """Return how far a pair turns in each of the steps, with three digits."""
    return [number_text(float(f"{angle:.3g}")) for angle in np.degrees(np.multiply(steps, theta)).tolist()]


@cached_figure
def sinusoidal_rotation_film(steps: tuple[int, ...], at: tuple[int, ...], base: float, t: PageTexts) -> Film:
    """Return p_i and M p_i of four pairs in their (sin, cos) planes, for every step and every i."""
    dim = 2 * CIRCLES
    delta, i = field_control(t, "delta", steps), field_control(t, "i", at, play_seconds=8.0)
    theta = rc.Rope(dim, base).theta
    # The planes have the sine to the right and the cosine upwards, so that a growing position turns clockwise.
    first = np.pi / 2 - np.multiply.outer(at, theta)
    blue = i.numbers(first)
    red = NumberTrack((delta, i), first - np.multiply.outer(steps, theta)[:, None])
    turns = [delta.texts(f"−{angle}°" if angle != "0" else "0°" for angle in _degrees(steps, each)) for each in theta]
    panels = []
    for j in range(CIRCLES):
        shapes = [
            marks.circle(0.0, 0.0, 1.0, GREY, 2, stroke_dash="2 5"),
            marks.link_symbol(
                "p", marks.vector(0.0, 0.0, 1.0, i.numbers(blue.keyframes[:, [j]]), BLUE, 5, has_head=True)
            ),
            marks.link_symbol(
                "M",
                marks.vector(0.0, 0.0, 0.8, NumberTrack((delta, i), red.keyframes[..., [j]]), RED, 5, has_head=True),
            ),
            marks.link_symbol("ω", marks.text(0.0, -1.35, [f"j = {j}: ", turns[j]])),
        ]
        if j == 0:
            shapes += [
                marks.turn_handle(i, 0.0, 0.0, 1.0, i.numbers(blue.keyframes[:, :1]), BLUE, t("grab_i"), radius_px=10),
                marks.turn_handle(
                    delta,
                    0.0,
                    0.0,
                    0.8,
                    NumberTrack((delta, i), red.keyframes[..., :1]),
                    RED,
                    t("grab_delta"),
                    radius_px=10,
                ),
                marks.text(-1.2, 1.15, "p_i", BLUE, anchor="start", bold=True, dx=4, dy=10),
                marks.text(1.2, 1.15, "M p_i", RED, anchor="end", bold=True, dx=-4, dy=10),
            ]
        panels.append(Panel(Axis(-1.2, 1.2), Axis(-1.55, 1.25), shapes, min_width=150, height=190, equal_aspect=True))
    residual = [sinusoidal_shift_residual(step, range(CHECKED), dim, base) for step in steps]
    finding = sentence_parts(
        lambda **slots: t("rotation_finding", last=CHECKED - 1, **slots),
        delta=delta.stop_text,
        residual=delta.texts(exponent_text(f"{value:.1e}") for value in residual),
        angle=delta.texts(_degrees(steps, theta[0])),
    )
    return Film(
        "rotation",
        Scene(panels, (delta, i), finding),
        lambda: (
            {"delta": steps, "residual": residual} | {f"turn_{j}": np.multiply(steps, theta[j]) for j in range(CIRCLES)}
        ),
        f"""
        import numpy as np
        from rope_core.theory.encodings.additive import sinusoidal_shift_matrix, sinusoidal_shift_residual
        print(sinusoidal_shift_matrix(delta, {dim}, {base!r}), np.degrees(delta))
        print("i to", {CHECKED - 1}, "residual", sinusoidal_shift_residual(delta, range({CHECKED}), {dim}, {base!r}))
        """,
    )
