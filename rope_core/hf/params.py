"""From a config's rope fields, old or new, to the effective parameters of each layer type, as transformers 5.23 does.

Source: RotaryEmbeddingConfigMixin in
https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/modeling_rope_utils.py
and the overrides of convert_rope_params_to_dict in models/*/configuration_*.py.
"""

from __future__ import annotations

import copy
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.completion import FALLBACK_THETA, Parameters, complete, entry, name_the_type
from rope_core.hf.families import CLASS, DICT, SPLIT, TOP, Origin
from rope_core.hf.normal import Model
from rope_core.hf.read import config_dict, config_float, config_int, is_truthy

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
    if source == DICT and raw and model.family.get("flat_dict") == "refused" and not nested_keys(model, raw):
        raise ConfigError(path, "dict_per_type", sorted(raw), model_type=model.model_type)
    if convert == "neomme":
        raw, source = {**{kind: {} for kind in model.layer_types()}, **raw}, DICT
    if convert in LEGACY_SPLIT:
        layers = split(model, raw, path, source)
    elif model.family.get("labels") == ["main", "compress"]:
        layers = compressed(model, raw, path, source)
    elif nested_keys(model, raw):
        if model.family.get("per_type") is False:
            raise ConfigError(path, "flat_dict", sorted(raw), model_type=model.model_type)
        layers = nested(model, raw, path, source)
    else:
        if model.family.get("per_type"):
            raise ConfigError(path, "dict_per_type", sorted(raw), model_type=model.model_type)
        layers = [flat(model, raw, path, source)]
    for params in layers:
        if traps and not params.nope:
            params.trap("rope_theta", *traps)
    return layers


def switched_off(model: Model) -> str | None:
    """Return the place of the field that turns the rotation of this model off, or None where it is on."""
    rule = model.family.get("switch")
    if rule is None:
        return None
    given = model.data[rule["field"]] if rule["field"] in model.data else rule.get("default")
    rotates = given == rule["on"] if isinstance(rule["on"], str) else is_truthy(given) is rule["on"]
    return None if rotates else model.path(rule["field"])


def chosen(model: Model) -> tuple[dict[str, Any], str, str, tuple[str, ...]]:
    """Return the rope dict that counts, its path, its source, and what is surprising about the choice."""
    scaling = config_dict(model.prefix + "rope_scaling", model.data.get("rope_scaling"))
    params = config_dict(model.prefix + "rope_parameters", model.data.get("rope_parameters"))
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
    own: dict[str, Any] = copy.deepcopy(dict(model.family["rope"]))
    if "rope_type" in own or "type" in own:
        if model.family.get("own_theta") != "fixed":
            own.pop("rope_theta", None)
        if model.family.get("own_partial") != "fixed":
            own.pop("partial_rotary_factor", None)
    return own


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
    params = entry(raw, path, source)
    unread = [key for key, value in raw.items() if isinstance(value, dict)]
    whole = complete(model, params)
    if unread:
        whole.trap("rope_type", "nested_dict_not_read", names=tuple(unread))
    return whole


def nested(model: Model, raw: dict[str, Any], path: str, source: str) -> list[Parameters]:
    layers = [entry(raw[key], f"{path}.{key}", source, key) for key in nested_keys(model, raw)]
    if model.family.get("convert") == "neomme":
        for params in layers:
            own_values(model, params)
    return [complete(model, params) for params in layers]


def own_values(model: Model, params: Parameters) -> None:
    """NeoMME's defaults of base and partial factor, which differ between its layer types."""
    own = model.family["rope"].get(params.layer_type, {})
    params.fill("rope_type", "default", Origin(CLASS, f"{params.path}.rope_type"))
    if model.data.get("rope_theta") is None and "rope_theta" in own:
        params.fill("rope_theta", own["rope_theta"], Origin(CLASS, f"{params.path}.rope_theta"))
    if "partial_rotary_factor" in own:
        params.fill(
            "partial_rotary_factor", own["partial_rotary_factor"], Origin(CLASS, f"{params.path}.partial_rotary_factor")
        )


