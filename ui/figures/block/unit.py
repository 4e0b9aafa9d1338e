"""Activations with their derivatives, gated units, and what keeps logits small."""

from __future__ import annotations

import numpy as np

from rope_core.theory.block import GATES, activate, gated, gated_width, qk_norm_bound, soft_cap
from rope_core.theory.block.demo import largest_logits, pulled_logits
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, ORANGE, RED, Drawing, kept, styled
from ui.figures.plain import make_subplots
from ui.text.words import Words

CURVES = ("relu", "gelu", "silu", "relu2")
UNITS = ("glu", "reglu", "geglu", "swiglu")
# A 7B model's width, for the example of equal parameter counts.
MODEL_WIDTH = 4096
Z = np.linspace(-4, 4, 161)


def curve(x: object, y: object, name: str, bold: bool, colour: str, legend: bool = True) -> go.Scatter:
    """A line, thick where it is the one asked for."""
    line = {"width": 6 if bold else 3, "color": colour}
    opacity = 1.0 if bold else 0.55
    return go.Scatter(
        x=x, y=y, mode="lines", name=name, line=line, opacity=opacity, showlegend=legend, legendgroup=name
    )


@kept
def activations(shown: str, at: float, t: Words) -> Drawing:
    """The four curves at the left, their derivatives at the right, the point of the chosen one marked."""
    figure = make_subplots(1, 2, horizontal_spacing=0.12, subplot_titles=(t("curve"), t("derivative")))
    numbers = {name: activate(name, Z) for name in CURVES}
    for name, colour in zip(CURVES, (GREY, BLUE, RED, GREEN), strict=True):
        for side, values in enumerate(numbers[name]):
            line = curve(Z, values, t(f"unit.{name}"), name == shown, colour, legend=side == 0)
            figure.add_trace(line, 1, 1 + side)
    value, slope = (float(part) for part in activate(shown, at))
    for side, y in enumerate((value, slope)):
        mark = {"size": 15, "color": ORANGE}
        figure.add_trace(go.Scatter(x=[at], y=[y], mode="markers", marker=mark, showlegend=False), 1, 1 + side)
    styled(figure, height=370, x="z")
    figure.update_layout(legend={"y": 1.1})
    figure.update_yaxes(range=[-0.6, 4], row=1, col=1)
    figure.update_yaxes(range=[-0.4, 2.4], row=1, col=2)
    lowest = float(numbers[shown][0].min())
    return Drawing(
        "activations",
        figure,
        t(
            "activations_finding",
            name=t(f"unit.{shown}"),
            z=f"{at:g}",
            value=f"{value:.4f}",
            slope=f"{slope:.4f}",
            lowest=f"{lowest:.4f}",
        ),
        lambda: {"z": Z} | {f"{name}_{part}": numbers[name][i] for name in CURVES for i, part in ((0, "f"), (1, "df"))},
        f"""
        from rope_core.theory.block import activate
        print(activate("{shown}", [{at!r}]))
        """,
    )


@kept
def gates(shown: str, value: float, t: Words) -> Drawing:
    """What the gated units let through of one value while the gate's input moves."""
    figure = go.Figure()
    numbers = {name: gated(name, Z, np.full_like(Z, value)) for name in UNITS}
    for name, colour in zip(UNITS, (GREY, GREEN, BLUE, RED), strict=True):
        figure.add_trace(curve(Z, numbers[name], t(f"unit.{name}"), name == shown, colour))
    styled(figure, height=340, x=t("gate_axis"), y=t("gate_out"))
    one = float(gated(shown, [1.0], [value])[0])
    minus = float(gated(shown, [-1.0], [value])[0])
    wide = 4 * MODEL_WIDTH
    return Drawing(
        "gates",
        figure,
        t(
            "gates_finding",
            name=t(f"unit.{shown}"),
            gate=t(f"gate.{GATES[shown]}"),
            value=f"{value:g}",
            one=f"{one:.4f}",
            minus=f"{minus:.4f}",
            dim=f"{MODEL_WIDTH:,}",
            wide=f"{wide:,}",
            width=f"{gated_width(wide):,.1f}",
        ),
        lambda: {"gate": Z, **numbers},
        f"""
        from rope_core.theory.block import gated, gated_width
        print(gated("{shown}", [1.0, -1.0], [{value!r}, {value!r}]), gated_width({wide}))
        """,
    )


