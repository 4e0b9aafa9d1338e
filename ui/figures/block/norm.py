"""Norms, what they cost, the gradients of a stack, and serial against parallel sub-layers."""

from __future__ import annotations

import numpy as np

from rope_core.theory.block import layer_norm, norm_cost, rms_norm
from rope_core.theory.block.demo import parallel_difference, stack_gradients
from rope_core.theory.demo import drawn_vectors
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, ORANGE, RED, Drawing, kept, styled
from ui.text.words import Words

FEATURES = 12
COLOURS = {"pre": BLUE, "post": RED, "double": GREEN}


@kept
def norms(mean: float, size: float, t: Words) -> Drawing:
    """One vector with its mean moved, and what both norms make of it."""
    x = mean + size * drawn_vectors(FEATURES, 1, seed=3)[0]
    layer, rms = layer_norm(x), rms_norm(x)
    at = np.arange(FEATURES)
    figure = go.Figure()
    for name, values, colour, symbol in (
        ("x", x, GREY, "diamond"),
        ("LayerNorm", layer, BLUE, "circle"),
        ("RMSNorm", rms, RED, "square"),
    ):
        mark = {"size": 12, "symbol": symbol, "color": colour}
        line = {"width": 3, "color": colour}
        figure.add_trace(go.Scatter(x=at, y=values, mode="lines+markers", name=name, marker=mark, line=line))
    styled(figure, height=330, x=t("feature"), y=t("value"))
    apart = float(np.abs(layer - rms).max())
    return Drawing(
        "norms",
        figure,
        t(
            "norms_finding",
            mean=f"{x.mean():.3f}",
            layer=f"{abs(layer.mean()):.1e}",
            rms=f"{rms.mean():.3f}",
            square=f"{np.mean(rms**2):.4f}",
            apart=f"{apart:.3f}",
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
    """Passes over memory, sums over the features, operations and weights of both norms."""
    counts = {kind: norm_cost(kind, fused) for kind in ("layer", "rms")}
    parts = ("reads", "writes", "reductions", "operations", "parameters")
    figure = go.Figure()
    for kind, name, colour in (("layer", "LayerNorm", BLUE), ("rms", "RMSNorm", RED)):
        numbers = [getattr(counts[kind], part) for part in parts]
        figure.add_trace(
            go.Bar(
                y=[t(f"cost.{part}") for part in parts],
                x=numbers,
                text=numbers,
                textposition="outside",
                cliponaxis=False,
                orientation="h",
                name=name,
                marker={"color": colour},
            )
        )
    styled(figure, height=330, barmode="group", margin={"l": 8, "r": 24, "t": 34, "b": 30})
    figure.update_yaxes(autorange="reversed", automargin=True)
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
    """The gradient that reaches each layer's weights in a random stack, for each place of the norm."""
    norms_of = stack_gradients(layers, seed)
    at = np.arange(1, layers + 1)
    figure = go.Figure()
    for name, values in norms_of.items():
        bold = name == shown
        line = {"width": 6 if bold else 3, "color": COLOURS[name], "dash": "solid" if bold else "dot"}
        figure.add_trace(go.Scatter(x=at, y=values, mode="lines", name=t(f"place.{name}"), line=line))
    styled(figure, height=370, x=t("layer_axis"), y=t("gradient_axis"))
    figure.update_yaxes(type="log", tickvals=[a * 10.0**e for e in range(-4, 3) for a in (1, 2, 5)])
    ratios = {name: values[0] / values[-1] for name, values in norms_of.items()}
    said = {name: f"{ratio:.2f}" for name, ratio in ratios.items()}
    return Drawing(
        "stack",
        figure,
        t(
            "stack_finding",
            layers=layers,
            place=t(f"place.{shown}"),
            bottom=f"{norms_of[shown][0]:.3g}",
            top=f"{norms_of[shown][-1]:.3g}",
            **said,
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
    figure = go.Figure(
        [
            go.Scatter(x=scales, y=curve, mode="lines", line={"width": 4, "color": BLUE}, showlegend=False),
            go.Scatter(x=[scale], y=[here], mode="markers", marker={"size": 17, "color": ORANGE}, showlegend=False),
        ]
    )
    styled(figure, height=330, x=t("scale_axis"), y=t("difference_axis"))
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    slope = float(np.log(curve[1] / curve[0]) / np.log(scales[1] / scales[0]))
    return Drawing(
        "parallel",
        figure,
        t("parallel_finding", scale=f"{scale:g}", here=f"{100 * here:.3g}", slope=f"{slope:.3f}"),
        lambda: {"scale": scales, "difference": curve},
        f"""
        from rope_core.theory.block.demo import parallel_difference
        print(parallel_difference([0.01, 0.1, {scale!r}]))
        """,
    )
