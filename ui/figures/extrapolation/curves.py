"""The extrapolation page, first half: perplexity against position, the order of the lines, the same over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rope_core.lab import view
from rope_core.lab.lines import lines
from rope_core.lab.view import Cell
from ui.figures import plain as go
from ui.figures.drawing import BLUE, GREEN, GREY, LINE, ORANGE, PURPLE, RED, SKY, YELLOW, Drawing, Table, styled
from ui.figures.extrapolation.words import factor, name, ranked, times, with_interval
from ui.text.words import Words
from ui.work.extrapolated import Seen

TURNS = (GREY, PURPLE, ORANGE, SKY, YELLOW, GREEN, BLUE, RED, LINE)
TWO, ALL, OFF = "two", "all", "off"
# Bytes that a point of a curve stands for at the least: fewer, and the text's own ups and downs are all that shows.
LEAST = 32
# Height of a label at a curve's end, as a share of the plot.
LABEL = 0.072


def colour(key: str) -> str:
    """A line's colour, by its place in the ladder."""
    keys = [each.key for each in lines()]
    return TURNS[keys.index(key) % len(TURNS)] if key in keys else GREY


def code(seen: Seen, *more: str) -> str:
    """Python lines that put the results in hand, and then print what a figure shows."""
    return "\n".join(("from rope_core.lab import view", seen.code, *more))


