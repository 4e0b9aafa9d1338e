"""The line that starts an engine with a way to a longer context, or the sentence on why there is none.

Sources: vLLM 0.33.0 vllm/config/model.py (_apply_dict_overrides); SGLang 0.5.23 srt/utils/hf_transformers/config.py;
llama.cpp b11434 common/arg.cpp, tools/server (n_ctx_slot stops at the context_length that the file holds) and
src/llama-context.cpp (which raises it for a custom YaRN alone, ggml-org/llama.cpp#28030); mlx-lm 0.32.2 utils.py
(load); TensorRT-LLM 1.2.1 trtllm-serve, which has no option for the rotation and reads config.json.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from rope_core.errors import ConfigError, error_sentence
from rope_core.extension.blocks import scaling_factor
from rope_core.extension.extend import ContextExtension
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import to_v4
from rope_core.hf.types import DEFAULT, LINEAR, LLAMA3, LONGROPE, PROPORTIONAL, YARN
from rope_core.languages import words
from rope_core.programs.engines import engine_sentences, engines
from rope_core.schemes import yarn_attention_factor

ENGINES = ("vLLM", "SGLang", "llama.cpp", "mlx-lm", "TensorRT-LLM")
# A larger gap to transformers than any engine's rounding, relative.
GAP = 1e-4
# What a GGUF file calls a family, by model_type: gguf-py/gguf/constants.py, MODEL_ARCH_NAMES.
GGUF = {
    name: name
    for name in ["cohere2", "falcon", "gemma", "gemma2", "glm4", "llama", "olmo2", "phi3", "qwen2", "qwen3", "stablelm"]
} | {
    "cohere": "command-r",
    "deepseek_v2": "deepseek2",
    "deepseek_v3": "deepseek2",
    "gemma3_text": "gemma3",
    "gpt_oss": "gpt-oss",
    "mistral": "llama",
    "mixtral": "llama",
    "qwen2_moe": "qwen2moe",
    "qwen3_moe": "qwen3moe",
}
CLASSIC = (DEFAULT, LINEAR, YARN, LLAMA3, LONGROPE)


@dataclass(frozen=True)
class LaunchCommand:
    """An engine's line for a shell, or None with the sentence that says why there is none.

    ``note`` says what to do beside the line, "" where nothing is.
    """

    engine: str
    line: str | None
    note: str


def launch_commands(
    extension: ContextExtension, model_name: str = "MODEL", lang: str = "en", names: Sequence[str] = ENGINES
) -> list[LaunchCommand]:
    """Return what each engine of ``names`` is started with to run an extension; ``model_name`` is a name or folder.

    >>> from rope_core.extension.extend import extend
    >>> config = {"model_type": "llama", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> launch_commands(extend(config, 16384)[0])[2].line
    'llama-server -m MODEL.gguf -c 16384 --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 4096'
    """
    lines = []
    for engine in names:
        reason = _refusal(engine, extension, lang)
        line = None if reason else _line(engine, extension, model_name)
        lines.append(LaunchCommand(engine, line, reason or _note(engine, extension, lang)))
    return lines


def _words(key: str, lang: str, /, **values: object) -> str:
    text: str = words(lang, "extension")["command"][key]
    return text.format(**values)


def _refusal(engine: str, way: ContextExtension, lang: str) -> str:
    """Why an engine cannot run a way as transformers does; "" where it can."""
    rope = way.rope
    if engine in ("SGLang", "TensorRT-LLM"):
        return _untabled(engine, way, lang)
    if engine == "llama.cpp":
        if len(resolve(way.config).text.differing_layer_types) > 1:
            return _words("layers", lang)
        if rope.rope_type in (LLAMA3, PROPORTIONAL):
            return _words("tensor", lang, type=rope.rope_type)
    if engine == "mlx-lm" and way.old_block is None:
        return _words("no_old_block", lang)
    return _apart(engine, way, lang)


def _apart(engine: str, way: ContextExtension, lang: str) -> str:
    """Return what the engine table says where an engine computes something else."""
    written = resolve(way.config)
    config = resolve(to_v4(written)) if engine == "mlx-lm" else written  # its line passes the old block
    for layer in way.ropes:
        try:
            rows = engines(config, layer if written.text.differing_layer_types else None, way.length, way.length)
        except ConfigError as error:
            return error_sentence(error, lang)
        row = next(row for row in rows if row.name.startswith(engine))
        if row.refused == "no_family":
            return engine_sentences(row, lang)[0]
        far = [gap for gap in (row.difference, row.attention_difference) if gap is not None and gap > GAP]
        if row.refused or far:
            own = row.notes == ("same",)
            factors = {"this": f"{row.attention_factor:.6g}", "that": f"{rows[0].attention_factor:.6g}"} if own else {}
            reason = _words("factor", lang, **factors) if own else "; ".join(engine_sentences(row, lang))
            return _words("apart", lang, reason=reason)
    return ""


def _untabled(engine: str, way: ContextExtension, lang: str) -> str:
    """Why SGLang or TensorRT-LLM cannot run a way, from their code as read."""
    for rope in way.ropes.values():
        given, own = rope.params.get("attention_factor"), scaling_factor(rope)
        if rope.rope_type == PROPORTIONAL and engine == "SGLang" and own == 1.0:
            continue
        if rope.rope_type not in CLASSIC:
            return _words("type", lang, type=rope.rope_type)
        if rope.params.get("truncate") is False and engine == "TensorRT-LLM":
            return _words("key", lang, key="truncate")
        if isinstance(given, float) and not (
            rope.rope_type == YARN and math.isclose(given, yarn_attention_factor(own))
        ):
            return _words("key", lang, key="attention_factor")
    if engine == "TensorRT-LLM" and way.old_block is None:
        return _words("no_old_block", lang)
    return ""


def _note(engine: str, way: ContextExtension, lang: str) -> str:
    """Return what goes with an engine's line."""
    if engine == "llama.cpp" and way.rope.rope_type != YARN and way.rope.model_type not in GGUF:
        return _words("capped", lang, length=way.length)
    return _words("write", lang) if engine == "TensorRT-LLM" else ""


def _line(engine: str, way: ContextExtension, model: str) -> str:
    """Return an engine's line."""
    name = shlex.quote(model)
    if engine == "vLLM":
        return f"vllm serve {name} --hf-overrides {_json(_set(way.block))} --max-model-len {way.length}"
    if engine == "SGLang":
        override = _json(_set(way.block))
        start = "python -m sglang.launch_server --model-path"
        return f"{start} {name} --json-model-override-args {override} --context-length {way.length}"
    if engine == "llama.cpp":
        file = shlex.quote(f"{PurePath(model).name or 'MODEL'}.gguf")
        return " ".join([f"llama-server -m {file} -c {way.length}", *_llama_cpp(way)])
    if engine == "mlx-lm":
        given = f"{_python(model)}, model_config={_python(_set(way.old_block))}"
        return f"python -ic {shlex.quote(f'from mlx_lm import load; model, tokenizer = load({given})')}"
    return f"trtllm-serve {name} --max_seq_len {way.length}"


def _set(block: dict[str, Any] | None) -> dict[str, Any]:
    """Return a block without the fields that only have to go from a file."""
    block = {key: _set(value) if key.endswith("_config") else value for key, value in (block or {}).items()}
    return {key: value for key, value in block.items() if value is not None}


def _json(value: dict[str, Any]) -> str:
    return shlex.quote(json.dumps(value))


def _python(value: object) -> str:
    """Return a value as Python source, in double quotes where that cannot change its meaning."""
    text = repr(value)
    return text if '"' in text else text.replace("'", '"')


def _llama_cpp(way: ContextExtension) -> list[str]:
    """llama.cpp's options; the file itself holds what they do not change."""
    rope, old = way.rope, next(iter(way.before.values()))
    flags = []
    if rope.rope_type != YARN and rope.model_type in GGUF:
        flags += ["--override-kv", f"{GGUF[rope.model_type]}.context_length=int:{way.length}"]
    if rope.rope_type in (LINEAR, YARN):
        flags += ["--rope-scaling", rope.rope_type, "--rope-scale", _number(rope, "factor")]
    if rope.rope_type == YARN:
        flags += ["--yarn-orig-ctx", str(rope.train_len)]
        for key, usual in (("beta_fast", 32.0), ("beta_slow", 1.0)):
            if rope.params[key] != usual:
                flags += [f"--yarn-{key.replace('_', '-')}", _number(rope, key)]
    if rope.base != old.base:
        flags += ["--rope-freq-base", f"{rope.base:.9g}"]
    return flags


def _number(rope: HfRope, name: str) -> str:
    value = rope.params[name]
    return f"{value:.9g}" if isinstance(value, int | float) else str(value)


__all__ = ["ENGINES", "LaunchCommand", "launch_commands"]
