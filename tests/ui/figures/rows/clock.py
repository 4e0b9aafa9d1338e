"""The clock page's figures."""

from __future__ import annotations

import numpy as np

from rope_core.theory import clock, extension
from tests.support.figures import ROPE, Row, found
from ui.figures.clock import hands, schemes
from ui.text.words import Words

LENGTH = 1024
SLOWED = extension.clocks(clock.WALL, {name: {} for name in extension.compared()}, LENGTH, 256)[0]


def turning(t: Words) -> str:
    step = {name: float(each.separation(1.0)[0]) for name, each in SLOWED.items()}
    label = {name: t(f"scheme.{name}") for name in SLOWED}
    kept = [label[name] for name in SLOWED if np.isclose(step[name], 6.0)]
    slow = [f"{label[name]} ({step[name]:.3g}°)" for name in SLOWED if not np.isclose(step[name], 6.0)]
    spans = []
    for name, each in SLOWED.items():
        hours = each.once_round / 3600
        spans.append(label[name] + t("span", hours=f"{hours:,.0f}" if hours >= 1000 else f"{hours:.4g}"))
    joined = {key: t("comma").join(names) for key, names in (("kept", kept), ("slow", slow), ("spans", spans))}
    return t("hands_finding", factor="4", **joined)


def heatmaps(t: Words) -> str:
    counts = [
        f"{t(f'scheme.{each.scheme}')}{t('colon')}{extension.unseen_pairs(ROPE, each.spectrum, LENGTH)}"
        for each in found(LENGTH)
    ]
    return t("heatmaps_finding", length="1,024", trained="256", pairs=8, counts=t("comma").join(counts))


def slowdowns(t: Words) -> str:
    slow, scaled = [], []
    for each in found(LENGTH):
        first = ROPE.theta[0] / each.spectrum.inv_freq[0]
        a, label = each.spectrum.attention_factor, t(f"scheme.{each.scheme}")
        slow += [f"{label} ×{first:.4g}"] if first > 1 + 1e-9 else []
        scaled += [f"{label} {a:.6g} (a² = {a * a:.6g})"] if a != 1 else []
    return t("slowdowns_finding", slow=t("comma").join(slow), scaled=t("comma").join(scaled))


def reading(t: Words) -> str:
    """The second hand goes 6 degrees a second, and a hand that is 4 times slower 1.5."""
    first = t("reading_finding", error="3", slower="4", fine="0.5", coarse="2")
    return first + t("reading_second", before="6", after="1.5", answer=t("told.False"))


def quoted(t: Words) -> str:
    def signed(seconds: float) -> str:
        return f"{seconds:+,.6g}".replace("-", "−") if abs(seconds) > 1e-6 else "0"

    wanted = {each.key: signed(each.once_round - 129_600) for each in clock.claims(3.0)}
    return t("quoted_finding", **wanted)


ROWS = [
    Row("clock", hands.hands, (SLOWED, 4.0), {}, turning),
    Row("clock", hands.reading, (3.0, 4.0), {"x": "time_apart", "y": "degrees_apart"}, reading),
    Row("clock", hands.quoted, (3.0,), {"x": "seconds"}, quoted),
    Row(
        "clock",
        schemes.heatmaps,
        (ROPE, found(LENGTH), LENGTH, True),
        {"x": "axis.position", "y": "axis.pair"},
        heatmaps,
    ),
    Row("clock", schemes.slowdowns, (ROPE, found(LENGTH)), {"x": "axis.pair", "y": "axis.slowdown"}, slowdowns),
]
