"""Figures of the attention page: interpolation's theorem, and softmax against length."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import interpolation
from rope_core.theory import softmax as temperature
from rope_core.theory.extension import cell_edges
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import LOG, axis, dots, in_panel, line, panels, plot, split, vline
from ui.film.colours import BLUE, GREEN, GREY, LINE, ORANGE, PURPLE, RED
from ui.text.words import Words

POINTS = 300
PAPER = rc.Rope(128, 10_000.0, 2048)
FAR = 2**17
FLOOR = 8192
SMALLEST = 16
CHECKED = (64, 256, 1024)
DRAWS = 64
LOOKS = {
    "plain": (GREY, "solid"),
    "square": (BLUE, "solid"),
    "light": (PURPLE, "dash"),
    "logn": (GREEN, "solid"),
    "floor": (ORANGE, "solid"),
}


def ratio_curve(rope: rc.Rope, d: Array) -> Array:
    """Extrapolation bound over interpolation bound at each distance."""
    return interpolation.extrapolation_bound(rope, d) / interpolation.interpolation_bound(rope)


def ratio_text(value: float) -> str:
    """Return a ratio with three digits, thousands separated."""
    return f"{float(f'{value:.3g}'):,g}"


@lru_cache(maxsize=32)
def theorem(rope: rc.Rope, t: Words) -> Drawing:
    """How many times smaller the interpolation bound is than the extrapolation bound, for the paper and for you."""
    near = interpolation.compare_bounds(PAPER, PAPER.train_len)
    far = interpolation.compare_bounds(PAPER, FAR)
    mine = interpolation.compare_bounds(rope, min(rope.train_len, 4096))
    d = np.union1d(cell_edges(FAR, POINTS, True), [near.at, far.at, mine.at])
    curves = {"paper": ratio_curve(PAPER, d), "mine": ratio_curve(rope, d)}
    same = (rope.dim, rope.base) == (PAPER.dim, PAPER.base)
    looks = (("paper", BLUE, "solid"), ("mine", GREEN, "dash"))[: 1 if same else 2]
    data = [
        line(
            d,
            curves[name].round(1),
            colour,
            name=t(f"ratio_{name}", dim=rope.dim, base=f"{rope.base:,.10g}"),
            dash=dash,
        )
        for name, colour, dash in looks
    ]
    printed = t("printed", ratio=ratio_text(near.printed))
    figure = plot(
        [*data, line([1, FAR], [near.printed, near.printed], RED, 3, printed, "dot")],
        margin={"t": 70},
        xaxis=axis(t("distance_log"), **LOG),
        yaxis=axis(t("ratio_axis"), **LOG, dtick="D2", tickformat=",d"),
    )
    return Drawing(
        "theorem",
        figure,
        t(
            "theorem_finding",
            printed=ratio_text(near.printed),
            near=ratio_text(near.smallest),
            trained=f"{PAPER.train_len:,}",
            far=ratio_text(far.smallest),
            at=f"{far.at:,}",
            reach=f"{FAR:,}",
            dim=rope.dim,
            base=f"{rope.base:,.10g}",
            mine=ratio_text(mine.printed),
            mine_true=ratio_text(mine.smallest),
            mine_reach=f"{min(rope.train_len, 4096):,}",
        ),
        lambda: {"distance": d, "paper_ratio": curves["paper"], "your_ratio": curves["mine"]},
        f"""
        import rope_core as rc
        from rope_core.theory.interpolation import compare_bounds
        print(compare_bounds(rc.Rope(128, 10_000.0), {PAPER.train_len}))
        print(compare_bounds(rc.Rope({rope.dim}, {rope.base!r}), {min(rope.train_len, 4096)}))
        """,
    )


def logit_scales(lengths: Array, train_len: int) -> dict[str, Array]:
    """Return what each recipe multiplies logits by at each length, the factor being length over trained length."""
    factors = np.maximum(lengths / train_len, 1.0)
    return {
        "plain": np.ones(lengths.size),
        "square": np.array([temperature.factor_scale(float(f)) for f in factors]),
        "light": np.array([temperature.factor_scale(float(f), 0.707) for f in factors]),
        "logn": temperature.log_length_scale(lengths, train_len),
        "floor": temperature.floor_log_scale(lengths - 1, FLOOR),
    }


def lengths_for(train_len: int) -> Array:
    """Lengths from a few keys to 64 times the trained length, evenly on a logarithmic axis."""
    return np.unique(np.rint(np.geomspace(SMALLEST, 64 * max(train_len, SMALLEST), 97)))


@lru_cache(maxsize=32)
def scales(train_len: int, t: Words) -> Drawing:
    """Draw the factor that each recipe puts on logits, against the length in use."""
    lengths = lengths_for(train_len)
    results = logit_scales(lengths, train_len)
    figure = plot(
        [
            line(lengths, values.round(4), LOOKS[name][0], name=t(f"scale.{name}"), dash=LOOKS[name][1])
            for name, values in results.items()
        ],
        margin={"t": 70},
        shapes=[vline(train_len, LINE, 3, "dot")],
        xaxis=axis(t("length_log"), **LOG),
        yaxis=axis(t("scale_axis")),
    )
    return Drawing(
        "scales",
        figure,
        t(
            "scales_finding",
            last=f"{int(lengths[-1]):,}",
            root=f"{temperature.factor_scale(float(lengths[-1] / train_len)) ** 0.5:.2f}",
            yarn=f"{results['square'][-1]:.2f}",
            light=f"{results['light'][-1]:.2f}",
            logn=f"{results['logn'][-1]:.2f}",
            floor=f"{results['floor'][-1]:.2f}",
        ),
        lambda: {"length": lengths, **results},
        f"""
        from rope_core.theory import softmax as temperature
        n, trained = {int(lengths[-1])}, {train_len}
        print(temperature.factor_scale(n / trained), temperature.factor_scale(n / trained, 0.707))
        print(temperature.log_length_scale([n], trained), temperature.floor_log_scale([n - 1], {FLOOR}))
        """,
    )


@kept
def softmax(train_len: int, signal: float, t: Words) -> Drawing:
    """Entropy of one attention row, and the weight of the target key, against the number of keys."""
    lengths = lengths_for(train_len)
    results = {
        name: temperature.expected_attention(lengths, scale, signal)
        for name, scale in logit_scales(lengths, train_len).items()
        if name != "light"
    }
    drawn = [temperature.attention_over(n, 1.0, signal, DRAWS) for n in CHECKED]
    expected = temperature.expected_attention(CHECKED, 1.0, signal)
    off = float(np.max(np.abs(np.array([each.meant for each in drawn]) - expected[1])))
    data = []
    for name, (entropy, meant) in results.items():
        colour, dash = LOOKS[name]
        label = t(f"scale.{name}")
        data.append(line(lengths, entropy.round(5), colour, name=label, dash=dash))
        share = (100 * meant).round(5)
        data.append(in_panel(2, line(lengths, share, colour, name=label, dash=dash, showlegend=False)))
    cross, label = {"symbol": "x"}, t("drawn", count=DRAWS)
    data.append(dots(CHECKED, [row.entropy for row in drawn], LINE, 12, label, marker=cross))
    shares = [100 * row.meant for row in drawn]
    data.append(in_panel(2, dots(CHECKED, shares, LINE, 12, label, marker=cross, showlegend=False)))
    x = axis(t("length_log"), **LOG)
    left = axis(t("entropy_axis"))
    right = axis(t("meant_axis"), **LOG, side="right", dtick=1)
    figure = plot(data, height=340, margin={"t": 70}, **panels([(x, left), (x, right)], split([1, 1], 0.06)))
    at = {
        name: (float(np.interp(train_len, lengths, values[1])), float(values[1][-1]))
        for name, values in results.items()
    }
    return Drawing(
        "softmax",
        figure,
        t(
            "softmax_finding",
            trained=f"{train_len:,}",
            last=f"{int(lengths[-1]):,}",
            before=f"{100 * at['plain'][0]:.3g}",
            after=f"{100 * at['plain'][1]:.3g}",
            yarn=f"{100 * at['square'][1]:.3g}",
            logn=f"{100 * at['logn'][1]:.3g}",
            floor=f"{100 * at['floor'][1]:.3g}",
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
        for scale in (1.0, temperature.factor_scale(n / trained), temperature.log_length_scale([n], trained)[0]):
            print(scale, temperature.expected_attention([n], scale, signal))
        """,
        wide=True,
    )
