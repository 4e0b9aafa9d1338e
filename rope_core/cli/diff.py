"""`rope diff`: what two configs' rotary embeddings have in common and what not."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from rope_core.checks.case import texts
from rope_core.checks.schemas import compare
from rope_core.cli.source import HELP, load, print_json, tokens

SAME = {"en": "the rotary embeddings are the same", "zh": "两者的旋转位置编码相同"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("left", help=HELP)
    parser.add_argument("right", help="the other one")
    parser.add_argument("--seq-len", help="the length in use, tokens")
    parser.add_argument("--all", action="store_true", help="list what is the same too")
    parser.add_argument("--json", action="store_true", help="a list instead of lines")


def run(options: argparse.Namespace) -> int:
    """Compare two configs' rotary embeddings field by field. Exit 0: the same; 1: they differ; 2: unreadable."""
    options.seq_len = tokens("--seq-len", options.seq_len)
    rows = compare(load(options.left), load(options.right), options.seq_len)
    differs = [row for row in rows if not row.same]
    listed = rows if options.all else differs
    if options.json:
        print_json([asdict(row) for row in listed])
        return int(bool(differs))
    for row in listed:
        name = f"{row.layer_type}.{row.field}" if row.layer_type else row.field
        left, right = texts((row.left, row.right), options.lang)
        print(f"{'=' if row.same else '!'} {name:<24}{left:<28}{right}")
    if not differs:
        print(SAME[options.lang])
    return int(bool(differs))
