"""The fields of one model in a config, under transformers' own names, each with where it came from.

What is below reads these and never the raw config, whatever schema the file is in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from rope_core.errors import ConfigError
from rope_core.hf.families import (
    CLASS,
    FALLBACK,
    TOP,
    ValueOrigin,
    class_defaults_by_family,
    composite_text_fields,
    recorded_class_defaults,
)
from rope_core.hf.forms import TEXT_FIELDS, foreign_type, to_transformers_fields
from rope_core.hf.read import MAX_LAYERS, config_dict, config_int, config_names
from rope_core.rope import MAX_LEN

# Types of released configs that transformers reads as another.
ALIASES = {"kimi_k2": "deepseek_v3"}
INDEXER = "indexer"
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class SourcedValue(Generic[T_co]):
    """A value and where it came from."""

    value: T_co
    origin: ValueOrigin

    def with_traps(self, *traps: str, **values: object) -> SourcedValue[T_co]:
        """Return the same value with traps, and the numbers that go with them, added to its origin."""
        old = self.origin
        origin = replace(old, traps=(*old.traps, *traps), values={**old.values, **values})
        return SourcedValue(self.value, origin)


@dataclass(frozen=True, eq=False)
class ModelFields:
    """What a config says of one model in it, beside what that model's class fills in.

    Attributes:
        stated: the fields that the config gives, under transformers' names.
        model_type: None where nobody says.
        family: the class's row of families.toml or coded.toml; empty for a model_type that transformers does not know.
        prefix: dotted place of the model in the config, such as "text_config.".
        places: dotted place, below ``prefix``, of each field that the config has under another name.
        raw: the raw config.
    """

    stated: Mapping[str, Any]
    model_type: str | None
    family: Mapping[str, Any]
    prefix: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_known_type(self) -> bool:
        """Whether transformers 5.24 (or coded.toml) knows this model_type."""
        return bool(self.family)

    def field_path(self, name: str) -> str:
        """Return the dotted place in the config that holds ``name``, or that would."""
        return self.places.get(name, self.prefix + name)

    def get(self, name: str) -> SourcedValue[Any]:
        """Return the value of ``name`` and where it came from; None from "fallback" where nobody says."""
        path = self.field_path(name)
        if name in self.stated:
            return SourcedValue(self.stated[name], ValueOrigin(TOP, path))
        if name in self.family:
            return SourcedValue(self.family[name], ValueOrigin(CLASS, path))
        return SourcedValue(None, ValueOrigin(FALLBACK, path))

    def get_int(self, name: str, low: int = 1, high: int = MAX_LEN) -> SourcedValue[int | None]:
        """Return the whole number ``name``; None where nobody says. Raises ConfigError outside [low, high]."""
        each = self.get(name)
        return (
            each
            if each.value is None
            else SourcedValue(config_int(each.origin.path, each.value, low, high), each.origin)
        )

    def from_class(self, name: str, value: Any) -> SourcedValue[Any]:
        """Return what the class says itself, at the place of the field ``name`` that would change it."""
        return SourcedValue(value, ValueOrigin(CLASS, self.prefix + name))

    def layer_count(self) -> int:
        """Return the number of layers; 0 where nobody says."""
        return self.get_int("num_hidden_layers", 0, MAX_LAYERS).value or 0

    def layer_types(self) -> list[str]:
        """Return the type of each layer as the class fills it in; [] for a class without types."""
        given = config_names(self.prefix + "layer_types", self.stated.get("layer_types"))
        total = self.layer_count()
        if given is not None:
            listed = given
        else:
            repeat = self._repeated_types()
            if not repeat:
                return []
            first = [self.family["first_layer"]] if "first_layer" in self.family else []
            listed = (first + [repeat[i % len(repeat)] for i in range(max(total - len(first), 0))])[:total]
        if listed and "last_layer" in self.family:
            listed[-1] = self.family["last_layer"]
        return listed

    def _repeated_types(self) -> list[str]:
        """Return the repeating list of default layer types, with the config's own period where it names one."""
        pattern: list[str] = list(self.family.get("layer_types", ()))
        if len(set(pattern)) < 2:
            return pattern
        period = self.get("sliding_window_pattern")
        if pattern[-1] != "full_attention" or not isinstance(period.value, int):
            return pattern
        every = config_int(period.origin.path, period.value, 0, MAX_LAYERS)
        return ["sliding_attention"] * max(every - 1, 0) + ["full_attention"]


