"""Figures and tables of the config page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rope_core.findings import SEVERITIES, Finding
from rope_core.hf import anatomy
from rope_core.hf.ropes import HfRope
from rope_core.rope import Array
from rope_core.schemes import SCHEMES, UNSCALED
from rope_core.spectrum import spectrum
from ui.figures.drawing import Drawing
from ui.figures.plot import (
    POWERS,
    PlotlyProps,
    dot_trace,
    horizontal_line,
    line_trace,
    plotly_axis,
    plotly_figure,
    text_annotation,
    vertical_band,
    vertical_line,
)
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, RED, REGION_COLOURS
from ui.text.words import PageTexts, number_text

QUANTITIES = ("wavelength", "inv_freq", "slowdown")
DRIFT_POINTS = 48
# A step of a logarithmic axis that doubles.
DOUBLING = math.log10(2.0)


def config_recipe(where: str, rope: HfRope, *lines: str) -> str:
    """Python that reads the config again and goes on with ``lines``."""
    head = ["import rope_core as rc", f"rope = rc.from_hf({where}, {rope.layer_type!r}, {rope.seq_len!r})"]
    return "\n".join([*head, *lines])


def frequency_quantity_curve(inv_freq: Array, plain: Array, quantity: str) -> Array:
    """Frequencies as the quantity drawn; nan where a pair does not turn."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if quantity == "wavelength":
            drawn = 2 * np.pi / inv_freq
        else:
            drawn = inv_freq.copy() if quantity == "inv_freq" else plain / inv_freq
    return np.where(inv_freq > 0, drawn, np.nan)


def pair_counts_by_region(rope: HfRope) -> dict[str, int]:
    """How many pairs each region has."""
    names = anatomy.pair_effects(rope)
    return {name: names.count(name) for name in anatomy.REGIONS}


def pair_overview_chart(rope: HfRope, quantity: str, where: str, t: PageTexts) -> Drawing:
    """Every pair before and after the scheme, coloured by what the scheme does to it, with both lengths."""
    plain, now = (frequency_quantity_curve(f, rope.unscaled, quantity) for f in (rope.unscaled, rope.inv_freq))
    names = anatomy.pair_effects(rope)
    index = np.arange(plain.size)
    data = [line_trace(index, plain, GREY, 3, t("without"), "dot")]
    if rope.scheme != rope.request.scheme or any(name != "kept" for name in names):
        data.append(line_trace(index, now, "#bbb", 2, hoverinfo="skip"))
    for name in anatomy.REGIONS:
        there = [k for k, each in enumerate(names) if each == name]
        if there and name != "still":
            size, label = 8 if plain.size <= 64 else 6, t(f"region.{name}", count=len(there))
            data.append(dot_trace(there, now[there], REGION_COLOURS[name], size, label))
    lines, labels = length_lines_and_labels(rope, t) if quantity == "wavelength" else ([], [])
    figure = plotly_figure(
        data,
        height=372,
        shapes=[*pair_run_bands(names), *lines],
        annotations=labels,
        xaxis=plotly_axis(t("axis.pair"), range=[-0.6, plain.size - 0.4]),
        yaxis=plotly_axis(
            t(f"quantity_axis.{quantity}"), **POWERS | ({"dtick": DOUBLING} if quantity == "slowdown" else {})
        ),
    )
    return Drawing(
        "glance",
        figure,
        pair_effects_sentence(rope, t),
        lambda: {
            "pair": index,
            "region": list(names),
            "unscaled": rope.unscaled,
            "inv_freq": rope.inv_freq,
            "wavelength": frequency_quantity_curve(rope.inv_freq, rope.unscaled, "wavelength"),
            "slowdown": frequency_quantity_curve(rope.inv_freq, rope.unscaled, "slowdown"),
        },
        config_recipe(
            where,
            rope,
            "from collections import Counter",
            "from math import tau",
            "from rope_core.hf import anatomy",
            "effects = anatomy.pair_effects(rope)",
            "print(rope.inv_freq, effects, Counter(effects))",
            "print(max(tau / f for f in rope.inv_freq if f))",
        ),
    )


