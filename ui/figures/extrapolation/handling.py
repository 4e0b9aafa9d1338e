"""The extrapolation page: the logit scale swept, stale keys, padding, text that was written."""

from __future__ import annotations

import math

import numpy as np

from rope_core.lab import experiments, view
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import code, curves_plot, interval_band, intervals
from ui.figures.extrapolation.words import factor, name, number, times, with_interval
from ui.figures.plot import LOG, axis, dots, line, note, plot, vline
from ui.film.colours import BLUE, COLOURS, GREY, LINE, ORANGE, RED
from ui.text.words import Words
from ui.work.extrapolated import Seen

# A phone has room for these on one axis.
PLAIN_TICKS = (1, 3, 10, 30, 100, 300, 1000, 10_000, 100_000)


def scales(seen: Seen, t: Words) -> Drawing:
    """How many times its lowest perplexity each factor has over the attention factor, documents paired."""
    results = experiments.swept(seen.results)
    fitted = experiments.fit(seen.results)
    data, papers = [], []
    for place, (stretch, points) in enumerate(results.items()):
        shade = COLOURS[place % len(COLOURS)]
        x = np.array([each.attention_factor for each in points])
        ratios = [each.over_best for each in points]
        if all(each.sure for each in ratios):
            low, high = np.array([each.low for each in ratios]), np.array([each.high for each in ratios])
            data.append(interval_band(x, low, high, shade))
        middle, label = [each.value for each in ratios], t("at_factor", factor=f"{stretch:g}")
        data.append(line(x, middle, shade, name=label, mode="lines+markers", marker={"size": 9}))
        if fitted:
            papers.append(vline(fitted.at(stretch)[1], shade, 3, "dot"))
    figure = plot(data, shapes=papers, xaxis=axis(t("scale_axis")), yaxis=axis(t("over_best_axis")))
    best = {stretch: min(points, key=lambda each: each.over_best.value) for stretch, points in results.items()}
    sentence = [
        t("scales_one", factor=f"{stretch:g}", value=f"{each.attention_factor:g}", perplexity=with_interval(each.last))
        for stretch, each in best.items()
    ]
    rows = [(stretch, each) for stretch, points in results.items() for each in points]
    return Drawing(
        "scales",
        figure,
        t("scales_finding", said=t("semicolon").join(sentence)),
        lambda: {
            "factor": [stretch for stretch, _ in rows],
            "attention_factor": [each.attention_factor for _, each in rows],
            **{
                f"{what}_{part}": [getattr(getattr(each, what), part) for _, each in rows]
                for what in ("last", "over_best")
                for part in ("value", "low", "high")
            },
        },
        code(seen, "for factor, points in experiments.swept(results).items(): print(factor, points)"),
    )


def refit(seen: Seen, t: Words) -> Drawing | None:
    """Draw the best attention factor at each factor, this model's fit, and the published one; None before that."""
    fitted = experiments.fit(seen.results)
    if fitted is None:
        return None
    known = [
        (stretch, each) for stretch, each in zip(fitted.factors, fitted.best, strict=True) if each.value == each.value
    ]
    x = np.geomspace(1.0, 1.25 * max(fitted.factors), 60)
    paper = [fitted.at(v)[1] for v in x]
    data = [line(x, paper, GREY, name=t("paper_line", slope=f"{fitted.paper:g}"), dash="dash")]
    slope = f"{fitted.slope.value:.3f}" if fitted.slope.value == fitted.slope.value else ""
    if slope:
        data.append(line(x, [fitted.at(v)[0] for v in x], BLUE, name=t("own_line", slope=slope)))
    measured = [each for _, each in known]
    data.append(
        dots(
            [stretch for stretch, _ in known],
            [each.value for each in measured],
            RED,
            15,
            t("best_mark"),
            error_y=intervals(measured, thickness=3),
        )
    )
    factors = [1, 2, 4, 8, 16, 32]
    figure = plot(
        data,
        height=380,
        xaxis=axis(t("factor_axis"), **LOG, tickvals=factors, ticktext=[str(each) for each in factors]),
        yaxis=axis(t("scale_axis")),
    )
    interval = f" [{fitted.slope.low:.3f}, {fitted.slope.high:.3f}]" if fitted.slope.sure else ""
    kind = "unknown" if not slope else "other" if fitted.slope.excludes(fitted.paper) else "same"
    finding = t(f"refit_finding.{kind}", slope=f"{slope}{interval}", paper=f"{fitted.paper:g}")
    if known:
        stretch, best = known[-1]
        published = f"{fitted.at(stretch)[1]:.2f}"
        finding += t("refit_largest", factor=f"{stretch:g}", best=with_interval(best), paper=published)
    return Drawing(
        "refit",
        figure,
        finding,
        lambda: {
            "factor": list(fitted.factors),
            "best": [each.value for each in fitted.best],
            "low": [each.low for each in fitted.best],
            "high": [each.high for each in fitted.best],
            "fitted": [fitted.at(v)[0] for v in fitted.factors],
            "published": [fitted.at(v)[1] for v in fitted.factors],
        },
        code(seen, "print(experiments.fit(results))"),
    )


SHADES = {"recomputed": BLUE, "stale": RED, "unscaled": GREY}


