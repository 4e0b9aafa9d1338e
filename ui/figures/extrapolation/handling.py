"""The extrapolation page: stale keys, text that was written."""

from __future__ import annotations

import math

import numpy as np

from rope_core.lab import experiments, view
from rope_core.lab.results import ExperimentResults
from ui.figures.drawing import Drawing
from ui.figures.extrapolation.curves import perplexity_figure, results_recipe
from ui.figures.extrapolation.words import estimate_text, length_factor_text, line_name, perplexity_text, ratio_text
from ui.film.colours import BLUE, GREY, ORANGE, RED
from ui.text.words import PageTexts

SHADES = {"recomputed": BLUE, "stale": RED, "unscaled": GREY}


def stale_keys_perplexity_chart(seen: ExperimentResults, trained_length: int, t: PageTexts) -> Drawing:
    """Perplexity against position with keys turned anew, with keys left as they were cached, and unscaled."""
    results = sorted(experiments.cache_handling_cells(seen.results), key=lambda each: -each.last.value)
    labels = [t(f"variant.{each.line}") for each in results]
    shades = [SHADES.get(each.line, ORANGE) for each in results]
    strong = [each.line != "unscaled" for each in results]
    figure = perplexity_figure(results, labels, shades, strong, strong, trained_length, t)
    by_name = {each.line: each for each in results}
    values = t("comma").join(
        f"{label} {estimate_text(each.last)}"
        for label, each in sorted(zip(labels, results, strict=True), key=_by_value)
    )
    length = results[0].length
    finding = t("stale_finding.going", length=f"{length:,}", values=values)
    if {"stale", "recomputed"} <= by_name.keys():
        ratio = view.last_quarter_ratio(by_name["stale"], by_name["recomputed"])
        kind = (
            "worse"
            if ratio.has_interval and ratio.low > 1
            else "better"
            if ratio.has_interval and ratio.high < 1
            else "same"
        )
        finding = t(
            f"stale_finding.{kind}",
            length=f"{length:,}",
            times=length_factor_text(length, trained_length),
            ratio=ratio_text(ratio),
            values=values,
            documents=results[0].nats.size,
        )
    return Drawing(
        "stale",
        figure,
        finding,
        lambda: {
            "variant": [each.line for each in results for _ in each.curve.position],
            **{
                part: np.concatenate([getattr(each.curve, part) for each in results])
                for part in ("position", "value", "low", "high")
            },
        },
        results_recipe(
            seen,
            "from rope_core.lab.view import last_quarter_ratio",
            "cells = {each.line: each for each in experiments.cache_handling_cells(results)}",
            "for each in cells.values():",
            f"    print(each.line, each.length, each.length / {trained_length}, each.nats.size, each.last, each.curve)",
            "if {'stale', 'recomputed'} <= cells.keys():",
            "    print(last_quarter_ratio(cells['stale'], cells['recomputed']))",
        ),
    )


def _by_value(pair: tuple[str, view.SweepCell]) -> float:
    return pair[1].last.value


def generated_text_lengths(seen: ExperimentResults) -> tuple[int, ...]:
    """Return the lengths at which text was written."""
    return tuple(sorted({each["length"] for each in seen.results if "text" in each}))


def generated_texts(seen: ExperimentResults, length: int, t: PageTexts) -> list[tuple[str, str]]:
    """Text at one length: (who and how well it knew what follows, what it wrote), the document's own first."""
    results = [each for each in seen.results if "text" in each and each["length"] == length]
    if not results:
        return []
    wrote = [
        (
            t("wrote", line=line_name(each["line"], t), perplexity=perplexity_text(math.exp(each["truth_loss"]))),
            each["text"],
        )
        for each in results
    ]
    return [(t("truth"), results[0]["truth"]), *wrote]


def prompt_end(seen: ExperimentResults, length: int) -> str:
    """Return the end of what was read before."""
    return next((each["prompt_end"] for each in seen.results if "text" in each and each["length"] == length), "")