def pair_run_bands(names: Sequence[str]) -> list[PlotlyProps]:
    """Return a tinted band behind each run of pairs of one kind; none where there is one run, or more than eight."""
    runs = anatomy.equal_runs(names)
    if not 1 < len(runs) <= 8:
        return []
    below = {"xref": "x", "yref": "paper", "layer": "below"}
    return [vertical_band(first - 0.5, last + 0.5, REGION_COLOURS[name], 0.09, **below) for name, first, last in runs]


def length_lines_and_labels(rope: HfRope, t: PageTexts) -> tuple[list[PlotlyProps], list[PlotlyProps]]:
    """Return level lines at the trained length and the longest one, and their labels."""
    lengths = {"trained_line": rope.train_len}
    if rope.max_len and rope.max_len != rope.train_len:
        lengths["longest_line"] = rope.max_len
    across: PlotlyProps = {"xref": "paper", "yref": "y"}
    label = {"xref": "paper", "xanchor": "left", "yanchor": "bottom", "font": {"color": GREEN, "size": 14}}
    lines = [
        horizontal_line(length, GREEN, 3, "dash" if key == "trained_line" else "solid", **across)
        for key, length in lengths.items()
    ]
    return lines, [
        text_annotation(t(key, length=f"{length:,}"), 0.01, math.log10(length), **label)
        for key, length in lengths.items()
    ]


def pair_effects_sentence(rope: HfRope, t: PageTexts) -> str:
    """Return what becomes of the pairs, in one sentence."""
    results, pairs = pair_counts_by_region(rope), rope.inv_freq.size
    if rope.nope:
        return t("finding_nope")
    with np.errstate(divide="ignore"):
        waves = 2 * np.pi / rope.inv_freq[rope.inv_freq > 0]
    values = {"pairs": pairs, "longest": number_text(float(f"{waves.max():.6g}")), "kept": results["kept"]}
    if results["still"]:
        return t("finding_still", still=results["still"], turning=pairs - results["still"], **values)
    if results["own"]:
        slow = spectrum(rope.request).slowdown
        return t("finding_own", own=results["own"], low=number_text(slow.min()), high=number_text(slow.max()), **values)
    if results["divided"]:
        most = number_text(float(spectrum(rope.request).slowdown.max()))
        return t("finding_scaled", blended=results["blended"], divided=results["divided"], most=most, **values)
    return t("finding_kept", **values)


def finding_counts_by_severity(results: Sequence[Finding]) -> dict[str, int]:
    """How many findings there are of each severity that occurs, the gravest first."""
    counted = {name: sum(each.severity == name for each in results) for name in SEVERITIES}
    return {name: count for name, count in counted.items() if count}


def ramp_chart(rope: HfRope, where: str, t: PageTexts) -> Drawing | None:
    """How much of each pair is divided, with the ramp rounded to whole pairs and not; None without a ramp."""
    results, factor = anatomy.ramp_bounds(rope), rope.params.get("factor")
    if results is None or not isinstance(factor, int | float) or factor <= 1:
        return None
    index = np.arange(rope.inv_freq.size)
    used = anatomy.interpolation_share(rope.request)
    curves = {"used": used}
    if results.rounded is not None:
        other = anatomy.with_ramp_rounding(rope.request, not results.rounds)
        curves = {"rounded" if results.rounds else "exact": used, "exact" if results.rounds else "rounded": used}
        curves["exact" if results.rounds else "rounded"] = anatomy.interpolation_share(other)
    data = []
    for key, values in curves.items():
        inside = key == ("used" if results.rounded is None else "rounded" if results.rounds else "exact")
        name = t(f"ramp_{key}") + (t("in_force") if inside and results.rounded is not None else "")
        colour, dash = (BLUE, "solid") if inside else (ORANGE, "dot")
        data.append(line_trace(index, values, colour, name=name, dash=dash, mode="lines+markers"))
    figure = plotly_figure(
        data,
        height=320,
        shapes=[vertical_line(x, GREY, 2, "dash") for x in results.exact],
        xaxis=plotly_axis(t("axis.pair")),
        yaxis=plotly_axis(t("share_axis")),
    )
    low, high = (f"{x:.3g}" for x in results.exact)
    words = {"fast": number_text(results.fast), "slow": number_text(results.slow), "low": low, "high": high}
    if results.rounded is None:
        finding = t("ramp_finding", **words)
    else:
        apart = float(np.max(np.abs(curves["exact"] - curves["rounded"])))
        key = "ramp_finding_rounds" if results.rounds else "ramp_finding_exact"
        first, last = (f"{x:g}" for x in results.rounded)
        finding = t(key, first=first, last=last, apart=f"{apart:.3f}", **words)
    return Drawing(
        "ramp",
        figure,
        finding,
        lambda: {"pair": index} | curves,
        config_recipe(
            where,
            rope,
            "from rope_core.hf import anatomy",
            "ramp, share = anatomy.ramp_bounds(rope), anatomy.interpolation_share(rope.request)",
            "print(ramp, share)",
            "other = anatomy.with_ramp_rounding(rope.request, not ramp.rounds)",
            "print(abs(anatomy.interpolation_share(other) - share).max())",
        ),
    )


