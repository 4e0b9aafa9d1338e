"""Figures and tables of the config page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rope_core.checks.case import SEVERITIES, Finding
from rope_core.hf import anatomy
from rope_core.hf.ropes import HfRope
from rope_core.rope import Array
from rope_core.schemes import SCHEMES
from rope_core.spectrum import spectrum
from ui.figures import plain as go
from ui.figures.drawing import BLUE, COLOURS, GREEN, GREY, ORANGE, PURPLE, RED, Drawing, styled
from ui.text.words import Words

REGION_COLOURS = {"kept": BLUE, "blended": ORANGE, "divided": RED, "own": PURPLE, "still": GREY}
QUANTITIES = ("wavelength", "inv_freq", "slowdown")
DRIFT_POINTS = 48
# A step of a logarithmic axis that doubles.
DOUBLING = math.log10(2.0)


def amount(value: float) -> str:
    """A number for a sentence: six digits, thousands separated, tiny ones in powers."""
    if not math.isfinite(value):
        return "∞"
    if value and not 1e-4 <= abs(value) < 1e12:
        return f"{value:.3g}"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1e5 else f"{value:,.6g}"


def recipe(where: str, rope: HfRope, *lines: str) -> str:
    """Python that reads the config again and goes on with ``lines``."""
    head = ["import rope_core as rc", f"rope = rc.from_hf({where}, {rope.layer_type!r}, {rope.seq_len!r})"]
    return "\n".join([*head, *lines])


def curve(inv_freq: Array, plain: Array, quantity: str) -> Array:
    """Frequencies as the quantity drawn; nan where a pair does not turn."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if quantity == "wavelength":
            drawn = 2 * np.pi / inv_freq
        else:
            drawn = inv_freq.copy() if quantity == "inv_freq" else plain / inv_freq
    return np.where(inv_freq > 0, drawn, np.nan)


def counts(rope: HfRope) -> dict[str, int]:
    """How many pairs each region has."""
    names = anatomy.regions(rope)
    return {name: names.count(name) for name in anatomy.REGIONS}


def glance(rope: HfRope, quantity: str, where: str, t: Words) -> Drawing:
    """Every pair before and after the scheme, coloured by what the scheme does to it, with both lengths."""
    plain, now = (curve(f, rope.unscaled, quantity) for f in (rope.unscaled, rope.inv_freq))
    names = anatomy.regions(rope)
    index = np.arange(plain.size)
    grey = {"color": GREY, "width": 3, "dash": "dot"}
    data: list[dict[str, object]] = [
        {"type": "scatter", "mode": "lines", "x": index, "y": plain, "name": t("without"), "line": grey}
    ]
    if rope.scheme != rope.request.scheme or any(name != "kept" for name in names):
        data.append({"type": "scatter", "mode": "lines", "x": index, "y": now, "line": {"color": "#bbb", "width": 2}})
        data[-1] |= {"showlegend": False, "hoverinfo": "skip"}
    for name in anatomy.REGIONS:
        there = [k for k, one in enumerate(names) if one == name]
        if there and name != "still":
            mark = {"color": REGION_COLOURS[name], "size": 8 if plain.size <= 64 else 6}
            label = t(f"region.{name}", count=len(there))
            data.append({"type": "scatter", "mode": "markers", "x": there, "y": now[there], "name": label})
            data[-1] |= {"marker": mark}
    figure = styled(go.Figure({"data": data}), height=372, x=t("axis.pair"), y=t(f"quantity_axis.{quantity}"))
    figure.update_yaxes(type="log", exponentformat="power", dtick=1 if quantity != "slowdown" else DOUBLING)
    figure.update_xaxes(range=[-0.6, plain.size - 0.4])
    shade(figure, names)
    if quantity == "wavelength":
        mark_lengths(figure, rope, t)
    return Drawing(
        "glance",
        figure,
        glance_finding(rope, t),
        lambda: {
            "pair": index,
            "region": list(names),
            "unscaled": rope.unscaled,
            "inv_freq": rope.inv_freq,
            "wavelength": curve(rope.inv_freq, rope.unscaled, "wavelength"),
            "slowdown": curve(rope.inv_freq, rope.unscaled, "slowdown"),
        },
        recipe(where, rope, "from rope_core.hf import anatomy", "print(rope.inv_freq, anatomy.regions(rope))"),
    )


