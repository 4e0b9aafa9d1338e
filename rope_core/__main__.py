"""The command `rope`: a subcommand is imported only when it is run."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from rope_core.cli import COMMANDS
from rope_core.cli.command import run_subcommand
from rope_core.cli.terminal import print_lines
from rope_core.version import __version__


def usage() -> str:
    """Return the list of subcommands."""
    lines = [f"  {name:<11} {text}" for name, (_, text) in COMMANDS.items()]
    more = "rope help COMMAND says more; rope --version prints the version."
    return "usage: rope COMMAND ...\n\n" + "\n".join(lines) + f"\n\n{more}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit code; 2 for an unknown one."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] in (["-V"], ["--version"]):
        print_lines(f"rope {__version__}")
        return 0
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [arguments[1], "--help"]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print_lines(*usage().splitlines())
        return 0 if arguments else 2
    name, rest = arguments[0], arguments[1:]
    if name not in COMMANDS:
        print_lines(f"command must be one of {', '.join(COMMANDS)}, got {name!r}", error=True)
        return 2
    try:
        code = run_subcommand(name, importlib.import_module(COMMANDS[name][0]), rest)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever reads has enough (`rope spectrum ... | head`); nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("rope_core"):
            raise
        print_lines(f"`rope {name}` needs the package {missing.name}: pip install {missing.name}", error=True)
        return 2


if __name__ == "__main__":
    sys.exit(main())