def cached_key_drift_chart(rope: HfRope, length: int, where: str, t: PageTexts) -> Drawing:
    """How far the angle of each cached key is off once ``length`` tokens are in use."""
    last = max(length - 1, 0)
    around = [at for at in (rope.train_len - 1, rope.train_len) if at < last]
    points = np.unique([*np.rint(np.geomspace(1, last + 1, DRIFT_POINTS) - 1).astype(int).tolist(), *around, last])
    values = anatomy.cached_key_angle_error(rope.request, length, points)
    worst = values.max(axis=1)
    position = int(points[int(worst.argmax())])
    pair = int(values[int(worst.argmax())].argmax())
    powers = POWERS if worst.max() > 0 else {}
    shapes, labels = drift_lines_and_labels(rope, length, t) if worst.max() > 0 else ([], [])
    figure = plotly_figure(
        [
            line_trace(points, worst, RED, name=t("worst_pair")),
            line_trace(points, values[:, -1], BLUE, name=t("last_pair")),
        ],
        height=320,
        shapes=shapes,
        annotations=labels,
        xaxis=plotly_axis(t("key_axis"), **powers),
        yaxis=plotly_axis(t("drift_axis"), **powers),
    )
    top = float(worst.max())
    key = "drift_finding" if top > 0 else "drift_none"
    words = {"length": f"{length:,}", "worst": f"{top:.4g}", "position": f"{position:,}", "pair": pair}
    return Drawing(
        "drift",
        figure,
        t(key, **words),
        lambda: {"position": points, "worst": worst, "last_pair": values[:, -1]},
        config_recipe(
            where,
            rope,
            "from rope_core.hf import anatomy",
            f"print(anatomy.cached_key_angle_error(rope.request, {length}, {points.tolist()}).max(axis=1))",
        ),
    )


def drift_lines_and_labels(rope: HfRope, length: int, t: PageTexts) -> tuple[list[PlotlyProps], list[PlotlyProps]]:
    """Return a line at half a turn with its label, and one at the trained length where it is passed."""
    shapes = [horizontal_line(math.pi, GREY, 3, "dot", xref="paper", yref="y")]
    if rope.train_len < length:
        shapes.append(vertical_line(rope.train_len, GREEN, 3, "dash", xref="x", yref="paper"))
    place = {"xref": "paper", "xanchor": "left", "yanchor": "bottom", "font": {"size": 14}}
    return shapes, [text_annotation(t("half_turn"), 0.01, math.log10(math.pi), **place)]


def unrotated_layers_text(rope: HfRope, total: int, t: PageTexts) -> str:
    """Return which layers do not turn, "" where all turn."""
    resting = rope.nope_layers
    listed = ", ".join(map(str, resting))
    return t("layers_finding", count=len(resting), total=total, listed=listed) if resting and total else ""


def axis_sections_text(rope: HfRope, t: PageTexts) -> str:
    """Return how many pairs follow which axis of multimodal positions, "" for text-only positions."""
    if not rope.mrope_section or not sum(rope.mrope_section):
        return ""
    names = anatomy.multimodal_pair_axes(rope.mrope_section, rope.model_type)
    label = {name: t(f"mrope.{name}") if t.has_label(f"mrope.{name}") else name for name in names}
    listed = t("comma").join(f"{label[name]} {names.count(name)}" for name in dict.fromkeys(names))
    key = "sections_dealt" if len(anatomy.equal_runs(names)) > len(label) else "sections_runs"
    return t(key, listed=listed, total=len(names), pairs=rope.inv_freq.size)


