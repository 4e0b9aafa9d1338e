"""Engines' own argument parsers on the lines that rope_core.checks.commands prints: what each makes of them.

vLLM's EngineArgs and SGLang's ServerArgs add their options to an argparse parser; of what they import only the files
that declare options are kept. mlx-lm's line is Python: its call is bound to the function's own signature.
"""

import argparse
import ast
import contextlib
import dataclasses
import importlib
import inspect
import json
import shlex
import sys
from collections.abc import Callable
from typing import Any

from tools.engines.stubs import stub


def _plain(kind: Any = None, **given: Any) -> Any:
    """Take the place of pydantic's dataclass: no validation, as no field but the defaults is built."""

    def built(each: Any) -> Any:
        for name, value in list(vars(each).items()):
            if type(value).__name__ == "FieldInfo":
                default = None if repr(value.default) == "PydanticUndefined" else value.default
                field = {"default_factory": value.default_factory} if value.default_factory else {"default": default}
                setattr(each, name, dataclasses.field(**field))
        if "__post_init__" in vars(each):
            each.__post_init__ = lambda *_: None
        return dataclasses.dataclass(each, **{key: value for key, value in given.items() if key in ("kw_only", "eq")})

    return built if kind is None else built(kind)


def vllm() -> argparse.ArgumentParser:
    """Return vLLM's parser of engine options."""
    importlib.import_module("pydantic.dataclasses").dataclass = _plain  # type: ignore[attr-defined]
    stub("psutil")
    stub("vllm", ["vllm.engine.arg_utils", "vllm.config", "vllm.utils.argparse_utils"])
    args: Any = importlib.import_module("vllm.engine.arg_utils")
    args.VLLM_VERSION, args.suppress_logging = "", contextlib.nullcontext
    parser: argparse.ArgumentParser = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
    args.EngineArgs.add_cli_args(parser)
    return parser


def sglang() -> argparse.ArgumentParser:
    """Return SGLang's parser of server options."""
    names = ["srt.server_args", "srt.arg_groups", "srt.environ", "srt.runtime_context"]
    names += ["srt.parser.reasoning_parser_names", "srt.function_call.parser_names"]
    stub("psutil")
    stub("sglang", [f"sglang.{name}" for name in names])
    parser = argparse.ArgumentParser()
    importlib.import_module("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
    return parser


def by_parser(make: Callable[[], argparse.ArgumentParser], program: int) -> Callable[[str], dict[str, Any]]:
    """Return what reads a line after the words of its program by an engine's parser: the options that it names."""
    parser = make()

    def read(line: str) -> dict[str, Any]:
        words = shlex.split(line)[program:]
        given = vars(parser.parse_args(words))
        return {word: given[word.strip("-").replace("-", "_")] for word in words[::2]}

    return read


def mlx() -> Callable[[str], dict[str, Any]]:
    """Return what binds the call in a line of mlx-lm to the signature of its load."""
    signature = inspect.signature(importlib.import_module("mlx_lm.utils").load)

    def read(line: str) -> dict[str, Any]:
        call: Any = ast.parse(shlex.split(line)[2]).body[-1].value  # type: ignore[attr-defined]
        named = {key.arg: ast.literal_eval(key.value) for key in call.keywords}
        return dict(signature.bind(*map(ast.literal_eval, call.args), **named).arguments)

    return read


READ: dict[str, Callable[[], Callable[[str], dict[str, Any]]]] = {
    "vLLM": lambda: by_parser(vllm, 3),
    "SGLang": lambda: by_parser(sglang, 3),
    "mlx-lm": mlx,
}

if __name__ == "__main__":
    read = READ[sys.argv[1]]()
    sys.stdout.write("\n" + json.dumps([read(line) for line in json.load(sys.stdin)], default=str))
