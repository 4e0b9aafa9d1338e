"""transformers' own modules: the model type's config class, rotary class and apply function."""

import importlib
import inspect
import re
from typing import Any

import torch
import transformers

from tools.engines.measure import NotRun, NotSupported, RotateVector, Vector, measure_tasks, without_lane_reordering

transformers.logging.set_verbosity_error()


def rotary_class(module: Any, config_class: type) -> Any:
    """Return the rotary class of a modelling file that takes the config class, its text's before others."""
    own = [
        value
        for name, value in vars(module).items()
        if inspect.isclass(value) and "Rotary" in name and value.__module__ == module.__name__
    ]
    exact = [
        value
        for value in own
        if config_class.__name__ in re.findall(r"\w+", str(inspect.signature(value.__init__).parameters.get("config")))
    ]
    text = [value for value in own if not re.search("Vision|Audio|Encoder", value.__name__)]
    return next(iter(exact + text), None)


def applied(module: Any, config: Any, sections: list[int] | None) -> Any:
    """Return the modelling file's function that turns vectors by the rotary class's table, on one tensor."""
    if sections and hasattr(module, "apply_multimodal_rotary_pos_emb"):

        def axes(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
            turned: torch.Tensor = module.apply_multimodal_rotary_pos_emb(x, x, cos, sin, sections)[0]
            return turned

        return axes
    names = ["apply_rotary_pos_emb_interleave"] if getattr(config, "rope_interleave", True) else []
    name = next(name for name in [*names, "apply_rotary_pos_emb", "apply_rotary_emb"] if hasattr(module, name))
    function = getattr(module, name)
    pairwise = list(inspect.signature(function).parameters)[1][-1] == "k"  # (q, k, ...), or one tensor

    def rotated(x: torch.Tensor, *table: torch.Tensor) -> Any:
        if "llama4" in module.__name__:  # the one function that takes positions before heads
            return function(x.transpose(1, 2), x.transpose(1, 2), *table)[0].transpose(1, 2)
        return function(x, x, *table)[0] if pairwise else function(x, *table)

    return rotated


def run(task: dict[str, Any]) -> tuple[RotateVector, int]:
    """Build the model type's rotation for one layer type."""
    config, layer, dim = task["config"], task["layer"], task["dim"]
    if config["model_type"] not in transformers.CONFIG_MAPPING:
        raise NotSupported(config["model_type"])
    model = transformers.CONFIG_MAPPING[config["model_type"]](**{k: v for k, v in config.items() if k != "model_type"})
    module = importlib.import_module(type(model).__module__.replace("configuration_", "modeling_"))
    kind = rotary_class(module, type(model))
    if kind is None:
        raise NotRun("no rotary class in its modelling file")
    given = {}
    local = getattr(model, "rope_local_base_freq", None) or getattr(model, "local_rope_theta", None)
    if layer == "sliding_attention" and not isinstance(getattr(model, "rope_parameters", None), dict):
        # 4.57: text models with two rotary modules build the second by hand.
        if local:
            model.rope_theta, model.rope_scaling = local, {"rope_type": "default"}
        elif "rope_type" in inspect.signature(kind.__init__).parameters:
            given = {"rope_type": "default"}
    rope = kind(config=model, **given)
    named = [layer] if "layer_type" in inspect.signature(rope.forward).parameters else []
    width = 2 * getattr(rope, f"{layer}_inv_freq" if named else "inv_freq").numel()
    sections = config.get("rope_scaling", {}).get("mrope_section")
    apply = applied(module, model, sections)

    def rotate(x: Vector, position: int) -> Vector:
        where = torch.tensor([[position, task["length"] - 1]])
        if apply.__name__ == "axes":
            where = where.expand(3, 1, 2)
        table = rope(torch.zeros(1), where, *named)
        table = (table,) if isinstance(table, torch.Tensor) else table
        both = torch.tensor(x, dtype=torch.float32).expand(1, 1, 2, dim)
        out = torch.cat([apply(both[..., :width], *table), both[..., width:]], dim=-1)
        return out[0, 0, 0].double().numpy()

    return without_lane_reordering(rotate, dim), dim


if __name__ == "__main__":
    with torch.no_grad():
        raise SystemExit(measure_tasks(run))