def provenance_table(rope: HfRope, t: PageTexts) -> dict[str, list[str]]:
    """Each effective value with where it came from, as a table's columns; plain text."""
    own = {name: getattr(rope, name) for name in ("layout", "head_dim", "rotary_dim", "base", "train_len", "max_len")}
    own |= {"scheme": t(f"scheme.{rope.scheme}") + f" ({rope.rope_type})"}
    own |= {name: value for name, value in rope.params.items() if value is not None}
    own |= {"attention_factor": rope.attention_factor, "logit_scale": rope.logit_scale}
    own |= {"nope_layers": rope.nope_layers}
    rows = [(name, value_cell_text(value), rope.provenance.get(name)) for name, value in own.items()]
    kept = [(name, value, origin) for name, value, origin in rows if origin is not None]
    return {
        t("col.value_of"): [t(f"value_of.{name}") if t.has_label(f"value_of.{name}") else name for name, _, _ in kept],
        t("col.value"): [value for _, value, _ in kept],
        t("col.from"): [t(f"origin.{origin.source.replace(' ', '_')}") for _, _, origin in kept],
        t("col.field"): [origin.path for _, _, origin in kept],
    }


def value_cell_text(value: object) -> str:
    """Return a value for a table's cell: numbers short, long lists cut."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple):
        return (
            ", ".join(value_cell_text(item) for item in value[:8]) + (f", … ({len(value)})" if len(value) > 8 else "")
            or "-"
        )
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def plain_summary(rope: HfRope, counts: Mapping[str, int], differing: Sequence[str], t: PageTexts) -> str:
    """Return what a config does in sentences that need no field's name.

    Args:
        counts: findings by severity, those that are there.
        differing: the programs that turn by other frequencies than transformers.
    """
    worst = next((severity for severity in ("error", "warning") if counts.get(severity)), "clean")
    reach = rope.max_len and rope.max_len > rope.train_len
    does = "none" if rope.nope else "stretched" if reach and rope.scheme != UNSCALED else "plain"
    return t(
        "plainly",
        verdict=t(f"verdict.{worst}", count=counts.get(worst, 0)),
        does=t(
            f"does.{does}",
            trained=number_text(rope.train_len),
            longest=number_text(rope.max_len or rope.train_len),
            scheme=t(f"scheme.{rope.scheme}"),
            base=number_text(rope.base),
        ),
        programs=t("programs_differ" if differing else "programs_agree", listed=t("comma").join(differing)),
    )


def rotation_summary(rope: HfRope, t: PageTexts) -> str:
    """Return the rotation of a layer type in one line of Markdown; holds numbers and this house's words only."""
    parts = [
        t("sum_scheme", scheme=t(f"scheme.{rope.scheme}")) + factor_text(rope),
        t(
            "sum_base",
            base=number_text(rope.base),
            origin=t(f"origin.{rope.provenance['base'].source.replace(' ', '_')}"),
        ),
        t("sum_width", rotary=rope.rotary_dim, head=rope.head_dim),
        t("sum_layout", layout=t(f"layout.{rope.layout}")),
        t(
            "sum_lengths",
            trained=number_text(rope.train_len),
            longest=number_text(rope.max_len) if rope.max_len else "-",
        ),
        t("sum_attention", factor=f"{rope.attention_factor:.6g}", logits=f"{rope.attention_factor**2:.6g}"),
    ]
    if rope.logit_scale != 1.0:
        parts.append(t("sum_logit_scale", scale=f"{rope.logit_scale:.6g}"))
    return " · ".join(parts)


def factor_text(rope: HfRope) -> str:
    """Return the factor in force, where the scheme has one."""
    searched = any(param.kind == "vector" for param in SCHEMES[rope.scheme].params)
    factor = None if searched else rope.params.get("factor")
    return f" ×{number_text(float(factor))}" if isinstance(factor, int | float) and factor != 1 else ""
