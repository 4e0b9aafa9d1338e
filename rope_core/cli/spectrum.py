"""`rope spectrum`: the frequencies of a config, pair by pair."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence

from rope_core.checks.case import printable
from rope_core.cli.source import HELP, add_language, guarded, load
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


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(prog="rope spectrum", description=main_spectrum.__doc__)
    made.add_argument("config", help=HELP)
    made.add_argument("--layer-type", help="only this layer type")
    made.add_argument("--seq-len", type=int, help="the length in use, tokens")
    made.add_argument("--csv", action="store_true", help="comma-separated, full precision")
    add_language(made)
    return made


def main_spectrum(argv: Sequence[str]) -> int:
    """Print the frequencies of a config, pair by pair; exit 2 on a config that cannot be read."""
    asked = parser().parse_args(argv)
    return guarded(lambda: _run(asked), asked.lang)


def _run(asked: argparse.Namespace) -> int:
    config = load(asked.config)
    kinds: list[str | None] = [asked.layer_type] if asked.layer_type else [*layer_types(config)] or [None]
    ropes = [from_hf(config, kind, asked.seq_len) for kind in kinds]
    rows = [row for rope in ropes for row in spectrum_rows(rope)]
    if asked.csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
        return 0
    for rope in ropes:
        kind = f"{printable(rope.layer_type)}: " if rope.layer_type else ""
        print(
            f"{kind}{rope.scheme}, base {rope.base:g}, rotary {rope.rotary_dim} of {rope.head_dim}, {rope.layout}, "
            f"trained {rope.train_len}, attention factor {rope.attention_factor:.9g}, "
            f"logit scale {rope.logit_scale:.9g}"
        )
    print("  ".join(f"{name:>14}" for name in COLUMNS))
    for row in rows:
        print("  ".join(f"{cell:>14.6g}" if isinstance(cell, float) else f"{cell!s:>14}" for cell in row))
    return 0
