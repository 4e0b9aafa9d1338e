"""The clock page: schemes published after YaRN, as slow-downs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import rope_core as rc
from rope_core.theory.extension import SchemeSpectrum
from ui.figures.clock.schemes import listed, slowdowns
from ui.figures.drawing import Drawing, cached_figure
from ui.text.words import Words


@cached_figure
def after(rope: rc.Rope, results: Sequence[SchemeSpectrum], t: Words) -> Drawing:
    """Slow-down of every pair under the newer schemes beside YaRN's; a pair that does not turn has no point."""
    drawn = slowdowns(rope, results, t)
    changed = {e.scheme: int(np.sum(~np.isclose(e.spectrum.slowdown, 1.0))) for e in results}
    still = {e.scheme: int(np.sum(np.isinf(e.spectrum.slowdown))) for e in results}
    return replace(
        drawn,
        id="after",
        finding=t(
            "after_finding",
            pairs=rope.pairs,
            changed=listed([n for n, count in changed.items() if count], t, lambda n: f" {changed[n]}"),
            still=listed([n for n, count in still.items() if count], t, lambda n: f" {still[n]}") or t("nobody"),
        ),
    )
