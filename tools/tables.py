"""Keeps true what comes from data: tables of docs/ (groups of threads, the lab's ladder), counts that texts state.

Run: python -m tools.tables            names the files that are out of date
     python -m tools.tables --write    writes them
"""

import sys
from collections.abc import Callable
from pathlib import Path

from rope_core.checks import check as checker
from rope_core.lab import records, view
from rope_core.ledger import check_claims
from tools import counts
from ui.text.words import TEXT

DOCS = Path(__file__).resolve().parent.parent / "docs"


def group_table(lang: str) -> str:
    """Return the groups of real bugs: what shows each, and the threads it is known from."""
    how = {
        "en": {
            "config": "`rope check`",
            "verify": "`rc.verify`",
            "engines": "engine table",
            "positions": "`rope positions`",
            "cache": "`rope cache`",
        },
        "zh": {
            "config": "`rope check`",
            "verify": "`rc.verify`",
            "engines": "引擎对照表",
            "positions": "`rope positions`",
            "cache": "`rope cache`",
        },
    }[lang]
    head = {
        "en": ("", "what went wrong", "shown by", "finding", "threads"),
        "zh": ("", "出了什么错", "由谁指出", "发现", "讨论"),
    }
    lines = ["| " + " | ".join(head[lang]) + " |", "|---|---|---|---|---|"]
    for group in checker.issue_groups():
        keys = ", ".join(f"`{key}`" for key in group.keys)
        cells = (str(group.number), group.title(lang), how[group.by], keys, ", ".join(group.threads))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def lab_tables(lang: str) -> str:
    """Return the shipped ladder, and the copying task."""
    return f"{_ladder(lang)}\n{_copies(lang)}"


def _copies(lang: str) -> str:
    """Perplexity of the second copy, every line of every model at every distance from the first copy."""
    cells = view.copy_cells(records.shipped_record("recall").results + records.shipped_record("recall-window").results)
    first = {"en": "second copy, bytes after the first", "zh": "第二次出现，与第一次相隔的字节"}[lang]
    distances = [f"{distance:,.0f}" for distance in cells[0].curve.position]
    lines = [f"| {first} | " + " | ".join(distances) + " |", "|---|" + "---:|" * len(distances)]
    for cell in cells:
        row = [f"{value:.2f}" for value in cell.curve.value]
        lines.append(f"| `{cell.weights}`, `{cell.line}` | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _ladder(lang: str) -> str:
    """Perplexity over the window / over its last quarter, every line at every length."""
    cells = view.read_cells(records.shipped_record("sweep").results)
    lengths = view.cell_lengths(cells)
    first = {"en": "length", "zh": "长度"}[lang]
    keys = list(dict.fromkeys(cell.line for cell in cells))
    lines = [f"| {first} | " + " | ".join(f"`{key}`" for key in keys) + " |", "|---:|" + "---:|" * len(keys)]
    for length in lengths:
        by_line = {cell.line: cell for cell in view.cells_at_length(cells, length)}
        row = [f"{by_line[key].whole.value:.2f} / {by_line[key].last.value:.2f}" for key in keys]
        lines.append(f"| {length} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


TABLES: dict[str, Callable[[str], str]] = {"bugs": group_table, "lab": lab_tables}
# Each page with its language and its table.
PAGES = {f"{table}{ending}.md": (lang, table) for table in TABLES for lang, ending in (("en", ""), ("zh", ".zh"))}


def placed(page: str) -> str:
    """Return a page's text with its table as the data has it."""
    lang, table = PAGES[page]
    text = (DOCS / page).read_text("utf-8")
    begin, end = f"<!-- {table} -->\n", f"<!-- /{table} -->"
    return text[: text.index(begin) + len(begin)] + TABLES[table](lang) + text[text.index(end) :]


def main() -> int:
    """Write the files, or name those that are out of date and exit with 1."""
    true = {DOCS / page: placed(page) for page in PAGES}
    true[TEXT / "counts.toml"] = counts.counts_toml(counts.ledger_counts(check_claims()) | counts.catalogue_counts())
    stale = {path: text for path, text in true.items() if not path.exists() or text != path.read_text("utf-8")}
    if "--write" in sys.argv:
        for path, text in stale.items():
            path.write_text(text, "utf-8")
    print("\n".join(path.name for path in stale))
    return int(bool(stale) and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
