"""What transformers 4.57 leaves out of a config in the newer schema.

Source: https://github.com/huggingface/transformers/blob/v4.57.6/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from rope_core.errors import ConfigError
from rope_core.findings import Finding, FindingPhrase, difference_phrase, make_finding, max_relative_difference
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.releases import IN_DICT_ONLY_SINCE_5
from rope_core.hf.resolve import ResolvedConfig
from rope_core.hf.types import LENGTH, LONGROPE, PROPORTIONAL
from rope_core.programs.engines import engines, lacks_model_type


def find_fields_unread_by_4(config: ResolvedConfig) -> Iterator[Finding]:
    """Yield the findings on what 4.57 leaves out."""
    fields = config.text.fields
    if fields.family.get("remote"):
        return
    model_type = str(config.raw.get("model_type") or fields.model_type or "")
    if lacks_model_type("transformers 4.57", model_type):
        yield make_finding("family_newer_than_4", "model_type", type=model_type)
    # Step-3.5's lists of a base for each layer stand in fields.stated under the newer name, though no dict was written.
    params, scaling = dict_at(config.raw, fields.prefix).get("rope_parameters"), fields.stated.get("rope_scaling")
    if isinstance(params, dict) and params:
        cost = _cost(config)
        yield make_finding("rope_parameters_not_read", fields.prefix + "rope_parameters", **cost)
    if not isinstance(scaling, dict):
        return
    for name in IN_DICT_ONLY_SINCE_5:
        top = fields.stated.get(name)
        if name in scaling and scaling[name] != top:
            path = f"{fields.prefix}rope_scaling.{name}"
            yield make_finding("not_read_inside_rope_scaling", path, key=name, inside=scaling[name], used=top or "-")
    kind, inside, top = scaling.get("rope_type", scaling.get("type")), scaling.get(LENGTH), fields.stated.get(LENGTH)
    if kind in (LONGROPE, "su") and inside is not None and inside != top:
        used = fields.stated.get("max_position_embeddings") if top is None else top
        path = f"{fields.prefix}rope_scaling.{LENGTH}"
        yield make_finding("not_read_inside_rope_scaling", path, key=LENGTH, inside=inside, used=used or "-")
    if kind == PROPORTIONAL and not fields.family.get("fixed"):
        yield make_finding("type_newer_than_4", f"{fields.prefix}rope_scaling.rope_type", type=kind)


@cache
def recorded_faults() -> list[dict[str, Any]]:
    """Return the rows of faults.toml."""
    rows: list[dict[str, Any]] = tomllib.loads(
        resources.files("rope_core.checks").joinpath("faults.toml").read_text(encoding="utf-8")
    )["fault"]
    return rows


def release_numbers(version: object) -> tuple[int, int] | None:
    """Return the two numbers of a release, None of what is none.

    >>> release_numbers("5.9.0.dev0"), release_numbers("4.57"), release_numbers(None)
    ((5, 9), (4, 57), None)
    """
    match = re.match(r"(\d{1,3})\.(\d{1,3})(?!\d)", version) if isinstance(version, str) else None
    return (int(match[1]), int(match[2])) if match else None


def find_release_faults(fields: ModelFields, release: str | None) -> Iterator[Finding]:
    """Report what another release of transformers 5 makes of this config: the one named, or the one that wrote it.

    An older file may be read by every release since, so all faults after its own are applies.
    """
    named = release_numbers(release)
    wrote = release_numbers(fields.raw.get("transformers_version"))
    for row in recorded_faults():
        first, since = release_numbers(row["first"]), release_numbers(row["since"])
        if fields.model_type not in row["model_type"] or (row["field"] and fields.stated.get(row["field"]) is None):
            continue
        if named is not None and first is not None and since is not None:
            applies = first <= named < since
        else:
            applies = wrote is not None and since is not None and wrote < since
        if applies:
            names = {"first": row["first"], "since": row["since"], "what": FindingPhrase(row["what"])}
            place = fields.field_path(row["field"]) if row["field"] else "transformers_version"
            yield replace(make_finding("read_otherwise_before", place, **names), source=row["source"])


def _cost(config: ResolvedConfig) -> dict[str, object]:
    """Return what 4.57 runs instead: both bases, the largest change of a frequency in per cent, and the words."""
    try:
        pairs = [(engines(config, kind)[1], rope) for kind, rope in config.text.ropes().items()]
    except ConfigError:
        return {"apart": [FindingPhrase("not_built")]}
    built = [(four.inv_freq, four.values.get("base"), five) for four, five in pairs if four.inv_freq is not None]
    if len(built) < len(pairs):
        return {"apart": [FindingPhrase("not_built")]}
    inv_freq, base, five = max(built, key=lambda row: max_relative_difference(row[0], row[2].inv_freq))
    bases = {"base": five.base, "used": five.base if base is None else base}
    texts_of = [] if base is None else [FindingPhrase("bases", bases)]
    worst = 100.0 * max_relative_difference(inv_freq, five.inv_freq)
    return {**bases, "worst": worst, "apart": [*texts_of, difference_phrase(inv_freq, five.inv_freq)]}
