"""What one layer type's rope dict makes its layers do at a length: scheme, parameters, factors.

Source: https://github.com/huggingface/transformers/blob/v5.24.0/src/transformers/modeling_rope_utils.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rope_core.errors import ArgumentError, ConfigError
from rope_core.hf.families import CLASS, DICT, FALLBACK, ValueOrigin
from rope_core.hf.fields import ModelFields, SourcedValue
from rope_core.hf.geometry import LayerGeometry, even_rotary_dim
from rope_core.hf.parameters import RopeEntry
from rope_core.hf.read import config_float, config_int, is_truthy
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import COMMON, LENGTH, NEEDS_LENGTH, READ_ELSEWHERE, TYPES
from rope_core.rope import MAX_DIM, Rope, read_only_array
from rope_core.schemes import SCHEMES, yarn_attention_factor
from rope_core.spectrum import Request, spectrum

FALLBACK_LEN = 4096
SourcedParams = dict[str, SourcedValue[Any]]


def build_rope(fields: ModelFields, entry: RopeEntry, geometry: LayerGeometry, seq_len: int | None = None) -> HfRope:
    """Return what a layer type does at a length in use, tokens; None for the state at load time.

    Raises ConfigError on values outside the scheme's ranges.
    """
    kind, head, longest = geometry.scheme.value, geometry.head_dim.value, geometry.max_len
    train = _train_len(entry, kind, longest)
    scheme, params, scheme_origin = _scheme_params(fields, entry, geometry, train.value, seq_len)
    plain = {name: each.value for name, each in params.items()}
    try:
        width, exact = even_rotary_dim(geometry.rotary_dim.value, geometry.base.value)
        request = Request(Rope(width, exact, train.value), scheme, plain, seq_len)
        answer = spectrum(request)
    except ArgumentError as error:
        if error.argument in params:
            raise ConfigError(params[error.argument].origin.path, error.rule, error.value) from None
        raise ConfigError.for_field(entry.path, error) from None
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ConfigError(entry.path, "finite_frequencies", plain) from None
    logits = _logit_scale(fields, entry, kind, plain)
    origins = geometry.provenance() | {"scheme": scheme_origin, "train_len": train.origin}
    if fields.family.get("learned_offsets"):
        origins["offsets"] = ValueOrigin(CLASS, fields.prefix + "model_type", ("learned_offsets",))
    origins |= {name: each.origin for name, each in params.items()}
    given = params.get("attention_factor")
    stated = given is not None and given.value is not None
    place = given.origin.path if given else entry.origin("attention_factor").path
    origins["attention_factor"] = given.origin if given and stated else ValueOrigin("derived", place)
    return HfRope(
        inv_freq=read_only_array(answer.inv_freq * 0.0) if entry.nope else answer.inv_freq,
        unscaled=request.rope.theta,
        attention_factor=answer.attention_factor,
        logit_scale=logits.value,
        rotary_dim=width,
        head_dim=head,
        layout=geometry.layout.value,
        scheme=scheme,
        rope_type=kind,
        params=request.params,  # type: ignore[arg-type]
        base=geometry.base.value,
        train_len=train.value,
        max_len=longest.value,
        seq_len=request.seq_len,
        layer_type=entry.layer_type,
        nope_layers=geometry.nope_layers.value,
        nope=entry.nope,
        mrope_section=_mrope_section(fields, entry, width),
        ignored=_ignored_keys(entry, kind),
        provenance={**origins, "logit_scale": logits.origin},
        request=request,
        model_type=fields.model_type,
        start=head - width if fields.family.get("trailing") else 0,
        backwards=bool(fields.family.get("backwards")),
    )


def indexer_rope(fields: ModelFields, rope: HfRope) -> HfRope:
    """Return what the indexer of a sparse attention turns by: the attention's frequencies in a layout of its own.

    Source: models/deepseek_v32/modeling_deepseek_v32.py (halves) and models/glm_moe_dsa/modeling_glm_moe_dsa.py
    (neighbours) of transformers 5.24.
    """
    name = "index_head_dim" if "indexer_head_dim" not in fields.stated else "indexer_head_dim"
    width = fields.get_int(name, rope.rotary_dim, MAX_DIM)
    head = rope.head_dim if width.value is None else width.value
    origins = {"head_dim": width.origin, "layout": ValueOrigin(CLASS, fields.prefix + "model_type")}
    start = head - rope.rotary_dim if fields.family.get("trailing") else 0
    layout = fields.family["indexer"]
    return replace(
        rope, layout=layout, head_dim=head, start=start, provenance={**rope.provenance, **origins}, part="indexer"
    )


def _train_len(entry: RopeEntry, kind: str, longest: SourcedValue[int | None]) -> SourcedValue[int]:
    """Return the length that the scheme starts from: the original for llama3, yarn and longrope, else the maximum."""
    if kind in NEEDS_LENGTH:
        given = entry.rope[LENGTH]
        return SourcedValue(config_int(given.origin.path, given.value), given.origin)
    if longest.value is None and kind == "dynamic":
        raise ConfigError(longest.origin.path, "given_for_type", None, type="dynamic")
    return SourcedValue(FALLBACK_LEN if longest.value is None else longest.value, longest.origin)


def _scheme_params(
    fields: ModelFields, entry: RopeEntry, geometry: LayerGeometry, train: int, seq_len: int | None
) -> tuple[str, SourcedParams, ValueOrigin]:
    """Return the scheme's name, the parameters that take effect, and where the scheme came from."""
    kind, alpha, model_type = geometry.scheme, entry.value("alpha"), fields.model_type or ""
    if kind.value == "dynamic" and is_truthy(alpha) and model_type.startswith("hunyuan"):
        factor = SourcedValue(config_float(entry.origin("alpha").path, alpha), entry.origin("alpha"))
        return "ntk", {"factor": factor}, kind.with_traps("alpha_read_as_ntk").origin
    params: SourcedParams = {}
    for param in SCHEMES[TYPES[kind.value]].params:
        given = _effective_value(param.name, param.default, entry, kind.value)
        if param.name == "factor" and given.value is None:
            given = _length_ratio(geometry.max_len, train, given.origin)
        params[param.name] = _checked_param(param.kind, given, geometry.rotary_dim.value)
    if model_type in ("phimoe", "phi3small") and kind.value == "longrope":
        params |= _own_mscale(model_type, entry, params, seq_len is not None and seq_len > train)
    return TYPES[kind.value], params, kind.origin


