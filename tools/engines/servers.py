"""vLLM's and SGLang's own rotary files on the CPU: what get_rope builds from a config, and its native forward.

The config is transformers' object, patched as each server patches it. What their model files choose is given: the
width, the pairing, and "deepseek_yarn" for models with a separate logit scale.
"""

import copy
import importlib
import logging
import sys
from types import SimpleNamespace
from typing import Any

import torch
import transformers

from rope_core.hf.resolve import resolve
from tools.engines.measure import NotRun, RotateVector, Vector, measure_tasks
from tools.engines.stubs import stub_package

transformers.logging.set_verbosity_error()
# Longer tables only take memory: these types do not look at the length.
LENGTHLESS, TABLE = ("default", "linear", "llama3", "proportional"), 4096


class Op(torch.nn.Module):
    """Takes the place of each server's base of layers that have kernels: forward is the native method."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__()

    @staticmethod
    def register(*given: Any, **named: Any) -> Any:
        return lambda kind: kind

    @staticmethod
    def enabled() -> bool:
        return False

    def forward(self, *given: Any, **named: Any) -> Any:
        return self.forward_native(*given, **named)  # type: ignore[operator]


def config_of(config: dict[str, Any]) -> Any:
    """Return transformers' config object."""
    fields = {key: value for key, value in copy.deepcopy(config).items() if key != "model_type"}
    kind = transformers.CONFIG_MAPPING[config["model_type"]] if config["model_type"] in KNOWN else None
    return (kind or Other)(**fields)


class Other(transformers.PreTrainedConfig):  # type: ignore[misc]
    """A config whose class comes with the model."""

    max_position_embeddings = None


KNOWN = transformers.CONFIG_MAPPING.keys()


def given(task: dict[str, Any], values: Any, config: Any) -> tuple[dict[str, Any], int]:
    """Return the rope parameters of the task's layer type, and the length that get_rope gets."""
    if not values and not hasattr(config, "rope_theta"):
        raise NotRun("its model file builds the rotation without rope parameters")
    values = dict(values or {"rope_type": "default"})
    values = dict(values.get(task["layer"], values))
    if (
        resolve(task["config"]).text.fields.family.get("logit_scale")
        and values.get("rope_type", "default") != "default"
    ):
        values["rope_type"] = "deepseek_yarn"
    longest = getattr(config, "max_position_embeddings", None) or values.get("original_max_position_embeddings", TABLE)
    plain = values.get("rope_type", "default") in LENGTHLESS
    if task["length"] > longest:
        raise NotRun("longer than the context that it starts with")
    return values, min(longest, TABLE) if plain else longest


def vllm(task: dict[str, Any]) -> Any:
    """vLLM's rotary layer."""
    config = config_of(task["config"])
    configs.patch_rope_parameters(config)
    values, longest = given(task, getattr(config, "rope_parameters", None), config)
    Config.model_config.max_model_len = longest
    return rope.get_rope(task["dim"], longest, task["layout"] == "half", values, torch.float32)


def sglang(task: dict[str, Any]) -> Any:
    """SGLang's rotary layer."""
    if task["config"]["model_type"] == "deepseek_v4":
        raise NotRun("its model file builds the rotation without get_rope's parameters")
    config = config_of(task["config"])
    base, values = configs.get_rope_config(config)
    values, longest = given(task, values, config)
    share, base = values.get("partial_rotary_factor", 1.0), values.get("rope_theta", base)
    neox = task["layout"] == "half"
    return rope.get_rope(task["dim"], task["dim"], longest, base, neox, values, torch.float32, share)


def run(task: dict[str, Any]) -> tuple[RotateVector, int]:
    """Build a server's layer and rotate by its native forward, in a batch that reaches the task's length."""
    rope._ROPE_DICT.clear()  # it takes a factor of 4 for 4.0
    layer, dim = BUILD[sys.argv[1]](task), task["dim"]

    def rotate(x: Vector, position: int) -> Vector:
        both = torch.tensor(x, dtype=torch.float32).expand(2, dim).contiguous()
        where = torch.tensor([position, task["length"] - 1])
        forward = getattr(layer, "forward_native", layer.forward)
        if "Deepseek" in type(layer).__name__:
            both = both[:, None]  # its forward keeps the heads apart
        turned: torch.Tensor = forward(where, both.clone(), both.clone())[0]
        return turned[0].flatten().double().numpy()

    return rotate, dim


BUILD = {"vllm": vllm, "sglang": sglang}


class Config:
    """What vLLM's layers ask of the server's config."""

    model_config = SimpleNamespace(max_model_len=0)


def start(name: str) -> tuple[Any, Any]:
    """Import a server's rotary files, the rest of it empty; return get_rope's module and the config's."""
    torch.compile = lambda *given, **named: lambda function: function  # type: ignore[assignment] # minutes of warm-up
    logging.Logger.warning_once = logging.Logger.info_once = lambda *given, **named: None  # type: ignore[attr-defined]
    empty: dict[str, dict[str, Any]]
    if name == "vllm":
        layers, configs = "vllm.model_executor.layers.rotary_embedding", "vllm.transformers_utils.config"
        stub_package("vllm", [layers, configs, "vllm.config.utils"])
        empty = {
            "vllm.config": {"get_current_vllm_config": lambda: Config},
            "vllm.logger": {"init_logger": logging.getLogger},
            "vllm.model_executor.custom_op": {"CustomOp": Op, "PluggableLayer": Op},
        }
    else:
        layers, configs = "sglang.srt.layers.rotary_embedding.factory", "sglang.srt.utils.hf_transformers.common"
        stub_package("sglang", ["sglang.srt.layers.rotary_embedding", configs])
        empty = {
            "sglang.kernels.fused_op": {"BaseFusedOp": Op},
            "sglang.srt.runtime_context": {"publish_role": lambda: None},
            "sglang.srt.utils": {"is_cpu": lambda: True, "get_device": lambda: "cpu"},
        }
    for module, names in empty.items():
        vars(importlib.import_module(module)).update(names)
    return importlib.import_module(layers), importlib.import_module(configs)


if __name__ == "__main__":
    rope, configs = start(sys.argv[1])
    with torch.no_grad():
        raise SystemExit(measure_tasks(run))
