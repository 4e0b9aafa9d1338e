"""Other forms in which released configs state their rotation, brought to transformers' own fields.

Sources: Mistral's params.json as vLLM remaps it (vllm/transformers_utils/configs/mistral.py) and
mistral-inference's transformer.py (base 10**6 where none is given); Step's lists per layer, which
models/step3p7/configuration_step3p7.py of transformers 5.24 brings to one entry per layer type; the same wheel's
configuration_hunyuan_vl.py; MiniMax-Text-01's modeling_minimax_text_01.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.read import MAX_LAYERS, config_dict, config_float, config_int, config_names

# Fields that hold a text model in configs of remote code.
TEXT_FIELDS = ("text_config", "llm_config", "language_config", "thinker_config")
MISTRAL = "mistral_params"
META, META_HALVES = "meta_params", "meta_params_halves"
# Fields of Meta's own params.json and of executorch's, which Mistral's lacks.
OF_META = {
    "multiple_of",
    "ffn_dim_multiplier",
    "use_scaled_rope",
    "rope_freq_base",
    "use_hf_rope",
    "no_rope_layer_interval",
}
OF_TENSORRT = {"rotary_base", "rotary_scaling"}
STEP = ("step3p5", "step3p7_text")
MINIMAX_REMOTE = ("minimax_text_01", "minimax_m1")
_YARN = {"beta": "beta_fast", "alpha": "beta_slow"}


@dataclass
class TextFieldDraft:
    """The fields of a text model while they are brought to transformers' names, and the places that they came from."""

    data: dict[str, Any]
    family: Mapping[str, Any]
    prefix: str = ""
    places: dict[str, str] = field(default_factory=dict)

    def put_field(self, name: str, value: object, place: str) -> None:
        """Enter a field from elsewhere in the config."""
        self.data[name], self.places[name] = value, self.prefix + place


def is_mistral_params(config: Mapping[str, Any]) -> bool:
    """Return whether a config is Mistral's own params.json."""
    return "model_type" not in config and {"dim", "n_layers", "n_heads"} <= config.keys()


def foreign_type(config: Mapping[str, Any]) -> str | None:
    """Return the type of a config without model_type that is in another program's schema, None where it is in none.

    Sources: ModelArgs in meta-llama/llama-models models/llama3/args.py and in pytorch/executorch
    examples/models/llama/model_args.py; PretrainedConfig in NVIDIA/TensorRT-LLM tensorrt_llm/models/modeling_utils.py.
    """
    if is_mistral_params(config):
        if OF_META.isdisjoint(config):
            return MISTRAL
        return META_HALVES if config.get("use_hf_rope") else META
    name = config.get("architecture")
    if isinstance(name, str) and not OF_TENSORRT.isdisjoint(config):
        return name.removesuffix("ForCausalLM").lower()
    return None


def to_transformers_fields(
    data: dict[str, Any], model_type: str | None, family: Mapping[str, Any], prefix: str
) -> TextFieldDraft:
    """Return the fields of a text model under transformers' names, whatever form the config has."""
    form = TextFieldDraft(data, family, prefix)
    for name, alias in family.get("names", {}).items():
        if alias in data and name not in data:
            form.put_field(name, data[alias], alias)
    if "model_type" not in data and not OF_TENSORRT.isdisjoint(data):
        _tensorrt(form)
    if (change := _CHANGES.get(model_type or "")) is not None:
        change(form)
    return form


def _mistral(form: TextFieldDraft) -> None:
    """Bring the yarn object of params.json to rope_parameters; without apply_scale cos and sin are not scaled."""
    if "qk_rope_head_dim" in form.data:
        form.put_field("head_dim", form.data["qk_rope_head_dim"], "qk_rope_head_dim")
    yarn = config_dict(form.prefix + "yarn", form.data.get("yarn"))
    if not yarn:
        return
    block: dict[str, Any] = {"rope_type": "yarn"}
    for name, value in yarn.items():
        if name == "apply_scale":
            block |= {} if value else {"attention_factor": 1.0}
        else:
            block[_YARN.get(name, name)] = value
        own = "attention_factor" if name == "apply_scale" else _YARN.get(name, name)
        form.places[f"rope_parameters.{own}"] = f"{form.prefix}yarn.{name}"
    form.put_field("rope_parameters", block, "yarn")


def _tensorrt(form: TextFieldDraft) -> None:
    """Bring TensorRT-LLM's names to transformers'."""
    for own, name in (("rotary_base", "rope_theta"), ("rotary_scaling", "rope_scaling"), ("head_size", "head_dim")):
        if form.data.get(own) is not None:
            form.put_field(name, form.data[own], own)


