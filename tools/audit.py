"""Compares every package that the locks install, and torch beside them, with the list of known vulnerabilities.

Run: python -m tools.audit                   by the committed list, without a network; 1 where a version is affected
     python -m tools.audit --update INDEX    writes the list by a package index's JSON (INDEX/<name>/<version>/json)
"""

import argparse
import json
import re
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "deploy" / "advisories.toml"
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-fuzz.lock")
# torch, whose build differs by index: of its range the least version counts.
RANGES = "requirements.txt"
OLD_DAYS = 90
PIN = re.compile(r"^([A-Za-z0-9._-]+)[=>]=([^\s;#,]+)", re.MULTILINE)


def versions() -> dict[str, str]:
    """Return the version of every package that the locks install, and the least of torch."""
    pins = {
        name: version for file in (*LOCKS, RANGES) for name, version in PIN.findall((ROOT / file).read_text("utf-8"))
    }
    return {canonicalize_name(name): version for name, version in pins.items()}


def affected(version: str, advisory: Mapping[str, Any]) -> bool:
    """Whether a version has the flaw: at or below one known to have it, or below its fix in the same minor series.

    >>> flaw = {"versions": ["1.2.0"], "fixed_in": ["1.2.5", "1.3.1"]}
    >>> [affected(version, flaw) for version in ("1.1", "1.2.4", "1.2.5", "1.3.0", "1.3.1", "2.0")]
    [True, True, False, True, False, False]
    """
    mine, fixes = Version(version), [Version(fix) for fix in advisory["fixed_in"]]
    series = [fix for fix in fixes if fix.release[:2] == mine.release[:2]]
    if series:
        return mine < max(series)
    return mine <= max([*(Version(known) for known in advisory["versions"]), *fixes])


def audit(wanted: Mapping[str, str], known: Mapping[str, Any], today: date) -> tuple[list[str], list[str]]:
    """Return what is affected, and remarks: one line each."""
    bad = [
        f"{row['package']} {wanted[row['package']]}: {row['id']} ({', '.join(row['aliases'])}), fixed in "
        f"{', '.join(row['fixed_in']) or 'no version'}: {row['link']}"
        for row in known.get("advisory", [])
        if row["package"] in wanted and affected(wanted[row["package"]], row)
    ]
    answered = [name for name, version in wanted.items() if known["asked"].get(name) == version]
    missing = [f"{name} {version}" for name, version in wanted.items() if name not in answered]
    days = (today - known["date"]).days
    lines = [
        f"{len(answered)} of {len(wanted)} packages were looked up on {known['date']}, {days} days ago: "
        f"{len(bad)} affected"
    ]
    lines += [f"unknown, the list has no answer for: {', '.join(missing)}"] if missing else []
    lines += [f"the list is {days} days old: python -m tools.audit --update INDEX"] if days > OLD_DAYS else []
    return bad, lines


def answer(index: str, name: str, version: str) -> list[dict[str, Any]] | None:
    """Return what an index knows against a version; None where it has no answer for this version."""
    for address in (f"{index}/{name}/{version}/json", f"{index}/{name}/json"):
        try:
            with urllib.request.urlopen(address, timeout=30) as reply:
                reply_json = json.load(reply)
        except urllib.error.HTTPError:
            continue
        # The second address answers for the latest version only.
        if reply_json["info"]["version"] == version:
            return [flaw for flaw in reply_json["vulnerabilities"] if not flaw.get("withdrawn")]
    return None


def written(wanted: Mapping[str, str], index: str, today: date) -> str:
    """Return the list as a TOML file, by the index's answers."""
    answers = {name: answer(index, name, version) for name, version in sorted(wanted.items())}
    lines = ["# What a package index's JSON (field `vulnerabilities`, from osv.dev) said of each version on this day."]
    lines += ["# Written by `python -m tools.audit --update INDEX`. [asked] has the versions that it answered for,"]
    lines += ["# [unanswered] the others: some indexes answer for the newest version of a package only."]
    lines += [f"date = {today}"]
    for heading, unknown in (("asked", False), ("unanswered", True)):
        names = [name for name, flaws in answers.items() if (flaws is None) is unknown]
        lines += ["", f"[{heading}]", *(f"{json.dumps(name)} = {json.dumps(wanted[name])}" for name in names)]
    for name, flaws in answers.items():
        for flaw in flaws or []:
            row = {"package": name, "id": flaw["id"], "aliases": flaw["aliases"], "versions": [wanted[name]]}
            row |= {"fixed_in": flaw["fixed_in"], "link": flaw["link"]}
            lines += ["", "[[advisory]]", *(f"{key} = {json.dumps(value)}" for key, value in row.items())]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> int:
    """Audit, or write the list anew."""
    parser = argparse.ArgumentParser(prog="python -m tools.audit", description=__doc__.splitlines()[0])
    parser.add_argument("--update", metavar="INDEX", help="base address of a package index's JSON")
    options = parser.parse_args(argv)
    if options.update:
        LIST.write_text(written(versions(), options.update.rstrip("/"), date.today()), "utf-8")
    bad, lines = audit(versions(), tomllib.loads(LIST.read_text("utf-8")), date.today())
    print("\n".join((*bad, *lines)))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
