"""What transformers 4.57 reads of a config, and what it leaves out of a newer one.

Source: https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from rope_core.checks.case import Finding, finding
from rope_core.hf.normal import Model
from rope_core.hf.ropes import LENGTH
from rope_core.hf.types import LONGROPE, PROPORTIONAL

IN_DICT_ONLY_SINCE_5 = ("rope_theta", "partial_rotary_factor")


def text_part(config: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The dict at a dotted prefix such as "text_config."."""
    place: Any = config
    for name in prefix.split(".")[:-1]:
        place = place.get(name) or {}
    return place  # type: ignore[no-any-return]


def read_by_4(config: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The config that makes version 5 compute what 4.57 computes of this one.

    rope_parameters, and base and width inside rope_scaling, are not read; longrope takes its trained length from the
    top level and its factor from the two lengths, all other types take the dict's own trained length.
    """
    made = copy.deepcopy(dict(config))
    text = text_part(made, model.prefix)
    text.pop("rope_parameters", None)
    scaling = text.get("rope_scaling")
    if not isinstance(scaling, dict):
        return made
    scaling = {key: value for key, value in scaling.items() if key not in IN_DICT_ONLY_SINCE_5}
    if scaling.get("rope_type", scaling.get("type")) in (LONGROPE, "su"):
        top = text.get(LENGTH)
        scaling.pop(LENGTH, None)
        if top is not None:
            scaling.pop("factor", None)
    else:
        text.pop(LENGTH, None)
    text["rope_scaling"] = scaling
    return made


def for_4(model: Model) -> Iterator[Finding]:
    """Findings on what 4.57 leaves out."""
    params, scaling = model.data.get("rope_parameters"), model.data.get("rope_scaling")
    if isinstance(params, dict) and params:
        base = params.get("rope_theta", "-")
        used = model.data.get("rope_theta", model.family.get("theta", 10_000.0))
        yield finding("rope_parameters_not_read", model.prefix + "rope_parameters", lost=base, used=used)
    if not isinstance(scaling, dict):
        return
    for name in IN_DICT_ONLY_SINCE_5:
        top = model.data.get(name)
        if name in scaling and scaling[name] != top:
            path = f"{model.prefix}rope_scaling.{name}"
            yield finding("not_read_inside_rope_scaling", path, key=name, inside=scaling[name], used=top or "-")
    kind, inside, top = scaling.get("rope_type", scaling.get("type")), scaling.get(LENGTH), model.data.get(LENGTH)
    if kind in (LONGROPE, "su") and inside is not None and inside != top:
        used = model.data.get("max_position_embeddings") if top is None else top
        path = f"{model.prefix}rope_scaling.{LENGTH}"
        yield finding("not_read_inside_rope_scaling", path, key=LENGTH, inside=inside, used=used or "-")
    if kind == PROPORTIONAL:
        yield finding("type_newer_than_4", f"{model.prefix}rope_scaling.rope_type", type=kind)
