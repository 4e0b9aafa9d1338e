"""`rope diff`: what two configs' rotary embeddings have in common and what not."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict

from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.cli.terminal import print_json, print_lines
from rope_core.findings import distinct_value_texts
from rope_core.hf.schemas import compare_configs
from rope_core.languages import words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("left", help=HELP)
    parser.add_argument("right", help="the other one")
    parser.add_argument("--seq-len", help="the length in use, tokens")
    parser.add_argument("--all", action="store_true", help="list what is the same too")
    parser.add_argument("--json", action="store_true", help="a list instead of lines")


def run(options: argparse.Namespace) -> int:
    """Compare two configs' rotary embeddings field by field. Exit 0: the same; 1: they differ; 2: unreadable."""
    options.seq_len = parse_token_count("--seq-len", options.seq_len)
    rows = compare_configs(load_config(options.left), load_config(options.right), options.seq_len)
    differs = [row for row in rows if not row.same]
    listed = rows if options.all else differs
    if options.json:
        print_json([asdict(row) for row in listed])
        return int(bool(differs))
    t = words(options.lang, "commands")["diff"]
    for row in listed:
        name = f"{row.layer_type}.{row.field}" if row.layer_type else row.field
        left, right = distinct_value_texts((row.left, row.right), options.lang)
        if row.field == "inv_freq":
            apart = float(str(row.right))
            left, right = t["other" if math.isinf(apart) else "apart"].format(percent=100 * apart), ""
        print_lines(f"{'=' if row.same else '!'} {name:<24}{left:<28}{right}".rstrip())
    if not differs:
        print_lines(t["same"])
    return int(bool(differs))