@kept
def z_loss(shift: float, coefficient: float, t: Words) -> Drawing:
    """Cross entropy and z-loss while all logits move together."""
    shifts = np.linspace(-60, 60, 121)
    entropy, extra = pulled_logits(shifts, coefficient)
    here = [float(part[0]) for part in pulled_logits([shift], coefficient)]
    figure = go.Figure(
        [
            curve(shifts, entropy, t("cross_entropy"), True, GREY),
            curve(shifts, entropy + extra, t("with_z"), True, RED),
            go.Scatter(
                x=[shift], y=[sum(here)], mode="markers", marker={"size": 16, "color": ORANGE}, showlegend=False
            ),
        ]
    )
    styled(figure, height=340, x=t("shift_axis"), y=t("loss_axis"))
    figure.update_yaxes(rangemode="tozero")
    spread = float(np.ptp(entropy))
    lowest = float(shifts[np.argmin(extra)])
    return Drawing(
        "z_loss",
        figure,
        t("z_finding", spread=f"{spread:.1e}", shift=f"{shift:g}", extra=f"{here[1]:.4g}", lowest=f"{lowest:g}"),
        lambda: {"shift": shifts, "cross_entropy": entropy, "z_loss": extra},
        f"""
        from rope_core.theory.block.demo import pulled_logits
        print(pulled_logits([{shift!r}], {coefficient!r}))
        """,
    )


@kept
def capped(cap: float, at: float, t: Words) -> Drawing:
    """The soft cap and its derivative."""
    z = np.linspace(-200, 200, 161)
    out, slope = soft_cap(z, cap)
    here, left = (float(part[0]) for part in soft_cap([at], cap))
    figure = make_subplots(1, 2, horizontal_spacing=0.14, subplot_titles=(t("capped"), t("derivative")))
    figure.add_trace(curve(z, z, t("uncapped"), False, GREY), 1, 1)
    figure.add_trace(curve(z, out, t("capped"), True, RED), 1, 1)
    figure.add_trace(curve(z, slope, t("derivative"), True, BLUE, legend=False), 1, 2)
    for side, y in enumerate((here, left)):
        mark = {"size": 16, "color": ORANGE}
        figure.add_trace(go.Scatter(x=[at], y=[y], mode="markers", marker=mark, showlegend=False), 1, 1 + side)
    styled(figure, height=350, x=t("logit"))
    figure.update_layout(legend={"y": 1.1})
    figure.update_yaxes(range=[-200, 200], row=1, col=1)
    figure.update_yaxes(range=[0, 1.05], row=1, col=2)
    return Drawing(
        "capped",
        figure,
        t("cap_finding", at=f"{at:g}", cap=f"{cap:g}", here=f"{here:.3f}", slope=f"{left:.3g}"),
        lambda: {"logit": z, "capped": out, "derivative": slope},
        f"""
        from rope_core.theory.block import soft_cap
        print(soft_cap([{at!r}], {cap!r}))
        """,
    )


@kept
def qk_norm(dim: int, scale: float, t: Words) -> Drawing:
    """The largest logit of rotated heads that grow, with and without QK-norm, and its bound."""
    scales = np.geomspace(0.25, 64, 33)
    plain, normed = largest_logits(dim, scales)
    here = [float(part[0]) for part in largest_logits(dim, [scale])]
    bound = qk_norm_bound(dim)
    figure = go.Figure(
        [
            curve(scales, plain, t("without"), True, GREY),
            curve(scales, normed, t("with_qk"), True, RED),
            curve(scales, np.full_like(scales, bound), t("bound"), False, GREEN),
            go.Scatter(x=[scale] * 2, y=here, mode="markers", marker={"size": 15, "color": ORANGE}, showlegend=False),
        ]
    )
    styled(figure, height=350, x=t("size_axis"), y=t("largest"))
    figure.update_xaxes(type="log", tickvals=[0.25, 1, 4, 16, 64])
    figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    return Drawing(
        "qk_norm",
        figure,
        t("qk_finding", scale=f"{scale:g}", plain=f"{here[0]:.4g}", normed=f"{here[1]:.4g}", bound=f"{bound:.4g}"),
        lambda: {"scale": scales, "plain": plain, "normed": normed},
        f"""
        from rope_core.theory.block import qk_norm_bound
        from rope_core.theory.block.demo import largest_logits
        print(largest_logits({dim}, [{scale!r}]), qk_norm_bound({dim}))
        """,
    )
