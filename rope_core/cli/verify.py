"""`rope verify`: a model or stored tensors against a config; a rotation function against the exact rotation."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rope_core.cli.check import add_output_arguments, check_ignored_keys, print_report
from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.cli.terminal import print_lines
from rope_core.errors import argument_error
from rope_core.findings import VERSIONS, Finding
from rope_core.hf.hub import is_model_id
from rope_core.verification.kernel import SIGNATURES, check_kernel
from rope_core.verification.verify import verify

MODES = ("sdpa", "eager", "bfloat16", "float16")
# Names the file that the process which runs somebody's file leaves where it came to its end.
DONE = "ROPE_VERIFY_DONE"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="MODEL",
        help="a model's folder or hub id, which is loaded and run; with --config its stored tensors alone, or a"
        " safetensors file's",
    )
    parser.add_argument("--config", help=f"with stored tensors or --kernel: {HELP}")
    parser.add_argument("--modes", default=MODES[0], help=f"how a model is loaded, with commas: {', '.join(MODES)}")
    parser.add_argument(
        "--kernel",
        metavar="FILE:FUNCTION",
        help="run a Python file of your own and try its rotation on drawn inputs; a function, or a torch module, of"
        f" one of {'; '.join(SIGNATURES)}",
    )
    parser.add_argument("--part", help="with --kernel: how many of 32 dimensions turn")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Verify a loaded model, a safetensors file's buffers or a rotation function. Exit codes as of `rope check`."""
    check_ignored_keys(options.ignore)
    if options.kernel is not None:
        return _of_kernel(options) if DONE in os.environ else _apart(options.argv)
    if options.file is None:
        raise argument_error(
            "MODEL", "a folder, a hub id or a safetensors file, or --kernel in its place", options.file
        )
    if options.config is None:
        return print_report(_of_model(options.file, options.modes), {}, options, VERSIONS[-1])
    if not (Path(options.file).is_file() or Path(options.file).is_dir()):
        raise argument_error("file", "regular_file", options.file)
    stored: list[Finding] = verify(Path(options.file), load_config(options.config))
    return print_report({options.file: stored}, {}, options, VERSIONS[-1])


def _apart(argv: Sequence[str]) -> int:
    """Run this command in a process of its own, where somebody's file runs. Raises ValueError where it ends that."""
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-P", "-m", "rope_core", "verify", *argv]
    with tempfile.TemporaryDirectory() as folder:
        done = Path(folder, "done")
        environment = {**os.environ, DONE: str(done), "PYTHONPATH": os.pathsep.join(paths)}
        ended = subprocess.run(command, env=environment, capture_output=True, check=False)
        finished = done.exists()
    # The file may have written too.
    print_lines(*ended.stdout.decode(errors="replace").splitlines())
    print_lines(*ended.stderr.decode(errors="replace").splitlines(), error=True)
    if not finished and not (ended.returncode == 2 and ended.stderr):
        raise argument_error(
            "--kernel", "FILE:FUNCTION of code that returns", f"the process's end with {ended.returncode}"
        )
    return ended.returncode


def _of_kernel(options: argparse.Namespace) -> int:
    """Verify a function; what it raises is no answer. Exit codes as of ``run``."""
    done = Path(os.environ.pop(DONE))
    config = None if options.config is None else load_config(options.config)
    findings = check_kernel(import_named_function(options.kernel), config, parse_token_count("--part", options.part))
    raised = [each.title(options.lang) for each in findings if each.key == "kernel_raises"]
    others = [*(each for each in findings if each.key != "kernel_raises"), *([] if raised else [findings.assumed])]
    unreadable = {options.kernel: raised[0]} if raised else {}
    code = print_report({options.kernel: others} if others else {}, unreadable, options, VERSIONS[-1])
    sys.stdout.flush()
    done.touch()
    return code


def _of_model(source: str, modes: str) -> dict[str, list[Finding]]:
    """Return the findings on a model as it is loaded in each mode. Raises ValueError on one that cannot be loaded."""
    names = [name.strip() for name in modes.split(",")]
    for name in names:
        if name not in MODES:
            raise argument_error("--modes", "one_of", name, names=MODES)
    if not (Path(source) / "config.json").is_file() and (Path(source).exists() or not is_model_id(source)):
        raise argument_error(
            "MODEL", "a folder with config.json or a hub id; stored tensors alone need --config", source
        )
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    config, results = load_config(source), {}
    for name in names:
        how = {"attn_implementation": name} if name in MODES[:2] else {"dtype": getattr(torch, name)}
        try:
            model = transformers.AutoModel.from_pretrained(source, **how)
        except Exception as error:
            # Whatever keeps a folder from loading is told.
            raise argument_error(
                "MODEL", "what transformers can load", f"{type(error).__name__}: {error}"[:300]
            ) from None
        results[f"{source} ({name})" if len(names) > 1 else source] = list[Finding](verify(model, config))
    return results


def import_named_function(text: str) -> Callable[..., Any]:
    """Return what FILE:FUNCTION names, imported as a part of its package. Raises ValueError on whatever it raises."""
    place, _, name = text.rpartition(":")
    path = Path(place).resolve()
    if not path.is_file():
        raise argument_error("--kernel", "FILE:FUNCTION of a Python file", text)
    dotted, root = [path.stem], path.parent
    while (root / "__init__.py").is_file():
        dotted, root = [root.name, *dotted], root.parent
    sys.path.insert(0, str(root))
    try:
        if len(dotted) > 1:
            function = getattr(importlib.import_module(".".join(dotted)), name, None)
        else:
            spec = importlib.util.spec_from_file_location(f"kernel_of_{path.stem}", path)
            if spec is None or spec.loader is None:
                raise ImportError(f"{path.name} is no Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            function = getattr(module, name, None)
        if isinstance(function, type):
            function = function(32)
    except (Exception, SystemExit) as error:
        # Somebody's file: whatever it raises is told, and its exit is not ours.
        reason = f"{type(error).__name__}: {error}".split("\n")[0][:200]
        raise argument_error("--kernel", "FILE:FUNCTION of a file that can be imported", reason) from None
    finally:
        sys.path.remove(str(root))
    if not callable(function):
        raise argument_error("--kernel", f"a function of {place}", name)
    checked: Callable[..., Any] = function
    return checked
