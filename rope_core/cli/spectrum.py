"""`rope spectrum`: the frequencies of a config, pair by pair."""

from __future__ import annotations

import argparse

from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.cli.terminal import print_csv_row, print_lines
from rope_core.findings import sanitized_text
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope

COLUMNS = ("layer_type", "pair", "unscaled", "inv_freq", "slowdown", "wavelength", "turns")


def _rows(rope: HfRope) -> list[tuple[object, ...]]:
    """Return one row per pair: frequencies in rad/token, wavelength in tokens, turns within the trained length."""
    tau = 6.283185307179586
    rows: list[tuple[object, ...]] = []
    for pair, (plain, turned) in enumerate(zip(rope.unscaled.tolist(), rope.inv_freq.tolist(), strict=True)):
        slow = plain / turned if turned else float("inf")
        wave = tau / turned if turned else float("inf")
        rows.append((rope.layer_type or "", pair, plain, turned, slow, wave, rope.train_len / wave))
    return rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument("--layer-type", help="only this layer type")
    parser.add_argument("--seq-len", help="the length in use, tokens")
    parser.add_argument("--csv", action="store_true", help="comma-separated, full precision")


def run(options: argparse.Namespace) -> int:
    """Print the frequencies of a config, pair by pair; exit 2 on a config that cannot be read."""
    options.seq_len = parse_token_count("--seq-len", options.seq_len)
    text = resolve(load_config(options.config)).text
    kinds = [options.layer_type] if options.layer_type else text.layer_type_names
    ropes = [text.rope(kind, options.seq_len) for kind in kinds]
    rows = [row for rope in ropes for row in _rows(rope)]
    if options.csv:
        for row in (COLUMNS, *rows):
            print_csv_row(row)
        return 0
    for rope in ropes:
        kind = f"{sanitized_text(rope.layer_type)}: " if rope.layer_type else ""
        print_lines(
            f"{kind}{rope.scheme}, base {rope.base:g}, rotary {rope.rotary_dim} of {rope.head_dim}, {rope.layout}, "
            f"trained {rope.train_len}, attention factor {rope.attention_factor:.9g}, "
            f"logit scale {rope.logit_scale:.9g}"
        )
    print_lines("  ".join(f"{name:>14}" for name in COLUMNS))
    for row in rows:
        print_lines("  ".join(f"{cell:>14.6g}" if isinstance(cell, float) else f"{cell!s:>14}" for cell in row))
    return 0