def _own_mscale(model_type: str, entry: RopeEntry, params: SourcedParams, is_long: bool) -> SourcedParams:
    """Phi-3-small and Phi-MoE take their attention factor from two keys; Phi-MoE never turns by long_factor.

    Source: PhimoeRotaryEmbedding.forward in transformers 5.24 models/phimoe/modeling_phimoe.py calls its init
    function without a length; SuRotaryEmbedding in microsoft/Phi-3-small-128k-instruct positional_embedding.py.
    """
    name = "long_mscale" if is_long else "short_mscale"
    origin = ValueOrigin(DICT, f"{entry.path}.{name}", ("mscale_by_length",))
    if name not in entry.rope:
        raise ConfigError(origin.path, "given_for_model", None, model_type=model_type)
    own: SourcedParams = {"attention_factor": SourcedValue(config_float(origin.path, entry.value(name)), origin)}
    if model_type == "phi3small":
        return own
    never = replace(params["long_factor"].origin, traps=("long_factor_never_used",))
    return {**own, "long_factor": SourcedValue(params["short_factor"].value, never)}


def _effective_value(name: str, default: object, entry: RopeEntry, kind: str) -> SourcedValue[Any]:
    """One parameter as transformers reads it, before the ratio replaces a missing factor."""
    given, origin = entry.value(name, 1.0 if kind == "proportional" else default), entry.origin(name)
    if name not in entry.rope:
        return SourcedValue(None if kind == "longrope" and name == "factor" else given, origin)
    if name == "truncate" and entry.layer_type is not None:
        return SourcedValue(True, replace(origin, traps=("nested_truncate_not_read",), values={"given": given}))
    if name in ("beta_fast", "beta_slow") and not is_truthy(given):
        return SourcedValue(default, ValueOrigin(FALLBACK, origin.path, ("zero_is_default",), {"given": given}))
    return SourcedValue(given, origin)


