"""Activations with their derivatives, gated units, and what keeps logits small."""

from __future__ import annotations

import numpy as np

from rope_core.theory.block import GATES, activate, gated, gated_width, qk_norm_bound, soft_cap
from rope_core.theory.block.demo import largest_logits, pulled_logits
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import LOG, POWERS, Props, axis, dots, headings, in_panel, line, panels, plot, split
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, RED
from ui.text.words import Words

CURVES = ("relu", "gelu", "silu", "relu2")
UNITS = ("glu", "reglu", "geglu", "swiglu")
# A 7B model's width, for the example of equal parameter counts.
MODEL_WIDTH = 4096
Z = np.linspace(-4, 4, 161)


def curve(x: object, y: object, name: str, bold: bool, colour: str, legend: bool = True) -> Props:
    """Return a line, thick where it is the chosen one."""
    look: Props = {"opacity": 1.0 if bold else 0.55, "showlegend": legend, "legendgroup": name}
    return line(x, y, colour, 6 if bold else 3, name, **look)


@kept
def activations(shown: str, at: float, t: Words) -> Drawing:
    """Draw the four curves at the left, their derivatives at the right, the point of the chosen one marked."""
    columns = split([1, 1], 0.12)
    numbers = {name: activate(name, Z) for name in CURVES}
    data = [
        in_panel(1 + side, curve(Z, values, t(f"unit.{name}"), name == shown, colour, legend=side == 0))
        for name, colour in zip(CURVES, (GREY, BLUE, RED, GREEN), strict=True)
        for side, values in enumerate(numbers[name])
    ]
    value, slope = (float(part) for part in activate(shown, at))
    data += [in_panel(1 + side, dots([at], [y], ORANGE, 15)) for side, y in enumerate((value, slope))]
    figure = plot(
        data,
        height=370,
        legend={"y": 1.1},
        annotations=headings([t("curve"), t("derivative")], columns),
        **panels([(axis("z"), axis(range=[-0.6, 4])), (axis("z"), axis(range=[-0.4, 2.4]))], columns),
    )
    lowest = float(numbers[shown][0].min())
    return Drawing(
        "activations",
        figure,
        t(
            "activations_finding",
            name=t(f"unit.{shown}"),
            z=f"{at:g}",
            value=f"{value:.3g}",
            slope=f"{slope:.3g}",
            lowest=f"{lowest:.3g}",
        ),
        lambda: {"z": Z} | {f"{name}_{part}": numbers[name][i] for name in CURVES for i, part in ((0, "f"), (1, "df"))},
        f"""
        from rope_core.theory.block import activate
        print(activate("{shown}", [{at!r}]))
        """,
    )


@kept
def gates(shown: str, value: float, t: Words) -> Drawing:
    """Draw what the gated units let through of one value while the gate's input moves."""
    numbers = {name: gated(name, Z, np.full_like(Z, value)) for name in UNITS}
    figure = plot(
        [
            curve(Z, numbers[name], t(f"unit.{name}"), name == shown, colour)
            for name, colour in zip(UNITS, (GREY, GREEN, BLUE, RED), strict=True)
        ],
        height=340,
        xaxis=axis(t("gate_axis")),
        yaxis=axis(t("gate_out")),
    )
    plus = float(gated(shown, [1.0], [value])[0])
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
            one=f"{plus:.3g}",
            minus=f"{minus:.3g}",
            dim=f"{MODEL_WIDTH:,}",
            wide=f"{wide:,}",
            width=f"{gated_width(wide):,.0f}",
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
    figure = plot(
        [
            curve(shifts, entropy, t("cross_entropy"), True, GREY),
            curve(shifts, entropy + extra, t("with_z"), True, RED),
            dots([shift], [sum(here)], ORANGE, 16),
        ],
        height=340,
        xaxis=axis(t("shift_axis")),
        yaxis=axis(t("loss_axis"), rangemode="tozero"),
    )
    spread = float(np.ptp(entropy))
    lowest = float(shifts[np.argmin(extra)])
    return Drawing(
        "z_loss",
        figure,
        t("z_finding", spread=f"{spread:.1e}", shift=f"{shift:g}", extra=f"{here[1]:.3g}", lowest=f"{lowest:g}"),
        lambda: {"shift": shifts, "cross_entropy": entropy, "z_loss": extra},
        f"""
        from rope_core.theory.block.demo import pulled_logits
        print(pulled_logits([{shift!r}], {coefficient!r}))
        """,
    )


@kept
def capped(cap: float, at: float, t: Words) -> Drawing:
    """Draw the soft cap and its derivative."""
    z = np.linspace(-200, 200, 161)
    out, slope = soft_cap(z, cap)
    here, left = (float(part[0]) for part in soft_cap([at], cap))
    columns, x = split([1, 1], 0.14), axis(t("logit"))
    figure = plot(
        [
            curve(z, z, t("uncapped"), False, GREY),
            curve(z, out, t("capped"), True, RED),
            in_panel(2, curve(z, slope, t("derivative"), True, BLUE, legend=False)),
            *(in_panel(1 + side, dots([at], [y], ORANGE, 16)) for side, y in enumerate((here, left))),
        ],
        height=350,
        legend={"y": 1.1},
        annotations=headings([t("capped"), t("derivative")], columns),
        **panels([(x, axis(range=[-200, 200])), (x, axis(range=[0, 1.05]))], columns),
    )
    return Drawing(
        "capped",
        figure,
        t("cap_finding", at=f"{at:g}", cap=f"{cap:g}", here=f"{here:.3g}", slope=f"{left:.3g}"),
        lambda: {"logit": z, "capped": out, "derivative": slope},
        f"""
        from rope_core.theory.block import soft_cap
        print(soft_cap([{at!r}], {cap!r}))
        """,
    )


@kept
def qk_norm(dim: int, scale: float, t: Words) -> Drawing:
    """Draw the largest logit of rotated heads that grow, with and without QK-norm, and its bound."""
    scales = np.geomspace(0.25, 64, 33)
    plain, normed = largest_logits(dim, scales)
    here = [float(part[0]) for part in largest_logits(dim, [scale])]
    bound = qk_norm_bound(dim)
    figure = plot(
        [
            curve(scales, plain, t("without"), True, GREY),
            curve(scales, normed, t("with_qk"), True, RED),
            curve(scales, np.full_like(scales, bound), t("bound"), False, GREEN),
            dots([scale] * 2, here, ORANGE, 15),
        ],
        height=350,
        xaxis=axis(t("size_axis"), **LOG, tickvals=[0.25, 1, 4, 16, 64]),
        yaxis=axis(t("largest"), **POWERS),
    )
    return Drawing(
        "qk_norm",
        figure,
        t("qk_finding", scale=f"{scale:g}", plain=f"{here[0]:.3g}", normed=f"{here[1]:.3g}", bound=f"{bound:.3g}"),
        lambda: {"scale": scales, "plain": plain, "normed": normed},
        f"""
        from rope_core.theory.block import qk_norm_bound
        from rope_core.theory.block.demo import largest_logits
        print(largest_logits({dim}, [{scale!r}]), qk_norm_bound({dim}))
        """,
    )