def shade(figure: go.Figure, names: Sequence[str]) -> None:
    """A tinted band behind each run of pairs of one kind."""
    stretches = anatomy.runs(names)
    if not 1 < len(stretches) <= 8:
        return
    shapes = [
        {"type": "rect", "yref": "paper", "x0": first - 0.5, "x1": last + 0.5, "y0": 0, "y1": 1}
        | {"fillcolor": REGION_COLOURS[name], "opacity": 0.09, "line": {"width": 0}, "layer": "below"}
        for name, first, last in stretches
    ]
    figure.update_layout(shapes=shapes)


def mark_lengths(figure: go.Figure, rope: HfRope, t: Words) -> None:
    """Horizontal lines at the trained length and the longest one."""
    lengths = {"trained_line": rope.train_len}
    if rope.max_len and rope.max_len != rope.train_len:
        lengths["longest_line"] = rope.max_len
    for key, length in lengths.items():
        look = {"color": GREEN, "width": 3, "dash": "dash" if key == "trained_line" else "solid"}
        figure.add_shape(type="line", xref="paper", x0=0, x1=1, y0=length, y1=length, line=look)
        figure.add_annotation(
            xref="paper",
            x=0.01,
            y=math.log10(length),
            text=t(key, length=f"{length:,}"),
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            font={"color": GREEN, "size": 14},
        )


def glance_finding(rope: HfRope, t: Words) -> str:
    """What becomes of the pairs, in one sentence."""
    found, pairs = counts(rope), rope.inv_freq.size
    if rope.nope:
        return t("finding_nope")
    with np.errstate(divide="ignore"):
        waves = 2 * np.pi / rope.inv_freq[rope.inv_freq > 0]
    values = {"pairs": pairs, "longest": amount(float(f"{waves.max():.6g}")), "kept": found["kept"]}
    if found["still"]:
        return t("finding_still", still=found["still"], turning=pairs - found["still"], **values)
    if found["own"]:
        slow = spectrum(rope.request).slowdown
        return t("finding_own", own=found["own"], low=amount(slow.min()), high=amount(slow.max()), **values)
    if found["divided"]:
        most = amount(float(spectrum(rope.request).slowdown.max()))
        return t("finding_scaled", blended=found["blended"], divided=found["divided"], most=most, **values)
    return t("finding_kept", **values)


def severities(found: Sequence[Finding]) -> dict[str, int]:
    """How many findings there are of each severity that occurs, the gravest first."""
    counted = {name: sum(one.severity == name for one in found) for name in SEVERITIES}
    return {name: count for name, count in counted.items() if count}


def ramp(rope: HfRope, where: str, t: Words) -> Drawing | None:
    """How much of each pair is divided, with the ramp rounded to whole pairs and not; None without a ramp."""
    found, factor = anatomy.ramp(rope), rope.params.get("factor")
    if found is None or not isinstance(factor, int | float) or factor <= 1:
        return None
    index = np.arange(rope.inv_freq.size)
    used = anatomy.share(rope.request)
    curves = {"used": used}
    if found.rounded is not None:
        other = anatomy.rounded(rope.request, not found.rounds)
        curves = {"rounded" if found.rounds else "exact": used, "exact" if found.rounds else "rounded": used}
        curves["exact" if found.rounds else "rounded"] = anatomy.share(other)
    figure = go.Figure()
    for key, values in curves.items():
        inside = key == ("used" if found.rounded is None else "rounded" if found.rounds else "exact")
        look = {"color": BLUE if inside else ORANGE, "width": 4, "dash": "solid" if inside else "dot"}
        name = t(f"ramp_{key}") + (t("in_force") if inside and found.rounded is not None else "")
        figure.add_trace(go.Scatter(x=index, y=values, mode="lines+markers", name=name, line=look))
    for x in found.exact:
        figure.add_vline(x=x, line={"color": GREY, "width": 2, "dash": "dash"})
    styled(figure, height=320, x=t("axis.pair"), y=t("share_axis"))
    low, high = (f"{x:.2f}" for x in found.exact)
    words = {"fast": amount(found.fast), "slow": amount(found.slow), "low": low, "high": high}
    if found.rounded is None:
        finding = t("ramp_finding", **words)
    else:
        apart = float(np.max(np.abs(curves["exact"] - curves["rounded"])))
        key = "ramp_finding_rounds" if found.rounds else "ramp_finding_exact"
        first, last = (f"{x:g}" for x in found.rounded)
        finding = t(key, first=first, last=last, apart=f"{apart:.3f}", **words)
    return Drawing(
        "ramp",
        figure,
        finding,
        lambda: {"pair": index} | curves,
        recipe(
            where, rope, "from rope_core.hf import anatomy", "print(anatomy.ramp(rope), anatomy.share(rope.request))"
        ),
    )


