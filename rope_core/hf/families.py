"""What each transformers config class fills in where a config is silent, read from hf_families.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from rope_core.errors import reject, show
from rope_core.hf.read import MAX_LAYERS, count, names, refuse

CLASS, FALLBACK, TOP, DICT = "class default", "fallback", "top level", "dict"
SPLIT = ("sliding_attention", "full_attention")

# Every key that Origin.traps can hold, and what it says of transformers 5.23. The values that go with a key stand in
# Origin.values under the name in brackets.
TRAPS = {
    "alpha_read_as_ntk": "Hunyuan's dynamic type with alpha is a fixed NTK of factor alpha",
    "default_ignores_partial": "the default type of this class does not read partial_rotary_factor; the others do",
    "deinterleaved_then_half": "interleaved weights are brought to halves before they turn; scores are the same",
    "factor_from_lengths": "no factor is given: longest over trained length stands in",
    "head_dim_not_read": "the class overwrites the head_dim that the config gives",
    "head_dim_null_fails": "head_dim stays null in this class, and dynamic, yarn and longrope fail on it",
    "layer_bases_differ": "layers have bases of their own; the one shown is the common one",
    "long_factor_never_used": "Phi-MoE computes its frequencies without a length, so always with short_factor",
    "mrope_read_as_default": "mrope is renamed to default",
    "mscale_by_length": "Phi-MoE takes its attention factor from short_mscale or long_mscale",
    "nested_dict_not_read": "the config declares no such layer types, so the dicts inside are not read [names]",
    "nested_truncate_not_read": "truncate is read at the top of rope_parameters only, so true counts [given]",
    "no_rope_flag_inverted": "no_rope_layers says 1 where a layer does rotate",
    "nope_layer_type": "null rope parameters: layers of this type do not rotate",
    "rope_fields_not_read": "the model's code fixes its rotation and reads no rope field",
    "rope_interleave_off": "rope_interleave is false, so the weights count as halves",
    "rope_scaling_replaces_rope_parameters": "both given: rope_scaling counts, the whole other dict goes",
    "su_read_as_longrope": "su is renamed to longrope",
    "su_without_length_fails": "su without original_max_position_embeddings in the dict itself fails to load",
    "top_level_base_ignored": "the dict's rope_theta counts, not the top-level one [top_level]",
    "trained_length_is_max_length": "no original_max_position_embeddings: max_position_embeddings stands in silently",
    "trained_length_overridden": "the top-level original_max_position_embeddings counts, not the dict's [dict]",
    "type_and_rope_type_differ": "rope_type counts, not type [type]",
    "unknown_family": "transformers does not know this model_type: the rules of Llama stand in",
    "xdrope_read_as_dynamic": "xdrope is renamed to dynamic",
    "yarn_read_as_longrope": "Phi-3 renames yarn to longrope",
    "zero_is_default": "0 counts as not given, so the default does [given]",
}


@dataclass(frozen=True)
class Origin:
    """Where a value came from.

    Attributes:
        source: "dict" (rope_parameters or rope_scaling), "top level", "class default", "fallback" or "derived".
        path: the field of the config that holds it, or that would change it.
        traps: keys of TRAPS, what is surprising about it.
        values: the numbers that go with the traps, by name.
    """

    source: str
    path: str
    traps: tuple[str, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unlisted = sorted(set(self.traps) - set(TRAPS))
        if unlisted:
            raise reject("traps", "keys of TRAPS", unlisted)


@cache
def recorded() -> dict[str, Any]:
    """The whole of hf_families.toml."""
    return tomllib.loads(resources.files("rope_core.hf").joinpath("families.toml").read_text(encoding="utf-8"))


@cache
def families() -> dict[str, dict[str, Any]]:
    """The table of families, by model_type."""
    return {**recorded()["family"], **EXTRA}


def composites() -> dict[str, dict[str, str]]:
    """Composite model types: the field with the text config and its model_type."""
    found: dict[str, dict[str, str]] = recorded()["composite"]
    return found


# Models whose config class knows no rope_parameters: the base stands in their code and scaling is not read.
# Sources: models/<name>/modeling_<name>.py of transformers 5.23; THUDM/chatglm3-6b modeling_chatglm.py;
# moonshotai/Kimi-K2-Instruct config.json, which names DeepseekV3ForCausalLM as its architecture.
EXTRA: dict[str, dict[str, Any]] = {
    "gptj": {
        "names": {
            "hidden_size": "n_embd",
            "num_attention_heads": "n_head",
            "num_hidden_layers": "n_layer",
            "max_position_embeddings": "n_positions",
        },
        "hidden_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 28,
        "max_position_embeddings": 2048,
        "rotary_dim": 64,
        "fixed": True,
        "layout": "interleaved",
    },
    "codegen": {
        "names": {
            "hidden_size": "n_embd",
            "num_attention_heads": "n_head",
            "num_hidden_layers": "n_layer",
            "max_position_embeddings": "n_positions",
        },
        "hidden_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 28,
        "max_position_embeddings": 2048,
        "rotary_dim": 64,
        "fixed": True,
        "layout": "interleaved",
    },
    "roformer": {
        "hidden_size": 768,
        "num_attention_heads": 12,
        "num_hidden_layers": 12,
        "max_position_embeddings": 1536,
        "fixed": True,
        "layout": "interleaved",
    },
    "chatglm": {
        "names": {
            "max_position_embeddings": "seq_length",
            "head_dim": "kv_channels",
            "num_hidden_layers": "num_layers",
        },
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_hidden_layers": 28,
        "max_position_embeddings": 2048,
        "head_dim": 128,
        "half_of_head": True,
        "fixed": True,
        "layout": "interleaved",
    },
}
ALIASES = {"kimi_k2": "deepseek_v3"}


@dataclass(frozen=True)
class Model:
    """A config beside what its class fills in: the text part where the config is composite.

    ``family`` is the class's record; empty for a model_type that transformers does not know.
    """

    data: Mapping[str, Any]
    model_type: str | None
    family: Mapping[str, Any]
    prefix: str = ""

    @property
    def known(self) -> bool:
        """Whether transformers 5.23 (or EXTRA) knows this model_type."""
        return bool(self.family)

    def key(self, name: str) -> str:
        """The config's own name for ``name``: an alias of the class's attribute map where that one is given."""
        alias = self.family.get("names", {}).get(name)
        return alias if alias is not None and name not in self.data and alias in self.data else name

    def has(self, name: str) -> bool:
        """Whether the config itself gives ``name``."""
        return self.key(name) in self.data

    def get(self, name: str) -> tuple[Any, Origin]:
        """The value of ``name`` and where it came from; None from "fallback" where nobody says."""
        key = self.key(name)
        if key in self.data:
            return self.data[key], Origin(TOP, self.prefix + key)
        if name in self.family:
            return self.family[name], Origin(CLASS, self.prefix + key)
        return None, Origin(FALLBACK, self.prefix + key)

    def layers(self) -> int:
        """Number of layers; 0 where nobody says."""
        value, origin = self.get("num_hidden_layers")
        return 0 if value is None else count(origin.path, value, 0, MAX_LAYERS)

    def layer_types(self) -> list[str]:
        """The type of each layer as the class fills it in; [] for a class without types."""
        given = names(self.prefix + "layer_types", self.data.get("layer_types"))
        total = self.layers()
        if given is not None:
            made = given
        else:
            repeat = self.repeat(total)
            if not repeat:
                return []
            first = [self.family["first_layer"]] if "first_layer" in self.family else []
            made = (first + [repeat[i % len(repeat)] for i in range(max(total - len(first), 0))])[:total]
        if made and "last_layer" in self.family:
            made[-1] = self.family["last_layer"]
        return made

    def repeat(self, total: int) -> list[str]:
        """The repeating list of default layer types, with the config's own period where it names one."""
        pattern: list[str] = list(self.family.get("layer_types", ()))
        if len(set(pattern)) < 2:
            return pattern
        value, origin = self.get("sliding_window_pattern")
        if value is None or pattern[-1] != "full_attention" or not isinstance(value, int):
            return pattern
        every = count(origin.path, value, 0, MAX_LAYERS)
        return ["sliding_attention"] * max(every - 1, 0) + ["full_attention"]


def resolve(config: Mapping[str, Any]) -> Model:
    """Find the text part of a config and its family, following composite configs inwards."""
    data, prefix, kind = dict(config), "", config.get("model_type")
    for _ in range(4):
        if kind is not None and not isinstance(kind, str):
            raise refuse(prefix + "model_type", "a name", kind)
        place = composites().get(kind or "")
        name = place["text"] if place else "text_config"
        inner = data.get(name)
        if inner is None and place and place["text_type"] in {**families(), **composites()}:
            kind = place["text_type"]
            continue
        if inner is None or (kind in families() and not place):
            break
        if not isinstance(inner, Mapping):
            raise refuse(prefix + name, "an object", show(inner))
        kind = inner.get("model_type") or (place["text_type"] if place else None)
        data, prefix = {str(k): v for k, v in inner.items()}, f"{prefix}{name}."
    if kind in recorded()["other"]:
        raise refuse(prefix + "model_type", "a model that turns token positions by its rope parameters", kind)
    return Model(data, kind, families().get(ALIASES.get(kind or "", kind or ""), {}), prefix)
