"""One config in several programs, two configs side by side, and ways to a longer context."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rope_core.extension.blocks import scaling_factor
from rope_core.extension.extend import ContextExtension
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import FieldComparison
from rope_core.programs.engines import EngineResult, engine_evidence_sentence, engine_sentences
from rope_core.rope import Array
from ui.figures.config.parts import DOUBLING, frequency_quantity_curve, value_cell_text
from ui.figures.drawing import Drawing
from ui.figures.plot import LOG, POWERS, PlotlyProps, line_trace, plotly_axis, plotly_figure
from ui.film.colours import BLUE, GREY, RED, SERIES_COLOURS
from ui.text.words import PageTexts, number_text


def engine_table(results: Sequence[EngineResult], t: PageTexts) -> dict[str, list[str]]:
    """Return what each program makes of the config, as a table's columns; plain text."""
    return {
        t("col.engine"): [each.name for each in results],
        t("col.difference"): [
            relative_difference_text(each.difference, t) if each.status == "runs" else t(f"engine_status.{each.status}")
            for each in results
        ],
        t("col.attention"): [
            "-" if each.attention_factor is None else f"{each.attention_factor:.6g}" for each in results
        ],
        t("col.logit_scale"): ["-" if each.logit_scale is None else f"{each.logit_scale:.6g}" for each in results],
        t("col.layout"): [t(f"layout.{each.layout}") if each.refused != "no_family" else "-" for each in results],
        t("col.basis"): [engine_evidence_sentence(each.name, t.lang) for each in results],
    }


def engine_remarks(results: Sequence[EngineResult], t: PageTexts) -> list[tuple[str, str]]:
    """Each program that does something of its own, with the sentences that say so; plain text."""
    words = [
        (each.name, t("semicolon").join(engine_sentences(each, t.lang))) for each in results if each.notes != ("same",)
    ]
    return [(name, sentence) for name, sentence in words if sentence]


def differing_engines_sentence(results: Sequence[EngineResult], t: PageTexts) -> str:
    """Return which programs turn by other frequencies than transformers, and which do not run the config."""
    apart = [each for each in results if each.difference]
    listed = t("comma").join(f"{each.name} ({relative_difference_text(each.difference, t)})" for each in apart)
    refused = t("comma").join(each.name for each in results if each.refused)
    finding = (
        t("engines_differ", listed=listed)
        if apart
        else t("engines_agree", count=len(comparable_engine_results(results)))
    )
    return finding + (" " + t("engines_refuse", listed=refused) if refused else "")


def differing_engine_names(results: Sequence[EngineResult]) -> list[str]:
    """Return the programs, without their versions, that turn by other frequencies than transformers."""
    return [each.name.rpartition(" ")[0] or each.name for each in results if each.difference]


def comparable_engine_results(results: Sequence[EngineResult]) -> list[EngineResult]:
    """Return the programs that have as many frequencies as transformers."""
    shapes = [None if each.inv_freq is None else each.inv_freq.shape for each in results]
    return [each for each, shape in zip(results, shapes, strict=True) if shape and shape == shapes[0]]


def relative_difference_text(difference: float | None, t: PageTexts) -> str:
    """Return a largest relative difference: 0, per cent, or why there is none."""
    if difference is None:
        return "-"
    if math.isinf(difference):
        return t("other_width")
    if difference == 0:
        return "0"
    return f"{100 * difference:.3g} %" if difference < 10 else f"{100 * difference:,.0f} %"


