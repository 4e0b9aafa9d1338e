"""One layer type's rope dict, completed as transformers 5.23 does: type, base, partial factor, trained length.

Source: RotaryEmbeddingConfigMixin in
https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.families import CLASS, DICT, FALLBACK, TOP, Origin
from rope_core.hf.normal import Model
from rope_core.hf.read import config_dict
from rope_core.hf.types import NEEDS_LENGTH

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
        """Enter ``value`` over what was there before."""
        self.values[name], self.origins[name] = value, origin

    def trap(self, name: str, *keys: str, **values: object) -> None:
        """Add trap keys to the origin of ``name``."""
        old = self.origins.get(name, Origin(DICT, f"{self.path}.{name}"))
        self.origins[name] = Origin(old.source, old.path, (*old.traps, *keys), {**old.values, **values})


def entry(values: object, path: str, source: str, layer_type: str | None = None) -> Parameters:
    """Wrap one dict of a config; an empty one of a class default counts as null."""
    inner = config_dict(path, values)
    if inner is None or (not inner and source == CLASS and layer_type is not None):
        return Parameters(path=path, layer_type=layer_type, nope=True)
    origins = {name: Origin(source, f"{path}.{name}") for name in inner}
    return Parameters(inner, origins, path, layer_type)


def complete(model: Model, params: Parameters) -> Parameters:
    """Fill in type, base, partial factor and trained length of one layer type."""
    for name, origin in params.origins.items():
        if place := model.places.get(origin.path.removeprefix(model.prefix)):
            params.origins[name] = replace(origin, path=place)
    if params.nope:
        return params
    name_the_type(params)
    old = params.path.endswith("rope_scaling")
    base, origin = theta_for(model, old)
    had = "rope_theta" in params.values
    if model.family.get("convert") in AS_IT_STANDS:
        insist(model, params)
    params.fill("rope_theta", base, origin)
    from_dict = had and params.origins["rope_theta"].source == DICT
    if from_dict and origin.source == TOP and base != params.values["rope_theta"]:
        params.trap("rope_theta", "top_level_base_ignored", top_level=base)
    if (part := partial_for(model, old, params.values["rope_type"])) is not None:
        params.fill("partial_rotary_factor", *part)
    legacy_types(model, params)
    trained_length(model, params)
    return params


def top_level(model: Model, name: str, ignored: str) -> tuple[Any, Origin] | None:
    """Return a top-level rope field, unless the class never reads it."""
    if model.has(name) and model.family.get(ignored) != "ignored":
        value, origin = model.get(name)
        return value, origin
    return None


def theta_for(model: Model, old: bool) -> tuple[Any, Origin]:
    """Return the base that a dict without one gets: top level, then class, then 10,000."""
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
    """Return the partial factor that a dict without one gets, or None."""
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


def insist(model: Model, params: Parameters) -> None:
    """Refuse what newer families leave to the config: the base, and the trained length where a type needs one.

    A top-level base still reaches the types that standardise their dict once more.
    """
    kind, needs = params.values["rope_type"], ["rope_theta"]
    if kind in ("linear", "dynamic", "yarn", "longrope") and model.data.get("rope_theta") is not None:
        needs = []
    if kind in NEEDS_LENGTH:
        needs.append("original_max_position_embeddings")
    for name in needs:
        if name not in params.values:
            raise ConfigError(f"{params.path}.{name}", "given_for_model", None, model_type=model.model_type)


def name_the_type(params: Parameters) -> None:
    """Settle rope_type: it wins over the older "type", which counts where it is missing."""
    old = params.values.get("type")
    if "rope_type" not in params.values:
        source = DICT if "type" in params.values else FALLBACK
        path = f"{params.path}.type" if "type" in params.values else f"{params.path}.rope_type"
        params.put("rope_type", old if "type" in params.values else "default", Origin(source, path))
    elif old is not None and old != params.values["rope_type"]:
        params.trap("rope_type", "type_and_rope_type_differ", type=old)
    kind = params.values["rope_type"]
    if not isinstance(kind, str):
        raise ConfigError(params.origins["rope_type"].path, "a_name", kind)


def legacy_types(model: Model, params: Parameters) -> None:
    """Rename types as single families do; the trained length of "yarn" is settled under its old name."""
    kind, convert = params.values["rope_type"], model.family.get("convert")
    if convert in ("qwen2_vl", "qwen2_5_vl") and kind == "mrope":
        rename(params, "default", "mrope_read_as_default")
    if convert == "hunyuan_vl" and kind == "xdrope":
        rename(params, "dynamic", "xdrope_read_as_dynamic")
    if convert in ("phi3", "phi4_multimodal") and kind in ("su", "yarn"):
        rename(params, "longrope", f"{kind}_read_as_longrope")
    allowed = ONLY.get(convert or model.model_type or "")
    if allowed and params.values["rope_type"] not in allowed:
        raise ConfigError(params.origins["rope_type"].path, "family_type", kind, names=allowed)


def rename(params: Parameters, kind: str, trap: str) -> None:
    old = params.values["rope_type"]
    params.values["rope_type"] = kind
    params.trap("rope_type", trap, type=old)


def trained_length(model: Model, params: Parameters) -> None:
    """Settle original_max_position_embeddings: a flat dict yields to the top level, a nested one does not."""
    name = "original_max_position_embeddings"
    if params.values["rope_type"] not in NEEDS_LENGTH:
        return
    if "su_read_as_longrope" in params.origins["rope_type"].traps and name not in params.values:
        params.trap("rope_type", "su_without_length_fails")
    top, origin = model.get(name)
    if params.layer_type is None and origin.source != FALLBACK:
        old = params.values.get(name)
        params.put(name, top, origin)
        if old is not None and old != top:
            params.trap(name, "trained_length_overridden", dict=old)
        return
    longest, where = model.get("max_position_embeddings")
    if name not in params.values:
        params.put(name, longest, where)
        params.trap(name, "trained_length_is_max_length")
