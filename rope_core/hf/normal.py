"""The first step of the config road: from a raw config to the fields of its text model, under one set of names.

What is below reads a Model and never the raw config: its fields carry transformers' own names whatever the config
calls them, and ``Model.path`` says where each came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.families import CLASS, FALLBACK, TOP, Origin, composites, families, recorded
from rope_core.hf.forms import TEXT_FIELDS, foreign_type, rewrite
from rope_core.hf.read import MAX_LAYERS, config_dict, config_int, config_names

# Types of released configs that transformers reads as another.
ALIASES = {"kimi_k2": "deepseek_v3"}
INDEXER = "indexer"


@dataclass(frozen=True)
class Model:
    """The text model of a config: its fields beside what its class fills in.

    Attributes:
        data: the fields that the config gives, under transformers' names.
        model_type: of the text part; None where nobody says.
        family: the class's record; empty for a model_type that transformers does not know.
        prefix: dotted place of the text part in the config, such as "text_config.".
        places: dotted place of each field that the config has under another name.
        whole: the raw config that the text part was taken from.
    """

    data: Mapping[str, Any]
    model_type: str | None
    family: Mapping[str, Any]
    prefix: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether transformers 5.23 (or coded.toml) knows this model_type."""
        return bool(self.family)

    def path(self, name: str) -> str:
        """Return the dotted place in the config that holds ``name``, or that would."""
        return self.places.get(name, self.prefix + name)

    def has(self, name: str) -> bool:
        """Return whether the config itself gives ``name``."""
        return name in self.data

    def get(self, name: str) -> tuple[Any, Origin]:
        """Return the value of ``name`` and where it came from; None from "fallback" where nobody says."""
        if name in self.data:
            return self.data[name], Origin(TOP, self.path(name))
        if name in self.family:
            return self.family[name], Origin(CLASS, self.path(name))
        return None, Origin(FALLBACK, self.path(name))

    def layers(self) -> int:
        """Return the number of layers; 0 where nobody says."""
        value, origin = self.get("num_hidden_layers")
        return 0 if value is None else config_int(origin.path, value, 0, MAX_LAYERS)

    def layer_types(self) -> list[str]:
        """Return the type of each layer as the class fills it in; [] for a class without types."""
        given = config_names(self.prefix + "layer_types", self.data.get("layer_types"))
        total = self.layers()
        if given is not None:
            listed = given
        else:
            repeat = self._repeat(total)
            if not repeat:
                return []
            first = [self.family["first_layer"]] if "first_layer" in self.family else []
            listed = (first + [repeat[i % len(repeat)] for i in range(max(total - len(first), 0))])[:total]
        if listed and "last_layer" in self.family:
            listed[-1] = self.family["last_layer"]
        return listed

    def _repeat(self, total: int) -> list[str]:
        """Return the repeating list of default layer types, with the config's own period where it names one."""
        pattern: list[str] = list(self.family.get("layer_types", ()))
        if len(set(pattern)) < 2:
            return pattern
        value, origin = self.get("sliding_window_pattern")
        if value is None or pattern[-1] != "full_attention" or not isinstance(value, int):
            return pattern
        every = config_int(origin.path, value, 0, MAX_LAYERS)
        return ["sliding_attention"] * max(every - 1, 0) + ["full_attention"]


def resolve(config: Mapping[str, Any], part: str | None = None) -> Model:
    """Return the text model of a raw config, following composite configs inwards.

    Args:
        config: the raw config.
        part: one of ``part_names(config)`` for another rotation of the same model; None for the language model's.

    Raises ConfigError on a model that turns nothing by token positions, on a part that is no object, and on a part
    that the model does not have.
    """
    # A diffusers transformer that rotates has a field of it: axes of an image or a video. A scheduler has none.
    if "model_type" not in config and "_class_name" in config and any("rope" in str(name) for name in config):
        raise ConfigError("_class_name", "rotary_model", config["_class_name"])
    data, prefix, kind = _text_part(config)
    if part is not None:
        held = part_names(config)
        if part not in held:
            raise (
                ConfigError("part", "one_of", part, names=held) if held else ConfigError("part", "no_other_part", part)
            )
        if part != INDEXER:
            data, prefix, kind = _beside(config, part)
    if kind in recorded()["other"]:
        raise ConfigError(prefix + "model_type", "rotary_model", kind)
    form = rewrite(data, kind, _family(kind), prefix)
    return Model(form.data, kind, _family(kind), prefix, form.places, config)


def part_names(config: Mapping[str, Any]) -> list[str]:
    """Return the names of a raw config's other rotations by token position, [] where it has none.

    "indexer" is the sparse attention's own; any other name is the field of a sub-config, such as "talker_config".

    >>> part_names({"model_type": "deepseek_v32"}), part_names({"model_type": "llama"})
    (['indexer'], [])
    """
    kind = config.get("model_type")
    named = list(recorded()["part"].get(kind, {})) if isinstance(kind, str) else []
    inner = _family(_text_part(config)[2])
    return [*([INDEXER] if "indexer" in inner else []), *named]


def _family(kind: str | None) -> Mapping[str, Any]:
    return families().get(ALIASES.get(kind or "", kind or ""), {})


def beside(config: Mapping[str, Any], part: str) -> dict[str, Any] | None:
    """Return the sub-config at a dotted place, None where the config gives none. Raises ConfigError on no object."""
    given: dict[str, Any] | None = dict(config)
    path = part.split(".")
    for depth, name in enumerate(path):
        given = config_dict(".".join(path[: depth + 1]), (given or {}).get(name))
    return given


def _beside(config: Mapping[str, Any], part: str) -> tuple[dict[str, Any], str, str | None]:
    """Return the text part of a sub-config beside the language model, its dotted place and its model_type."""
    given = beside(config, part) or {}
    kind = given.get("model_type") or recorded()["part"][config["model_type"]][part]
    data, prefix, inner = _text_part({**given, "model_type": kind})
    return data, f"{part}.{prefix}", inner


def _text_part(config: Mapping[str, Any]) -> tuple[dict[str, Any], str, str | None]:
    """Return the fields of the text part, its dotted place and its model_type."""
    data, prefix, kind = dict(config), "", config.get("model_type")
    if "model_type" not in data and (foreign := foreign_type(data)) is not None:
        return data, prefix, foreign
    for _ in range(4):
        if kind is not None and not isinstance(kind, str):
            raise ConfigError(prefix + "model_type", "a_name", kind)
        place = composites().get(kind or "")
        own = (place["text"],) if place else ()
        name = next((name for name in (*own, *TEXT_FIELDS) if data.get(name) is not None), "text_config")
        inner = data.get(name)
        if inner is None and place and place["text_type"] in {**families(), **composites()}:
            kind = place["text_type"]
            continue
        if inner is None or (kind in families() and not place):
            break
        if not isinstance(inner, Mapping):
            raise ConfigError(prefix + name, "json_table", inner)
        kind = inner.get("model_type") or (place["text_type"] if place else None)
        data, prefix = {str(k): v for k, v in inner.items()}, f"{prefix}{name}."
    return data, prefix, kind
