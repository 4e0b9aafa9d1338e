"""Counts the ledger and the catalogue for the slots of texts and lessons, {{n:name}}."""

import math
from collections import Counter
from collections.abc import Iterable

import rope_core as rc
from rope_core.hf import survey
from rope_core.ledger import CONDITION, EMPIRICAL, HOLDS, WRONG, ClaimResult
from ui.figures import catalogue as models
from ui.figures.precision.formats import phase_errors_at_context_end


def ledger_counts(results: Iterable[ClaimResult]) -> dict[str, int]:
    """Count claims by verdict, and residuals by size: ``decided`` have one, ``between`` are no clear zero."""
    checked = list(results)
    status = Counter(result.status for result in checked)
    residuals = [float(result.residual) for result in checked if result.residual is not None]
    return {
        "claims": len(checked),
        "holds": status[HOLDS],
        "condition": status[CONDITION],
        "wrong": status[WRONG],
        "empirical": status[EMPIRICAL],
        "decided": len(residuals),
        "below_1e9": sum(value <= 1e-9 for value in residuals),
        "below_one": sum(value <= 1 for value in residuals),
        "between": sum(1e-9 < value < 1e-2 for value in residuals),
    }


def catalogue_counts() -> dict[str, int]:
    """Count models, and rows of models and layer types: all, by scheme and layout, and whose slowest pair turns.

    ``turned_N``: rows whose slowest turning pair completes a turn within N tokens, ``interleaved_turned`` within
    131,072; ``half_turn_off``: models whose phase errs by more than half a turn at their own end with frequencies in
    bfloat16; ``one_radian``: those whose first pair turns one radian a token there.
    """
    rows = survey.survey_rows()
    yarn, interleaved = survey.filtered_rows(scheme="yarn"), survey.filtered_rows(layout="interleaved")
    settings = [models.model_rope_setting(each) for each in models.model_ids()]
    fastest = [
        rc.spectrum(rc.Request(each.rope, each.scheme, each.params, each.max_len)).inv_freq.max() for each in settings
    ]
    return {
        "models": len(models.model_ids()),
        "one_radian": sum(abs(theta - 1) < 1e-9 for theta in fastest),
        "half_turn_off": sum(not error <= math.pi for *_, error in phase_errors_at_context_end("inv_freq", "bfloat16")),
        "rows": len(rows),
        "turned_4096": sum(row.longest <= 4096 for row in rows),
        "turned_1048576": sum(row.longest <= 1_048_576 for row in rows),
        "yarn": len(yarn),
        "yarn_turned": sum(row.longest <= row.context for row in yarn),
        "interleaved": len(interleaved),
        "interleaved_turned": sum(row.longest <= 131_072 for row in interleaved),
    }


def counts_toml(counts: dict[str, int]) -> str:
    """Return counts as the file that texts read."""
    head = "# Written by python -m tools.tables --write; texts name these as {{n:name}}.\n"
    return head + "".join(f"{name} = {count}\n" for name, count in counts.items())
