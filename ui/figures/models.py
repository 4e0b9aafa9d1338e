"""Figures and tables of the models page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rope_core.hf.survey import RotatingShare, SurveyRow, architecture_errata, rotating_shares
from rope_core.rope import Array
from ui.figures import slowest
from ui.figures.drawing import Drawing, Film, cached_figure
from ui.figures.plot import (
    POWERS,
    PlotlyProps,
    dot_trace,
    line_trace,
    panel_axes,
    panel_domains,
    panel_titles,
    plotly_axis,
    plotly_figure,
    text_annotation,
    trace_in_panel,
)
from ui.film import marks
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, RED
from ui.film.scene import Axis, Control, NumberTrack, Panel, field_control, scene_in_beats, sentence_parts
from ui.text.words import PageTexts

NAMES_AT, LAST_AT = -1.5, 8.0
"""Where the names begin and the picture ends, powers of ten of tokens."""
SINCE, RECENT = 2023, 2025
# What a model's layers are, with a mark that needs no colour.
KINDS, SYMBOLS = ("whole", "nope", "hybrid", "none"), ("circle", "square", "triangle-up", "x")


def survey_row_name(row: SurveyRow) -> str:
    """Return a row's name: the model's, and its layer type where they differ."""
    return row.model.name + (f" · {row.layer_type}" if row.layer_type else "")


def broken_line(strokes: Sequence[tuple[int, float, float]]) -> tuple[list[int | None], list[float | None]]:
    """Return upright strokes (index, low, high) with gaps between them, as one trace's x and y."""
    x = [value for k, _, _ in strokes for value in (k, k, None)]
    y = [value for _, low, high in strokes for value in (float(f"{low:.5g}"), float(f"{high:.5g}"), None)]
    return x, y


def year_ticks(years: Sequence[int]) -> PlotlyProps:
    """Each year below the middle of its rows, left out where these are too few for its width."""
    runs = {year: [k for k, each in enumerate(years) if each == year] for year in sorted(set(years))}
    wide = {year: run for year, run in runs.items() if len(run) * 14 >= len(years)}
    middles = [(run[0] + run[-1]) / 2 for run in wide.values()]
    return {"tickvals": middles, "ticktext": [str(year) for year in wide], "tickangle": 0, "tickfont": {"size": 15}}


@cached_figure
def slowest_pairs_film(times: tuple[float, ...], lengths: tuple[int, ...], t: PageTexts) -> Film:
    """Return known models' slowest pairs in a longer text, then how many tokens a turn of each pair takes."""
    shown, far = slowest.slowest_pair_rows(), slowest.text_length_control(times, t)
    at = field_control(t, "context", lengths, play_seconds=12.0)
    turning = sentence_parts(
        lambda **slots: t("dozen_finding", count=len(shown), own=_whole(shown), **slots),
        length=at.stop_text,
        whole=at.texts(str(sum(row.longest <= stop for row in shown)) for stop in at.stops),
    )
    scene = scene_in_beats(
        t,
        "dozen",
        (far, slowest.slowest_pair_panels(shown, far, t), slowest.slowest_pair_turn_finding(shown[0], far, t)),
        (at, [_turning(shown, at, 250, t)], turning),
        control_values=({}, {"context": 4096}),
        count=str(len(shown)),
    )
    return Film(
        "dozen",
        scene,
        lambda: {
            "model": [row.model.id for row in shown],
            "context": [row.context for row in shown],
            "degrees_at_context": [float(np.degrees(row.slowest_angle(row.context))) for row in shown],
            "shortest": [row.shortest for row in shown],
            "longest": [row.longest for row in shown],
        },
        f"""
        from math import degrees
        from rope_core.hf.survey import survey_rows
        found = [row for row in survey_rows() if row.model.id in {sorted(slowest.MODELS)!r}]
        for row in found:
            angles = [degrees(row.slowest_angle(by * row.context)) for by in (1, times)]
            print(row.model.id, times * row.context, angles, angles[1] - angles[0], row.shortest, row.longest)
        for length in (context, None):
            print(sum(row.longest <= (length or row.context) for row in found), "of", len(found))
        """,
    )


