"""From a config's rope fields, old or new, to the effective parameters of each layer type, as transformers 5.23 does.

Source: RotaryEmbeddingConfigMixin in
https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/modeling_rope_utils.py
and the overrides of convert_rope_params_to_dict in models/*/configuration_*.py.
"""

from __future__ import annotations

import copy
from typing import Any

from rope_core.hf.completion import FALLBACK_THETA, Parameters, complete, entry, name_the_type
from rope_core.hf.families import CLASS, DICT, SPLIT, TOP, Origin
from rope_core.hf.normal import Model
from rope_core.hf.read import count, number, refuse, table, truthy

LEGACY_SPLIT = ("gemma3", "gemma3n", "t5gemma2", "modernbert", "modernbert_decoder", "olmo3")
BOTH_SCALED = ("modernbert", "modernbert_decoder")


def effective(model: Model) -> list[Parameters]:
    """Return each layer type's parameters in the config's order; one entry without a type where the dict is flat."""
    if (switch := switched_off(model)) is not None:
        return [Parameters(path=switch, nope=True, switched_off=True)]
    if model.family.get("fixed"):
        return [fixed(model)]
    raw, path, source, traps = chosen(model)
    convert = model.family.get("convert")
    if convert == "neomme":
        raw, source = {**{kind: {} for kind in model.layer_types()}, **raw}, DICT
    if convert in LEGACY_SPLIT:
        found = split(model, raw, path, source)
    elif model.family.get("labels") == ["main", "compress"]:
        found = compressed(model, raw, path, source)
    elif nested_keys(model, raw):
        if model.family.get("per_type") is False:
            raise refuse(path, "flat_dict", sorted(raw), model_type=model.model_type)
        found = nested(model, raw, path, source)
    else:
        if model.family.get("per_type"):
            raise refuse(path, "dict_per_type", sorted(raw), model_type=model.model_type)
        found = [flat(model, raw, path, source)]
    for one in found:
        if traps and not one.nope:
            one.trap("rope_theta", *traps)
    return found


def switched_off(model: Model) -> str | None:
    """Return the place of the field that turns the rotation of this model off, or None where it is on."""
    rule = model.family.get("switch")
    if rule is None:
        return None
    given = model.data[rule["field"]] if rule["field"] in model.data else rule.get("default")
    rotates = given == rule["on"] if isinstance(rule["on"], str) else truthy(given) is rule["on"]
    return None if rotates else model.path(rule["field"])


def chosen(model: Model) -> tuple[dict[str, Any], str, str, tuple[str, ...]]:
    """Return the rope dict that counts, its path, its source, and what is surprising about the choice."""
    scaling = table(model.prefix + "rope_scaling", model.data.get("rope_scaling"))
    params = table(model.prefix + "rope_parameters", model.data.get("rope_parameters"))
    convert = model.family.get("convert")
    if scaling and convert not in LEGACY_SPLIT:
        traps = ("rope_scaling_replaces_rope_parameters",) if params and params != scaling else ()
        return scaling, model.prefix + "rope_scaling", DICT, traps
    if params is not None:
        return params, model.prefix + "rope_parameters", DICT, ()
    return own_dict(model), model.prefix + "rope_parameters", CLASS, ()


def own_dict(model: Model) -> dict[str, Any]:
    """Return the dict that the class sets up for a config without one, less what a top-level field may fill in."""
    if not model.family.get("own_dict"):
        return {}
    made: dict[str, Any] = copy.deepcopy(dict(model.family["rope"]))
    if "rope_type" in made or "type" in made:
        if model.family.get("own_theta") != "fixed":
            made.pop("rope_theta", None)
        if model.family.get("own_partial") != "fixed":
            made.pop("partial_rotary_factor", None)
    return made


def nested_keys(model: Model, raw: dict[str, Any]) -> list[str]:
    """Names under which ``raw`` is nested: only those that the config's layers declare count."""
    labels = model.family.get("labels") or model.layer_types()
    if not model.known and not labels:
        labels = [
            key
            for key, value in raw.items()
            if key.endswith("_attention") and (value is None or isinstance(value, dict))
        ]
    return [key for key in raw if key in labels]


def flat(model: Model, raw: dict[str, Any], path: str, source: str) -> Parameters:
    one = entry(raw, path, source)
    unread = [key for key, value in raw.items() if isinstance(value, dict)]
    made = complete(model, one)
    if unread:
        made.trap("rope_type", "nested_dict_not_read", names=tuple(unread))
    return made


def nested(model: Model, raw: dict[str, Any], path: str, source: str) -> list[Parameters]:
    found = [entry(raw[key], f"{path}.{key}", source, key) for key in nested_keys(model, raw)]
    if model.family.get("convert") == "neomme":
        for one in found:
            own_values(model, one)
    return [complete(model, one) for one in found]


def own_values(model: Model, one: Parameters) -> None:
    """NeoMME's defaults of base and partial factor, which differ between its layer types."""
    own = model.family["rope"].get(one.layer_type, {})
    one.fill("rope_type", "default", Origin(CLASS, f"{one.path}.rope_type"))
    if model.data.get("rope_theta") is None and "rope_theta" in own:
        one.fill("rope_theta", own["rope_theta"], Origin(CLASS, f"{one.path}.rope_theta"))
    if "partial_rotary_factor" in own:
        one.fill(
            "partial_rotary_factor", own["partial_rotary_factor"], Origin(CLASS, f"{one.path}.partial_rotary_factor")
        )


