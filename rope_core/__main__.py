"""The command `rope`: each subcommand lives with the code it runs and is imported only when asked for."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

# name: (module, function taking the remaining arguments, one line of help)
COMMANDS = {
    "spectrum": ("rope_core.cli.spectrum", "main_spectrum", "frequencies of a model's config, as a table or CSV"),
    "check": ("rope_core.cli.check", "main_check", "what is wrong with a model's config, or worth knowing"),
    "ledger": ("rope_core.ledger", "main_ledger", "every claim of the source documents, checked"),
    "lab": ("rope_core.cli.lab", "main_lab", "train and evaluate a small model past its trained length"),
    "bench": ("rope_core.cli.bench", "main_bench", "time rotations beside a copy, answers checked first"),
}


def usage() -> str:
    """The list of subcommands."""
    lines = [f"  {name:<10} {text}" for name, (_, _, text) in COMMANDS.items()]
    return "usage: rope COMMAND ...\n\n" + "\n".join(lines) + "\n\nrope COMMAND --help says more."


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit code; 2 for an unknown one."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else 2
    name, rest = arguments[0], arguments[1:]
    if name not in COMMANDS:
        print(f"command must be one of {', '.join(COMMANDS)}, got {name!r}", file=sys.stderr)
        return 2
    module, function, _ = COMMANDS[name]
    try:
        code = int(getattr(importlib.import_module(module), function)(rest))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever reads has enough (`rope spectrum ... | head`); nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("rope_core"):
            raise
        print(f"`rope {name}` needs the package {missing.name}: pip install {missing.name}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
