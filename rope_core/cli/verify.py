"""`rope verify`: stored tensors against a config."""

from __future__ import annotations

import argparse
from pathlib import Path

from rope_core.checks.case import VERSIONS
from rope_core.checks.verify import verify
from rope_core.cli.check import add_output, known_keys, report
from rope_core.cli.source import HELP, load
from rope_core.errors import reject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", help="a safetensors file, or a folder of them")
    parser.add_argument("--config", required=True, help=HELP)
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Compare the rotary buffers that a safetensors file holds with a config. Exit codes as those of `rope check`."""
    known_keys(options.ignore)
    if not (Path(options.file).is_file() or Path(options.file).is_dir()):
        raise reject("file", "regular_file", options.file)
    findings = verify(Path(options.file), load(options.config))
    return report({options.file: findings}, {}, options, VERSIONS[-1])
