"""What a claim is, and how its status follows from its residuals."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from rope_core.errors import argument_error
from rope_core.languages import LANGUAGES, words

DOCUMENTS = ("000", "001", "002", "003", "004")
# Papers of which abstracts and links are quoted, not every sentence; their claims' ids begin "arXiv-<number>-".
PAPERS = "arXiv"
SOURCES = (*DOCUMENTS, PAPERS)
HOLDS, CONDITION, WRONG, EMPIRICAL = "holds", "holds with a condition", "wrong as printed", "empirical"
STATUSES = (HOLDS, CONDITION, WRONG, EMPIRICAL)
EXACT = 1e-9


@dataclass(frozen=True)
class ClaimCheck:
    """What a claim's function finds; the status is derived from it and never stated.

    Attributes:
        printed: residual of the claim as it is printed; None where nothing here can decide it.
        condition: residual of the same claim under its condition, where it has one.
        corrected: residual of the corrected form, where one is given.
        tolerance: what counts as zero: rounding, or the precision that the claim itself states.
    """

    printed: float | None
    condition: float | None = None
    corrected: float | None = None
    tolerance: float = EXACT

    def _small(self, residual: float | None) -> bool:
        return residual is not None and math.isfinite(residual) and residual <= self.tolerance

    @property
    def status(self) -> str:
        """One of STATUSES.

        >>> ClaimCheck(1e-16).status, ClaimCheck(0.5, condition=0.0).status
        ('holds', 'holds with a condition')
        >>> ClaimCheck(0.5, corrected=0.0).status, ClaimCheck(None).status
        ('wrong as printed', 'empirical')
        """
        if self.printed is None:
            return EMPIRICAL
        if self._small(self.printed):
            return HOLDS
        return CONDITION if self._small(self.condition) else WRONG

    @property
    def proved(self) -> bool:
        """Whether the way out that the entry offers, a condition or a corrected form, checks out."""
        other = self.corrected if self.condition is None else self.condition
        return self.status in (HOLDS, EMPIRICAL) or self._small(other)


ClaimFunction = Callable[[], ClaimCheck]
CLAIMS: dict[str, ClaimFunction] = {}


def register_claim(claim_id: str) -> Callable[[ClaimFunction], ClaimFunction]:
    """Enter a function under its id, "<source>-<name>"; raises ValueError on an id that is taken or no source's."""

    def enter(function: ClaimFunction) -> ClaimFunction:
        source, dash, _ = claim_id.partition("-")
        if claim_id in CLAIMS or source not in SOURCES or not dash:
            raise argument_error("id", "new, and begin with a source's name and a dash", claim_id)
        CLAIMS[claim_id] = function
        return function

    return enter


def register_undecided(*names: str) -> None:
    """Enter claims that nothing here can decide: they are listed as empirical and never pass."""
    for name in names:
        register_claim(name)(lambda: ClaimCheck(None))


@dataclass(frozen=True)
class ClaimText:
    """A claim's words.

    Attributes:
        where: the part of the document.
        link: a paper's address with its version; None for a document.
        quotes: what the source prints, character by character but for white space and "&": TeX, then ``sentences``;
            empty where a paper's claim is paraphrased.
        sentences: those of the quotes that are words or code.
        formula: LaTeX to show: the printed TeX, or of a sentence what is computed.
        corrected: LaTeX of the corrected form, None where nothing needs correction.
        claim, why: sentences by language.
    """

    where: str
    link: str | None
    quotes: tuple[str, ...]
    sentences: tuple[str, ...]
    formula: str
    corrected: str | None
    claim: dict[str, str]
    why: dict[str, str]

    @property
    def printed(self) -> bool:
        """Whether ``formula`` is the document's own TeX."""
        return len(self.quotes) > len(self.sentences)


def _listed(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@cache
def claim_texts() -> dict[str, ClaimText]:
    """Return every claim's words by id, read from ledger/texts/*.toml; their sentences are in rope_core/text.

    A row has ``printed`` (the document's TeX), ``quote`` (its sentences) or both, and where it has no ``printed`` a
    ``reading``: LaTeX of what is computed. A paper's row has its ``link``, and may have neither of the two.
    """
    folder = resources.files("rope_core.ledger") / "texts"
    claims = {}
    for source in SOURCES:
        sentences_by_lang = {lang: words(lang, f"ledger/{source}") for lang in LANGUAGES}
        for name, row in tomllib.loads((folder / f"{source}.toml").read_text(encoding="utf-8")).items():
            printed, sentences = _listed(row.get("printed", [])), _listed(row.get("quote", []))
            formula = ",\\quad ".join(printed) if printed else row["reading"]
            claim = {lang: table[name]["claim"] for lang, table in sentences_by_lang.items()}
            why = {lang: table[name].get("why", "") for lang, table in sentences_by_lang.items()}
            claims[f"{source}-{name}"] = ClaimText(
                row["where"], row.get("link"), printed + sentences, sentences, formula, row.get("corrected"), claim, why
            )
    return claims


def max_difference(a: object, b: object) -> float:
    """Return max |a - b|, or infinity where the shapes do not agree.

    >>> max_difference([1.0, 2.0], [1.0, 2.5]), max_difference([1.0], [1.0, 2.0])
    (0.5, inf)
    """
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape:
        return math.inf
    return float(np.abs(x - y).max())


def relative_shortfall(value: float, needed: float) -> float:
    """Return how far ``value`` falls short of ``needed``, as a share of it; 0 when it does not.

    >>> relative_shortfall(3.0, 4.0), relative_shortfall(5.0, 4.0)
    (0.25, 0.0)
    """
    return max(0.0, 1.0 - value / needed)
