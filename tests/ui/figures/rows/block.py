"""The block page's figures."""

import math

import numpy as np

from rope_core.theory import block
from rope_core.theory.block import demo
from rope_core.theory.block.choices import Choices, usual
from rope_core.theory.demo import drawn_vectors
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.block import diagram, drawn, norm, rotary, unit
from ui.text.words import Words

MADE = Choices("RMSNorm", "pre", True, "swiglu", True)


def power(value: float) -> str:
    return f"{value:.1e}" if value < 1e-3 else f"{value:.3g}"


def block_words(t: Words) -> str:
    start, rows, readable = usual()
    name = t("open_row", name="X", rows=rows, readable=readable)
    return t(
        "diagram_finding",
        name=name if start == MADE else t("switched", name=name),
        norm="RMSNorm",
        place=t("place.pre"),
        order=t("order.parallel"),
        unit=t("unit.swiglu"),
        rope=t("rotates"),
    )


def norms(t: Words) -> str:
    x = 1.5 + 0.5 * drawn_vectors(norm.FEATURES, 1, seed=3)[0]
    layer, rms = (x - x.mean()) / np.sqrt(x.var() + 1e-5), x / np.sqrt(np.mean(x**2) + 1e-5)
    np.testing.assert_allclose(block.layer_norm(x), layer, rtol=1e-4)
    layer, rms = block.layer_norm(x), block.rms_norm(x)
    return t(
        "norms_finding",
        mean=f"{x.mean():.3f}",
        layer=f"{abs(layer.mean()):.1e}",
        rms=f"{rms.mean():.3f}",
        square=f"{np.mean(rms**2):.4f}",
        apart=f"{np.abs(layer - rms).max():.3f}",
    )


def cost(t: Words) -> str:
    layer, rms = block.norm_cost("layer", False), block.norm_cost("rms", False)
    passes = t("cost_finding", layer=layer.reads + layer.writes, rms=rms.reads + rms.writes)
    return f"{passes} {t('cost_more', layer=layer.operations, rms=rms.operations)}"


def stack(t: Words) -> str:
    sizes = demo.stack_gradients(6, 1)
    ratios = {name: f"{each[0] / each[-1]:.2f}" for name, each in sizes.items()}
    ends = {"bottom": f"{sizes['post'][0]:.3g}", "top": f"{sizes['post'][-1]:.3g}"}
    return t("stack_finding", layers=6, place=t("place.post"), **ends, **ratios)


def parallel(t: Words) -> str:
    here = float(demo.parallel_difference([0.3])[0])
    low, high = np.geomspace(0.01, 10, 25)[:2]
    rise = np.log(np.divide(*demo.parallel_difference([high, low]))) / np.log(high / low)
    return t("parallel_finding", scale="0.3", here=f"{100 * here:.3g}", slope=f"{rise:.3f}")


def activations(t: Words) -> str:
    gate = 1 / (1 + math.exp(1.5))
    z = np.linspace(-4, 4, 161)
    return t(
        "activations_finding",
        name=t("unit.silu"),
        z="-1.5",
        value=f"{-1.5 * gate:.4f}",
        slope=f"{gate * (1 - 1.5 * (1 - gate)):.4f}",
        lowest=f"{(z / (1 + np.exp(-z))).min():.4f}",
    )


def gates(t: Words) -> str:
    def swish(z: float) -> float:
        return z / (1 + math.exp(-z))

    wide = 4 * 4096
    return t(
        "gates_finding",
        name=t("unit.swiglu"),
        gate=t(f"gate.{block.GATES['swiglu']}"),
        value="0.7",
        one=f"{0.7 * swish(1):.4f}",
        minus=f"{0.7 * swish(-1):.4f}",
        dim="4,096",
        wide=f"{wide:,}",
        width=f"{2 * wide / 3:,.1f}",
    )


