"""Small figures as SVG text, for the report: no library, no script."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

import numpy as np

from rope_core.hf.ropes import HfRope

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 320, 70, 20, 16, 44
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666"
MOST_DOTS = 512


def spectrum_figure(rope: HfRope, t: Mapping[str, str]) -> str:
    """Wavelength of each pair on a logarithmic axis, tokens: as it runs, unscaled, and the trained length."""
    pairs = rope.inv_freq.size
    step = max(1, math.ceil(pairs / MOST_DOTS))
    index = np.arange(0, pairs, step)
    plain = 2.0 * np.pi / rope.unscaled[index]
    turning = rope.inv_freq[index] > 0
    runs = 2.0 * np.pi / np.where(turning, rope.inv_freq[index], 1.0)
    high = max(float(plain.max()), float(runs[turning].max(initial=1.0)), float(rope.train_len)) * 1.5
    low = min(float(plain.min()), float(runs[turning].min(initial=plain.min()))) / 1.5
    decades = math.log10(high) - math.log10(low)

    def x(pair: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * pair / max(pairs - 1, 1):.1f}"

    def y(tokens: float) -> str:
        return f"{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(tokens) - math.log10(low)) / decades:.1f}"

    line = " ".join(f"{x(i)},{y(w)}" for i, w in zip(index.tolist(), plain.tolist(), strict=True))
    dots = "".join(
        f'<circle cx="{x(i)}" cy="{y(w)}" r="2.5"/>'
        for i, w, on in zip(index.tolist(), runs.tolist(), turning.tolist(), strict=True)
        if on
    )
    ticks = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1, max(1, math.ceil(decades / 8)))
    grid = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(10.0**k)}" y2="{y(10.0**k)}" stroke="#ddd"/>'
        f'<text x="{LEFT - 8}" y="{y(10.0**k)}" text-anchor="end" dominant-baseline="middle">10<tspan dy="-5" '
        f'font-size="10">{k}</tspan></text>'
        for k in ticks
    )
    trained = y(float(rope.train_len))
    label = escape(f"{t['figure']}: {pairs}; {rope.train_len}")
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        f'font-family="system-ui,sans-serif" font-size="13">{grid}'
        f'<polyline points="{line}" fill="none" stroke="{GREY}" stroke-width="2"/>'
        f'<g fill="{BLUE}">{dots}</g>'
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{trained}" y2="{trained}" stroke="{ORANGE}" stroke-width="2" '
        f'stroke-dasharray="6 4"/>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(t["pair"])} (0 – {pairs - 1})</text>'
        f'<text x="{LEFT + 8}" y="{TOP}" dominant-baseline="hanging">{escape(t["tokens"])}</text></svg>'
    )
