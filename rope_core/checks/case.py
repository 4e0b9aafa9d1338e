"""What every rule reads: one layer type of a config."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rope_core.hf.families import DICT
from rope_core.hf.fields import ModelFields
from rope_core.hf.parameters import RopeEntry
from rope_core.hf.resolve import ResolvedConfig, ResolvedPart
from rope_core.hf.ropes import HfRope


@dataclass(frozen=True)
class LayerContext:
    """One layer type of a model: its rope dict, what it does, and what the other layer types do."""

    config: ResolvedConfig
    part: ResolvedPart
    entry: RopeEntry
    rope: HfRope
    ropes: tuple[HfRope, ...]
    seq_len: int | None

    @property
    def fields(self) -> ModelFields:
        """What the config says of the model."""
        return self.part.fields

    @cached_property
    def read_paths(self) -> frozenset[str]:
        """Dotted places that some layer type takes a value from, fields under another name and the switch included."""
        fields = self.fields
        named = {fields.field_path(name) for name in (*fields.places, fields.family.get("switch", {}).get("field", ""))}
        return frozenset(named | {origin.path for rope in self.ropes for origin in rope.provenance.values()})

    @property
    def unread_fields(self) -> dict[str, Any]:
        """The fields that the config states less those that some layer type reads."""
        return {
            name: each
            for name, each in self.fields.stated.items()
            if self.fields.field_path(name) not in self.read_paths
        }

    @property
    def is_first(self) -> bool:
        """Whether this is the first layer type, for rules on the whole model."""
        return self.rope is self.ropes[0]

    def rope_key_path(self, name: str) -> str:
        """Return the dotted path of a key of the rope dict."""
        return self.entry.origin(name).path

    def top_level_path(self, name: str) -> str:
        """Return the dotted path of a top-level field."""
        return self.fields.prefix + name

    def is_stated(self, name: str) -> bool:
        """Whether the config itself, not its class, put ``name`` into the rope dict."""
        return self.entry.origin(name).source == DICT

    def scheme_parameter(self, name: str) -> float:
        """Return a parameter of the scheme as it takes effect."""
        value = self.rope.params[name]
        if not isinstance(value, int | float):
            raise TypeError(name)
        return float(value)
