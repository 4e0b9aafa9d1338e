"""Small subcommands of `rope` that read a config and print."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence

from rope_core.cli.check import read_source
from rope_core.errors import ConfigError
from rope_core.hf.read import parse
from rope_core.hf.ropes import HfRope, from_hf, layer_types

COLUMNS = ("layer_type", "pair", "unscaled", "inv_freq", "slowdown", "wavelength", "turns")


def spectrum_rows(found: HfRope) -> list[tuple[object, ...]]:
    """One row per pair: frequencies in rad/token, wavelength in tokens, turns within the trained length."""
    tau = 6.283185307179586
    rows: list[tuple[object, ...]] = []
    for pair, (plain, turned) in enumerate(zip(found.unscaled.tolist(), found.inv_freq.tolist(), strict=True)):
        slow = plain / turned if turned else float("inf")
        wave = tau / turned if turned else float("inf")
        rows.append((found.layer_type or "", pair, plain, turned, slow, wave, found.train_len / wave))
    return rows


def main_spectrum(argv: Sequence[str]) -> int:
    """`rope spectrum CONFIG [--layer-type T] [--seq-len N] [--csv]`; exit 2 on a config that cannot be read."""
    parser = argparse.ArgumentParser(prog="rope spectrum", description=main_spectrum.__doc__)
    parser.add_argument("config", help="config.json, its folder, - for standard input, or org/name[@revision]")
    parser.add_argument("--layer-type")
    parser.add_argument("--seq-len", type=int)
    parser.add_argument("--csv", action="store_true", help="comma-separated, full precision")
    asked = parser.parse_args(argv)
    try:
        given = read_source(asked.config)
        config = parse(given) if isinstance(given, bytes) else given
        kinds: list[str | None] = [asked.layer_type] if asked.layer_type else [*layer_types(config)] or [None]
        found = [from_hf(config, kind, asked.seq_len) for kind in kinds]
    except (ConfigError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    rows = [row for one in found for row in spectrum_rows(one)]
    if asked.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
        return 0
    for one in found:
        kind = f"{one.layer_type}: " if one.layer_type else ""
        print(
            f"{kind}{one.scheme}, base {one.base:g}, rotary {one.rotary_dim} of {one.head_dim}, {one.layout}, "
            f"trained {one.train_len}, attention factor {one.attention_factor:.9g}, logit scale {one.logit_scale:.9g}"
        )
    print("  ".join(f"{name:>14}" for name in COLUMNS))
    for row in rows:
        print("  ".join(f"{cell:>14.6g}" if isinstance(cell, float) else f"{cell!s:>14}" for cell in row))
    return 0
