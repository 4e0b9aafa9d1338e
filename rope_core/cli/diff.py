"""`rope diff`: what two configs' rotary embeddings have in common and what not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rope_core.checks.case import shown
from rope_core.checks.schemas import Row, compare
from rope_core.cli.source import HELP, add_language, guarded, load, print_json

SAME = {"en": "the rotary embeddings are the same", "zh": "两者的旋转位置编码相同"}


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(prog="rope diff", description=main_diff.__doc__)
    made.add_argument("left", help=HELP)
    made.add_argument("right", help="the other one")
    made.add_argument("--seq-len", type=int, help="the length in use, tokens")
    made.add_argument("--all", action="store_true", help="list what is the same too")
    made.add_argument("--json", action="store_true", help="a list instead of lines")
    add_language(made)
    return made


def main_diff(argv: Sequence[str]) -> int:
    """Compare two configs' rotary embeddings field by field. Exit 0: the same; 1: they differ; 2: unreadable."""
    asked = parser().parse_args(argv)
    return guarded(lambda: _run(asked), asked.lang)


def _run(asked: argparse.Namespace) -> int:
    rows = compare(load(asked.left), load(asked.right), asked.seq_len)
    differs = [row for row in rows if not row.same]
    listed = rows if asked.all else differs
    if asked.json:
        print_json([_record(row) for row in listed])
        return int(bool(differs))
    for row in listed:
        name = f"{row.layer_type}.{row.field}" if row.layer_type else row.field
        print(f"{'=' if row.same else '!'} {name:<24}{shown(row.left):<28}{shown(row.right)}")
    if not differs:
        print(SAME[asked.lang])
    return int(bool(differs))


def _record(row: Row) -> dict[str, object]:
    return {
        "layer_type": row.layer_type,
        "field": row.field,
        "left": row.left,
        "right": row.right,
        "same": row.same,
    }
