"""What transformers 4.57 leaves out of a config in the newer schema.

Source: https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rope_core.checks.case import Finding, finding, largest
from rope_core.errors import ConfigError
from rope_core.hf.normal import Model
from rope_core.hf.ropes import from_hf, layer_types
from rope_core.hf.scheme import LENGTH
from rope_core.hf.types import LONGROPE, PROPORTIONAL
from rope_core.hf.versions import IN_DICT_ONLY_SINCE_5, read_by_4, text_part


def for_4(config: Mapping[str, Any], model: Model) -> Iterator[Finding]:
    """Yield the findings on what 4.57 leaves out."""
    # Step-3.5's lists of a base for each layer stand in model.data under the newer name, though no dict was written.
    params, scaling = text_part(config, model.prefix).get("rope_parameters"), model.data.get("rope_scaling")
    if isinstance(params, dict) and params:
        used, worst = _cost(config, model)
        field = model.prefix + "rope_parameters"
        yield finding("rope_parameters_not_read", field, lost=params.get("rope_theta", "-"), used=used, worst=worst)
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


def _cost(config: Mapping[str, Any], model: Model) -> tuple[object, object]:
    """Return the base that 4.57 runs, and the largest change of a frequency in per cent; "-" where none is built."""
    try:
        kinds: list[str | None] = [*layer_types(config)] or [None]
        old = read_by_4(config, model)
        theirs = [*layer_types(old)]
        pairs = [(from_hf(old, kind if theirs else None), from_hf(config, kind)) for kind in kinds]
    except ConfigError:
        return "-", "-"
    worst = max(largest(four.inv_freq, five.inv_freq) for four, five in pairs)
    return pairs[0][0].base, 100.0 * worst if math.isfinite(worst) else "-"
