"""The scheme of one layer type: its name, base, trained length and parameters as transformers 5.23 reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from rope_core.errors import ConfigError
from rope_core.hf.completion import Parameters
from rope_core.hf.families import DICT, FALLBACK, TOP, Origin
from rope_core.hf.normal import Model
from rope_core.hf.read import config_float, config_int, is_truthy
from rope_core.rope import MAX_DIM
from rope_core.schemes import SCHEMES, temperature

# transformers' rope_type -> the scheme of this package that computes it.
TYPES = {
    "default": "none",
    "linear": "linear",
    "dynamic": "dynamic",
    "yarn": "yarn",
    "longrope": "longrope",
    "llama3": "llama3",
    "proportional": "proportional",
}
REQUIRED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}
COMMON = ("rope_type", "type", "rope_theta", "partial_rotary_factor")
LENGTH = "original_max_position_embeddings"
# Keys that are no scheme's parameter but that some model's code reads.
READ_ELSEWHERE = (
    "short_mscale",
    "long_mscale",
    "mrope_section",
    "mrope_interleaved",
    "mscale",
    "mscale_all_dim",
    "llama_4_scaling_beta",
    "alpha",
)
FALLBACK_LEN = 4096


def scheme_of(given: Parameters, notes: dict[str, Origin]) -> str:
    """Return the rope_type, checked against the table of transformers 5.23."""
    if given.nope:
        trap, source = ("switched_off", TOP) if given.switched_off else ("nope_layer_type", DICT)
        notes["scheme"] = Origin(source, given.path, (trap,))
        return "default"
    kind, origin = given.values["rope_type"], given.origins["rope_type"]
    notes["scheme"] = origin
    if kind == "axial":
        raise ConfigError(origin.path, "text_positions", kind)
    if kind not in TYPES:
        raise ConfigError(origin.path, "rope_type", kind, names=list(TYPES))
    missing = [name for name in REQUIRED.get(kind, ()) if name not in given.values]
    if missing:
        raise ConfigError(given.path, "keys_for_type", sorted(given.values), names=missing, type=kind)
    return str(kind)


def base_of(given: Parameters, notes: dict[str, Origin]) -> float:
    """Return the base, > 1; 10,000 serves a layer type that does not rotate."""
    origin = given.origins.get("rope_theta", Origin(FALLBACK, f"{given.path}.rope_theta"))
    notes["base"] = origin
    base = config_float(origin.path, given.values.get("rope_theta", 10_000.0), "finite_above", low=1)
    if base <= 1.0:
        raise ConfigError(origin.path, "finite_above", base, low=1)
    return base


def train_len(given: Parameters, kind: str, max_len: int | None, notes: dict[str, Origin]) -> int:
    """Return the length that the scheme starts from: the original for llama3, yarn and longrope, else the maximum."""
    if kind in ("llama3", "yarn", "longrope"):
        origin = given.origins[LENGTH]
        notes["train_len"] = origin
        return config_int(origin.path, given.values[LENGTH])
    notes["train_len"] = notes["max_len"]
    if max_len is None and kind == "dynamic":
        raise ConfigError(notes["max_len"].path, "given_for_type", None, type="dynamic")
    return FALLBACK_LEN if max_len is None else max_len


def parameters(
    model: Model,
    given: Parameters,
    kind: str,
    width: int,
    max_len: int | None,
    train: int,
    seq_len: int | None,
    notes: dict[str, Origin],
) -> tuple[str, dict[str, object]]:
    """Return the scheme's name and the parameters that take effect, each with its origin."""
    scheme = TYPES[kind]
    alpha = given.values.get("alpha")
    if kind == "dynamic" and is_truthy(alpha) and (model.model_type or "").startswith("hunyuan"):
        notes["scheme"] = replace(notes["scheme"], traps=(*notes["scheme"].traps, "alpha_read_as_ntk"))
        notes["factor"] = given.origins["alpha"]
        return "ntk", {"factor": config_float(notes["factor"].path, alpha)}
    values: dict[str, object] = {}
    for param in SCHEMES[scheme].params:
        origin = given.origins.get(param.name, Origin(FALLBACK, f"{given.path}.{param.name}"))
        value, origin = effective_value(param.name, param.default, given, kind, origin)
        if param.name == "factor" and value is None:
            value, origin = ratio(max_len, train, origin, notes)
        notes[param.name] = origin
        values[param.name] = checked(param.name, param.kind, value, origin, width)
    if model.model_type in ("phimoe", "phi3small") and kind == "longrope":
        own_mscale(str(model.model_type), given, values, seq_len, train, notes)
    return scheme, values