def faint(shade: str) -> str:
    """A colour for a band, nearly clear.

    >>> faint("#0072B2")
    'rgba(0,114,178,0.18)'
    """
    red, green, blue = (int(shade[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Heights moved as little as keeps them in order and ``least`` apart.

    >>> apart([0.0, 0.0, 5.0], 1.0)
    [-0.5, 0.5, 5.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    # Neighbours that would touch stand as one block around their mean.
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([index])
        while len(blocks) > 1 and _top(blocks[-2], heights, least) > _bottom(blocks[-1], heights, least) - least:
            last = blocks.pop()
            blocks[-1] += last
    moved = [0.0] * len(heights)
    for block in blocks:
        low = _bottom(block, heights, least)
        for step, index in enumerate(block):
            moved[index] = low + step * least
    return moved


def _bottom(block: Sequence[int], heights: Sequence[float], least: float) -> float:
    return sum(heights[i] for i in block) / len(block) - (len(block) - 1) * least / 2


def _top(block: Sequence[int], heights: Sequence[float], least: float) -> float:
    return _bottom(block, heights, least) + (len(block) - 1) * least


def columns(found: Sequence[Cell]) -> Table:
    """Every curve as named columns."""
    return {
        "weights": [each.weights for each in found for _ in each.curve.position],
        "line": [each.line for each in found for _ in each.curve.position],
        "length": [each.length for each in found for _ in each.curve.position],
        **{
            part: np.concatenate([getattr(each.curve, part) for each in found])
            for part in ("position", "value", "low", "high")
        },
    }


def numbers(found: Sequence[Cell]) -> Table:
    """Every cell's two perplexities as named columns."""
    table: dict[str, list[object]] = {
        "weights": [each.weights for each in found],
        "line": [each.line for each in found],
        "length": [each.length for each in found],
        "documents": [each.documents for each in found],
    }
    for share in ("whole", "last"):
        for part in ("value", "low", "high"):
            table[f"{share}_{part}"] = [getattr(getattr(each, share), part) for each in found]
    return table


def drawn_curves(
    found: Sequence[Cell], labels: Sequence[str], shades: Sequence[str], strong: Sequence[bool], banded: Sequence[bool]
) -> go.Figure:
    """Curves with their names at their right ends, on a logarithmic axis; the last ones lie on top."""
    figure = go.Figure()
    ends = []
    for cell, label, shade, bold, band in zip(found, labels, shades, strong, banded, strict=True):
        x, curve = cell.curve.position, cell.curve
        if band and np.isfinite(curve.low).all():
            figure.add_trace(
                go.Scatter(
                    x=np.concatenate([x, x[::-1]]),
                    y=np.concatenate([curve.high, curve.low[::-1]]),
                    mode="lines",
                    fill="toself",
                    fillcolor=faint(shade),
                    line={"width": 0},
                    hoverinfo="skip",
                    name=label,
                    showlegend=False,
                )
            )
        line = {"color": shade, "width": 5 if bold else 3}
        figure.add_trace(go.Scatter(x=x, y=curve.value, mode="lines", name=label, line=line, showlegend=False))
        ends.append(float(np.log10(curve.value[-1])))
    shown = [(each.curve.value,) for each in found]
    shown += [(each.curve.low, each.curve.high) for each, band in zip(found, banded, strict=True) if band]
    finite = np.log10(np.concatenate([part[np.isfinite(part)] for parts in shown for part in parts]))
    # The band of two or three documents can be as wide as all numbers: it leaves the picture, the curves stay in it.
    drawn = np.log10(np.concatenate([part for (part,) in shown[: len(found)]]))
    low = max(float(finite.min()), float(drawn.min()) - 0.5) - 0.05
    high = min(float(finite.max()), float(drawn.max()) + 0.5) + 0.08
    heights = apart(ends, LABEL * (high - low))
    for height, label, shade, bold in zip(heights, labels, shades, strong, strict=True):
        figure.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=6,
            y=height,
            text=f"<b>{label}</b>" if bold else label,
            font={"color": shade, "size": 15},
            showarrow=False,
        )
    figure.update_yaxes(type="log", range=[min(low, *heights) - 0.03, max(high, *heights) + 0.03])
    room = 16 + max(width(label) for label in labels)
    return styled(figure, height=410, margin={"l": 64, "r": room, "t": 28, "b": 52})


def width(label: str) -> float:
    """About how many pixels a label of the size in use takes, in bold.

    >>> width("NTK") < width("不缩放") < width("dynamic NTK")
    True
    """
    return sum(9.2 if letter < "⺀" else 15.5 for letter in label)


def mark_trained(figure: go.Figure, trained: int, t: Words) -> None:
    """A dashed line where the model's training ended."""
    figure.add_vline(x=trained, line={"color": GREY, "width": 3, "dash": "dash"})
    figure.add_annotation(
        x=trained,
        xanchor="left",
        xshift=4,
        y=1,
        yref="paper",
        yanchor="bottom",
        text=t("trained_mark", length=f"{trained:,}"),
        font={"size": 14, "color": GREY},
        showarrow=False,
    )


TICKS = (1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000, 10_000, 100_000)


def log_axis(figure: go.Figure, t: Words) -> None:
    """Positions across, and plain numbers on the logarithmic axis."""
    figure.update_xaxes(title_text=t("position_axis"))
    figure.update_yaxes(title_text=t("perplexity_axis"))
    figure.update_yaxes(tickvals=TICKS, ticktext=[f"{tick:,g}" for tick in TICKS])


def curves(seen: Seen, trained: int, bands: str, t: Words) -> Drawing:
    """Perplexity against position at the longest length, all lines at once."""
    cells = view.cells(seen.results)
    length = max(view.lengths(cells))
    found = view.at(cells, length)
    places = view.order(found)
    best, plain_line = places[0].cell.line, lines()[0].key
    drawn = [replace(each.cell, curve=view.coarser(each.cell.curve, LEAST)) for each in reversed(places)]
    strong = [each.line in (best, plain_line) for each in drawn]
    banded = [bands == ALL or (bands == TWO and bold) for bold in strong]
    figure = drawn_curves(drawn, [name(c.line, t) for c in drawn], [colour(c.line) for c in drawn], strong, banded)
    mark_trained(figure, trained, t)
    log_axis(figure, t)
    return Drawing(
        "curves",
        figure,
        order_sentence(found, trained, t) + near_sentence(cells, trained, t),
        lambda: columns([each for each in cells if not each.undefined]),
        code(
            seen,
            f"for cell in view.at(view.cells(results), {length}):",
            "    print(cell.line, cell.curve.position, cell.curve.value, cell.curve.low, cell.curve.high)",
        ),
    )


def order_sentence(found: Sequence[Cell], trained: int, t: Words) -> str:
    """The order of cells of one length on their last quarter, as one sentence."""
    places = view.order(found)
    best, worst = places[0].cell, places[-1].cell
    return t(
        "order_finding" if len(places) > 1 else "alone_finding",
        length=f"{best.length:,}",
        times=times(best.length, trained),
        documents=best.documents,
        best=name(best.line, t),
        low=with_interval(best.last),
        worst=name(worst.line, t),
        high=with_interval(worst.last),
        order=ranked(places, t),
    )


def near_sentence(cells: Sequence[Cell], trained: int, t: Words) -> str:
    """Who reads best at the shortest length past the trained one, where that is not the longest; else nothing."""
    past = [length for length in view.lengths(cells) if length > trained]
    if len(past) < 2 or not view.at(cells, past[0]):
        return ""
    best = view.groups(view.order(view.at(cells, past[0])))[0]
    names = t("tied").join(name(place.cell.line, t) for place in best)
    value = with_interval(best[0].cell.last)
    return t("order_near", length=f"{past[0]:,}", times=times(past[0], trained), best=names, value=value)


def order(seen: Seen, length: int, trained: int, t: Words) -> Drawing:
    """How many times the best line's perplexity each line has at one length, documents paired."""
    found = view.at(view.cells(seen.results), length)
    places = list(reversed(view.order(found)))
    ratios = [place.over_best for place in places]
    figure = go.Figure(
        go.Scatter(
            x=[each.value for each in ratios],
            y=[name(place.cell.line, t) for place in places],
            mode="markers",
            marker={"size": 16, "color": [colour(place.cell.line) for place in places]},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [each.high - each.value if each.sure else 0 for each in ratios],
                "arrayminus": [each.value - each.low if each.sure else 0 for each in ratios],
                "thickness": 3,
                "color": LINE,
            },
        )
    )
    figure.add_vline(x=1, line={"color": GREY, "width": 3, "dash": "dash"})
    widest = max(each.high if each.sure else each.value for each in ratios)
    for place, each in zip(places, ratios, strict=True):
        figure.add_annotation(
            x=float(np.log10(each.high if each.sure else each.value)),
            y=name(place.cell.line, t),
            xanchor="left",
            xshift=10,
            text=with_interval(place.cell.last),
            font={"size": 14},
            showarrow=False,
        )
    styled(figure, height=116 + 36 * len(places), x=t("ratio_axis", best=name(places[-1].cell.line, t)))
    span = float(np.log10(widest))
    figure.update_xaxes(
        type="log",
        range=[-0.04 - 0.03 * span, 0.06 + 1.55 * span],
        tickvals=TICKS,
        ticktext=[f"{tick:g}" for tick in TICKS],
        showgrid=False,
    )
    figure.update_yaxes(automargin=True)
    figure.update_layout(margin={"t": 8, "b": 72})
    return Drawing(
        "order",
        figure,
        at_sentence(found, trained, t),
        lambda: {
            **numbers([place.cell for place in places]),
            "over_best": [each.value for each in ratios],
            "over_best_low": [each.low for each in ratios],
            "over_best_high": [each.high for each in ratios],
        },
        code(
            seen,
            f"for place in view.order(view.at(view.cells(results), {length})):",
            "    print(place.cell.line, place.cell.last, place.behind, place.over_best, place.settled)",
        ),
    )


def at_sentence(found: Sequence[Cell], trained: int, t: Words) -> str:
    """Who reads best at a length, who cannot be told from it, and who is the first that can."""
    places = view.order(found)
    best = places[0]
    level = [place for place in places[1:] if not place.over_best.excludes(1.0)]
    behind = [place for place in places[1:] if place.over_best.excludes(1.0)]
    values = {
        "length": f"{best.cell.length:,}",
        "times": times(best.cell.length, trained),
        "best": name(best.cell.line, t),
        "value": with_interval(best.cell.last),
        "level": t("comma").join(name(place.cell.line, t) for place in level),
    }
    if not behind:
        return t("at_finding.level", **values)
    first, worst = behind[0], behind[-1]
    last = t("at_last", worst=name(worst.cell.line, t), worst_ratio=factor(worst.over_best))
    more = {
        "next": name(first.cell.line, t),
        "ratio": factor(first.over_best),
        "last": "" if worst is first else last,
    }
    return t("at_finding.tied" if level else "at_finding.alone", **values, **more)


def seeds(seen: Seen, trained: int, t: Words) -> Drawing:
    """The last quarter's perplexity of every line, one mark a trained model, at the longest length."""
    cells = view.cells(seen.results)
    length = max(view.lengths(cells))
    found = view.at(cells, length)
    across = list(reversed(view.over_seeds(found)))
    models = list(dict.fromkeys(each.weights for each in found))
    figure = go.Figure()
    for place, model in enumerate(models):
        own = [(each.line, each.by_weights[model]) for each in across if model in each.by_weights]
        figure.add_trace(
            go.Scatter(
                x=[found.value for _, found in own],
                y=[name(line, t) for line, _ in own],
                mode="markers",
                name=model,
                marker={"size": 15, "color": (BLUE, ORANGE, GREEN, PURPLE)[place % 4], "symbol": place, "opacity": 0.9},
            )
        )
    styled(figure, height=130 + 34 * len(across), x=t("last_axis"))
    figure.update_xaxes(type="log", tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS])
    figure.update_yaxes(automargin=True)
    orders = view.orders(found)
    common = max(set(orders.values()), key=list(orders.values()).count)
    best = across[-1]
    return Drawing(
        "seeds",
        figure,
        t(
            "seeds_finding",
            models=len(models),
            same=sum(each == common for each in orders.values()),
            best=name(best.line, t),
            value=with_interval(best.spread),
            order=t("before").join(name(each.line, t) for each in reversed(across)),
            length=f"{length:,}",
            times=times(length, trained),
        ),
        lambda: numbers(found),
        code(
            seen,
            f"found = view.at(view.cells(results), {length})",
            "for each in view.over_seeds(found): print(each.line, each.spread)",
            "print(view.orders(found))",
        ),
    )


def live(seen: Seen, trained: int, bands: str, t: Words) -> Drawing:
    """The same curves for what a visitor measured."""
    return replace(curves(seen, trained, bands, t), id="live")
