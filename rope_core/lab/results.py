"""What a visitor asks the lab to measure, and results to draw: plain data, whoever measured."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rope_core.lab import cards, corpus
from rope_core.lab.records import MeasurementRecord

SHIPPED, HERE, GOING = "shipped", "here", "going"
ResultRecords = tuple[Mapping[str, Any], ...]
RequestKey = tuple[str, str, str, tuple[str, ...]]


@dataclass(frozen=True)
class ExperimentRequest:
    """Work that a visitor asks for, whole: what its results are kept by.

    Attributes:
        kind: of work.
        arguments: as JSON, keys in order, without the text.
        text: what to read; empty means the held-out documents.
        weights: SHA-256 of every shipped weights file, so that a retrained model is another request.
    """

    kind: str
    arguments: str
    text: bytes = b""
    weights: tuple[str, ...] = ()

    @property
    def key(self) -> RequestKey:
        """The request with the text's hash in the text's place."""
        return self.kind, self.arguments, hashlib.sha256(self.text).hexdigest() if self.text else "", self.weights

    @property
    def values(self) -> dict[str, Any]:
        """The arguments, without the text."""
        arguments: dict[str, Any] = json.loads(self.arguments)
        return arguments

    @property
    def weights_read(self) -> dict[str, str]:
        """The SHA-256 of each weights file that is named; of all where none is."""
        given = self.values.get("weights") or list(cards.weights_cards())
        names = [given] if isinstance(given, str) else given
        return {name: cards.weights_cards()[name].sha256 for name in names if name in cards.weights_cards()}

    @property
    def text_hash(self) -> str:
        """The SHA-256 of what is read: the visitor's text, or the held-out documents."""
        return hashlib.sha256(self.text).hexdigest() if self.text else held_out_hash()

    @property
    def argument(self) -> str:
        """The child process's argument."""
        more = {"text": base64.b64encode(self.text).decode("ascii")} if self.text else {}
        return json.dumps(self.values | more)


@lru_cache(maxsize=1)
def held_out_hash() -> str:
    """Return the SHA-256 of the held-out documents, one after another, as in the shipped records."""
    return hashlib.sha256(b"".join(each.text for each in corpus.held_out_documents())).hexdigest()


@dataclass(frozen=True)
class ExperimentResults:
    """Results to draw, and where they come from.

    Attributes:
        results: as the lab's work yields them.
        origin: "shipped", "here" (measured by this app) or "going" (not all of them yet).
        record: the shipped record.
        code: Python lines that put the same results into ``results``.
        request: what this app measured, where it did.
    """

    results: ResultRecords
    origin: str
    record: MeasurementRecord | None
    code: str
    request: ExperimentRequest | None = None
