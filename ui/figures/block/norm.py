"""Norms, what they cost, the gradients of a stack, and serial against parallel sub-layers."""

from __future__ import annotations

import numpy as np

from rope_core.theory.block import layer_norm, norm_cost, rms_norm
from rope_core.theory.block.demo import parallel_difference, stack_gradients
from rope_core.theory.demo import drawn_vectors
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import LOG, axis, bars, dots, line, plot
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, RED
from ui.text.words import Words

FEATURES = 12
COLOURS = {"pre": BLUE, "post": RED, "double": GREEN}


@kept
def norms(mean: float, size: float, t: Words) -> Drawing:
    """One vector with its mean moved, and what both norms make of it."""
    x = mean + size * drawn_vectors(FEATURES, 1, seed=3)[0]
    layer, rms = layer_norm(x), rms_norm(x)
    at = np.arange(FEATURES)
    looks = (("x", x, GREY, "diamond"), ("LayerNorm", layer, BLUE, "circle"), ("RMSNorm", rms, RED, "square"))
    figure = plot(
        [
            line(
                at,
                values,
                colour,
                3,
                name,
                mode="lines+markers",
                marker={"size": 12, "symbol": symbol, "color": colour},
            )
            for name, values, colour, symbol in looks
        ],
        height=330,
        xaxis=axis(t("feature")),
        yaxis=axis(t("value")),
    )
    apart = float(np.abs(layer - rms).max())
    return Drawing(
        "norms",
        figure,
        t(
            "norms_finding",
            mean=f"{x.mean():.3g}",
            layer=f"{abs(layer.mean()):.1e}",
            rms=f"{rms.mean():.3g}",
            square=f"{np.mean(rms**2):.3g}",
            apart=f"{apart:.3g}",
        ),
        lambda: {"x": x, "layer_norm": layer, "rms_norm": rms},
        f"""
        from rope_core.theory.block import layer_norm, rms_norm
        from rope_core.theory.demo import drawn_vectors
        x = {mean!r} + {size!r} * drawn_vectors({FEATURES}, 1, seed=3)[0]
        print(layer_norm(x), rms_norm(x))
        """,
    )


@kept
def cost(fused: bool, t: Words) -> Drawing:
    """Draw passes over memory, sums over the features, operations and weights of both norms."""
    counts = {kind: norm_cost(kind, fused) for kind in ("layer", "rms")}
    parts = ("reads", "writes", "reductions", "operations", "parameters")
    names = [t(f"cost.{part}") for part in parts]
    data = []
    for kind, name, colour in (("layer", "LayerNorm", BLUE), ("rms", "RMSNorm", RED)):
        numbers = [getattr(counts[kind], part) for part in parts]
        outside = {"text": numbers, "textposition": "outside", "cliponaxis": False}
        data.append(bars(numbers, names, colour, name, orientation="h", **outside))
    figure = plot(
        data,
        height=330,
        barmode="group",
        margin={"l": 8, "r": 24, "b": 30},
        yaxis=axis(autorange="reversed", automargin=True),
    )
    passes = {kind: counts[kind].reads + counts[kind].writes for kind in counts}
    return Drawing(
        "cost",
        figure,
        t("cost_finding_fused" if fused else "cost_finding", layer=passes["layer"], rms=passes["rms"])
        + " "
        + t("cost_more", layer=counts["layer"].operations, rms=counts["rms"].operations),
        lambda: {
            "part": list(parts),
            "layer": [getattr(counts["layer"], part) for part in parts],
            "rms": [getattr(counts["rms"], part) for part in parts],
        },
        f"""
        from rope_core.theory.block import norm_cost
        print(norm_cost("layer", fused={fused}), norm_cost("rms", fused={fused}))
        """,
    )


@kept
def stack(shown: str, layers: int, seed: int, t: Words) -> Drawing:
    """Draw the gradient that reaches each layer's weights in a random stack, for each place of the norm."""
    norms_of = stack_gradients(layers, seed)
    at = np.arange(1, layers + 1)
    figure = plot(
        [
            line(
                at,
                values,
                COLOURS[name],
                6 if name == shown else 3,
                t(f"place.{name}"),
                "solid" if name == shown else "dot",
            )
            for name, values in norms_of.items()
        ],
        height=370,
        xaxis=axis(t("layer_axis")),
        yaxis=axis(t("gradient_axis"), **LOG, tickvals=[a * 10.0**e for e in range(-4, 3) for a in (1, 2, 5)]),
    )
    ratios = {name: values[0] / values[-1] for name, values in norms_of.items()}
    shown_ratios = {name: f"{ratio:.2f}" for name, ratio in ratios.items()}
    return Drawing(
        "stack",
        figure,
        t(
            "stack_finding",
            layers=layers,
            place=t(f"place.{shown}"),
            bottom=f"{norms_of[shown][0]:.3g}",
            top=f"{norms_of[shown][-1]:.3g}",
            **shown_ratios,
        ),
        lambda: {"layer": at, **norms_of},
        f"""
        from rope_core.theory.block import gradient_norms
        for place in ("pre", "post", "double"):
            print(place, gradient_norms(place, {layers}, dim=32, tokens=16, draws=2, seed={seed}))
        """,
    )


@kept
def parallel(scale: float, t: Words) -> Drawing:
    """How far the parallel block is from the serial one, over the size of what the sub-layers write."""
    scales = np.geomspace(0.01, 10, 25)
    curve = parallel_difference(scales)
    here = float(parallel_difference([scale])[0])
    powers = {"type": "log", "dtick": 1}
    figure = plot(
        [line(scales, curve, BLUE), dots([scale], [here], ORANGE, 17)],
        height=330,
        xaxis=axis(t("scale_axis"), **powers),
        yaxis=axis(t("difference_axis"), **powers),
    )
    slope = float(np.log(curve[1] / curve[0]) / np.log(scales[1] / scales[0]))
    return Drawing(
        "parallel",
        figure,
        t("parallel_finding", scale=f"{scale:g}", here=f"{100 * here:.3g}", slope=f"{slope:.2f}"),
        lambda: {"scale": scales, "difference": curve},
        f"""
        from rope_core.theory.block.demo import parallel_difference
        print(parallel_difference([0.01, 0.1, {scale!r}]))
        """,
    )