def _whole(rows: Sequence[SurveyRow]) -> int:
    """Return in how many rows the slowest pair completes a turn within the model's own context."""
    return sum(row.longest <= row.context for row in rows)


def _turning(shown: Sequence[SurveyRow], at: Control, height: int, t: PageTexts) -> Panel:
    """Return each model's pairs as a line over the tokens of a turn: blue up to the length, then dashed."""
    places = np.log10([[row.shortest, row.longest, row.context] for row in shown])
    cut = np.log10(at.stops)[:, None]
    y = np.arange(len(shown), 0, -1, dtype=float)
    here, top = at.numbers(cut), len(shown) + 0.7
    lines = np.repeat(y, 3)

    def strokes(low: Array, high: Array) -> NumberTrack:
        gap = np.where(low < high, 0.0, np.nan)
        ends = np.stack([low + gap, high + gap, np.full_like(gap, np.nan)], axis=-1)
        return at.numbers(ends.reshape(cut.size, -1))

    first, last = (np.broadcast_to(places[:, side], (cut.size, y.size)) for side in (0, 1))
    edge = marks.line(at.numbers(np.repeat(cut, 2, axis=1)), [0.3, top], "ink", 3)
    ticks = tuple((float(power), f"{10**power:,}") for power in (1, 3, 5, 7))
    across = Axis(NAMES_AT, LAST_AT, ticks, t("tokens_axis"))
    drawn = [
        marks.line(strokes(np.maximum(first, cut), last), lines, ORANGE, 6, stroke_dash="3 9"),
        marks.line(strokes(first, np.minimum(last, cut)), lines, BLUE, 7),
        marks.dot(places[:, 1], y, GREY, 4),
        marks.dot(places[:, 2], y, GREEN, 6),
        *(
            marks.text(
                NAMES_AT, float(line), row.model.name.removesuffix(" Instruct"), anchor="start", font_size=13, dy=4
            )
            for row, line in zip(shown, y, strict=True)
        ),
        marks.drag_handle(at, here, 0.3, "ink", t("grab_length"), [edge], radius_px=8),
        marks.text(here, top, at.stop_text, bold=True, font_size=14, dy=-5),
    ]
    heading = [t("turned"), " · ", t("unturned"), " · ", t("context_mark")]
    return Panel(across, Axis(0.3, top + 0.8), drawn, heading, min_width=2000, height=height)


def wavelength_range_chart(rows: Sequence[SurveyRow], length: int, picked: str, t: PageTexts) -> Drawing:
    """Wavelengths of every model from its fastest to its slowest pair, cut at one context; its own context marked."""
    index = range(len(rows))
    turned = [(k, row.shortest, min(row.longest, length)) for k, row in zip(index, rows, strict=True)]
    turned = [stroke for stroke in turned if stroke[1] <= stroke[2]]
    rest = [(k, max(row.shortest, length), row.longest) for k, row in zip(index, rows, strict=True)]
    rest = [stroke for stroke in rest if stroke[1] < stroke[2]]
    stroke = max(3.0, min(14.0, 330.0 / max(len(rows), 1)))
    strokes = {
        key: line_trace(*broken_line(cut), colour, stroke, t(key), hoverinfo="skip")
        for key, colour, cut in (("turned", BLUE, turned), ("unturned", ORANGE, rest))
    }
    own = dot_trace(
        list(index),
        [row.context for row in rows],
        RED,
        8,
        t("own_context"),
        marker={"symbol": "diamond", "line": {"width": 1, "color": "white"}},
        text=[survey_row_name(row) for row in rows],
        hovertemplate="%{text}<br>%{y:,}<extra></extra>",
    )
    # Above every stroke: beside its own one a name would lie across its neighbours.
    top = 2 * max((row.longest for row in rows), default=1.0)
    names = []
    for k in [k for k in index if rows[k].model.id == picked][:1]:
        # At the left edge the name starts at its stroke, at the right edge it ends there: it never leaves the axes.
        side = "left" if k < len(rows) / 6 else "right" if k > len(rows) * 5 / 6 else "center"
        arrow = {"showarrow": True, "ay": float(np.log10(top)), "ayref": "y", "ax": 0}
        place = {"xanchor": side, "yanchor": "bottom", **arrow}
        names.append(
            text_annotation(f"<b>{survey_row_name(rows[k])}</b>", k, float(np.log10(rows[k].longest)), **place)
        )
    figure = plotly_figure(
        [line_trace([-1, len(rows)], [length, length], GREY, 3, t("asked"), "dot"), *strokes.values(), own],
        height=350,
        annotations=names,
        xaxis=plotly_axis(**year_ticks([row.model.year for row in rows]), range=[-1, len(rows)]),
        yaxis=plotly_axis(t("axis.wavelength"), **POWERS),
    )
    whole = sum(row.longest <= length for row in rows)
    never = sum(row.longest > row.context for row in rows)
    return Drawing(
        "spans",
        figure,
        t("spans_finding", length=f"{length:,}", whole=whole, count=len(rows), never=never),
        lambda: (
            {"model": [row.model.id for row in rows], "layer_type": [row.layer_type for row in rows]}
            | {"shortest": [row.shortest for row in rows], "longest": [row.longest for row in rows]}
            | {
                "context": [row.context for row in rows],
                "unturned": [row.incomplete_pair_count(length) for row in rows],
            }
        ),
        f"""
        from rope_core.hf.survey import survey_rows
        for row in survey_rows():
            print(row.model.id, row.layer_type, row.shortest, row.longest, row.context)
            print(row.incomplete_pair_count({length}))
        """,
        wide=True,
    )


