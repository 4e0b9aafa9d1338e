"""Softmax against length: what is left for one key, and what models multiply scores by."""

from __future__ import annotations

import numpy as np

from rope_core.rope import Array
from rope_core.theory import softmax as temperature
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import (
    LOG,
    dot_trace,
    line_trace,
    panel_axes,
    panel_domains,
    plotly_axis,
    plotly_figure,
    trace_in_panel,
)
from ui.film.colours import BLUE, GREEN, GREY, LINE, ORANGE
from ui.text.words import PageTexts

FLOOR = 8192
SMALLEST = 16
CHECKED = (64, 256, 1024)
DRAWS = 64
LOOKS = {"plain": (GREY, "solid"), "square": (BLUE, "solid"), "logn": (GREEN, "solid"), "floor": (ORANGE, "solid")}


def logit_scales(lengths: Array, train_len: int) -> dict[str, Array]:
    """Return what each recipe multiplies logits by at each length, the factor being length over trained length."""
    factors = np.maximum(lengths / train_len, 1.0)
    return {
        "plain": np.ones(lengths.size),
        "square": np.array([temperature.yarn_logit_scale(float(f)) for f in factors]),
        "logn": temperature.log_length_scale(lengths, train_len),
        "floor": temperature.llama4_query_scale(lengths - 1, FLOOR),
    }


def log_spaced_lengths(train_len: int) -> Array:
    """Lengths from a few keys to 64 times the trained length, evenly on a logarithmic axis."""
    return np.unique(np.rint(np.geomspace(SMALLEST, 64 * max(train_len, SMALLEST), 97)))


@cached_figure
def attention_entropy_chart(train_len: int, signal: float, t: PageTexts) -> Drawing:
    """Entropy of one attention row, and the weight of the target key, against the number of keys."""
    lengths = log_spaced_lengths(train_len)
    results = {
        name: temperature.expected_entropy_and_weight(lengths, scale, signal)
        for name, scale in logit_scales(lengths, train_len).items()
    }
    drawn = [temperature.random_attention_means(n, 1.0, signal, DRAWS) for n in CHECKED]
    expected = temperature.expected_entropy_and_weight(CHECKED, 1.0, signal)
    off = float(np.max(np.abs(np.array([each.meant for each in drawn]) - expected[1])))
    data = []
    for name, (entropy, meant) in results.items():
        colour, dash = LOOKS[name]
        label = t(f"scale.{name}")
        data.append(line_trace(lengths, entropy.round(5), colour, name=label, dash=dash))
        share = (100 * meant).round(5)
        data.append(trace_in_panel(2, line_trace(lengths, share, colour, name=label, dash=dash, showlegend=False)))
    cross, label = {"symbol": "x"}, t("drawn", count=DRAWS)
    data.append(dot_trace(CHECKED, [row.entropy for row in drawn], LINE, 12, label, marker=cross))
    shares = [100 * row.meant for row in drawn]
    data.append(trace_in_panel(2, dot_trace(CHECKED, shares, LINE, 12, label, marker=cross, showlegend=False)))
    x = plotly_axis(t("length_log"), **LOG)
    left = plotly_axis(t("entropy_axis"))
    right = plotly_axis(t("meant_axis"), **LOG, side="right", dtick=1)
    figure = plotly_figure(
        data, height=340, margin={"t": 70}, **panel_axes([(x, left), (x, right)], panel_domains([1, 1], 0.06))
    )
    before = float(temperature.expected_entropy_and_weight([train_len], 1.0, signal)[1][0])
    after = {name: float(values[1][-1]) for name, values in results.items()}
    return Drawing(
        "softmax",
        figure,
        t(
            "softmax_finding",
            trained=f"{train_len:,}",
            last=f"{int(lengths[-1]):,}",
            before=f"{100 * before:.3g}",
            after=f"{100 * after['plain']:.3g}",
            yarn=f"{100 * after['square']:.3g}",
            logn=f"{100 * after['logn']:.3g}",
            floor=f"{100 * after['floor']:.3g}",
            off=f"{100 * off:.2g}",
        ),
        lambda: (
            {"length": lengths}
            | {f"{name}_entropy": values[0] for name, values in results.items()}
            | {f"{name}_meant": values[1] for name, values in results.items()}
        ),
        f"""
        from rope_core.theory import softmax as temperature
        n, trained, signal = {int(lengths[-1])}, {train_len}, {signal!r}
        print(trained, temperature.expected_entropy_and_weight([trained], 1.0, signal))
        scales = temperature.yarn_logit_scale(n / trained), temperature.log_length_scale([n], trained)[0]
        for scale in (1.0, *scales, temperature.llama4_query_scale([n - 1], {FLOOR})[0]):
            print(n, scale, temperature.expected_entropy_and_weight([n], scale, signal))
        drawn = [temperature.random_attention_means(n, 1.0, signal, {DRAWS}).meant for n in {CHECKED}]
        print(100 * max(abs(drawn - temperature.expected_entropy_and_weight({CHECKED}, 1.0, signal)[1])))
        """,
        wide=True,
    )
