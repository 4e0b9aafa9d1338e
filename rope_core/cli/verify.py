"""`rope verify`: stored tensors against a config; a rotation function of one's own against the exact rotation."""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from rope_core.checks.case import VERSIONS
from rope_core.checks.kernel import check_kernel
from rope_core.checks.verify import verify
from rope_core.cli.check import add_output, known_keys, report
from rope_core.cli.source import HELP, load
from rope_core.errors import reject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", nargs="?", help="a safetensors file, or a folder of them; with --config")
    parser.add_argument("--config", help=HELP)
    parser.add_argument(
        "--kernel", metavar="FILE:FUNCTION", help="run a Python file of your own and try its rotation on drawn inputs"
    )
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Compare a safetensors file's rotary buffers with a config, or a function with the rotation."""
    known_keys(options.ignore)
    if options.kernel is not None:
        return report({options.kernel: check_kernel(function_of(options.kernel))}, {}, options, VERSIONS[-1])
    if options.file is None or options.config is None:
        raise reject("file", "given with --config, or --kernel in their place", options.file)
    if not (Path(options.file).is_file() or Path(options.file).is_dir()):
        raise reject("file", "regular_file", options.file)
    findings = verify(Path(options.file), load(options.config))
    return report({options.file: findings}, {}, options, VERSIONS[-1])


def function_of(text: str) -> Callable[..., Any]:
    """Return the function that FILE:FUNCTION names; the file is run. Raises ValueError where there is none."""
    path, _, name = text.rpartition(":")
    if not Path(path).is_file():
        raise reject("--kernel", "FILE:FUNCTION of a Python file", text)
    function = runpy.run_path(path).get(name)
    if not callable(function):
        raise reject("--kernel", f"a function of {path}", name)
    return cast("Callable[..., Any]", function)
