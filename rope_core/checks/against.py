"""A config beside another that must agree with it, and a config under an engine's override."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rope_core.errors import ConfigError, RuleText, argument_error
from rope_core.extension.blocks import has_scaled_frequencies, reached_length
from rope_core.findings import Finding, FindingPhrase, difference_phrase, distinct_value_texts, make_finding, value_text
from rope_core.hf.fields import dict_at
from rope_core.hf.resolve import ResolvedConfig, layer_types, resolve, ropes_of
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import compare_configs, rope_of_layer_type, to_v5
from rope_core.hf.types import COMMON, DEFAULT, LENGTH, NEEDS_LENGTH, READ_ELSEWHERE, TYPES, WINDOWED
from rope_core.schemes import SCHEMES

# Fields of an override that are meant to change a rotation.
FIELDS = ("rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor")
# Fields of a comparison that change no rotation; the trained length counts through the frequencies.
SILENT = ("model_type", "max_len", "train_len", "inv_freq", "head_dim", "nope_layers")


def rotation_difference_findings(
    config: object, other: object, seq_len: int | None = None, layer_type: str | None = None
) -> list[Finding]:
    """Return where two configs that must turn alike do not: a draft and its target, before and after a conversion.

    One finding for each layer type that differs, an error. Where one config has a single rotation and the other
    several, it is held to those of its own attention, windowed or not, or to ``layer_type``; a note names its match.
    "max_position_embeddings" apart is a note, or an error where either ends before ``seq_len``, the length that is
    served: engines build as many rows of cos and sin.
    Raises ConfigError when either cannot be read.

    >>> target = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e6}
    >>> [one.key for one in rotation_difference_findings({**target, "rope_theta": 1e4}, target)]
    ['configs_disagree']
    """
    sides = resolve(config), resolve(other)
    rows, types = compare_configs(*sides), [[*each.text.differing_layer_types] for each in sides]
    if layer_type is not None and layer_type not in (known := [*types[0], *types[1]]):
        raise argument_error(
            "layer_type", RuleText("one_of", {"names": known}) if known else RuleText("no_layer_type"), layer_type
        )
    rows = [row for row in rows if not row.same and (layer_type is None or row.layer_type in (None, layer_type))]
    findings: list[Finding] = []
    if bool(types[0]) != bool(types[1]) and layer_type is None:
        several, single = (types[0], sides[1]) if types[0] else (types[1], sides[0])
        loud = {row.layer_type for row in rows if row.field not in SILENT or (row.field == "inv_freq" and row.right)}
        meant = [kind for kind in several if (kind in WINDOWED) == _windowed(single)] or several
        if same := [kind for kind in meant if kind not in loud]:
            others = [kind for kind in several if kind in loud]
            findings.append(make_finding("turns_as_one_type", "layer_types", same=same, others=others))
        rows = [row for row in rows if row.layer_type in (same or meant)]
    for kind in dict.fromkeys(row.layer_type for row in rows):
        mine = [row for row in rows if row.layer_type == kind]
        worst = next((float(row.right) for row in mine if row.field == "inv_freq"), 0.0)  # type: ignore[arg-type]
        named = [row for row in mine if row.field not in SILENT]
        if not named and not worst:
            continue
        left, right = (rope_of_layer_type(each.text, kind) for each in sides)
        texts_of = ", ".join(f"{row.field} {' / '.join(distinct_value_texts((row.left, row.right)))}" for row in named)
        findings.append(
            make_finding(
                "configs_disagree",
                ", ".join(row.field for row in named) or LENGTH,
                None,
                kind,
                differences=texts_of or LENGTH,
                worst=100.0 * worst,
                apart=difference_phrase(left.inv_freq, right.inv_freq)
                if left and right
                else FindingPhrase("layers_apart"),
            )
        )
    lengths = [(row.left, row.right) for row in rows if row.field == "max_len"]
    least = min((int(str(length)) for length in lengths[0] if length), default=0) if lengths else 0
    if seq_len and 0 < least < seq_len:
        findings.append(make_finding("rows_end_early", "max_position_embeddings", rows=least, served=seq_len))
    elif lengths:
        findings.append(
            make_finding("lengths_disagree", "max_position_embeddings", this=lengths[0][0], that=lengths[0][1])
        )
    return findings


def _windowed(config: ResolvedConfig) -> bool:
    """Whether a config's attention looks no further than a window."""
    data = config.text.fields.stated
    return bool(data.get("sliding_window")) and data.get("use_sliding_window", True) is not False


