"""mlx-lm and mlx-vlm on the CPU: the rope of an attention layer of the model class that they build from a config."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import numpy as np

from tools.engines.measure import NotRun, NotSupported, RotateVector, Vector, measure_tasks

mx: Any = importlib.import_module("mlx.core")
mx.set_default_device(mx.cpu)
SMALL: dict[str, Any] = {"int": 64, "float": 1e-5, "bool": False, "str": "", "List": [], "list": [], "Dict": {}}
LAYERS = 12


def filled(config: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Return the config with something small in the fields that a class needs and that do not concern the rotation."""
    fields = {**config, "num_hidden_layers": min(config.get("num_hidden_layers", LAYERS), LAYERS)}
    for name in ("layer_types", "hybrid_layer_pattern", "moe_layer_freq"):
        fields[name] = fields.get(name) and fields[name][:LAYERS]
    fields = {key: value for key, value in fields.items() if value is not None}
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in fields:
            fields[name] = SMALL.get(getattr(parameter.annotation, "__name__", ""))
    return fields


def built(package: str, config: dict[str, Any]) -> Any:
    """Build a model of a config; the arrays are lazy, so no weight is ever made."""
    utils = importlib.import_module(f"{package}.utils")
    name = utils.MODEL_REMAPPING.get(config["model_type"], config["model_type"])
    try:
        module = importlib.import_module(f"{package}.models.{name}")
    except ModuleNotFoundError:
        raise NotSupported(config["model_type"]) from None
    if hasattr(module, "ModelArgs"):
        return module.Model(module.ModelArgs.from_dict(filled(config, module.ModelArgs)))
    text, model = (
        (module.TextConfig, module.LanguageModel)
        if hasattr(module, "TextConfig") and hasattr(module, "LanguageModel")
        else (module.ModelConfig, module.Model)
    )
    return model(text.from_dict(filled(config, text)))


def kind_of(layer: Any, attention: Any, types: list[str] | None, index: int) -> str | None:
    """Return the layer type that a layer names, else that of the model's list."""
    for owner in (attention, layer):
        for name in ("layer_type", "attention_type"):
            if isinstance(getattr(owner, name, None), str):
                return str(getattr(owner, name))
        for name in ("is_sliding", "is_sliding_window", "use_sliding", "is_sliding_window_attention"):
            if isinstance(getattr(owner, name, None), bool):
                return "sliding_attention" if getattr(owner, name) else "full_attention"
    return types[index] if types else None


def rope_of(model: Any, wanted: str | None) -> Any:
    """Return the first attention layer's rope, of the wanted layer type."""
    seen = []
    args = getattr(model, "args", None) or getattr(model, "config", None)
    types = getattr(args, "layer_types", None)
    for index, layer in enumerate(getattr(model, "layers", None) or model.model.layers):
        attentions: list[Any] = list(layer.values())
        for attention in attentions:
            rope = getattr(attention, "rope", None)
            if rope is not None and callable(rope):
                seen.append(kind_of(layer, attention, types, index))
                if wanted is None or seen[-1] == wanted:
                    return rope
    raise NotRun(f"no layer of type {wanted} with a rope, but {sorted(set(map(str, seen)))}")


def run(task: dict[str, Any]) -> tuple[RotateVector, int]:
    """Build a model and take its rope; a dynamic one is given as many tokens as the task's length.

    A config of the catalogue lacks fields that a model may need beside its rotation: an error then says nothing.
    """
    try:
        model = built(sys.argv[1], task["config"])
    except NotSupported:
        raise
    except Exception as error:
        if "RoPE" in str(error) or "rope" in str(error):
            raise
        raise NotRun(f"not built from the catalogue's fields ({type(error).__name__})") from None
    rope, dim = rope_of(model, task["layer"]), task["dim"]
    longer = task["length"] > 2048

    def rotate(x: Vector, position: int) -> Vector:
        given = np.zeros((1, 1, task["length"] if longer else 1, dim), np.float32)
        given[0, 0, position if longer else 0] = x
        out = rope(mx.array(given), offset=0 if longer else position)
        return np.asarray(np.array(out)[0, 0, position if longer else 0], np.float64)

    return rotate, dim


if __name__ == "__main__":
    raise SystemExit(measure_tasks(run))
