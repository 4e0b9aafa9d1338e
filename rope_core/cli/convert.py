"""`rope convert`: a config in the other schema."""

from __future__ import annotations

import argparse

from rope_core.cli.source import HELP, load_config
from rope_core.cli.terminal import print_json
from rope_core.hf.schemas import to_v4, to_v5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument("--to", choices=("4", "5"), required=True, help="the version of transformers that reads it")


def run(options: argparse.Namespace) -> int:
    """Print a config in the schema of transformers 4 or 5, computing the same; exit 2 where it has no form there."""
    print_json((to_v4 if options.to == "4" else to_v5)(load_config(options.config)))
    return 0
