"""A Hugging Face config, v4 rope_scaling or v5 rope_parameters, resolved once to what each of its layers does.

``resolve`` is the door: what follows reads its immutable result, which resolves to itself. Each level is worked out at
its first use and kept: a config > its models > their layer types > what one does at a length. A level that transformers
refuses raises ConfigError.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rope_core.errors import ConfigError, checked_int
from rope_core.hf.families import DICT, ValueOrigin
from rope_core.hf.fields import INDEXER, ModelFields, SourcedValue, model_fields, part_names
from rope_core.hf.geometry import LayerGeometry, layer_geometry, layer_head_width
from rope_core.hf.layers import build_rope, indexer_rope
from rope_core.hf.parameters import RopeEntry, rope_entries
from rope_core.hf.read import read_config
from rope_core.hf.releases import config_as_read_by_4
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT
from rope_core.rope import MAX_LEN


@dataclass(frozen=True, eq=False)
class ResolvedLayer:
    """One layer type of a model: its completed rope dict, and what it does with it."""

    fields: ModelFields
    entry: RopeEntry
    siblings: tuple[RopeEntry, ...]

    @cached_property
    def geometry(self) -> LayerGeometry:
        """Its widths, lengths, layout and base. Raises ConfigError on the first value that transformers refuses."""
        return layer_geometry(self.fields, self.entry, self.siblings)

    def at(self, seq_len: int | None = None) -> HfRope:
        """Return what it does at a length in use, tokens; None for the state at load time.

        Raises:
            ConfigError: where transformers could not build it, or values lie outside the schemes' ranges.
            ValueError: on a seq_len that is no positive length.
        """
        if seq_len is not None:
            checked_int("seq_len", seq_len, 1, MAX_LEN)
        return build_rope(self.fields, self.entry, self.geometry, seq_len)

    def unscaled(self) -> ResolvedLayer:
        """Return the same layer type in a model without scaling, for its widths."""
        return replace(self, entry=_plain(self.entry), siblings=tuple(map(_plain, self.siblings)))


def _plain(entry: RopeEntry) -> RopeEntry:
    kind = SourcedValue(DEFAULT, ValueOrigin(DICT, f"{entry.path}.rope_type"))
    return entry if entry.nope else replace(entry, rope={**entry.rope, "rope_type": kind})


@dataclass(frozen=True, eq=False)
class ResolvedPart:
    """One model in a config: the text model, or another that turns token positions; ``name`` is "" for the first."""

    name: str
    fields: ModelFields

    @cached_property
    def entries(self) -> tuple[RopeEntry, ...]:
        """The rope dict of each layer type, in the config's order; one without a name where it is flat; may be empty.

        Raises ConfigError on what transformers does not load.
        """
        return tuple(rope_entries(self.fields))

    @cached_property
    def layers(self) -> tuple[ResolvedLayer, ...]:
        """The layer type of each of ``entries``. Raises ConfigError as they do."""
        return tuple(ResolvedLayer(self.fields, entry, self.entries) for entry in self.entries)

    @cached_property
    def differing_layer_types(self) -> tuple[str, ...]:
        """The names of the layer types; () where all of them rotate alike. Raises ConfigError as ``layers`` does."""
        if not self.layers:
            raise ConfigError(self.fields.prefix + "layer_types", "types_with_rope", self.fields.layer_types())
        first = self._deciding(self.layers[0]) if len(self.layers) > 1 else None
        alike = all(self._deciding(layer) == first for layer in self.layers[1:])
        return () if alike else tuple(layer.entry.layer_type or "" for layer in self.layers)

    def _deciding(self, layer: ResolvedLayer) -> tuple[object, ...]:
        """Return what decides whether two layer types rotate alike."""
        entry = layer.entry
        values = {key: value for key, value in entry.values().items() if key != "type"}
        width = layer_head_width(self.fields, entry.layer_type) if self.fields.family.get("head_dims") else 0
        return entry.nope, repr(sorted(values.items())), width

    def layer(self, layer_type: str | None = None) -> ResolvedLayer:
        """Return the layer type of that name, or the only one there is.

        Raises ConfigError where layer types differ and none is named, and on a name that the model lacks.
        """
        if layer_type is None and self.differing_layer_types:
            raise ConfigError("layer_type", "differing_types", layer_type, names=list(self.differing_layer_types))
        if layer_type is None:
            return self.layers[0]
        for layer in self.layers if self.layer_type_names else ():
            if isinstance(layer_type, str) and layer.entry.layer_type == layer_type:
                return layer
        known = [layer.entry.layer_type for layer in self.layers if layer.entry.layer_type]
        known = known or [*dict.fromkeys(self.fields.layer_types())]
        if isinstance(layer_type, str) and layer_type in known:
            return self.layers[0]
        if known:
            raise ConfigError("layer_type", "one_of", layer_type, names=known)
        raise ConfigError("layer_type", "no_layer_type", layer_type)

    def rope(self, layer_type: str | None = None, seq_len: int | None = None) -> HfRope:
        """Return what one layer type does; as from_hf."""
        rope = self.layer(layer_type).at(seq_len)
        return indexer_rope(self.fields, rope) if self.name == INDEXER else rope

    def ropes(self, seq_len: int | None = None) -> dict[str | None, HfRope]:
        """Return what each of ``differing`` does; under the key None where all layers are alike."""
        return {kind: self.rope(kind, seq_len) for kind in self.layer_type_names}

    @property
    def layer_type_names(self) -> tuple[str | None, ...]:
        """The names to ask ``rope`` for: of each differing layer type, or None."""
        return self.differing_layer_types or (None,)


@dataclass(frozen=True, eq=False)
class ResolvedConfig:
    """A config file as transformers 5.24 runs it; ``raw`` is what it says."""

    raw: dict[str, Any]

    @cached_property
    def text(self) -> ResolvedPart:
        """The text model. Raises ConfigError where there is none that turns token positions."""
        return ResolvedPart("", model_fields(self.raw))

    @cached_property
    def part_names(self) -> list[str]:
        """The model's other rotations by token position, as ``rotary_part_names``."""
        return part_names(self.raw)

    @cached_property
    def as_read_by_4(self) -> ResolvedConfig:
        """The config as transformers 4.57 reads it. Raises ConfigError as ``text`` does."""
        return ResolvedConfig(config_as_read_by_4(self.text.fields))

    def part(self, name: str | None = None) -> ResolvedPart:
        """Return one of ``part_names``, or the text model. Raises ConfigError on another name."""
        return self.text if name is None else ResolvedPart(name, model_fields(self.raw, name))