def _meta(form: TextFieldDraft) -> None:
    """Bring the base, Llama 3's scaling and the layers without rotation to transformers' names.

    use_scaled_rope alone is Llama 3.1's scaling, by 8 from 8,192 tokens; Llama 3.2 states its factor.
    """
    data = form.data
    for own, name in (("rope_freq_base", "rope_theta"), ("max_context_len", "max_position_embeddings")):
        if data.get(own) is not None and data.get(name) is None:
            form.put_field(name, data[own], own)
    if data.get("use_scaled_rope"):
        block = {"rope_type": "llama3", "factor": data.get("rope_scale_factor", 8.0)}
        block |= {
            "low_freq_factor": data.get("low_freq_factor", 1.0),
            "high_freq_factor": data.get("high_freq_factor", 4.0),
        }
        form.put_field("rope_scaling", {**block, "original_max_position_embeddings": 8192}, "use_scaled_rope")
        form.places["rope_scaling.factor"] = f"{form.prefix}rope_scale_factor"
    every = data.get("no_rope_layer_interval")
    total = config_int(form.prefix + "n_layers", data.get("n_layers", 0), 0, MAX_LAYERS)
    step = config_int(f"{form.prefix}no_rope_layer_interval", every) if every else 0
    flags = [int(not step or (layer + 1) % step > 0) for layer in range(total)]
    form.put_field("no_rope_layers", flags, "no_rope_layer_interval")


def _step(form: TextFieldDraft) -> None:
    """Bring a base and a partial factor per layer to one entry per layer type, the first layer's of each."""
    data, path = form.data, form.prefix
    layers = config_int(path + "num_hidden_layers", data.get("num_hidden_layers", 45), 0, MAX_LAYERS)
    extra = config_int(path + "num_nextn_predict_layers", data.get("num_nextn_predict_layers", 0), 0, MAX_LAYERS)
    listed = config_names(path + "layer_types", data.get("layer_types")) or ["full_attention"] * layers
    if len(listed) == layers + extra:
        listed = listed[:layers]
    data["layer_types"] = listed
    kinds = list(dict.fromkeys(listed))
    given = config_dict(path + "rope_parameters", data.get("rope_parameters")) or {}
    if all(isinstance(given.get(kind), Mapping) for kind in kinds):
        data.pop("rope_scaling", None)
        return
    scaling = config_dict(path + "rope_scaling", data.pop("rope_scaling", None)) or {}
    shares = data.pop("partial_rotary_factors", None)
    bases = data.pop("rope_theta", 10_000.0)
    entries: dict[str, Any] = {}
    for kind in kinds:
        index = listed.index(kind)
        entry = {"rope_type": "default", "rope_theta": _at(form, "rope_theta", bases, index, kind)}
        if shares:
            share = _at(form, "partial_rotary_factors", shares, index, kind, "partial_rotary_factor")
            entry["partial_rotary_factor"] = share
        if kind == "full_attention":
            entry |= scaling
            for name in scaling:
                form.places[f"rope_parameters.{kind}.{name}"] = f"{path}rope_scaling.{name}"
        entries[kind] = entry
    data["rope_parameters"] = entries


def _at(form: TextFieldDraft, name: str, values: object, index: int, kind: str, key: str = "") -> object:
    """Return the entry of a list per layer, or the one value for all, and note its place."""
    place = f"{form.prefix}{name}"
    if isinstance(values, list | tuple):
        if index >= len(values):
            raise ConfigError(place, "layer_entries", values, layers=len(form.data["layer_types"]))
        values, place = values[index], f"{place}[{index}]"
    form.places[f"rope_parameters.{kind}.{key or name}"] = place
    return values


def _hunyuan(form: TextFieldDraft) -> None:
    """Rename xdrope_section, which older checkpoints of Hunyuan's vision models have for mrope_section."""
    for name in ("rope_scaling", "rope_parameters"):
        inner = form.data.get(name)
        if not isinstance(inner, Mapping) or inner.get("xdrope_section") is None:
            continue
        kept = {key: value for key, value in inner.items() if key != "xdrope_section"}
        path, older = f"{form.prefix}{name}.xdrope_section", inner["xdrope_section"]
        if kept.get("mrope_section") not in (None, older):
            raise ConfigError(path, "same_as", older, other="mrope_section")
        form.data[name] = {**kept, "mrope_section": older}
        form.places[f"{name}.mrope_section"] = path


def _minimax(form: TextFieldDraft) -> None:
    """Bring a rotary width in dimensions to a share of the head."""
    width, head = form.data.get("rotary_dim"), form.data.get("head_dim", form.family.get("head_dim"))
    if width is None or head is None or "partial_rotary_factor" in form.data:
        return
    share = config_float(f"{form.prefix}rotary_dim", width) / config_int(f"{form.prefix}head_dim", head)
    form.put_field("partial_rotary_factor", share, "rotary_dim")


_CHANGES: dict[str, Callable[[TextFieldDraft], None]] = {
    MISTRAL: _mistral,
    **dict.fromkeys((META, META_HALVES), _meta),
    **dict.fromkeys(STEP, _step),
    "hunyuan_vl": _hunyuan,
    "hunyuan_vl_text": _hunyuan,
    **dict.fromkeys(MINIMAX_REMOTE, _minimax),
    "minimax_m2": _minimax,
}
