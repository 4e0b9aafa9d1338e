"""`rope convert`: a config in the other schema."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rope_core.checks.schemas import to_v4, to_v5
from rope_core.cli.source import HELP, add_language, guarded, load, print_json


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(prog="rope convert", description=main_convert.__doc__)
    made.add_argument("config", help=HELP)
    made.add_argument("--to", choices=("4", "5"), required=True, help="the version of transformers that is to read it")
    add_language(made)
    return made


def main_convert(argv: Sequence[str]) -> int:
    """Print a config in the schema of transformers 4 or 5, computing the same; exit 2 where it cannot be said."""
    asked = parser().parse_args(argv)

    def body() -> int:
        print_json((to_v4 if asked.to == "4" else to_v5)(load(asked.config)))
        return 0

    return guarded(body, asked.lang)