def model_fields(config: Mapping[str, Any], part: str | None = None) -> ModelFields:
    """Return the fields of a raw config's text model, following composite configs inwards.

    Args:
        config: the raw config.
        part: one of ``part_names(config)`` for another rotation of the same model; None for the language model's.

    Raises ConfigError on a model that turns nothing by token positions, on a part that is no object, and on a part
    that the model does not have.
    """
    # A diffusers transformer that rotates has a field of it: axes of an image or a video. A scheduler has none.
    if "model_type" not in config and "_class_name" in config and any("rope" in str(name) for name in config):
        raise ConfigError("_class_name", "rotary_model", config["_class_name"])
    stated, prefix, kind = _text_part(config)
    if part is not None:
        held = part_names(config)
        if part not in held:
            raise ConfigError("part", "one_of" if held else "no_other_part", part, **({"names": held} if held else {}))
        if part != INDEXER:
            given = sub_config(config, part) or {}
            default = recorded_class_defaults()["part"][config["model_type"]][part]
            stated, prefix, kind = _text_part({**given, "model_type": given.get("model_type") or default})
            prefix = f"{part}.{prefix}"
    if kind in recorded_class_defaults()["other"]:
        raise ConfigError(prefix + "model_type", "rotary_model", kind)
    form = to_transformers_fields(stated, kind, _family(kind), prefix)
    return ModelFields(form.data, kind, _family(kind), prefix, form.places, config)


def part_names(config: Mapping[str, Any]) -> list[str]:
    """Return the names of a raw config's other rotations by token position, [] where it has none.

    "indexer" is the sparse attention's own; any other name is the field of a sub-config, such as "talker_config".

    >>> part_names({"model_type": "deepseek_v32"}), part_names({"model_type": "llama"})
    (['indexer'], [])
    """
    kind = config.get("model_type")
    named = list(recorded_class_defaults()["part"].get(kind, {})) if isinstance(kind, str) else []
    inner = _family(_text_part(config)[2])
    return [*([INDEXER] if "indexer" in inner else []), *named]


def _family(kind: str | None) -> Mapping[str, Any]:
    return class_defaults_by_family().get(ALIASES.get(kind or "", kind or ""), {})


def sub_config(config: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    """Return the sub-config at a dotted place, None where the config gives none. Raises ConfigError on no object."""
    given: dict[str, Any] | None = dict(config)
    names = path.split(".")
    for depth, name in enumerate(names):
        given = config_dict(".".join(names[: depth + 1]), (given or {}).get(name))
    return given


def dict_at(config: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the dict itself, to be written to, at a dotted prefix such as "text_config."; {} where there is none."""
    place: Any = config
    for name in prefix.split(".")[:-1]:
        place = place.get(name) or {}
    return place  # type: ignore[no-any-return]


def _text_part(config: Mapping[str, Any]) -> tuple[dict[str, Any], str, str | None]:
    """Return the fields of the text part, its dotted place and its model_type."""
    data, prefix, kind = dict(config), "", config.get("model_type")
    if "model_type" not in data and (foreign := foreign_type(data)) is not None:
        return data, prefix, foreign
    for _ in range(4):
        if kind is not None and not isinstance(kind, str):
            raise ConfigError(prefix + "model_type", "a_name", kind)
        place = composite_text_fields().get(kind or "")
        own = (place["text"],) if place else ()
        name = next((name for name in (*own, *TEXT_FIELDS) if data.get(name) is not None), "text_config")
        inner = data.get(name)
        if inner is None and place and place["text_type"] in {**class_defaults_by_family(), **composite_text_fields()}:
            kind = place["text_type"]
            continue
        if inner is None or (kind in class_defaults_by_family() and not place):
            break
        if not isinstance(inner, Mapping):
            raise ConfigError(prefix + name, "json_table", inner)
        kind = inner.get("model_type") or (place["text_type"] if place else None)
        data, prefix = {str(k): v for k, v in inner.items()}, f"{prefix}{name}."
    return data, prefix, kind
