"""What each transformers config class fills in where a config is silent, read from hf_families.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from rope_core.errors import show
from rope_core.hf_read import MAX_LAYERS, count, names, refuse

CLASS, FALLBACK, TOP, DICT = "class default", "fallback", "top level", "dict"
SPLIT = ("sliding_attention", "full_attention")


@dataclass(frozen=True)
class Origin:
    """Where a value came from.

    Attributes:
        source: "dict" (rope_parameters or rope_scaling), "top level", "class default", "fallback" or "derived".
        path: the field of the config that holds it, or that would change it.
        traps: stable keys of what is surprising about it.
        values: the numbers that go with the traps, by name.
    """

    source: str
    path: str
    traps: tuple[str, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)


@cache
def recorded() -> dict[str, Any]:
    """The whole of hf_families.toml."""
    return tomllib.loads(resources.files("rope_core").joinpath("hf_families.toml").read_text(encoding="utf-8"))


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
