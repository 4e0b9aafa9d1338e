"""What the record of the small model says of the shipped schemes: perplexity past its trained length, and recall."""

from __future__ import annotations

from rope_core.comparisons.papers import printed_numbers
from rope_core.lab import view
from rope_core.schemes import KINDS
from ui.figures.extrapolation.words import factor, ladder
from ui.figures.schemes.pairs import number, percent
from ui.text.words import Words
from ui.work.extrapolated import Seen

FASTEST_TOO, RAISED = KINDS[:2]
"""The scheme that slows all pairs alike, and the one that raises the base."""


def table(seen: Seen, t: Words) -> dict[str, list[str]]:
    """Return perplexity over the last quarter, by scheme and length, with its interval."""
    return ladder(view.cells(seen.results), "last", Words(t.lang, "extrapolation"))


def recall_table(seen: Seen, t: Words) -> dict[str, list[str]]:
    """Return perplexity of a stretch that is read a second time, by scheme, for the model without further training."""
    copies = view.copies(seen.results)
    first = [each for each in copies if each.weights == copies[0].weights]
    return ladder(first, "last", Words(t.lang, "extrapolation"))


def sentence(seen: Seen, trained: int, t: Words) -> str:
    """Return how a raised base reads beside an even slow-down at each length past the trained one, documents paired."""
    cells = view.cells(seen.results)
    ratios = []
    for length in (each for each in view.lengths(cells) if each > trained):
        at = {each.line: each for each in view.at(cells, length)}
        ratio = view.last_quarter_ratio(at[FASTEST_TOO], at[RAISED])
        ratios.append(t("ratio_at", times=length // trained, ratio=factor(ratio)))
    return t("ntk_sentence", ratios=t("comma").join(ratios))


def papers(t: Words) -> dict[str, list[str]]:
    """Return numbers that papers print beside those that the formulas here give."""
    rows = printed_numbers()
    return {
        t("printed.source"): [each.source for each in rows],
        t("printed.what"): [t(f"printed.{each.key}") for each in rows],
        t("printed.printed"): [f"{each.printed:,g}" for each in rows],
        t("printed.here"): [f"{each.here:,.0f}" if each.here > 1000 else number(each.here) for each in rows],
        t("printed.off"): [percent(each.off) for each in rows],
    }
