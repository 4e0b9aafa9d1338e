"""Writes the repository's address where a release says it: python -m tools.release https://example.org/owner/name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def write(root: Path, url: str) -> None:
    """Write the address into the wheel's data and the citation; raises ValueError where it is none."""
    if not re.fullmatch(r"https://[^\s\"]+[^\s\"/]", url):
        raise ValueError(f"url must be an https address without a slash at its end, got {url!r}")
    project, cited = root / "pyproject.toml", root / "CITATION.cff"
    text = re.sub(
        r"(?m)^(?:# )?\[project\.urls\]\n(?:# )?Source = .*$",
        f'[project.urls]\nSource = "{url}"',
        project.read_text("utf-8"),
    )
    project.write_text(text, "utf-8")
    kept = re.sub(r"(?m)^repository-code: .*\n", "", cited.read_text("utf-8"))
    cited.write_text(re.sub(r"(?m)^license: ", f"repository-code: {url}\nlicense: ", kept), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("release: give the repository's address, URL=https://...")
    write(ROOT, sys.argv[1])
