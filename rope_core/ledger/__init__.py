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
    ClaimCheck,
    ClaimText,
    claim_texts,
)
from rope_core.ledger.report import ClaimResult, check_claims, claim_records

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
    "ClaimCheck",
    "ClaimResult",
    "ClaimText",
    "check_claims",
    "claim_records",
    "claim_texts",
]