def engine_frequency_chart(results: Sequence[EngineResult], rope: HfRope, where: str, t: PageTexts) -> Drawing:
    """Each program's frequencies over transformers', pair by pair; programs that agree share a curve."""
    first = results[0].inv_freq
    groups: dict[bytes, list[EngineResult]] = {}
    for each in comparable_engine_results(results):
        groups.setdefault(np.round(np.asarray(each.inv_freq) / frequency_divisors(first), 12).tobytes(), []).append(
            each
        )
    data: list[PlotlyProps] = []
    ratios: dict[str, Array] = {}
    for k, same in enumerate(groups.values()):
        ratio = np.where(np.asarray(first) > 0, np.asarray(same[0].inv_freq) / frequency_divisors(first), np.nan)
        ratios |= {each.name: ratio for each in same}
        dash = ("solid", "dash", "dot", "dashdot")[k % 4]
        # Two programs a line: the legend fits a phone.
        lines = [t("comma").join(each.name for each in same[at : at + 2]) for at in range(0, len(same), 2)]
        name = f"{t('comma').rstrip()}<br>".join(lines)
        data.append(
            line_trace(np.arange(ratio.size), ratio, SERIES_COLOURS[k % len(SERIES_COLOURS)], name=name, dash=dash)
        )
    spread = max((float(np.nanmax(np.abs(np.log10(each)))) for each in ratios.values()), default=0.0)
    # Decades or doublings where the axis has several of them; between, Plotly's own ticks.
    ticks = {"dtick": 1} if spread > 1 else {} if 1e-3 < spread < 2 * DOUBLING else {"dtick": DOUBLING}
    figure = plotly_figure(
        data,
        height=360,
        legend={"y": 1.02},
        xaxis=plotly_axis(t("axis.pair")),
        yaxis=plotly_axis(t("ratio_axis"), **LOG, **ticks),
    )
    recipe = f"""
        from rope_core.programs.engines import engines
        import rope_core as rc
        for one in engines({where}, {rope.layer_type!r}, {rope.seq_len!r}):
            print(one.name, one.difference, one.inv_freq)
        """
    return Drawing(
        "engines",
        figure,
        differing_engines_sentence(results, t),
        lambda: {"pair": np.arange(rope.inv_freq.size)} | ratios,
        recipe,
    )


def frequency_divisors(inv_freq: Array | None) -> Array:
    """Frequencies to divide by; 1 where a pair does not turn."""
    values = np.asarray(inv_freq)
    return np.where(values > 0, values, 1.0)


def config_difference_table(
    rows: Sequence[FieldComparison], names: tuple[str, str], t: PageTexts
) -> dict[str, list[str]]:
    """Two configs field by field, differences first, as a table's columns; plain text."""
    heads = [t("col.field"), names[0], names[1], t("col.same")]
    if heads[1] == heads[2]:
        heads[2] = t("other_one", name=names[1])
    cells = [(field_name(row, t), *row_cell_texts(row, t), t("same") if row.same else t("differs")) for row in rows]
    return {head: list(column) for head, column in zip(heads, zip(*cells, strict=True), strict=True)}


def field_name(row: FieldComparison, t: PageTexts) -> str:
    """Return a row's field, with its layer type where there are several."""
    name = t(f"value_of.{row.field}") if t.has_label(f"value_of.{row.field}") else row.field
    return name if row.layer_type is None else f"{row.layer_type} · {name}"


def row_cell_texts(row: FieldComparison, t: PageTexts) -> tuple[str, str]:
    """Both cells of a row; the frequencies' row holds how far the right ones are from the left ones."""
    if row.field == "inv_freq" and isinstance(row.right, float):
        return t("reference"), relative_difference_text(row.right, t)
    return value_cell_text(row.left), value_cell_text(row.right)


