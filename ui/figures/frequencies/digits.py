"""The position as a number in base beta, and what RoPE takes of its quotients."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.encodings.digits import beta_digits, digit_phases, rope_beta
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import BLUE, GREEN, RED
from ui.film.scene import Axis, Mark, Panel, Scene, field_control, integer_window, sentence_parts
from ui.text.words import PageTexts

COUNTED = 47


def position_stops(value: int) -> tuple[int, ...]:
    """Return the positions to drag to: some about ``value``, and the powers of ten."""
    return tuple(sorted({0, *integer_window(value, COUNTED), *(10**e for e in range(7))}))


@cached_figure
def position_digits_film(width: int, base: float, at: tuple[int, ...], t: PageTexts) -> Film:
    """Return the positions' digits in base beta beside the cosine and sine that RoPE takes of the same quotients."""
    rope = rc.Rope(width, base)
    beta, pairs = rope_beta(rope), np.arange(rope.pairs)
    position = field_control(t, "position", at, play_seconds=14.0)
    own = np.array([beta_digits(each, beta, rope.pairs) for each in at])
    phases = np.array([digit_phases(each, beta, rope.pairs) for each in at])

    def sticks(heights: Array, colour: str, aside: float) -> list[Mark]:
        x = pairs + aside
        drawn = np.full((*heights.shape, 3), [0.0, 1.0, np.nan]) * heights[..., None]
        stick = marks.line(np.repeat(x, 3), position.numbers(drawn.reshape(len(at), -1)), colour, 5)
        return [stick, marks.dot(x, position.numbers(heights), colour, 7)]

    x = Axis(-0.5, rope.pairs - 0.4, tuple((float(i), str(i)) for i in pairs.tolist()), t("digit_axis"))
    top = 1.08 * beta
    waves = [*sticks(np.cos(phases), BLUE, -0.07), *sticks(np.sin(phases), RED, 0.07)]
    names = [
        marks.text(x.high, 1.3, text, colour, anchor="end", bold=True, dx=dx)
        for text, colour, dx in (("cos", BLUE, -44), ("sin", RED, -8))
    ]
    panels = (
        Panel(
            x,
            Axis(0.0, top, ((0.0, "0"), (beta, f"{beta:.3g}")), t("digit")),
            sticks(own, GREEN, 0.0),
            t("digits_title"),
        ),
        Panel(
            x, Axis(-1.1, 1.45, ((-1.0, "−1"), (0.0, "0"), (1.0, "1")), "cos, sin"), [*waves, *names], t("waves_title")
        ),
    )
    finding = sentence_parts(
        lambda **slots: t("digits_finding", beta=f"{beta:.3g}", d=width, **slots),
        position=position.texts(f"{each:,}" for each in at),
        digits=position.texts(", ".join(f"{digit:.3g}" for digit in row) for row in own),
    )
    return Film(
        "digits",
        Scene(panels, (position,), finding),
        lambda: (
            {"position": at}
            | {f"digit_{i}": own[:, i] for i in pairs.tolist()}
            | {f"phase_{i}": phases[:, i] for i in pairs.tolist()}
        ),
        f"""
        import rope_core as rc
        from rope_core.theory.encodings.digits import beta_digits, digit_phases, rope_beta
        rope = rc.Rope({width}, {base!r})
        beta = rope_beta(rope)
        print("d", rope.dim, "beta", beta)
        print(beta_digits(position, beta, {rope.pairs}), digit_phases(position, beta, {rope.pairs}))
        """,
    )
