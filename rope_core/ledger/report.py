"""Run the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rope_core.errors import argument_error
from rope_core.ledger import (  # noqa: F401  (each enters its claims into CLAIMS)
    d000,
    d001,
    d002,
    d003,
    d003_clock,
    d003_extend,
    d003_order,
    d003_proof,
    d004_block,
    d004_position,
    d004_rope,
    papers,
    papers_late,
)
from rope_core.ledger.entry import CLAIMS, ClaimCheck, ClaimText, claim_texts

ProgressCallback = Callable[[int, int], object]


@dataclass(frozen=True)
class ClaimResult:
    """One claim, checked.

    Attributes:
        id, document: "000-theta-paper", "000"; "arXiv-2605.15514-order", "arXiv".
        check: residuals and tolerance.
        text: the words.
    """

    id: str
    document: str
    check: ClaimCheck
    text: ClaimText

    @property
    def status(self) -> str:
        """One of STATUSES, derived from the residuals."""
        return self.check.status

    @property
    def residual(self) -> float | None:
        """Residual of the claim as printed; None for an empirical one."""
        return self.check.printed


def _source(name: str) -> str:
    return name.partition("-")[0]


def check_claims(progress: ProgressCallback | None = None, claim_ids: Sequence[str] | None = None) -> list[ClaimResult]:
    """Check every claim, in document order; under ten seconds for all of them.

    Args:
        progress: called with (checked, of how many) after each.
        only: ids to check; None means all.

    Raises:
        ValueError: on an id that is no claim's.
    """
    names = sorted(CLAIMS, key=_source) if claim_ids is None else list(claim_ids)
    for name in names:
        if name not in CLAIMS:
            raise argument_error("only", "ids of the ledger", name)
    words, results = claim_texts(), []
    for done, name in enumerate(names, start=1):
        results.append(ClaimResult(name, _source(name), CLAIMS[name](), words[name]))
        if progress is not None:
            progress(done, len(names))
    return results


def claim_records(results: Sequence[ClaimResult] | None = None) -> list[dict[str, Any]]:
    """Return the ledger as plain data: a list of {id, document, where, link, quotes, status, residual, corrected}.

    ``quotes`` are the source's own characters but for white space and "&"; ``link`` is None for a document;
    ``residual`` is None for an empirical claim; ``corrected`` is LaTeX, None where nothing needs correction.
    """
    return [
        {
            "id": r.id,
            "document": r.document,
            "where": r.text.where,
            "link": r.text.link,
            "quotes": list(r.text.quotes),
            "status": r.status,
            "residual": r.residual,
            "corrected": r.text.corrected,
        }
        for r in (check_claims() if results is None else results)
    ]
