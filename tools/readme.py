"""Keeps the READMEs' blocks true: the tree of tracked files, the table of the 27 groups of threads, the lab's ladder.

Run: python -m tools.readme            says which block is out of date
     python -m tools.readme --write    writes them
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from rope_core.checks import findings as checker
from rope_core.lab import records, view

ROOT = Path(__file__).resolve().parent.parent
READMES = {"en": "README.md", "zh": "README.zh.md"}
KNOWN = {
    "LICENSE": "MIT",
    "Makefile": "make run, make test, make check",
    "README.md": "this page",
    "README.zh.md": "the same in Chinese",
    "SECURITY.md": "threats, each with its test",
    ".pre-commit-hooks.yaml": "rope check as a pre-commit hook",
    ".gitignore": "what git leaves alone",
    ".ci/run": "what must pass before a change lands",
    ".streamlit/config.toml": "server, privacy and theme settings",
    "pyproject.toml": "the package rope_core, and ruff, mypy and pytest settings",
    "rope_core/lab/corpus.json": "the files that the lab's models were trained on, with hashes",
    "rope_core/lab/heldout.json": "the held-out documents that they are evaluated on",
    "rope_core/lab/weights/index.json": "cards of the shipped weights",
    "rope_core/lab/weights/README.md": "model cards",
    "rope_core/py.typed": "marks the package as typed",
}
PATTERNS = (
    (r"ui/text/(en|zh)/labels\.toml", "labels that all pages share, {0}"),
    (r"ui/text/(en|zh)/(\w+)\.toml", "labels of the page {1}, {0}"),
    (r"ui/text/(en|zh)/(\w+)\.md", "prose of the page {1}, {0}"),
    (r"ui/text/formulas/(\w+)\.toml", "formulas of the page {0}"),
    (r"tests/golden/([\w/-]+)\.json", "outside numbers for {0}"),
    (r"rope_core/bench/records/([\w-]+)\.json", "shipped measurements: {0}"),
    (r"rope_core/lab/records/([\w-]+)\.json", "shipped measurements of the lab: {0}"),
    (r"rope_core/lab/weights/([\w-]+)\.safetensors", "trained weights: {0}"),
    (r"docs/([\w-]+)\.png", "screenshot: {0}"),
    (r".*/__init__\.py", "package"),
)


def tracked() -> list[str]:
    """All files that git tracks, sorted."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(line for line in listed.stdout.splitlines() if (ROOT / line).exists())


def first_sentence(path: str) -> str:
    """What a file says of itself: the first line of its docstring or leading comment, else what its name says."""
    if path in KNOWN:
        return KNOWN[path]
    text = (ROOT / path).read_text("utf-8", errors="ignore") if not path.endswith((".png", ".safetensors")) else ""
    if path.endswith(".py"):
        said = ast.get_docstring(ast.parse(text)) or ""
        if said:
            return said.splitlines()[0].rstrip(".")
    for pattern, words in PATTERNS:
        match = re.fullmatch(pattern, path)
        if match:
            return words.format(*match.groups())
    comment = re.match(r"(?:#!.*\n)?(?:#|//|/\*)\s*(.+?)\s*(?:\*/)?$", text, re.MULTILINE)
    return comment[1].rstrip(".") if comment else ""


def tree() -> str:
    """The tree as text, folders before their files' lines, two spaces a level."""
    lines: list[str] = []
    seen: set[str] = set()
    for path in tracked():
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in seen:
                seen.add(folder)
                lines.append("  " * (depth - 1) + parts[depth - 1] + "/")
        name = "  " * (len(parts) - 1) + parts[-1]
        lines.append(f"{name:<34} {first_sentence(path)}".rstrip())
    return "\n".join(lines) + "\n"


def group_table(lang: str) -> str:
    """The 27 groups of real bugs: what shows each, and the threads it is known from."""
    how = {
        "en": {
            "config": "`rope check`",
            "verify": "`rc.verify`",
            "engines": "engine table",
            "positions": "position check",
        },
        "zh": {"config": "`rope check`", "verify": "`rc.verify`", "engines": "引擎对照表", "positions": "位置编号检查"},
    }[lang]
    head = {
        "en": ("", "what went wrong", "shown by", "finding", "threads"),
        "zh": ("", "出了什么错", "由谁指出", "发现", "讨论"),
    }
    lines = ["| " + " | ".join(head[lang]) + " |", "|---|---|---|---|---|"]
    for group in checker.groups():
        keys = ", ".join(f"`{key}`" for key in group.keys)
        title = group.en if lang == "en" else group.zh
        cells = (str(group.number), title, how[group.by], keys, ", ".join(group.threads))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def lab_table(lang: str) -> str:
    """The shipped ladder: perplexity over the window / over its last quarter, every line at every length."""
    cells = view.cells(records.shipped("sweep").results)
    lengths = view.lengths(cells)
    first = {"en": "length", "zh": "长度"}[lang]
    keys = list(dict.fromkeys(cell.line for cell in cells))
    lines = [f"| {first} | " + " | ".join(f"`{key}`" for key in keys) + " |", "|---:|" + "---:|" * len(keys)]
    for length in lengths:
        found = {cell.line: cell for cell in view.at(cells, length)}
        row = [f"{found[key].whole.value:.2f} / {found[key].last.value:.2f}" for key in keys]
        lines.append(f"| {length} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def blocks(lang: str) -> dict[str, str]:
    """Every generated block of a README by its mark's name."""
    made = {"groups": group_table(lang), "lab": lab_table(lang)}
    return made | {"tree": f"```text\n{tree()}```\n"} if lang == "en" else made


def placed(text: str, lang: str) -> str:
    """``text`` with every block as it is now between its marks."""
    for name, body in blocks(lang).items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        text = text[: text.index(begin) + len(begin)] + body + text[text.index(end) :]
    return text


def main() -> int:
    """Write the blocks, or name the READMEs that are out of date and exit 1."""
    stale = []
    for lang, name in READMES.items():
        path = ROOT / name
        text = path.read_text("utf-8")
        if placed(text, lang) != text:
            stale.append(name)
            if "--write" in sys.argv:
                path.write_text(placed(text, lang), "utf-8")
    print("\n".join(stale))
    return int(bool(stale) and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
