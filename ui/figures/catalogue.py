"""The catalogue as the pages see it: ids, names, and the geometry and scheme that a model's config gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import rope_core as rc
from rope_core.hf import catalogue
from rope_core.hf.resolve import ropes_of
from rope_core.schemes import ParamValue

DEFAULT = "llama-2-7b"


@dataclass(frozen=True)
class RopeSetting:
    """What a model turns by: its geometry, scheme and the scheme's parameters."""

    rope: rc.Rope
    scheme: str
    params: dict[str, ParamValue]
    max_len: int


@lru_cache(maxsize=1)
def model_ids() -> tuple[str, ...]:
    """Return the ids of all models whose config names a rotation, in catalogue order."""
    return tuple(model.id for model in catalogue.released_models())


def model_name(model_id: str) -> str:
    """Return the name a reader knows the model by."""
    return catalogue.released_model(model_id).name


@lru_cache(maxsize=256)
def rotating_layer_types(model_id: str) -> tuple[str, ...]:
    """Return the model's layer types that rotate, () when all layers are alike."""
    ropes = ropes_of(catalogue.released_model(model_id).config)
    return tuple(kind for kind, rope in ropes.items() if kind is not None and not rope.nope)


def model_layout(model_id: str) -> str:
    """How the model's weights pair their dimensions in transformers; all its layers alike."""
    kinds = rotating_layer_types(model_id)
    return str(rc.from_hf(catalogue.released_model(model_id).config, kinds[0] if kinds else None).layout)


@lru_cache(maxsize=256)
def model_rope_setting(model_id: str, layer: str = "") -> RopeSetting:
    """Return the geometry and scheme of a model (of one layer type where they differ)."""
    kinds = rotating_layer_types(model_id)
    kind = layer if layer in kinds else (kinds[0] if kinds else None)
    return rope_setting(rc.from_hf(catalogue.released_model(model_id).config, kind))


def rope_setting(rotary: rc.HfRope) -> RopeSetting:
    """Return the geometry and scheme of a rotation."""
    rope = rc.Rope(rotary.rotary_dim, rotary.base, rotary.train_len)
    return RopeSetting(rope, rotary.scheme, dict(rotary.params), rotary.max_len or rotary.train_len)