def own_mscale(
    model_type: str,
    given: Parameters,
    values: dict[str, object],
    seq_len: int | None,
    train: int,
    notes: dict[str, Origin],
) -> None:
    """Phi-3-small and Phi-MoE take their attention factor from two keys; Phi-MoE never turns by long_factor.

    Source: PhimoeRotaryEmbedding.forward in transformers 5.23 models/phimoe/modeling_phimoe.py calls its init
    function without a length; SuRotaryEmbedding in microsoft/Phi-3-small-128k-instruct positional_embedding.py.
    """
    name = "long_mscale" if seq_len is not None and seq_len > train else "short_mscale"
    origin = Origin(DICT, f"{given.path}.{name}", ("mscale_by_length",))
    if name not in given.values:
        raise ConfigError(origin.path, "given_for_model", None, model_type=model_type)
    given.origins["attention_factor"] = notes["attention_factor"] = origin
    values["attention_factor"] = config_float(origin.path, given.values[name])
    if model_type == "phi3small":
        return
    values["long_factor"] = values["short_factor"]
    notes["long_factor"] = replace(notes["long_factor"], traps=("long_factor_never_used",))


def effective_value(name: str, default: object, given: Parameters, kind: str, origin: Origin) -> tuple[object, Origin]:
    """One parameter as transformers reads it, before the ratio replaces a missing factor."""
    value = given.values.get(name, default)
    if name == "truncate" and given.layer_type is not None and name in given.values:
        return True, replace(origin, traps=("nested_truncate_not_read",), values={"given": value})
    if name in ("beta_fast", "beta_slow") and name in given.values and not is_truthy(value):
        return default, Origin(FALLBACK, origin.path, ("zero_is_default",), {"given": value})
    if kind == "proportional":
        value = given.values.get(name, 1.0)
    if kind == "longrope" and name == "factor" and name not in given.values:
        return None, origin
    return value, origin


def ratio(max_len: int | None, train: int, origin: Origin, notes: dict[str, Origin]) -> tuple[float, Origin]:
    """Return the factor where the config gives none: longest over trained length."""
    if max_len is None:
        raise ConfigError(notes["max_len"].path, "given_without", None, other="factor")
    return max_len / train, Origin("derived", origin.path, ("factor_from_lengths",))


def checked(name: str, kind: str, value: object, origin: Origin, width: int) -> object:
    """Return a parameter of the right type, or ConfigError; ranges are the scheme's own matter."""
    if kind == "bool":
        return is_truthy(value)
    if value is None and kind == "optional":
        return None
    if kind != "vector":
        return config_float(origin.path, value)
    if not isinstance(value, list | tuple) or len(value) != width // 2:
        got = len(value) if isinstance(value, list | tuple) else value
        raise ConfigError(origin.path, "vector_length", got, pairs=width // 2)
    return tuple(config_float(f"{origin.path}[{i}]", item) for i, item in enumerate(value))


def logit_scale(
    model: Model, given: Parameters, kind: str, params: Mapping[str, object], notes: dict[str, Origin]
) -> float:
    """DeepSeek's second correction, m**2 with m = 0.1 * mscale_all_dim * ln(factor) + 1; 1.0 for other models.

    Source: yarn_apply_mscale in transformers 5.23 models/deepseek_v3/modeling_deepseek_v3.py
    """
    weight = given.values.get("mscale_all_dim")
    origin = given.origins.get("mscale_all_dim", Origin(FALLBACK, f"{given.path}.mscale_all_dim"))
    notes["logit_scale"] = origin
    if not model.family.get("logit_scale") or kind == "default" or not is_truthy(weight):
        return 1.0
    factor = params.get("factor", given.values.get("factor"))
    if factor is None:
        raise ConfigError(f"{given.path}.factor", "given_with", None, other="mscale_all_dim")
    m = temperature(config_float(f"{given.path}.factor", factor), config_float(origin.path, weight))
    if not math.isfinite(m * m):
        raise ConfigError(origin.path, "finite_logit_scale", weight)
    return m * m


def mrope_section(model: Model, given: Parameters, width: int) -> tuple[int, ...] | None:
    """Pairs per axis of multimodal positions: of the rope dict, or of the model's code where that one fits."""
    sections = given.values.get("mrope_section")
    if sections is None:
        own = model.family.get("mrope_section")
        return tuple(own) if own and not given.nope and sum(own) == width // 2 else None
    path = given.origins["mrope_section"].path
    if not isinstance(sections, list | tuple) or len(sections) > 8:
        raise ConfigError(path, "pairs_per_axis", sections)
    whole_floats = [int(value) if isinstance(value, float) and value.is_integer() else value for value in sections]
    return tuple(config_int(f"{path}[{i}]", value, 0, MAX_DIM) for i, value in enumerate(whole_floats))


def ignored(given: Parameters, kind: str) -> tuple[str, ...]:
    """Keys of the rope dict that nothing reads."""
    read = {*COMMON, *READ_ELSEWHERE, LENGTH, *(param.name for param in SCHEMES[TYPES[kind]].params)}
    return tuple(sorted(key for key in given.values if key not in read))
