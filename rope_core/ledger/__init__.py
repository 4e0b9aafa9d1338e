"""Every claim of the five source documents as a function that returns its residual; status follows from it."""

from rope_core.ledger.entry import CLAIMS, CONDITION, EMPIRICAL, HOLDS, STATUSES, WRONG, Check, Text, texts
from rope_core.ledger.report import Result, run, to_json

__all__ = [
    "CLAIMS",
    "CONDITION",
    "EMPIRICAL",
    "HOLDS",
    "STATUSES",
    "WRONG",
    "Check",
    "Result",
    "Text",
    "run",
    "texts",
    "to_json",
]