def _length_ratio(longest: SourcedValue[int | None], train: int, origin: ValueOrigin) -> SourcedValue[float]:
    """Return the factor where the config gives none: longest over trained length."""
    if longest.value is None:
        raise ConfigError(longest.origin.path, "given_without", None, other="factor")
    return SourcedValue(longest.value / train, ValueOrigin("derived", origin.path, ("factor_from_lengths",)))


def _checked_param(kind: str, given: SourcedValue[Any], rotary_dim: int) -> SourcedValue[Any]:
    """Return a parameter of the right type, or ConfigError; ranges are the scheme's own matter."""
    value, path = given.value, given.origin.path
    if kind == "bool":
        return SourcedValue(is_truthy(value), given.origin)
    if value is None and kind == "optional":
        return given
    if kind != "vector":
        return SourcedValue(config_float(path, value), given.origin)
    if not isinstance(value, list | tuple) or len(value) != rotary_dim // 2:
        got = len(value) if isinstance(value, list | tuple) else value
        raise ConfigError(path, "vector_length", got, pairs=rotary_dim // 2)
    return SourcedValue(tuple(config_float(f"{path}[{i}]", item) for i, item in enumerate(value)), given.origin)


def _logit_scale(fields: ModelFields, entry: RopeEntry, kind: str, params: Mapping[str, object]) -> SourcedValue[float]:
    """DeepSeek's second correction, m**2 with m = 0.1 * mscale_all_dim * ln(factor) + 1; 1.0 for other models.

    Source: yarn_apply_mscale in transformers 5.24 models/deepseek_v3/modeling_deepseek_v3.py
    """
    weight, origin = entry.value("mscale_all_dim"), entry.origin("mscale_all_dim")
    if not fields.family.get("logit_scale") or kind == "default" or not is_truthy(weight):
        return SourcedValue(1.0, origin)
    factor = params.get("factor", entry.value("factor"))
    if factor is None:
        raise ConfigError(f"{entry.path}.factor", "given_with", None, other="mscale_all_dim")
    m = yarn_attention_factor(config_float(f"{entry.path}.factor", factor), config_float(origin.path, weight))
    if not math.isfinite(m * m):
        raise ConfigError(origin.path, "finite_logit_scale", weight)
    return SourcedValue(m * m, origin)


def _mrope_section(fields: ModelFields, entry: RopeEntry, rotary_dim: int) -> tuple[int, ...] | None:
    """Pairs per axis of multimodal positions: of the rope dict, or of the model's code where that one fits."""
    sections = entry.value("mrope_section")
    if sections is None:
        own = fields.family.get("mrope_section")
        return tuple(own) if own and not entry.nope and sum(own) == rotary_dim // 2 else None
    path = entry.origin("mrope_section").path
    if not isinstance(sections, list | tuple) or len(sections) > 8:
        raise ConfigError(path, "pairs_per_axis", sections)
    whole_floats = [int(value) if isinstance(value, float) and value.is_integer() else value for value in sections]
    return tuple(config_int(f"{path}[{i}]", value, 0, MAX_DIM) for i, value in enumerate(whole_floats))


def _ignored_keys(entry: RopeEntry, kind: str) -> tuple[str, ...]:
    """Keys of the rope dict that nothing reads."""
    read = {*COMMON, *READ_ELSEWHERE, LENGTH, *(param.name for param in SCHEMES[TYPES[kind]].params)}
    return tuple(sorted(key for key in entry.rope if key not in read))