def drift(rope: HfRope, length: int, where: str, t: Words) -> Drawing:
    """How far the angle of each cached key is off once ``length`` tokens are in use."""
    last = max(length - 1, 0)
    around = [at for at in (rope.train_len - 1, rope.train_len) if at < last]
    points = np.unique([*np.rint(np.geomspace(1, last + 1, DRIFT_POINTS) - 1).astype(int).tolist(), *around, last])
    values = anatomy.key_drift(rope.request, length, points)
    worst = values.max(axis=1)
    position = int(points[int(worst.argmax())])
    pair = int(values[int(worst.argmax())].argmax())
    figure = go.Figure()
    for key, drawn, colour in (("worst_pair", worst, RED), ("last_pair", values[:, -1], BLUE)):
        look = {"color": colour, "width": 4}
        figure.add_trace(go.Scatter(x=points, y=drawn, mode="lines", name=t(key), line=look))
    styled(figure, height=320, x=t("key_axis"), y=t("drift_axis"))
    if worst.max() > 0:
        on_log_axes(figure, rope, length, t)
    top = float(worst.max())
    key = "drift_finding" if top > 0 else "drift_none"
    words = {"length": f"{length:,}", "worst": f"{top:.4g}", "position": f"{position:,}", "pair": pair}
    return Drawing(
        "drift",
        figure,
        t(key, **words),
        lambda: {"position": points, "worst": worst, "last_pair": values[:, -1]},
        recipe(
            where,
            rope,
            "from rope_core.hf import anatomy",
            f"print(anatomy.key_drift(rope.request, {length}, {points.tolist()}).max(axis=1))",
        ),
    )


def on_log_axes(figure: go.Figure, rope: HfRope, length: int, t: Words) -> None:
    """Log axes for angles from hair's breadths to many turns, with half a turn and the trained length marked."""
    figure.update_xaxes(type="log", dtick=1, exponentformat="power")
    figure.update_yaxes(type="log", dtick=1, exponentformat="power")
    grey, green = {"color": GREY, "width": 3, "dash": "dot"}, {"color": GREEN, "width": 3, "dash": "dash"}
    figure.add_shape(type="line", xref="paper", x0=0, x1=1, y0=math.pi, y1=math.pi, line=grey)
    place = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "font": {"size": 14}}
    figure.add_annotation(xref="paper", x=0.01, y=math.log10(math.pi), text=t("half_turn"), **place)
    if rope.train_len < length:
        figure.add_shape(type="line", yref="paper", y0=0, y1=1, x0=rope.train_len, x1=rope.train_len, line=green)


def strip(id: str, names: Sequence[str], label: Mapping[str, str], axis: str, finding: str, code: str) -> Drawing:
    """One row of cells, coloured and named by kind: layers of a model, or pairs of a head."""
    kinds = list(dict.fromkeys(names))
    figure = go.Figure()
    for k, kind in enumerate(kinds):
        there = [i for i, name in enumerate(names) if name == kind]
        figure.add_trace(
            go.Bar(
                x=there, y=[1] * len(there), name=label[kind], marker={"color": COLOURS[k % len(COLOURS)]}, width=0.9
            )
        )
    styled(figure, height=190, x=axis, barmode="overlay")
    figure.update_yaxes(visible=False, range=[0, 1])
    figure.update_xaxes(range=[-0.6, len(names) - 0.4])
    return Drawing(id, figure, finding, lambda: {"index": np.arange(len(names)), "kind": list(names)}, code)


