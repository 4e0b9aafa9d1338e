"""From a config's rope fields, old or new, to the effective parameters of each layer type, as transformers 5.23 does.

Source: RotaryEmbeddingConfigMixin in
https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/modeling_rope_utils.py
and the overrides of convert_rope_params_to_dict in models/*/configuration_*.py.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

from rope_core.hf.families import CLASS, DICT, FALLBACK, SPLIT, TOP, Origin
from rope_core.hf.normal import Model
from rope_core.hf.read import count, number, refuse, table, truthy

NEEDS_LENGTH = ("llama3", "yarn", "longrope")
AS_IT_STANDS = (
    "beam",
    "diffusion_gemma",
    "embedding_gemma2",
    "gemma4",
    "gemma4_unified",
    "laguna",
    "mellum",
    "mimo_v2_flash",
)
LEGACY_SPLIT = ("gemma3", "gemma3n", "t5gemma2", "modernbert", "modernbert_decoder", "olmo3")
BOTH_SCALED = ("modernbert", "modernbert_decoder")
# Types that a family's own validation or rotary module admits.
ONLY = {
    "phi3": ("default", "longrope"),
    "phi4_multimodal": ("default", "longrope"),
    "phimoe": ("default", "longrope"),
    "recurrent_gemma": ("default",),
}
FALLBACK_THETA = 10_000.0


@dataclass
class Parameters:
    """The effective rope dict of one layer type, with the origin of each entry.

    ``nope`` marks a layer type whose entry is null: its layers do not rotate; ``switched_off`` a whole model that does
    not, because the field at ``path`` says so.
    """

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    path: str = "rope_parameters"
    layer_type: str | None = None
    nope: bool = False
    switched_off: bool = False

    def fill(self, name: str, value: Any, origin: Origin) -> None:
        """Enter ``value`` unless the dict has the name already, even as null."""
        if name not in self.values:
            self.put(name, value, origin)

    def put(self, name: str, value: Any, origin: Origin) -> None:
        """Enter ``value`` over whatever stood there."""
        self.values[name], self.origins[name] = value, origin

    def trap(self, name: str, *keys: str, **values: object) -> None:
        """Add trap keys to the origin of ``name``."""
        old = self.origins.get(name, Origin(DICT, f"{self.path}.{name}"))
        self.origins[name] = Origin(old.source, old.path, (*old.traps, *keys), {**old.values, **values})


def effective(model: Model) -> list[Parameters]:
    """The parameters of each layer type in the config's order; one entry without a type where the dict is flat."""
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
    for entry in found:
        if traps and not entry.nope:
            entry.trap("rope_theta", *traps)
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
    """The rope dict that counts, its path, its source, and what is surprising about the choice."""
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
    """The dict that the class sets up when the config has none, without what a top-level field may still fill in."""
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


def entry(values: object, path: str, source: str, layer_type: str | None = None) -> Parameters:
    """Wrap one dict of a config; an empty one of a class default stands for null."""
    inner = table(path, values)
    if inner is None or (not inner and source == CLASS and layer_type is not None):
        return Parameters(path=path, layer_type=layer_type, nope=True)
    origins = {name: Origin(source, f"{path}.{name}") for name in inner}
    return Parameters(inner, origins, path, layer_type)


def top_level(model: Model, name: str, ignored: str) -> tuple[Any, Origin] | None:
    """A top-level rope field, unless the class never reads it."""
    if model.has(name) and model.family.get(ignored) != "ignored":
        value, origin = model.get(name)
        return value, origin
    return None


def theta_for(model: Model, old: bool) -> tuple[Any, Origin]:
    """The base that a dict without one gets: top level, then class, then 10,000."""
    convert = model.family.get("convert")
    unknown = not model.known and not model.has("rope_theta") and model.has("rotary_emb_base")
    own = "rotary_emb_base" if unknown or convert in ("gpt_neox", "gpt_neox_japanese") else "rope_theta"
    reads = model.family.get("top_theta") != "ignored" or convert in AS_IT_STANDS or own != "rope_theta"
    if reads and model.data.get(own) is not None:
        return model.data[own], Origin(TOP, model.prefix + own)
    scaled = model.family.get("theta_of_scaling") if old else None
    if scaled is not None or "theta" in model.family:
        return scaled or model.family["theta"], Origin(CLASS, model.prefix + own)
    return FALLBACK_THETA, Origin(FALLBACK, model.prefix + own)


