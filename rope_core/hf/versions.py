"""What transformers 4.57 reads of a config, and what it leaves out of a newer one.

Source: https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from rope_core.hf.normal import Model
from rope_core.hf.scheme import LENGTH
from rope_core.hf.types import LONGROPE

IN_DICT_ONLY_SINCE_5 = ("rope_theta", "partial_rotary_factor")


def text_part(config: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the dict at a dotted prefix such as "text_config."."""
    place: Any = config
    for name in prefix.split(".")[:-1]:
        place = place.get(name) or {}
    return place  # type: ignore[no-any-return]


def read_by_4(config: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the config that makes version 5 compute what 4.57 computes of this one.

    rope_parameters, and base and width inside rope_scaling, are not read; longrope takes its trained length from the
    top level and its factor from the two lengths, all other types take the dict's own trained length.
    """
    read = copy.deepcopy(dict(config))
    if model.family.get("remote"):
        # The checkpoint's own code reads the fields as they stand, whatever the version.
        return read
    text = text_part(read, model.prefix)
    text.pop("rope_parameters", None)
    scaling = text.get("rope_scaling")
    if not isinstance(scaling, dict):
        return read
    scaling = {key: value for key, value in scaling.items() if key not in IN_DICT_ONLY_SINCE_5}
    if scaling.get("rope_type", scaling.get("type")) in (LONGROPE, "su"):
        top = text.get(LENGTH)
        scaling.pop(LENGTH, None)
        if top is not None:
            scaling.pop("factor", None)
    else:
        text.pop(LENGTH, None)
    text["rope_scaling"] = scaling
    return read
