"""What transformers 4.57 leaves out of a config in the newer schema.

Source: https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

from collections.abc import Iterator

from rope_core.checks.case import Finding, finding
from rope_core.hf.normal import Model
from rope_core.hf.ropes import LENGTH
from rope_core.hf.types import LONGROPE, PROPORTIONAL
from rope_core.hf.versions import IN_DICT_ONLY_SINCE_5


def for_4(model: Model) -> Iterator[Finding]:
    """Yield the findings on what 4.57 leaves out."""
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