def rotating_share_kind(share: RotatingShare) -> str:
    """Return what a model's layers are: all rotate, some attention does not, some are no attention, or none rotates."""
    if not share.rotating:
        return "none"
    if share.attention < share.layers:
        return "hybrid"
    return "whole" if share.rotating == share.attention else "nope"


@cached_figure
def rotating_share_chart(t: PageTexts) -> Drawing:
    """Share of layers that rotate, part of the head, base and trained length, model by model and by year."""
    results = rotating_shares()
    years = sorted({each.year for each in results})
    ranks = {year: [each for each in results if each.year == year] for year in years}
    place = {
        each.name: year + 0.8 * ((k + 0.5) / len(ranks[year]) - 0.5)
        for year in years
        for k, each in enumerate(
            sorted(ranks[year], key=lambda each: (KINDS.index(rotating_share_kind(each)), each.name))
        )
    }
    measures: dict[str, Callable[[RotatingShare], float | None]] = {
        "share": lambda each: 100 * each.rotating / each.layers,
        "width": lambda each: 100 * each.width if each.rotating else None,
        "base": lambda each: each.base,
        "trained": lambda each: each.trained,
    }
    data = []
    for panel, measure in enumerate(measures.values(), 1):
        for kind, colour, symbol in zip(KINDS, (BLUE, ORANGE, GREEN, RED), SYMBOLS, strict=True):
            those = [each for each in results if rotating_share_kind(each) == kind and measure(each) is not None]
            look = {"symbol": symbol, "line": {"width": 1, "color": "white"}, "opacity": 1}
            trace = dot_trace(
                [round(place[each.name], 3) for each in those],
                [float(f"{measure(each):.5g}") for each in those],
                colour,
                9,
                t(f"kind.{kind}"),
                marker=look,
                text=[f"{each.name} ({each.confidence})" for each in those],
                hovertemplate="%{text}<br>%{y:,}<extra></extra>",
                legendgroup=kind,
                showlegend=panel == 1,
            )
            data.append(trace_in_panel(panel, trace))
    columns, lines = panel_domains([1, 1], 0.1), panel_domains([1, 1], 0.2)
    when: PlotlyProps = {"range": [years[0] - 0.5, years[-1] + 0.5], "dtick": 1}
    percent: PlotlyProps = {"range": [-6, 106], "dtick": 25}
    axes = [
        (plotly_axis(**when, showticklabels=False), plotly_axis(**percent)),
        (plotly_axis(**when, showticklabels=False), plotly_axis(**percent)),
        (plotly_axis(t("year"), **when), plotly_axis(**POWERS)),
        (plotly_axis(t("year"), **when), plotly_axis(**POWERS)),
    ]
    heads = panel_titles([t(f"rotating.{name}") for name in measures], columns, lines)
    legend = {"orientation": "h", "y": 1.1, "yanchor": "bottom", "x": 0, "xanchor": "left"}
    look = {"legend": legend, "margin": {"t": 100}}
    figure = plotly_figure(data, height=580, annotations=heads, **look, **panel_axes(axes, columns, lines))
    late = [rotating_share_kind(each) for each in results if each.year >= RECENT]
    early = [each for each in results if each.year < SINCE + 1]
    counts = {kind: late.count(kind) for kind in KINDS}
    return Drawing(
        "rotating",
        figure,
        t("rotating_finding", early=len(early), until=SINCE, since=RECENT, total=len(late), **counts),
        lambda: {
            name: [getattr(each, name) for each in results]
            for name in ("name", "year", "confidence", "layers", "attention", "rotating", "width", "base", "trained")
        },
        """
        from rope_core.hf.survey import rotating_shares
        for each in rotating_shares():
            print(each.year, each.name, each.rotating, each.layers, each.width, each.base, each.trained)
        """,
        wide=True,
    )


