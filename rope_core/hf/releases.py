"""What transformers 4.57 reads of a config, and what it leaves out of a newer one.

Source: https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

from rope_core.hf.families import load_packaged_toml
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.types import LENGTH, LONGROPE

IN_DICT_ONLY_SINCE_5 = ("rope_theta", "partial_rotary_factor")


@cache
def _types_before_rope_type() -> frozenset[str]:
    """Return the model types of 4.57 that read rope_scaling's type before its rope_type."""
    return frozenset(load_packaged_toml("releases.toml")["4.57"]["type_before_rope_type"].split())


def config_as_read_by_4(fields: ModelFields) -> dict[str, Any]:
    """Return the config that makes version 5 compute what 4.57 computes of the one that has ``fields``.

    rope_parameters, and base and width inside rope_scaling, are not read; longrope takes its trained length from the
    top level and its factor from the two lengths, all other types take the dict's own trained length.
    """
    read = copy.deepcopy(dict(fields.raw))
    if fields.family.get("remote"):
        # The checkpoint's own code reads the fields as they stand, whatever the version.
        return read
    text = dict_at(read, fields.prefix)
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
    if scaling.get("type") and fields.model_type in _types_before_rope_type():
        scaling["rope_type"] = scaling["type"]
    text["rope_scaling"] = scaling
    return read
