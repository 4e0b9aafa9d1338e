"""What schemes that hold a check read on the lab's small model, beside those that do not hold it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from rope_core.comparisons.columns import ComparisonColumn, FrequenciesAndFactor
from rope_core.comparisons.compare import compare_column
from rope_core.comparisons.rows import ComparisonSetting
from rope_core.lab import view
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import SchemeLine, get_line
from rope_core.lab.view import SweepCell
from rope_core.rope import Rope
from rope_core.spectrum import spectrum


@dataclass(frozen=True)
class Contrast:
    """A check beside perplexity: each scheme that holds it with each that does not, at each length.

    Attributes:
        better, worse: how often the documents say that the one that holds it reads better, and worse.
        of: how many such couples there are.
        holder, breaker: the lines with the most against the check, or "".
        times: the length that they read there, over the trained one.
        ratio: perplexity of the holder over the breaker's there.
    """

    better: int = 0
    worse: int = 0
    of: int = 0
    holder: str = ""
    breaker: str = ""
    times: float = 0.0
    ratio: float = 1.0


def contrast_by_check(cells: Sequence[SweepCell], rope: Rope) -> dict[str, Contrast]:
    """Return, for each check, what was read of schemes that hold it and of those that do not.

    Args:
        cells: of a sweep, perplexity on the last quarter of the same documents; schemes alike at a length count once.
        rope: of the model that read them, never trained on with a scheme.
    """
    results: dict[str, Contrast] = {}
    for length in (each for each in view.cell_lengths(cells) if each > rope.train_len):
        known = {
            each.nats.tobytes(): each
            for each in reversed(view.cells_at_length(cells, length))
            if get_line(each.line).is_frequency_only
        }
        setting = ComparisonSetting(rope, length / rope.train_len, length, fine_tuned=False)
        rows = [(each, compare_column(_column(get_line(each.line)), setting).rows) for each in known.values()]
        holds = [(each, {row.key: row.holds for row in every}) for each, every in rows]
        for (a, a_holds), (b, b_holds) in itertools.permutations(holds, 2):
            ratio = view.last_quarter_ratio(a, b)
            for key in (key for key, is_held in a_holds.items() if is_held and b_holds.get(key) is False):
                results[key] = _with(results.get(key, Contrast()), a.line, b.line, setting.factor, ratio)
    return results


def _column(given: SchemeLine) -> ComparisonColumn:
    """Return a line of the ladder as a column: its scheme at the factor that the length asks for."""

    def at(rope: Rope, factor: float, length: int) -> FrequenciesAndFactor:
        answer = spectrum(given.request_for_rope(rope, length, factor))
        return answer.inv_freq, answer.attention_factor

    return ComparisonColumn(given.key, at, source=given.key)


def _with(so_far: Contrast, holder: str, breaker: str, times: float, ratio: Estimate) -> Contrast:
    better, worse = (ratio.excludes(1.0) and sign for sign in (ratio.value < 1, ratio.value > 1))
    counts = so_far.better + better, so_far.worse + worse, so_far.of + 1
    if worse and ratio.value > so_far.ratio:
        return Contrast(*counts, holder, breaker, times, ratio.value)
    return Contrast(*counts, so_far.holder, so_far.breaker, so_far.times, so_far.ratio)