def wavelength_overlay_chart(
    left: HfRope,
    right: HfRope,
    names: tuple[str, str],
    rows: Sequence[FieldComparison],
    where: tuple[str, str],
    t: PageTexts,
) -> Drawing:
    """Draw the wavelengths of two configs on one axis; ``where`` has the Python that names either."""
    both = {"left": left, "right": right}
    columns = {key: frequency_quantity_curve(rope.inv_freq, rope.unscaled, "wavelength") for key, rope in both.items()}
    index = np.arange(max(values.size for values in columns.values()))
    traces = [
        line_trace(index[: columns["left"].size], columns["left"], BLUE, name=names[0]),
        line_trace(index[: columns["right"].size], columns["right"], RED, name=names[1], dash="dash"),
    ]
    figure = plotly_figure(
        traces,
        height=340,
        xaxis=plotly_axis(t("axis.pair")),
        yaxis=plotly_axis(t("quantity_axis.wavelength"), **POWERS),
    )
    count = sum(not row.same for row in rows)
    slowest = [
        number_text(float(f"{np.nanmax(each):.6g}")) if np.isfinite(each).any() else "-" for each in columns.values()
    ]
    finding = t("overlay_finding", count=count, total=len(rows), left=slowest[0], right=slowest[1])
    requests = [(each.request.rope, each.scheme, dict(each.params), each.seq_len) for each in (left, right)]
    parts = [f"    ({r.dim}, {r.base!r}, {r.train_len}, {s!r}, {p!r}, {n!r})," for r, s, p, n in requests]
    lines = ["import rope_core as rc", "for dim, base, train_len, scheme, params, seq_len in (", *parts, "):"]
    lines += ["    rope = rc.Rope(dim, base, train_len)"]
    lines += ["    print(rc.spectrum(rc.Request(rope, scheme, params, seq_len)).wavelength)"]
    lines += ["from rope_core.hf.schemas import compare_configs"]
    lines += [f"rows = compare_configs({', '.join(where)}, {left.seq_len!r})"]
    lines += ["print(sum(not row.same for row in rows), 'of', len(rows), 'fields differ')"]
    return Drawing("overlay", figure, finding, lambda: {"pair": index} | columns, "\n".join(lines))


def extension_slowdown_chart(
    results: Sequence[ContextExtension], now: HfRope, length: int, where: str, t: PageTexts
) -> Drawing:
    """Draw the slow-down of every pair in each way to a longer context, beside what the config does at present."""
    drawn = {way.name: extension_rope(way, now.layer_type) for way in results}
    columns = {
        name: frequency_quantity_curve(rope.inv_freq, unscaled_frequencies(rope, now), "slowdown")
        for name, rope in drawn.items()
    }
    present = frequency_quantity_curve(now.inv_freq, now.unscaled, "slowdown")
    index = np.arange(max(present.size, *(values.size for values in columns.values())))
    figure = plotly_figure(
        [line_trace(index[: present.size], present, GREY, 3, t("at_present"), "dot")]
        + [
            line_trace(index[: values.size], values, SERIES_COLOURS[k % len(SERIES_COLOURS)], name=way.title(t.lang))
            for k, (way, values) in enumerate(zip(results, columns.values(), strict=True))
        ],
        height=340,
        xaxis=plotly_axis(t("axis.pair")),
        yaxis=plotly_axis(t("axis.slowdown"), **LOG, dtick=DOUBLING),
    )
    listed = t("comma").join(f"{way.title(t.lang)}{t('colon')}{way.unseen}" for way in results)
    factor = number_text(float(f"{results[0].factor:.3g}"))
    return Drawing(
        "extensions",
        figure,
        t("extensions_finding", length=f"{length:,}", factor=factor, listed=listed, pairs=results[0].pairs),
        lambda: {"pair": np.arange(present.size), "at_present": present} | columns,
        f"""
        import rope_core as rc
        from rope_core.extension.extend import extend
        for way in extend({where}, {length}):
            print(way.name, way.factor, way.kept, way.unseen, way.attention_factor, way.block)
        """,
    )


def extension_rope(way: ContextExtension, layer: str | None) -> HfRope:
    """Return what a way computes in the layer type in view, else in the first one that it extends."""
    return way.ropes[layer] if layer in way.ropes else next(iter(way.ropes.values()))


def unscaled_frequencies(rope: HfRope, now: HfRope) -> Array:
    """Return the frequencies before any scaling: those in view, unless the way extends layers of another width."""
    return now.unscaled if now.unscaled.shape == rope.unscaled.shape else rope.unscaled


def extension_cost_table(results: Sequence[ContextExtension], t: PageTexts) -> dict[str, list[str]]:
    """Return what each way costs, as a table's columns."""
    return {
        t("col.way"): [way.title(t.lang) for way in results],
        t("col.factor"): [
            number_text(float(f"{scaling_factor(next(iter(way.ropes.values()))):.6g}")) for way in results
        ],
        t("col.kept"): [f"{way.kept} / {way.pairs}" for way in results],
        t("col.fastest"): [f"{way.fastest:.4g}" for way in results],
        t("col.unseen"): [f"{way.unseen} / {way.pairs}" for way in results],
        t("col.attention"): [f"{way.attention_factor:.6g}" for way in results],
    }