def split(model: Model, raw: dict[str, Any], path: str, source: str) -> list[Parameters]:
    """Families with a local and a global base, whose older configs hold one rope_scaling and two bases."""
    convert = model.family["convert"]
    scaling = config_dict(model.prefix + "rope_scaling", model.data.get("rope_scaling")) or {}
    dicts: dict[str, Parameters] = {}
    scaled_kinds = SPLIT if convert in BOTH_SCALED else ("full_attention",)
    lacking = [kind for kind in scaled_kinds if scaling and source == DICT and raw.get(kind) is None]
    if lacking:
        raise ConfigError(path, "keys_beside_scaling", sorted(raw), names=lacking)
    for kind in SPLIT:
        given = raw.get(kind) if source == DICT else None
        params = entry({} if given is None else given, f"{path}.{kind}", DICT, kind)
        if kind in scaled_kinds:
            for name, value in scaling.items():
                params.put(name, value, Origin(DICT, f"{model.prefix}rope_scaling.{name}"))
        if given is None:
            params.fill("rope_type", "default", Origin(CLASS, f"{path}.{kind}.rope_type"))
        params.fill("rope_theta", *split_theta(model, kind))
        dicts[kind] = params
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
        for params in both:
            if params.values.get("rope_type", params.values.get("type", "default")) != "default":
                params.fill("partial_rotary_factor", *v4_partial(model))
        return [complete(model, params) for params in both]
    share, where = v4_partial(model)
    layers = []
    for kind, name in (("main", "rope_theta"), ("compress", "compress_rope_theta")):
        given = {} if kind == "main" else {k: v for k, v in raw.items() if k not in ("main", "compress")}
        params = entry(given, path, source, kind) if given else Parameters(path=f"{path}.{kind}", layer_type=kind)
        has = model.data.get(name) is not None
        base = model.data[name] if has else model.family["rope"][kind]["rope_theta"]
        params.put("rope_theta", base, Origin(TOP if has else CLASS, model.prefix + name))
        params.put("partial_rotary_factor", share, where)
        name_the_type(params)
        if params.values["rope_type"] == "yarn":
            params.fill("attention_factor", 1.0, Origin(CLASS, f"{path}.attention_factor"))
        layers.append(complete(model, params))
    return layers


def v4_partial(model: Model) -> tuple[Any, Origin]:
    if model.data.get("partial_rotary_factor") is not None:
        return model.data["partial_rotary_factor"], Origin(TOP, model.prefix + "partial_rotary_factor")
    if model.data.get("qk_rope_head_dim") is not None:
        width, head = config_int("qk_rope_head_dim", model.data["qk_rope_head_dim"]), model.get("head_dim")[0]
        return width / config_int("head_dim", head), Origin(TOP, model.prefix + "qk_rope_head_dim")
    return model.family["rope"]["main"]["partial_rotary_factor"], Origin(CLASS, model.prefix + "partial_rotary_factor")


def fixed(model: Model) -> Parameters:
    """Models whose code states the base, or a field of its own for it, and reads no scaling."""
    params = Parameters(path=model.prefix + "rope_parameters")
    params.put("rope_type", "default", Origin(CLASS, "rope_type"))
    unread: tuple[str, ...] = ("rope_scaling", "rope_parameters")
    field = model.family.get("theta_field", "rope_theta")
    if field in model.family:
        params.put("rope_theta", *model.get(field))
    else:
        ratio, origin = model.get("rope_ratio")
        base = FALLBACK_THETA * (1.0 if ratio is None else config_float(origin.path, ratio))
        params.put("rope_theta", base, Origin(CLASS if ratio is None else TOP, origin.path))
        field = ""
    if field != "rope_theta":
        unread = (*unread, "rope_theta")
    if any(is_truthy(model.data.get(name)) for name in unread):
        params.trap("rope_type", "rope_fields_not_read")
    return params