def resolve(config: object) -> ResolvedConfig:
    """Return a config resolved: a dict, a path to config.json or its folder, a transformers config object, or itself.

    Raises ConfigError on what is no config; what transformers refuses of one raises at its first use.

    >>> layer, = resolve({"model_type": "llama", "head_dim": 64, "rope_theta": 5e5}).text.layers
    >>> layer.entry.rope["rope_theta"].origin.source, layer.at().base
    ('top level', 500000.0)
    """
    return config if isinstance(config, ResolvedConfig) else ResolvedConfig(read_config(config))


def rotary_part_names(config: object) -> list[str]:
    """Return the names of a model's other rotations by token position, for from_hf's ``part``; [] where it has none.

    "indexer" is the own rotation of a sparse attention's indexer; other names are fields of sub-configs.

    Raises ConfigError on what cannot be read.

    >>> rotary_part_names({"model_type": "qwen2_5_omni"}), rotary_part_names({"model_type": "llama"})
    (['talker_config'], [])
    """
    return [*resolve(config).part_names]


def layer_types(config: object) -> list[str]:
    """Return the names of the layer types whose rotation differs, in the config's order; [] where all are alike.

    Raises ConfigError on what cannot be read.

    >>> layer_types({"model_type": "gemma3_text"})
    ['sliding_attention', 'full_attention']
    >>> layer_types({"model_type": "llama"})
    []
    """
    return [*resolve(config).text.differing_layer_types]


def from_hf(
    config: object, layer_type: str | None = None, seq_len: int | None = None, part: str | None = None
) -> HfRope:
    """Return what a config's rotary embedding does in transformers 5.24.

    Args:
        config: a dict, a path to config.json or its folder, or a transformers config object.
        layer_type: one of layer_types(config); None where all layers are alike.
        seq_len: length in use, tokens, for the schemes that follow it; None for the state at load time.
        part: one of parts(config) for another rotation of the model, such as "indexer"; None for its attention's.

    Raises:
        ConfigError: when the config cannot be read, transformers could not build it, its values lie outside the
            schemes' ranges, or its layer types differ and none is named.
        ValueError: on a seq_len that is no positive length.

    Source: https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/modeling_rope_utils.py

    >>> rope = from_hf({"model_type": "llama", "rope_theta": 500000.0, "head_dim": 128})
    >>> rope.base, rope.rotary_dim, rope.layout, rope.provenance["base"].source
    (500000.0, 128, 'half', 'top level')
    """
    return resolve(config).part(part).rope(layer_type, seq_len)


def ropes_of(config: object, seq_len: int | None = None) -> dict[str | None, HfRope]:
    """Return from_hf's answer for each of layer_types(config); under the key None where all layers are alike.

    Raises as from_hf does.

    >>> [(kind, rope.base) for kind, rope in ropes_of({"model_type": "gemma3_text"}).items()]
    [('sliding_attention', 10000.0), ('full_attention', 1000000.0)]
    """
    return resolve(config).text.ropes(seq_len)


__all__ = ["ResolvedConfig", "ResolvedLayer", "ResolvedPart", "from_hf", "layer_types", "resolve", "rotary_part_names"]