def split(model: Model, raw: dict[str, Any], path: str, source: str) -> list[Parameters]:
    """Families with a local and a global base, whose older configs hold one rope_scaling and two bases."""
    convert = model.family["convert"]
    scaling = table(model.prefix + "rope_scaling", model.data.get("rope_scaling")) or {}
    dicts: dict[str, Parameters] = {}
    scaled_kinds = SPLIT if convert in BOTH_SCALED else ("full_attention",)
    lacking = [kind for kind in scaled_kinds if scaling and source == DICT and raw.get(kind) is None]
    if lacking:
        raise refuse(path, "keys_beside_scaling", sorted(raw), names=lacking)
    for kind in SPLIT:
        given = raw.get(kind) if source == DICT else None
        one = entry({} if given is None else given, f"{path}.{kind}", DICT, kind)
        if kind in scaled_kinds:
            for name, value in scaling.items():
                one.put(name, value, Origin(DICT, f"{model.prefix}rope_scaling.{name}"))
        if given is None:
            one.fill("rope_type", "default", Origin(CLASS, f"{path}.{kind}.rope_type"))
        one.fill("rope_theta", *split_theta(model, kind))
        dicts[kind] = one
    order = [k for k in raw if k in SPLIT] if source == DICT else []
    order += [k for k in SPLIT if k not in order]
    present = model.layer_types()
    return [complete(model, dicts[kind]) for kind in order if kind in present]


def split_theta(model: Model, kind: str) -> tuple[Any, Origin]:
    """Return the base of a layer type in a family with two: its own top-level field, then the class's value."""
    convert = model.family["convert"]
    if convert in BOTH_SCALED:
        name = "global_rope_theta" if kind == "full_attention" else "local_rope_theta"
    elif convert == "olmo3":
        name = "rope_theta" if kind == "full_attention" else ""
    else:
        name = "rope_theta" if kind == "full_attention" else "rope_local_base_freq"
    if name and name in model.data:
        return model.data[name], Origin(TOP, model.prefix + name)
    return model.family["rope"][kind]["rope_theta"], Origin(
        CLASS, model.prefix + (name or f"rope_parameters.{kind}.rope_theta")
    )


def compressed(model: Model, raw: dict[str, Any], path: str, source: str) -> list[Parameters]:
    """DeepSeek-V4: plain rotation in "main" layers, the scaled one in "compress" layers."""
    if isinstance(raw.get("main"), dict) and isinstance(raw.get("compress"), dict):
        both = [entry(raw[kind], f"{path}.{kind}", source, kind) for kind in ("main", "compress")]
        for one in both:
            if one.values.get("rope_type", one.values.get("type", "default")) != "default":
                one.fill("partial_rotary_factor", *v4_partial(model))
        return [complete(model, one) for one in both]
    share, where = v4_partial(model)
    found = []
    for kind, name in (("main", "rope_theta"), ("compress", "compress_rope_theta")):
        given = {} if kind == "main" else {k: v for k, v in raw.items() if k not in ("main", "compress")}
        one = entry(given, path, source, kind) if given else Parameters(path=f"{path}.{kind}", layer_type=kind)
        has = model.data.get(name) is not None
        base = model.data[name] if has else model.family["rope"][kind]["rope_theta"]
        one.put("rope_theta", base, Origin(TOP if has else CLASS, model.prefix + name))
        one.put("partial_rotary_factor", share, where)
        name_the_type(one)
        if one.values["rope_type"] == "yarn":
            one.fill("attention_factor", 1.0, Origin(CLASS, f"{path}.attention_factor"))
        found.append(complete(model, one))
    return found


def v4_partial(model: Model) -> tuple[Any, Origin]:
    if model.data.get("partial_rotary_factor") is not None:
        return model.data["partial_rotary_factor"], Origin(TOP, model.prefix + "partial_rotary_factor")
    if model.data.get("qk_rope_head_dim") is not None:
        width, head = count("qk_rope_head_dim", model.data["qk_rope_head_dim"]), model.get("head_dim")[0]
        return width / count("head_dim", head), Origin(TOP, model.prefix + "qk_rope_head_dim")
    return model.family["rope"]["main"]["partial_rotary_factor"], Origin(CLASS, model.prefix + "partial_rotary_factor")


def fixed(model: Model) -> Parameters:
    """Models whose code states the base, or a field of its own for it, and reads no scaling."""
    one = Parameters(path=model.prefix + "rope_parameters")
    one.put("rope_type", "default", Origin(CLASS, "rope_type"))
    unread: tuple[str, ...] = ("rope_scaling", "rope_parameters")
    if "rope_theta" in model.family:
        one.put("rope_theta", *model.get("rope_theta"))
    else:
        ratio, origin = model.get("rope_ratio")
        base = FALLBACK_THETA * (1.0 if ratio is None else number(origin.path, ratio))
        one.put("rope_theta", base, Origin(CLASS if ratio is None else TOP, origin.path))
        unread = (*unread, "rope_theta")
    if any(truthy(model.data.get(name)) for name in unread):
        one.trap("rope_type", "rope_fields_not_read")
    return one
