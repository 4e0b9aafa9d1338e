"""The engines' lines: held to the options that their parsers have, and their overrides to what transformers makes."""

import ast
import copy
import json
import shlex
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.extension.extend import ContextExtension, config_reached_length, extend
from rope_core.hf.resolve import resolve
from rope_core.programs.commands import ENGINES, launch_commands
from tests.support import ROOT, hf_live

OPTIONS: dict[str, Any] = json.loads((ROOT / "tests/golden/engine_options.json").read_text(encoding="utf-8"))
KINDS: dict[str, Any] = {"int": int, "float": float, "json": json.loads, "text": str}
MODELS = ["llama-2-7b", "qwen3-8b", "deepseek-v3", "gpt-oss-20b", "llama-3.1-8b", "gemma-3-4b", "qwen3-vl-32b",
          "kimi-k2", "ministral-3", "internlm2-1.8b", "phi-4-mini", "gemma-4-31b", "deepseek-v4-flash"]  # fmt: skip


def ways(model_id: str) -> list[ContextExtension]:
    config = rc.model(model_id).hf_config()
    return extend(config, 2 * config_reached_length(config))


def parsed(engine: str, line: str) -> dict[str, Any]:
    """Return a line through the engine's options as recorded; an assertion where it has none of that name or type."""
    row, words = OPTIONS[engine], shlex.split(line)
    assert words[: len(row["program"])] == row["program"]
    rest = words[len(row["program"]) + row["positional"] :]
    assert len(rest) % 2 == 0
    result: dict[str, Any] = {}
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        kind = row["options"][name]
        assert name not in result and (not isinstance(kind, list) or value in kind)
        result[name] = value if isinstance(kind, list) else KINDS[kind](value)
    return result


@pytest.mark.parametrize("model_id", MODELS)
def test_every_line_parses_or_says_why_not(model_id: str) -> None:
    for way in ways(model_id):
        built = launch_commands(way, "org/model")
        assert tuple(each.engine for each in built) == ENGINES
        chinese = launch_commands(way, "org/model", "zh")
        for each, other in zip(built, chinese, strict=True):
            assert each.line == other.line and bool(each.note) == bool(other.note)
            assert each.note == "" or any("\u4e00" <= letter <= "\u9fff" for letter in other.note)
            if each.line is None:
                assert each.note
            elif each.engine != "mlx-lm":
                assert parsed(each.engine, each.line)


def override(engine: str, config: Any, given: dict[str, Any]) -> Any:
    """Change a config object as vLLM 0.33 (_apply_dict_overrides, config.update) and SGLang 0.5.23 (get_config) do."""
    for key, value in given.items():
        current: Any = getattr(config, key, None)
        if isinstance(value, dict) and hasattr(current, "to_dict"):
            current.update(value)
        elif engine == "SGLang" and key == "rope_parameters" and isinstance(current, dict):
            setattr(config, key, {**current, **value})
        else:
            setattr(config, key, copy.deepcopy(value))
    return config


@pytest.mark.parametrize(
    "model_id", ["llama-2-7b", "qwen3-8b", "deepseek-v3", "gpt-oss-20b", "llama-3.1-8b", "gemma-3-4b"]
)
@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_an_override_gives_the_block_s_rotation(engine: str, model_id: str) -> None:
    released = rc.model(model_id).hf_config()
    text = resolve(released).text.fields
    for way in ways(model_id):
        line = next(each.line for each in launch_commands(way) if each.engine == engine)
        if line is None:
            continue
        given = parsed(engine, line)["--hf-overrides" if engine == "vLLM" else "--json-model-override-args"]
        if text.prefix:
            (given,) = given.values()
        kind = str(text.model_type)
        fields = {key: value for key, value in text.stated.items() if key != "model_type"}
        config = override(engine, hf_live.config_of(kind, fields), given)
        for layer, rope in way.ropes.items():
            inv_freq, scaling = hf_live.frequencies(kind, config, layer, None)
            np.testing.assert_allclose(inv_freq, rope.inv_freq, rtol=2e-5)
            assert scaling == pytest.approx(rope.attention_factor, rel=1e-6)
        assert config.max_position_embeddings == way.length


def test_llama_cpp_s_options_are_the_block_s_numbers() -> None:
    yarn, linear, ntk, llama3 = (
        next(each for each in launch_commands(way, "a/b") if each.engine == "llama.cpp") for way in ways("llama-2-7b")
    )
    # The server stops at the file's own length, which a custom YaRN alone raises.
    assert linear.line is not None and parsed("llama.cpp", linear.line) == {
        "-m": "b.gguf",
        "-c": 8192,
        "--override-kv": "llama.context_length=int:8192",
        "--rope-scaling": "linear",
        "--rope-scale": 2.0,
    }
    assert yarn.line == "llama-server -m b.gguf -c 8192 --rope-scaling yarn --rope-scale 2 --yarn-orig-ctx 4096"
    assert ntk.line is not None and parsed("llama.cpp", ntk.line)["--rope-freq-base"] == pytest.approx(
        10_000 * 2 ** (128 / 126), rel=1e-8
    )
    assert llama3.line is None and "convert" in llama3.note
    kimi = next(each for each in launch_commands(ways("kimi-k2")[0]) if each.engine == "llama.cpp")
    assert kimi.line is not None and parsed("llama.cpp", kimi.line)["--yarn-beta-fast"] == 1.0


def test_mlx_lm_s_line_is_python_with_the_old_block() -> None:
    for way in ways("qwen3-8b"):
        line = next(each.line for each in launch_commands(way, "it's") if each.engine == "mlx-lm")
        assert line is not None and way.old_block is not None
        program, flag, code = shlex.split(line)
        call = ast.parse(code).body[-1].value  # type: ignore[attr-defined]
        assert (program, flag, ast.literal_eval(call.args[0])) == ("python", "-ic", "it's")
        assert {key.arg: ast.literal_eval(key.value) for key in call.keywords} == {"model_config": way.old_block}


def test_a_hostile_config_stays_in_its_quotes() -> None:
    evil = "'; touch x; \"$(id)`"
    params = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [32], evil: evil}
    config = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 4096, "rope_parameters": params}
    for way in extend(config, 8192):
        for each in launch_commands(way, evil):
            assert (
                each.line is None or evil in " ".join(shlex.split(each.line)) or each.engine in ("mlx-lm", "llama.cpp")
            )
            assert each.line is None or len(shlex.split(each.line)) < 12


def test_an_engine_that_computes_something_else_says_what() -> None:
    text = {each.engine: each for each in launch_commands(ways("gpt-oss-20b")[0])}
    assert text["vLLM"].line and text["SGLang"].line
    assert text["mlx-lm"].line is None and "rounds the ramp" in text["mlx-lm"].note
    assert text["TensorRT-LLM"].line is None and "truncate" in text["TensorRT-LLM"].note