def model_table(rows: Sequence[SurveyRow], t: PageTexts) -> dict[str, list[object]]:
    """Return the table's columns, by their heads in the page's language."""
    columns: dict[str, list[object]] = {
        "name": [survey_row_name(row) for row in rows],
        "grade": [row.model.confidence for row in rows],
        "source": [row.model.source for row in rows],
        "family": [row.model.family for row in rows],
        "year": [row.model.year for row in rows],
        "scheme": [t(f"scheme.{row.rope.scheme}") for row in rows],
        "layout": [t(f"layout.{row.rope.layout}") for row in rows],
        "base": [row.rope.base for row in rows],
        "rotary": [f"{row.rope.rotary_dim} / {row.rope.head_dim}" for row in rows],
        "trained": [row.rope.train_len for row in rows],
        "context": [row.context for row in rows],
        "longest": [round(row.longest) for row in rows],
        "unturned": [row.incomplete_pair_count(row.context) for row in rows],
    }
    return {t(f"col.{key}"): column for key, column in columns.items()}


def table_errata(t: PageTexts) -> dict[str, list[object]]:
    """Source 004's cells that the models' own papers or code contradict, as a table's columns."""
    results = architecture_errata()
    columns: dict[str, list[object]] = {
        "name": [row.name for row, _ in results],
        "cell": [t(f"cell.{each.field}") for _, each in results],
        "printed": [each.printed or t("no_entry") for _, each in results],
        "corrected": [each.corrected or t("no_entry") for _, each in results],
        "settled": [each.verified for _, each in results],
        "source": [each.source for _, each in results],
    }
    return {t(f"col.{key}"): column for key, column in columns.items()}


def model_card_markdown(rows: Sequence[SurveyRow], t: PageTexts) -> str:
    """Return what is known of one model, as Markdown: every layer type, the grade and the source."""
    model = rows[0].model
    lines = [
        t(
            "card_row",
            name=survey_row_name(row),
            scheme=t(f"scheme.{row.rope.scheme}"),
            layout=t(f"layout.{row.rope.layout}"),
            base=f"{row.rope.base:,.10g}",
            dim=row.rope.rotary_dim,
            trained=f"{row.rope.train_len:,}",
            context=f"{row.context:,}",
            unturned=row.incomplete_pair_count(row.context),
            pairs=row.rope.inv_freq.size,
            factor=f"{row.rope.attention_factor:.6g}",
        )
        for row in rows
    ]
    grade = t("card_grade", grade=model.confidence, meaning=t(f"grade.{model.confidence}"))
    # Some values come from an installed release, which has a name but no address.
    source = f"<{model.source}>" if model.source.startswith("https://") else model.source
    return "\n\n".join([*lines, f"{grade} {t('card_source', source=source)}"])