def stale(seen: Seen, trained: int, t: Words) -> Drawing:
    """Perplexity against position with keys turned anew, with keys left as they were cached, and unscaled."""
    results = sorted(experiments.variants(seen.results), key=lambda each: -each.last.value)
    labels = [t(f"variant.{each.name}") for each in results]
    shades = [SHADES.get(each.name, ORANGE) for each in results]
    cells = [view.Cell("", each.name, each.length, 0, each.last, each.last, each.nats, each.curve) for each in results]
    strong = [each.name != "unscaled" for each in results]
    figure = curves_plot(cells, labels, shades, strong, strong, trained, t)
    by_name = {each.name: each for each in results}
    values = t("comma").join(
        f"{label} {with_interval(each.last)}"
        for label, each in sorted(zip(labels, results, strict=True), key=_by_value)
    )
    length = results[0].length
    finding = t("stale_finding.going", length=f"{length:,}", values=values)
    if {"stale", "recomputed"} <= by_name.keys():
        ratio = by_name["stale"].over(by_name["recomputed"])
        kind = "worse" if ratio.sure and ratio.low > 1 else "better" if ratio.sure and ratio.high < 1 else "same"
        finding = t(
            f"stale_finding.{kind}",
            length=f"{length:,}",
            times=times(length, trained),
            ratio=factor(ratio),
            values=values,
            documents=results[0].nats.size,
        )
    return Drawing(
        "stale",
        figure,
        finding,
        lambda: {
            "variant": [each.name for each in results for _ in each.curve.position],
            **{
                part: np.concatenate([getattr(each.curve, part) for each in results])
                for part in ("position", "value", "low", "high")
            },
        },
        code(seen, "for each in experiments.variants(results):", "    print(each.name, each.last, each.curve)"),
    )


def _by_value(pair: tuple[str, experiments.Variant]) -> float:
    return pair[1].last.value


def case_name(case: str, t: Words) -> str:
    """Return a case of padding for readers."""
    key = f"case.{case}"
    return t(key) if t.has(key) else case


def padding(seen: Seen, t: Words) -> Drawing:
    """Perplexity over the window of a padded batch, one mark a way of giving positions."""
    model = next(each["weights"] for each in seen.results if "gap" in each)
    results = [each for each in seen.results if each["weights"] == model and "gap" in each]
    rows = list(
        reversed([(case_name(each["case"], t), view.three(each["whole"]), float(each["gap"])) for each in results])
    )
    perplexities = [each for _, each, _ in rows]
    ends = [each.high if each.sure else each.value for each in perplexities]
    low = min(each.low if each.sure else each.value for each in perplexities)
    span = math.log10(max(ends) / low)
    place = {"xanchor": "left", "xshift": 10, "font": {"size": 14}}
    figure = plot(
        [
            dots(
                [each.value for each in perplexities],
                [label for label, _, _ in rows],
                BLUE,
                17,
                error_x=intervals(perplexities, thickness=3, color=LINE),
            )
        ],
        height=110 + 44 * len(rows),
        margin={"t": 8},
        annotations=[
            note(t("gap_mark", gap=f"{gap:.2g}"), math.log10(end), label, **place)
            for (label, _, gap), end in zip(rows, ends, strict=True)
        ],
        xaxis=axis(
            t("whole_axis"),
            **LOG,
            tickvals=PLAIN_TICKS,
            ticktext=[f"{tick:,g}" for tick in PLAIN_TICKS],
            tickangle=0,
            showgrid=False,
            range=[math.log10(low) - 0.12 * span, math.log10(max(ends)) + 0.05 + 1.3 * span],
        ),
        yaxis=axis(automargin=True),
    )
    padded = [row for row, each in zip(reversed(rows), results, strict=True) if each["pad"]] or rows
    clean = min(padded, key=lambda row: row[2])
    worst = max(rows, key=lambda row: row[2])
    return Drawing(
        "padding",
        figure,
        t(
            "padding_finding",
            pad=max(each["pad"] for each in results),
            length=f"{results[0]['length']:,}",
            best=clean[0],
            small=f"{clean[2]:.2g}",
            low=with_interval(clean[1]),
            worst=worst[0],
            large=f"{worst[2]:.2g}",
            high=with_interval(worst[1]),
        ),
        lambda: {
            "case": [each["case"] for each in results],
            "perplexity": [each["whole"][0] for each in results],
            "low": [each["whole"][1] for each in results],
            "high": [each["whole"][2] for each in results],
            "gap": [each["gap"] for each in results],
        },
        "\n".join((seen.code, "for result in results: print(result)")),
        wide=True,
    )


def lengths_written(seen: Seen) -> tuple[int, ...]:
    """Return the lengths at which text was written."""
    return tuple(sorted({each["length"] for each in seen.results if "text" in each}))


def written(seen: Seen, length: int, t: Words) -> list[tuple[str, str]]:
    """Text at one length: (who and how well it knew what follows, what it wrote), the document's own first."""
    results = [each for each in seen.results if "text" in each and each["length"] == length]
    if not results:
        return []
    wrote = [
        (t("wrote", line=name(each["line"], t), perplexity=number(math.exp(each["truth_loss"]))), each["text"])
        for each in results
    ]
    return [(t("truth"), results[0]["truth"]), *wrote]


def prompt(seen: Seen, length: int) -> str:
    """Return the end of what was read before."""
    return next((each["prompt_end"] for each in seen.results if "text" in each and each["length"] == length), "")
