"""`rope verify`: stored tensors against a config."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rope_core.checks.case import VERSIONS
from rope_core.checks.verify import verify
from rope_core.cli.check import add_output, known_keys, report
from rope_core.cli.source import HELP, guarded, load
from rope_core.errors import reject


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(prog="rope verify", description=main_verify.__doc__)
    made.add_argument("file", help="a safetensors file, or a folder of them")
    made.add_argument("--config", required=True, help=HELP)
    add_output(made)
    return made


def main_verify(argv: Sequence[str]) -> int:
    """Compare the rotary buffers that a safetensors file holds with a config. Exit codes as those of `rope check`."""
    asked = parser().parse_args(argv)
    return guarded(lambda: _run(asked), asked.lang)


def _run(asked: argparse.Namespace) -> int:
    known_keys(asked.ignore)
    if not (Path(asked.file).is_file() or Path(asked.file).is_dir()):
        raise reject("file", "regular_file", asked.file)
    found = verify(Path(asked.file), load(asked.config))
    return report({asked.file: found}, {}, asked, VERSIONS[-1])