def partial_for(model: Model, old: bool, kind: str) -> tuple[Any, Origin] | None:
    """The partial factor that a dict without one gets, or None."""
    convert = model.family.get("convert")
    # The scaling functions standardise the dict once more, when a top-level field has become an attribute.
    late = kind != "default" and convert is not None
    no_default = old and model.family.get("partial_of_scaling") == "none"
    if convert in ("gpt_neox", "gpt_neox_japanese") or (not model.known and model.has("rotary_pct")):
        if "rotary_pct" in model.data:
            return model.data["rotary_pct"], Origin(TOP, model.prefix + "rotary_pct")
    else:
        top = top_level(model, "partial_rotary_factor", "" if no_default or late else "top_partial")
        if top is not None and top[0] is not None:
            return top
    if "partial" in model.family and not no_default:
        return model.family["partial"], Origin(CLASS, model.prefix + "partial_rotary_factor")
    return None


def complete(model: Model, one: Parameters) -> Parameters:
    """Fill in type, base, partial factor and trained length of one layer type."""
    for name, origin in one.origins.items():
        if place := model.places.get(origin.path.removeprefix(model.prefix)):
            one.origins[name] = replace(origin, path=place)
    if one.nope:
        return one
    name_the_type(one)
    old = one.path.endswith("rope_scaling")
    base, origin = theta_for(model, old)
    had = "rope_theta" in one.values
    if model.family.get("convert") in AS_IT_STANDS:
        insist(model, one)
    one.fill("rope_theta", base, origin)
    from_dict = had and one.origins["rope_theta"].source == DICT
    if from_dict and origin.source == TOP and base != one.values["rope_theta"]:
        one.trap("rope_theta", "top_level_base_ignored", top_level=base)
    if (part := partial_for(model, old, one.values["rope_type"])) is not None:
        one.fill("partial_rotary_factor", *part)
    legacy_types(model, one)
    trained_length(model, one)
    return one


def insist(model: Model, one: Parameters) -> None:
    """Refuse what newer families leave to the config: the base, and the trained length where a type needs one.

    A top-level base still reaches the types that standardise their dict once more.
    """
    kind, needs = one.values["rope_type"], ["rope_theta"]
    if kind in ("linear", "dynamic", "yarn", "longrope") and model.data.get("rope_theta") is not None:
        needs = []
    if kind in NEEDS_LENGTH:
        needs.append("original_max_position_embeddings")
    for name in needs:
        if name not in one.values:
            raise refuse(f"{one.path}.{name}", "given_for_model", None, model_type=model.model_type)


def name_the_type(one: Parameters) -> None:
    """Settle rope_type: it wins over the older "type", which stands in where it is missing."""
    old = one.values.get("type")
    if "rope_type" not in one.values:
        source = DICT if "type" in one.values else FALLBACK
        path = f"{one.path}.type" if "type" in one.values else f"{one.path}.rope_type"
        one.put("rope_type", old if "type" in one.values else "default", Origin(source, path))
    elif old is not None and old != one.values["rope_type"]:
        one.trap("rope_type", "type_and_rope_type_differ", type=old)
    kind = one.values["rope_type"]
    if not isinstance(kind, str):
        raise refuse(one.origins["rope_type"].path, "a_name", kind)


def legacy_types(model: Model, one: Parameters) -> None:
    """Rename types as single families do; the trained length of "yarn" is settled under its old name."""
    kind, convert = one.values["rope_type"], model.family.get("convert")
    if convert in ("qwen2_vl", "qwen2_5_vl") and kind == "mrope":
        rename(one, "default", "mrope_read_as_default")
    if convert == "hunyuan_vl" and kind == "xdrope":
        rename(one, "dynamic", "xdrope_read_as_dynamic")
    if convert in ("phi3", "phi4_multimodal") and kind in ("su", "yarn"):
        rename(one, "longrope", f"{kind}_read_as_longrope")
    allowed = ONLY.get(convert or model.model_type or "")
    if allowed and one.values["rope_type"] not in allowed:
        raise refuse(one.origins["rope_type"].path, "family_type", kind, names=allowed)


def rename(one: Parameters, kind: str, trap: str) -> None:
    old = one.values["rope_type"]
    one.values["rope_type"] = kind
    one.trap("rope_type", trap, type=old)


def trained_length(model: Model, one: Parameters) -> None:
    """Settle original_max_position_embeddings: a flat dict yields to the top level, a nested one does not."""
    name = "original_max_position_embeddings"
    if one.values["rope_type"] not in NEEDS_LENGTH:
        return
    if "su_read_as_longrope" in one.origins["rope_type"].traps and name not in one.values:
        one.trap("rope_type", "su_without_length_fails")
    top, origin = model.get(name)
    if one.layer_type is None and origin.source != FALLBACK:
        old = one.values.get(name)
        one.put(name, top, origin)
        if old is not None and old != top:
            one.trap(name, "trained_length_overridden", dict=old)
        return
    longest, where = model.get("max_position_embeddings")
    if name not in one.values:
        one.put(name, longest, where)
        one.trap(name, "trained_length_is_max_length")


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
    """The base of a layer type in a family with two: its own top-level field, then the class's value."""
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
