"""The one picture of the front page."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from ui.figures.colours import BLUE, GREY, RED
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import axis, frame, line, note, play, plot
from ui.text.words import Words

COLUMNS = 4
DIALS = 8
FRAMES = 64
RADIUS = 0.44


def shown(rope: rc.Rope) -> list[int]:
    """Pairs spread from the fastest to the slowest, at most DIALS of them."""
    return sorted(set(np.linspace(0, rope.pairs - 1, min(DIALS, rope.pairs)).round().astype(int).tolist()))


def centre(dial: int) -> tuple[int, float]:
    """Where dial j stands: rows of COLUMNS, downwards, with room for a label below each."""
    return dial % COLUMNS, -1.5 * (dial // COLUMNS)


def hands(angle: np.ndarray) -> tuple[list[float | None], list[float | None]]:
    """Lines from each dial's centre to its rim at ``angle[j]``, broken between dials."""
    x: list[float | None] = []
    y: list[float | None] = []
    for j, a in enumerate(angle):
        right, up = centre(j)
        x += [right, round(right + RADIUS * float(np.cos(a)), 4), None]
        y += [up, round(up + RADIUS * float(np.sin(a)), 4), None]
    return x, y


@kept
def dials(rope: rc.Rope, position: int, t: Words) -> Drawing:
    """One dial per chosen pair; every token turns each hand by its own angle."""
    pairs = shown(rope)
    positions = np.arange(position, position + FRAMES)
    angle = positions[:, None] * rope.theta[pairs]
    rim = np.linspace(0, 2 * np.pi, 61)
    rims = [(right + RADIUS * np.cos(rim), up + RADIUS * np.sin(rim)) for right, up in map(centre, range(len(pairs)))]
    rim_x = [v for across, _ in rims for v in (*across.round(4).tolist(), None)]
    rim_y = [v for _, upward in rims for v in (*upward.round(4).tolist(), None)]
    head = {"size": 10, "color": RED}
    labels = []
    for j, pair in enumerate(pairs):
        wave = rope.wavelength[pair]
        text = t("dial", i=pair, wave=f"{wave:,.3g}" if wave < 100 else f"{wave:,.0f}")
        right, up = centre(j)
        labels.append(note(text, right, up - RADIUS, yanchor="top", font={"size": 15}))
    figure = plot(
        [
            line(rim_x, rim_y, GREY, 3, hoverinfo="skip"),
            line(*hands(angle[0]), BLUE, 6, mode="lines+markers", marker=head),
        ],
        height=390,
        frames=[
            frame(m, {1: dict(zip("xy", hands(row), strict=True))}, title={"text": t("token", m=m)})
            for m, row in zip(positions.tolist(), angle, strict=True)
        ],
        showlegend=False,
        title={"text": t("token", m=position), "x": 0.02, "y": 0.97, "font": {"size": 24}},
        updatemenus=play(t("play"), 200, redraw=True, y=1.02),
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        annotations=labels,
        xaxis=axis(visible=False, range=[-0.6, COLUMNS - 0.4]),
        yaxis=axis(visible=False, range=[-2.5, 0.5], scaleanchor="x"),
    )
    return Drawing(
        "dials",
        figure,
        t("dials_finding", fast=f"{rope.wavelength[0]:.1f}", slow=f"{rope.wavelength[-1]:,.0f}", pairs=rope.pairs),
        lambda: {"position": positions} | {f"angle of pair {p}": angle[:, j] for j, p in enumerate(pairs)},
        f"""
        import numpy as np
        import rope_core as rc
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        print(np.outer(range({position}, {position + FRAMES}), rope.theta[{pairs}]))
        """,
    )
