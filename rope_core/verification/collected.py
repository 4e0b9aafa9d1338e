"""Verdicts on many layers, collected to one finding for each kind of fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rope_core.findings import Finding, FindingPhrase, make_finding
from rope_core.hf.ropes import HfRope
from rope_core.rope import Array
from rope_core.verification.stored import RotaryBuffer
from rope_core.verification.turned import RotationVerdict


class FindingCollector:
    """Verdicts of many layers, one finding for each kind of fault, beside what is reported of the buffers."""

    def __init__(self, reported: list[tuple[Finding, RotaryBuffer]], ropes: Mapping[str | None, HfRope]) -> None:
        self.reported, self.ropes = reported, ropes
        self.keys = {(each.key, each.layer_type) for each, _ in reported}
        self.rows: dict[tuple[str, str | None], dict[str, Any]] = {}

    def reported_buffer_values(self, kind: str | None) -> list[Array]:
        """Return the values of this layer type's buffers that are reported already."""
        return [each.values for report, each in self.reported if report.layer_type == kind and each.values is not None]

    def add_verdict(
        self, verdict: RotationVerdict | None, part: str, module: str, kind: str | None, layer: int | None = None
    ) -> None:
        """Take one verdict on one part of one layer, unless a buffer's finding says the same."""
        if verdict is None or ("buffer_width", kind) in self.keys:
            return
        if verdict.key == "rotation_scaled" and ("attention_scaling_differs", kind) in self.keys:
            return
        row = self.rows.setdefault((verdict.key, kind), {"module": module, "parts": [], "layers": [], "values": {}})
        row["values"] = row["values"] or dict(verdict.values)
        row["alike"] = row.get("alike", True) and row["values"] == dict(verdict.values)
        row["parts"] += [] if part in row["parts"] else [part]
        row["layers"] += [] if layer is None or layer in row["layers"] else [layer]

    def findings(self) -> list[Finding]:
        """Return the findings; a note on what was not observed only where nothing else was found."""
        findings = []
        certain = [key for key, _ in self.rows if not key.endswith("_not_observed")]
        for (key, kind), row in self.rows.items():
            if key.endswith("_not_observed") and certain:
                continue
            values = {"part": ", ".join(row["parts"]), "layers": tuple(row["layers"]) or None, **row["values"]}
            if key == "layout_differs":
                values.pop("layers")
            if key == "rotation_not_observed":
                values = {"reason": FindingPhrase("nothing"), **values, "layout": self.ropes[kind].layout}
            if key == "rotation_shifted" and row["alike"] and {"q", "k"} <= set(row["parts"]):
                key = "rotation_shifted_alike"
            findings.append(make_finding(key, row["module"], None, kind, **values))
        return findings
