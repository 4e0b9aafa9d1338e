"""A report of `rope eval` as a visitor hands it in: the page's figures draw it, and anything else is a sentence."""

import json
from typing import Any

import pytest

from rope_core.evaluate.summary import read_report_summary
from rope_core.lab import view
from tests.support import lab_results as made

RESULTS = [{**each, "task": "perplexity"} for each in made.sweep(4)]
RESULTS += [{**each, "task": "copy"} for each in made.recall()]
REPORT: dict[str, Any] = {
    "kind": "rope eval",
    "schema": 1,
    "model": {"name": "a/" + "n" * 200},
    "text": {"unit": "token"},
    "trained": 64,
    "results": RESULTS,
    "cells": 99,
}


def data(**changes: Any) -> bytes:
    return json.dumps({**REPORT, **changes}).encode()


def test_a_report_is_what_the_lab_s_views_read() -> None:
    result = read_report_summary(data())
    assert result.unit == "token" and result.trained == 64 and len(result.name) == 60
    assert (result.done, result.cells) == (len(RESULTS), 99)
    assert view.read_cells(result.perplexity)[3].line == view.read_cells(made.sweep(4))[3].line
    assert len(result.perplexity) + len(result.copies) == len(RESULTS)


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"[1]",
        b"{" * 5000,
        b"\xff\xfe",
        data(kind="other"),
        data(schema=2),
        data(text={"unit": "<b>"}),
        data(trained="x"),
        data(model={"name": 3}),
        data(results=[{**RESULTS[0], "line": "<script>"}]),
        data(results=[{**RESULTS[0], "curve": {**RESULTS[0]["curve"], "value": [1.0]}}]),
        data(results=[{**RESULTS[0], "curve": {**RESULTS[0]["curve"], "value": [-1.0] * 8}}]),
        data(results=[{**RESULTS[0], "nats": []}]),
        data(results=[{**RESULTS[0], "whole": "x"}]),
        data(results=[{**RESULTS[0], "length": "1e999"}]),
        data(results=[{**RESULTS[-1], "distance": None}]),
        data().replace(b'"trained": 64', b'"trained": NaN'),
    ],
)
def test_anything_else_is_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match=r"^report must be the eval.json that this version of `rope eval` writes, got"):
        read_report_summary(wrong)
