"""What each transformers config class fills in where a config is silent, read from hf_families.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from rope_core.errors import reject

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
    "odd_width": "int(head_dim * partial) is odd: one dimension more turns, with the exponents of the odd width",
    "learned_offsets": "the checkpoint holds an exponent for each pair (LeRoPE): these are the frequencies before it",
    "switched_off": "this field turns the rotation of the whole model off",
    "rope_fields_not_read": "the model's code fixes its rotation and reads no rope field",
    "rope_interleave_off": "rope_interleave is false, so the weights count as halves",
    "rope_scaling_replaces_rope_parameters": "both given: rope_scaling counts, the whole other dict goes",
    "su_read_as_longrope": "su is renamed to longrope",
    "su_without_length_fails": "su without original_max_position_embeddings in the dict itself fails to load",
    "top_level_base_ignored": "the dict's rope_theta counts, not the top-level one [top_level]",
    "trained_length_is_max_length": "no original_max_position_embeddings: max_position_embeddings stands in silently",
    "trained_length_overridden": "the top-level original_max_position_embeddings counts, not the dict's [dict]",
    "turns_backwards": "rotate_half has its signs exchanged: pairs turn by -angle",
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


def packaged(name: str) -> dict[str, Any]:
    """Return one of this package's TOML files."""
    return tomllib.loads(resources.files("rope_core.hf").joinpath(name).read_text(encoding="utf-8"))


@cache
def recorded() -> dict[str, Any]:
    """Return the whole of families.toml, what tools/hf_families.py read off the wheel."""
    return packaged("families.toml")


@cache
def coded() -> dict[str, dict[str, Any]]:
    """Return coded.toml, the families whose rotation is fixed in their code, by model_type."""
    return packaged("coded.toml")


@cache
def families() -> dict[str, dict[str, Any]]:
    """Return the table of families, by model_type."""
    return {**recorded()["family"], **coded()}


def composites() -> dict[str, dict[str, str]]:
    """Return the composite model types: the field with the text config and its model_type."""
    return recorded()["composite"]  # type: ignore[no-any-return]
