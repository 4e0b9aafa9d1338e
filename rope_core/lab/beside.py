"""What was published after YaRN, beside the sliding window: paired ratios on one model, and the same on others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rope_core.lab import cards
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import get_line
from rope_core.lab.view import SweepCell, cells_at_length, last_quarter_ratio
from rope_core.schemes import UNSCALED

SCALED, COUNTED, DROPPED, OLD = "scaled", "counted", "dropped", "old"


@dataclass(frozen=True)
class WindowComparison:
    """One line beside the sliding window at one length.

    Attributes:
        key: the line's, or the last word of the weights' name where rotation was dropped in training.
        kind: "scaled" by frequencies, positions "counted" by a rule, rotation "dropped", or "old", not after YaRN.
        cell: of the first model; of a fine-tune, its own.
        over_window: the paired ratio to the first model in a sliding window, on the last quarter.
        seeds: the same ratio of the other models, each to its own window.
    """

    key: str
    kind: str
    cell: SweepCell
    over_window: Estimate
    seeds: tuple[float, ...]


def cell_kind(cell: SweepCell) -> str:
    """Return the kind of a cell."""
    chosen = get_line(cell.line)
    known = cards.weights_cards().get(cell.weights)
    if known is not None and known.encoding != "rope":
        return DROPPED
    if not chosen.after:
        return OLD
    return COUNTED if chosen.rule else SCALED


def cell_name(cell: SweepCell) -> str:
    """Return what a cell is called by: its line, or its weights' last word where those are unscaled fine-tunes."""
    known = cards.weights_cards().get(cell.weights)
    tuned = known is not None and known.recipe.start and cell.line == UNSCALED
    return cell.weights.rsplit("-", 1)[-1] if tuned else cell.line


def compare_with_window(cells: Iterable[SweepCell], length: int) -> tuple[SweepCell, list[WindowComparison]]:
    """Return the first model's window at a length, and all other lines, the lowest ratio to it first.

    Raises StopIteration where no window was measured at the length.
    """
    here = cells_at_length(cells, length)
    windows = {each.weights: each for each in here if get_line(each.line).sliding}
    first = next(iter(windows))
    rows = []
    for each in here:
        if get_line(each.line).sliding or (each.weights != first and each.weights in windows):
            continue
        others = [c for c in here if c.line == each.line and c.weights in windows and c.weights != first]
        seeds = tuple(last_quarter_ratio(c, windows[c.weights]).value for c in others) if each.weights == first else ()
        rows.append(
            WindowComparison(cell_name(each), cell_kind(each), each, last_quarter_ratio(each, windows[first]), seeds)
        )
    return windows[first], sorted(rows, key=lambda each: each.over_window.value)


__all__ = ["COUNTED", "DROPPED", "OLD", "SCALED", "WindowComparison", "cell_kind", "cell_name", "compare_with_window"]