def z_loss(t: Words) -> str:
    shifts = np.linspace(-60, 60, 121)
    entropy, extra = demo.pulled_logits(shifts, 1e-3)
    return t(
        "z_finding",
        spread=f"{entropy.max() - entropy.min():.1e}",
        shift="12",
        extra=f"{float(demo.pulled_logits([12.0], 1e-3)[1][0]):.4g}",
        lowest=f"{shifts[extra.argmin()]:g}",
    )


def capped(t: Words) -> str:
    return t(
        "cap_finding",
        at="40",
        cap="30",
        here=f"{30 * math.tanh(4 / 3):.3f}",
        slope=f"{1 - math.tanh(4 / 3) ** 2:.3g}",
    )


def qk_norm(t: Words) -> str:
    plain, normed = (float(part[0]) for part in demo.largest_logits(16, [4.0]))
    bound = block.qk_norm_bound(16)
    return t("qk_finding", scale="4", plain=f"{plain:.4g}", normed=f"{normed:.4g}", bound=f"{bound:.4g}")


def commute(t: Words) -> str:
    gaps = demo.commuting(ROPE, 9, 1.2, "half")
    return t("commute_finding", factor="1.2", **{name: power(value) for name, value in gaps.items()})


def values(t: Words) -> str:
    out = demo.shifted_outputs(ROPE, np.arange(40))
    moved = [float(np.abs(part - part[0])[:, 4:6].max()) for part in (out.plain, out.rotated)]
    return t("values_finding", shift=39, plain=power(moved[0]), rotated=power(moved[1]))


def cache(t: Words) -> str:
    positions, true, stale = demo.stale_logits(ROPE, 2.5)
    gap = np.abs(stale - true)
    scheme, at = t(f"scheme.{demo.length_scheme()}"), f"{positions[gap.argmax()]:,}"
    return t("cache_finding", scheme=scheme, times="2.5", gap=power(float(gap.max())), at=at)


def latent(t: Words) -> str:
    exact, wrong = demo.latent_attention(32, 9)
    small, plain = 32 + 64, 2 * 8 * 128
    sizes = {"small": f"{small:,}", "plain": f"{plain:,}", "times": f"{plain / small:.1f}"}
    return t("latent_finding", exact=power(exact), wrong=power(wrong), **sizes)


ROWS = [
    Row("block", norm.norms, (1.5, 0.5), {"x": "feature", "y": "value"}, norms),
    Row("block", norm.cost, (False,), {}, cost),
    Row("block", norm.stack, ("post", 6, 1), {"x": "layer_axis", "y": "gradient_axis"}, stack),
    Row("block", norm.parallel, (0.3,), {"x": "scale_axis", "y": "difference_axis"}, parallel),
    Row("block", unit.activations, ("silu", -1.5), {"x": "z", "x2": "z"}, activations),
    Row("block", unit.gates, ("swiglu", 0.7), {"x": "gate_axis", "y": "gate_out"}, gates),
    Row("block", unit.z_loss, (12.0, 1e-3), {"x": "shift_axis", "y": "loss_axis"}, z_loss),
    Row("block", unit.capped, (30.0, 40.0), {"x": "logit", "x2": "logit"}, capped),
    Row("block", unit.qk_norm, (16, 4.0), {"x": "size_axis", "y": "largest"}, qk_norm),
    Row("block", rotary.commute, (ROPE, 9, 1.2, "half"), {"x": "commute_axis"}, commute),
    Row(
        "block",
        rotary.values,
        (ROPE, 2),
        {"x": ("out_first", {"i": 4}), "y": ("out_second", {"i": 5})},
        values,
    ),
    Row("block", rotary.cache, (ROPE, 2.5), {"x": "key_axis", "y": "logit"}, cache),
    Row("block", rotary.latent, (32, 8, 9), {}, latent),
]
FILMS = [
    FilmRow("block", diagram.diagram, ("X", None, MADE, ROPE), {"token": 5}, block_words),
    FilmRow("block", drawn.drift, (ROPE,), {}, to_draw),
]
