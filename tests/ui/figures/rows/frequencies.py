"""The frequencies page's figures."""

import math

import numpy as np

from rope_core.theory import frequency_demo
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.frequencies import digits as digits_
from ui.figures.frequencies import drawn, spans, tables
from ui.text.words import Words

THETA = [700.0 ** (-2 * i / 16) for i in range(8)]
WAVES = [2 * math.pi / theta for theta in THETA]


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def heat(t: Words) -> str:
    never = sum(wave > 300 for wave in WAVES)
    assert 0 < never < 8
    ends = {"first": number(WAVES[0]), "last": number(WAVES[-1])}
    step = -(-9000 // tables.SAMPLED)
    assert 9000 / step <= tables.SAMPLED
    return t("heat_finding", base="700", count=never, pairs=8, context="300", **ends) + t("heat_step", step=step)


def base_choice(t: Words) -> str:
    sums = np.cos(np.outer(np.arange(100_000), THETA)).sum(axis=1)
    first = int(np.argmax(sums < 0))
    ends = {"last": number(WAVES[-1]), "times": f"{WAVES[-1] / 256:,.3g}"}
    until = t("base_until", until=f"{first - 1:,}", share=f"{100 * first / 256:,.0f}")
    return t("base_finding", base="700", **ends) + until


def rulers(t: Words) -> str:
    fine, reach = [0.25 / theta for theta in THETA], frequency_demo.rulers(ROPE, 0.25).longest
    return t(
        "rulers_finding",
        error=0.25,
        fine=number(fine[0]),
        reach=number(reach[0]),
        fine_last=number(fine[-1]),
        reach_last=number(reach[-1]),
        one=sum(each <= 1 for each in fine),
        whole=int((reach > 256).sum()),
        pairs=8,
    )


def repeats(t: Words) -> str:
    alike = np.cos(np.outer(np.arange(256), THETA)).mean(axis=1)
    late = math.ceil(WAVES[0])
    at = late + int(alike[late:].argmax())
    return t("repeats_finding", first=number(WAVES[0]), span="256", best=f"{alike[at]:.3f}", at=at)


def wave(t: Words) -> str:
    angle = 50 * THETA[3]
    theta, turns = f"{THETA[3]:.4g}", number(angle / (2 * math.pi))
    return t("wave_finding", i=3, theta=theta, window="50", angle=number(angle), turns=turns)


def digits(t: Words) -> str:
    beta = 300.0 ** (2 / 8)
    own = [math.floor(77 / beta**m) % beta for m in range(4)]
    shown = ", ".join(f"{digit:.3g}" for digit in own)
    return t("digits_finding", position="77", beta=f"{beta:.5g}", digits=shown, d=8)


PAIRS = {"x": "axis.pair"}
ROWS = [
    Row("frequencies", spans.base_choice, (ROPE,), {"x": "field.base", "y": "tokens"}, base_choice),
    Row("frequencies", spans.rulers, (ROPE, 0.25), PAIRS | {"y": "distance"}, rulers),
    Row("frequencies", spans.repeats, (ROPE,), {"x": "distance_plus", "y": "similarity"}, repeats),
    Row("frequencies", spans.wave, (ROPE, 3, 50), {"y": "radians", "x2": "axis.position"}, wave),
]
STOPS = (100.0, 700.0, 5e4), (300, 4096)
FILMS = [
    FilmRow("frequencies", tables.heat, (16, *STOPS, "sin", 9000), {"base": 700, "train_len": 300}, heat),
    FilmRow("frequencies", digits_.digits, (8, 300.0, digits_.positions(77)), {"position": 77}, digits),
    FilmRow("frequencies", drawn.unfinished, (16, 500), {}, to_draw),
]
