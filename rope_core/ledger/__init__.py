"""Claims of the five source documents and of papers as functions that return a residual; status follows from it."""

from rope_core.ledger.entry import (
    CLAIMS,
    CONDITION,
    DOCUMENTS,
    EMPIRICAL,
    HOLDS,
    PAPERS,
    SOURCES,
    STATUSES,
    WRONG,
    Check,
    Text,
    texts,
)
from rope_core.ledger.report import Result, run, to_json

__all__ = [
    "CLAIMS",
    "CONDITION",
    "DOCUMENTS",
    "EMPIRICAL",
    "HOLDS",
    "PAPERS",
    "SOURCES",
    "STATUSES",
    "WRONG",
    "Check",
    "Result",
    "Text",
    "run",
    "texts",
    "to_json",
]
