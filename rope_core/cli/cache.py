"""`rope cache`: whether cached keys can be moved, and whether they were moved rightly."""

from __future__ import annotations

import argparse
from typing import Any

from rope_core.cli.check import add_output_arguments, check_ignored_keys, print_report
from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.findings import VERSIONS
from rope_core.verification.arrays import read_arrays
from rope_core.verification.cache import check_cache

KEYS = ("before", "after", "old", "new")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument(
        "--moved",
        metavar="FILE",
        help="safetensors or JSON with keys before and after a move, (tokens, heads, head_dim), and positions old, new",
    )
    parser.add_argument("--cached", help="with --length: tokens at which keys were cached")
    parser.add_argument("--length", help="tokens that are in use now")
    parser.add_argument("--layer-type", help="the layers that the keys are of")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Say whether cached keys can be moved; with a file, whether they were. Exit codes as of `rope check`."""
    check_ignored_keys(options.ignore)
    given: dict[str, Any] = {
        name: parse_token_count(f"--{name}", getattr(options, name)) for name in ("cached", "length")
    }
    if options.moved is not None:
        given = read_arrays(options.moved, KEYS, KEYS[0])
    findings = check_cache(load_config(options.config), layer_type=options.layer_type, **given)
    return print_report({options.config: findings}, {}, options, VERSIONS[-1])
