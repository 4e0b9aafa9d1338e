"""Subcommands: modules with ``add_arguments(parser)`` and ``run(options)``, which returns the exit code."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Sequence
from types import ModuleType

from rope_core.cli.terminal import print_lines
from rope_core.errors import error_sentence
from rope_core.languages import LANGUAGES

CRASHED = 70
"""The exit code of a fault in this program, EX_SOFTWARE of sysexits.h: neither a finding (1) nor bad input (2)."""


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    """Return a subcommand's parser: its arguments, ``--lang``, and its ``run``'s docstring as the description."""
    parser = argparse.ArgumentParser(prog=f"rope {name}", description=module.run.__doc__)
    module.add_arguments(parser)
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language of the sentences")
    return parser


def run_subcommand(name: str, module: ModuleType, argv: Sequence[str]) -> int:
    """Run a subcommand; a bad argument or config is one sentence on standard error and exit code 2, a crash CRASHED."""
    options = parser_of(name, module).parse_args(argv, argparse.Namespace(argv=list(argv)))
    try:
        return int(module.run(options))
    except ValueError as error:
        print_lines(error_sentence(error, options.lang), error=True)
        return 2
    except (ImportError, BrokenPipeError):
        raise
    except Exception:
        traceback.print_exc()
        return CRASHED