def layers(rope: HfRope, total: int, where: str, t: Words) -> Drawing | None:
    """Which layers turn and which do not; None where all turn."""
    resting = rope.nope_layers
    if not resting or not total:
        return None
    names = ["resting" if i in resting else "turning" for i in range(total)]
    listed = ", ".join(str(i) for i in resting)
    finding = t("layers_finding", count=len(resting), total=total, listed=listed)
    label = {"resting": t("layer_resting"), "turning": t("layer_turning")}
    return strip("layers", names, label, t("layer_axis"), finding, recipe(where, rope, "print(rope.nope_layers)"))


def sections(rope: HfRope, where: str, t: Words) -> Drawing | None:
    """Which axis of multimodal positions each pair follows; None for text-only positions."""
    if not rope.mrope_section or not sum(rope.mrope_section):
        return None
    names = anatomy.axes(rope.mrope_section, rope.model_type)
    label = {name: t(f"mrope.{name}") if t.has(f"mrope.{name}") else name for name in names}
    listed = t("comma").join(f"{label[name]} {names.count(name)}" for name in dict.fromkeys(names))
    runs = anatomy.runs(names)
    key = "sections_dealt" if len(runs) > len(label) else "sections_runs"
    code = recipe(
        where, rope, "from rope_core.hf import anatomy", "print(anatomy.axes(rope.mrope_section, rope.model_type))"
    )
    finding = t(key, listed=listed, total=len(names), pairs=rope.inv_freq.size)
    return strip("sections", names, label, t("axis.pair"), finding, code)


def provenance(rope: HfRope, t: Words) -> dict[str, list[str]]:
    """Each effective value with where it came from, as a table's columns; plain text."""
    own = {name: getattr(rope, name) for name in ("layout", "head_dim", "rotary_dim", "base", "train_len", "max_len")}
    own |= {"scheme": t(f"scheme.{rope.scheme}") + f" ({rope.rope_type})"}
    own |= {name: value for name, value in rope.params.items() if value is not None}
    own |= {"attention_factor": rope.attention_factor, "logit_scale": rope.logit_scale}
    own |= {"nope_layers": rope.nope_layers}
    rows = [(name, told(value), rope.provenance.get(name)) for name, value in own.items()]
    kept = [(name, value, origin) for name, value, origin in rows if origin is not None]
    return {
        t("col.value_of"): [t(f"value_of.{name}") if t.has(f"value_of.{name}") else name for name, _, _ in kept],
        t("col.value"): [value for _, value, _ in kept],
        t("col.from"): [t(f"origin.{origin.source.replace(' ', '_')}") for _, _, origin in kept],
        t("col.field"): [origin.path for _, _, origin in kept],
    }


def told(value: object) -> str:
    """A value for a table's cell: numbers short, long lists cut."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple):
        return ", ".join(told(item) for item in value[:8]) + (f", … ({len(value)})" if len(value) > 8 else "") or "-"
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def summary(rope: HfRope, t: Words) -> str:
    """The rotation of a layer type in one line of Markdown; holds numbers and this house's words only."""
    parts = [
        t("sum_scheme", scheme=t(f"scheme.{rope.scheme}")) + factor_text(rope),
        t("sum_base", base=amount(rope.base), origin=t(f"origin.{rope.provenance['base'].source.replace(' ', '_')}")),
        t("sum_width", rotary=rope.rotary_dim, head=rope.head_dim),
        t("sum_layout", layout=t(f"layout.{rope.layout}")),
        t("sum_lengths", trained=amount(rope.train_len), longest=amount(rope.max_len) if rope.max_len else "-"),
        t("sum_attention", factor=f"{rope.attention_factor:.6g}", logits=f"{rope.attention_factor**2:.6g}"),
    ]
    if rope.logit_scale != 1.0:
        parts.append(t("sum_logit_scale", scale=f"{rope.logit_scale:.6g}"))
    return " · ".join(parts)


def factor_text(rope: HfRope) -> str:
    """The factor in force, where the scheme has one."""
    searched = any(param.kind == "vector" for param in SCHEMES[rope.scheme].params)
    factor = None if searched else rope.params.get("factor")
    return f" ×{amount(float(factor))}" if isinstance(factor, int | float) and factor != 1 else ""
