"""Findings as a table for people, as JSON for programs, and as SARIF for code scanning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rope_core.checks.check import finding_severities_and_titles
from rope_core.cli.terminal import print_lines, without_control_characters
from rope_core.findings import Finding, finding_record, sanitized_text
from rope_core.languages import words
from rope_core.version import __version__

# Raised when a field of the JSON changes its meaning or goes; docs/check.schema.json describes it.
SCHEMA = 1
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def findings_record(
    results: Mapping[str, Sequence[Finding]], unreadable: Mapping[str, str], version: str, code: int, lang: str
) -> dict[str, Any]:
    """Return one JSON object: its schema, the tool, the exit code and the findings by config."""
    files: list[dict[str, Any]] = [
        {"config": name, "findings": [finding_record(finding, lang) for finding in findings]}
        for name, findings in results.items()
    ]
    files += [{"config": name, "unreadable": sentence} for name, sentence in unreadable.items()]
    return {
        "schema": SCHEMA,
        "tool": {"name": "rope", "version": __version__},
        "transformers": version,
        "exit": code,
        "files": files,
    }


def findings_sarif(
    results: Mapping[str, Sequence[Finding]], unreadable: Mapping[str, str], lang: str
) -> dict[str, Any]:
    """Return a SARIF 2.1.0 log: a rule for each finding that occurs, a result for each place.

    Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
    """
    titles = finding_severities_and_titles(lang)
    keys = sorted({finding.key for findings in results.values() for finding in findings})
    rules = [
        {
            "id": key,
            "shortDescription": {"text": titles[key][1]},
            "defaultConfiguration": {"level": titles[key][0]},
        }
        for key in keys
    ]
    listed = [_result(name, finding, lang) for name, findings in results.items() for finding in findings]
    failed = [
        {"level": "error", "message": {"text": sentence}, "locations": [_location(name)]}
        for name, sentence in unreadable.items()
    ]
    run = {
        "tool": {"driver": {"name": "rope", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": failed}],
        "results": listed,
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _location(name: str, field: str = "") -> dict[str, Any]:
    """Return a place in a file: SARIF wants a URI, and the field as a logical location."""
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(name)},
            "region": {"startLine": 1},
        }
    }
    if field:
        place["logicalLocations"] = [{"fullyQualifiedName": sanitized_text(field)}]
    return place


def _uri(name: str) -> str:
    """Return a path as a URI reference relative to the checkout."""
    from urllib.parse import quote

    return quote(name.replace("\\", "/").removeprefix("./"))


def _result(name: str, finding: Finding, lang: str) -> dict[str, Any]:
    """Return a finding at its place; SARIF's levels have the same names as the severities."""
    where = f"{finding.field} ({finding.layer_type})" if finding.layer_type else finding.field
    return {
        "ruleId": finding.key,
        "level": finding.severity,
        "message": {"text": f"{finding.title(lang)}\n{finding.why(lang)}\n{finding.change(lang)}"},
        "locations": [_location(name, where)],
    }


def print_findings_table(name: str, findings: Sequence[Finding], lang: str) -> None:
    """Print one config's findings as a table; plain lines where rich is not installed."""
    t = words(lang, "commands")["check"]
    if not findings:
        print_lines(f"{name}: {t['clean']}")
        return
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        for finding in findings:
            line = f"{name}: {t[finding.severity]} [{finding.key}]"
            more = (finding.why(lang), finding.change(lang), finding.source)
            print_lines(
                f"{line} {sanitized_text(finding.field)}: {finding.title(lang)}", *(f"    {text}" for text in more)
            )
        return
    colours = {"error": "bold red", "warning": "yellow", "note": "cyan"}
    table = Table(title=Text(without_control_characters(name)), box=box.SIMPLE, show_header=False, title_justify="left")
    table.add_column()
    table.add_column(overflow="fold")
    for finding in findings:
        head = Text(f"{t[finding.severity]}\n", style=colours[finding.severity])
        where = sanitized_text(f"{finding.field} ({finding.layer_type})" if finding.layer_type else finding.field)
        lines = (finding.title(lang), f"{where}  [{finding.key}]", finding.why(lang), finding.change(lang))
        title, *rest = (f"{without_control_characters(line)}\n" for line in lines)
        table.add_row(head, Text.assemble((title, "bold"), *rest, (without_control_characters(finding.source), "dim")))
    Console(soft_wrap=False).print(table)
