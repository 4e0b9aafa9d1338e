"""The oracle for the config road: transformers itself, its config classes and its own rotary modules."""

import copy
import importlib
import inspect
import logging
import re
import warnings
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore", module="transformers")

# Modules that hold a table of sines and cosines, no frequencies: their models are run by tests of verification.
SINE_TABLES = ("GPTJRotaryEmbedding", "CodeGenRotaryEmbedding")


@cache
def rotary_class(model_type: str) -> Any:
    """Return the rotary module that belongs to the config class of ``model_type``, or None where its file has none."""
    config_class = transformers.CONFIG_MAPPING[model_type]
    try:
        module = importlib.import_module(config_class.__module__.replace("configuration_", "modeling_"))
    except ModuleNotFoundError:
        return None
    own, text = [], []
    for name, value in vars(module).items():
        if not inspect.isclass(value) or "Rotary" not in name or value.__module__ != module.__name__:
            continue
        if name in SINE_TABLES:
            continue
        note = inspect.signature(value.__init__).parameters.get("config")
        if config_class.__name__ in re.findall(r"\w+", str(note)):
            own.append(value)
        elif hasattr(value, "compute_default_rope_parameters") and not re.search("Vision|Audio|Encoder", name):
            text.append(value)
    return next(iter(own + text), None)


def config_of(model_type: str, given: dict[str, Any]) -> Any:
    """Return transformers' own config object for the fields ``given``."""
    return transformers.CONFIG_MAPPING[model_type](**copy.deepcopy(given))


def frequencies(
    model_type: str, config: Any, layer_type: str | None, seq_len: int | None
) -> tuple[npt.NDArray[np.float64], float]:
    """inv_freq and attention scaling that the model's rotary module holds, after a forward to ``seq_len``."""
    module = rotary_class(model_type)(config)
    if seq_len is not None:
        where = torch.tensor([[seq_len - 1]])
        arguments = (layer_type,) if "layer_type" in inspect.signature(module.forward).parameters else ()
        module.forward(torch.zeros(1), where, *arguments)
    prefix = f"{layer_type}_" if hasattr(module, f"{layer_type}_inv_freq") else ""
    inv_freq = getattr(module, f"{prefix}inv_freq").to(torch.float64).numpy()
    scaling = getattr(module, f"{prefix}attention_scaling", None)
    if hasattr(module, "mrope_section") and type(module).__name__.startswith("Ernie4_5_VL"):
        inv_freq = in_use(inv_freq, sum(module.mrope_section[:2]))
    return inv_freq, float(module.attention_scaling if scaling is None else scaling)


def in_use(held: npt.NDArray[np.float64], both: int) -> npt.NDArray[np.float64]:
    """Ernie's frequencies in the order of the pairs: it holds those of rows before those of columns, and deals them."""
    dealt = np.stack([held[: both // 2], held[both // 2 : both]], axis=1).ravel()
    return np.concatenate([dealt, held[both:]])