def apply_override(config: object, override: object) -> tuple[dict[str, Any], list[Finding]]:
    """Return a config after an engine's override, and what the override loses, or that it changes no rotation.

    An override replaces a dict whole, as vLLM's --hf-overrides does on a config of transformers 5: a base that the
    dict held goes with it, and the class's takes its place. ``rope_scaling`` means ``rope_parameters`` there.

    Raises ConfigError on a config or an override that is no object.

    >>> config = {"model_type": "llama", "head_dim": 64, "rope_theta": 5e5}
    >>> new, found = apply_override(config, {"rope_scaling": {"rope_type": "linear", "factor": 2.0}})
    >>> ropes_of(new)[None].base, found[0].key, found[0].values["lost"]
    (10000.0, 'override_loses', ('rope_theta',))
    """
    if not isinstance(override, Mapping):
        raise ConfigError("override", "json_object", override)
    before = to_v5(config)
    after = copy.deepcopy(before)
    prefix = resolve(before).text.fields.prefix
    _replace(after, copy.deepcopy(dict(override)))
    old, new = (dict_at(each, prefix).get("rope_parameters") for each in (before, after))
    if new is None and isinstance(old, dict):
        # transformers stops on it, so what is checked besides is the config as it was.
        dict_at(after, prefix)["rope_parameters"] = old
        dropped = [f"{key} {value_text(value)}" for key, value in old.items()]
        return after, [make_finding("override_null", f"{prefix}rope_parameters", dropped=dropped)]
    if not isinstance(old, dict) or not isinstance(new, dict) or old == new:
        return after, _idle(before, after, override)
    kinds = [*layer_types(before)]
    lost = [key for key in _dropped(old, new) if key not in kinds or new.keys() & {*kinds}]
    for kind in kinds:
        inner = new.get(kind)
        if isinstance(old.get(kind), dict) and isinstance(inner, dict):
            lost += [f"{kind}.{key}" for key in _dropped(old[kind], inner)]
    losses = [_loss(before, after, prefix, lost)] if lost else []
    return after, [*losses, *_needless(before, after, f"{prefix}rope_parameters")]


def _dropped(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the keys of a dict that a new one leaves out and its type reads; all of them where it has no scaling."""
    kind = new.get("rope_type", new.get("type", DEFAULT))
    read = {*COMMON, *READ_ELSEWHERE, *(param.name for param in SCHEMES[TYPES.get(kind, "none")].params)}
    read |= {LENGTH} if kind in NEEDS_LENGTH else set()
    # The type's older name, and a trained length that a type without one takes for nothing.
    kept = {key for key in old if key not in new and (kind == DEFAULT or key in read or isinstance(old[key], dict))}
    return [key for key in old if key in kept and key not in ("rope_type", "type")]


def _needless(before: Mapping[str, Any], after: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Report a scaling that is put over one that reaches as far already."""
    for old, new in zip(_ropes(before), _ropes(after), strict=False):
        if (
            has_scaled_frequencies(old)
            and has_scaled_frequencies(new)
            and old.rope_type != new.rope_type
            and reached_length(new) <= reached_length(old)
        ):
            values = {"old": old.rope_type, "new": new.rope_type, "reach": reached_length(old)}
            yield make_finding("override_not_needed", where, None, old.layer_type, **values)
            return


def _replace(target: dict[str, Any], override: dict[str, Any]) -> None:
    """Write an override: a nested config is entered, every other value is replaced whole."""
    for key, value in override.items():
        name = "rope_parameters" if key == "rope_scaling" else key
        if key.endswith("_config") and isinstance(value, dict) and isinstance(target.get(key), dict):
            _replace(target[key], value)
        else:
            target[name] = value


def _idle(before: Mapping[str, Any], after: Mapping[str, Any], override: Mapping[str, Any]) -> list[Finding]:
    """Name a rope field of an override after which the model turns as before, unless it repeats what was there."""
    old, new = _ropes(before), _ropes(after)
    places = [place for place, value in _rope_fields(override) if value not in [rope.base for rope in old]]
    same = len(old) == len(new) and all(
        np.array_equal(a.inv_freq, b.inv_freq) and a.attention_factor == b.attention_factor
        for a, b in zip(old, new, strict=True)
    )
    if not places or not same or _inside(override, before):
        return []
    read = f"{resolve(before).text.fields.prefix}rope_parameters"
    return [make_finding("override_changes_nothing", places[0], read=read)]


def _rope_fields(override: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted place and the value of each rope field of an override."""
    for key, value in override.items():
        if key in FIELDS:
            yield prefix + key, value
        elif key.endswith("_config") and isinstance(value, dict):
            yield from _rope_fields(value, f"{prefix}{key}.")


def _inside(override: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Whether a config has every value of an override already."""
    return all(
        _inside(value, config[key])
        if key.endswith("_config") and isinstance(value, dict) and isinstance(config.get(key), dict)
        else config.get("rope_parameters" if key == "rope_scaling" else key) == value
        for key, value in override.items()
    )


def _loss(before: dict[str, Any], after: dict[str, Any], prefix: str, lost: list[str]) -> Finding:
    """Return the finding on what an override drops: an error where a base goes."""
    moved = [(old, new) for old, new in zip(_ropes(before), _ropes(after), strict=False) if old.base != new.base]
    texts_of: dict[str, object] = {"apart": FindingPhrase("same_base")}
    if moved:
        old, new = moved[0]
        bases = {"base": old.base, "used": new.base}
        texts_of = {**bases, "apart": [FindingPhrase("bases", bases), difference_phrase(new.unscaled, old.unscaled)]}
    return make_finding(
        "override_loses",
        f"{prefix}rope_parameters",
        "error" if moved else "warning",
        lost=tuple(lost),
        **texts_of,
    )


def _ropes(config: Mapping[str, Any]) -> list[HfRope]:
    """Return what each layer type does; empty where it cannot be built, which the check of the result says."""
    try:
        return [*ropes_of(config).values()]
    except ValueError:
        return []


__all__ = ["apply_override", "rotation_difference_findings"]
