"""The position as a number in base beta, and what RoPE takes of its quotients."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import encodings
from ui.figures.colours import BLUE, GREEN, GREY, RED
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import axis, frame, headings, in_panel, line, panels, play, plot, split
from ui.text.words import Words

FRAMES = 48


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
