"""Widths, layout, lengths and resting layers of a Hugging Face model, by its class's own rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.completion import Parameters
from rope_core.hf.families import CLASS, DICT, FALLBACK, TOP, Origin
from rope_core.hf.normal import Model
from rope_core.hf.read import config_dict, config_float, config_int
from rope_core.rope import MAX_DIM


def head_dim(model: Model, params: Parameters, notes: dict[str, Origin]) -> int:
    """Width of a head by the class's own rule."""
    rule = model.family.get("head_dim", "divide")
    by_type = model.family.get("head_dims")
    traps: tuple[str, ...] = ()
    if "per_layer_config" in model.data and (listed := listed_width(model, params.layer_type or "")):
        value, origin = listed
    elif by_type and params.layer_type == "full_attention" and "per_layer_config" not in model.data:
        value, origin = model.data.get("global_head_dim"), Origin(TOP, model.prefix + "global_head_dim")
        if value is None:
            value, origin = by_type["full_attention"], Origin(CLASS, origin.path)
    else:
        value, origin = model.get("head_dim")
        unread = origin.source == TOP and model.family.get("head_dim_given") == "ignored"
        given = value
        if origin.source != TOP or value is None or unread:
            value, origin = derived_head(model, rule)
        if unread and given is not None and given != value:
            traps = ("head_dim_not_read",)
        reads_null = params.values.get("rope_type") in ("dynamic", "yarn", "longrope")
        if model.family.get("head_dim_null") and origin.source == "derived" and reads_null:
            traps = (*traps, "head_dim_null_fails")
    notes["head_dim"] = Origin(origin.source, origin.path, traps)
    return config_int(origin.path, value, 1, MAX_DIM)


def listed_width(model: Model, kind: str) -> tuple[Any, Origin] | None:
    """head_dim of a layer type in a saved config object, which lists exceptions by layer; None where it lists none."""
    path = model.prefix + "per_layer_config"
    listed = config_dict(path, model.data.get("per_layer_config")) or {}
    layers = {index for index, layer in enumerate(model.layer_types()) if layer == kind}
    for key, fields in listed.items():
        if key.isdecimal() and len(key) < 6 and int(key) in layers:
            width = (config_dict(f"{path}.{key}", fields) or {}).get("head_dim")
            return None if width is None else (width, Origin(TOP, f"{path}.{key}.head_dim"))
    return None


def derived_head(model: Model, rule: object) -> tuple[Any, Origin]:
    """head_dim where the config gives none: a fixed number, the MLA part, or hidden_size / num_attention_heads."""
    if isinstance(rule, int):
        return rule, Origin(CLASS, model.prefix + "head_dim")
    if rule == "qk_rope_head_dim" or (not model.known and model.data.get("qk_rope_head_dim") is not None):
        return model.get("qk_rope_head_dim")
    if rule == "mla_sum":
        parts = [model.get(name) for name in ("qk_nope_head_dim", "qk_rope_head_dim")]
        return sum(config_int(origin.path, value) for value, origin in parts), parts[1][1]
    hidden, of_hidden = model.get("hidden_size")
    heads, of_heads = model.get("num_attention_heads")
    if hidden is None or heads is None:
        lacking = of_hidden.path if hidden is None else of_heads.path
        raise ConfigError(lacking, "given_without", None, other="head_dim")
    width = config_int(of_hidden.path, hidden) // config_int(of_heads.path, heads)
    return width * int(model.family.get("head_dim_times", 1)), Origin("derived", of_hidden.path)


def rotary_dim(model: Model, params: Parameters, kind: str, head: int, notes: dict[str, Origin]) -> int:
    """Rotating width: int(head_dim * partial factor), except where the default type of a class does not read it.

    The width may be odd: see ``turning``.
    """
    share, origin = 1.0, Origin("derived", notes["head_dim"].path)
    traps: tuple[str, ...] = ()
    width = head
    if model.family.get("fixed"):
        width, origin = fixed_width(model, head)
    elif params.values.get("partial_rotary_factor") is not None:
        origin = params.origins["partial_rotary_factor"]
        share = config_float(origin.path, params.values["partial_rotary_factor"])
        if not 0.0 < share <= 1.0:
            raise ConfigError(origin.path, "share", share)
        if kind == "default" and model.known and not model.family.get("default_honours_partial"):
            traps = ("default_ignores_partial",) if share != 1.0 else ()
        elif kind != "proportional":
            width = int(head * share)
    notes["rotary_dim"] = Origin(origin.source, origin.path, (*origin.traps, *traps), origin.values)
    if width < 2 or (width % 2 and (width == head or kind in ("dynamic", "longrope", "proportional"))):
        raise ConfigError(origin.path, "even_turning", f"{width} of {head}")
    if width % 2:
        notes["rotary_dim"] = replace(notes["rotary_dim"], traps=(*notes["rotary_dim"].traps, "odd_width"))
    return width


def turning(width: int, base: float) -> tuple[int, float]:
    """Return the even width that turns, and the base that gives it the exponents of an odd one.

    transformers takes ``arange(0, width, 2) / width``, which for an odd width has a pair more than fits: one dimension
    more turns, by base**(-2i/width).

    >>> turning(20, 100.0), turning(3, 1000.0)
    ((20, 100.0), (4, 10000.0))
    """
    return (width, base) if width % 2 == 0 else (width + 1, float(round(base ** ((width + 1) / width), 9)))


def fixed_width(model: Model, head: int) -> tuple[int, Origin]:
    """Rotating width of models whose code, not a rope dict, sets it."""
    if model.family.get("half_of_head"):
        return head // 2, Origin(CLASS, model.prefix + "head_dim")
    if model.family.get("half_of_projection"):
        width, origin = model.get("projection_dim")
        heads, of_heads = model.get("num_attention_heads")
        return max(config_int(origin.path, width) // (2 * config_int(of_heads.path, heads)), 32), origin
    value, origin = model.get("rotary_dim")
    return (head, origin) if value is None else (config_int(origin.path, value, 2, head), origin)


def longest(model: Model, notes: dict[str, Origin]) -> int | None:
    """max_position_embeddings, or None where neither config nor class says."""
    value, origin = model.get("max_position_embeddings")
    notes["max_len"] = origin
    return None if value is None else config_int(origin.path, value)


def layout_of(model: Model, notes: dict[str, Origin]) -> str:
    """How the weights pair dimensions, by model_type; half where transformers does not know the model."""
    if not model.known:
        notes["layout"] = Origin(FALLBACK, model.prefix + "model_type", ("unknown_family",))
        return "half"
    traps: tuple[str, ...] = ("turns_backwards",) if model.family.get("backwards") else ()
    layout = model.family["layout"]
    if model.family.get("deinterleaved"):
        if model.data.get("rope_interleave", True) or not model.family.get("interleave_flag"):
            traps = ("deinterleaved_then_half",)
        elif model.family.get("interleave_flag"):
            notes["layout"] = Origin(TOP, model.prefix + "rope_interleave", ("rope_interleave_off",))
            return "half"
    notes["layout"] = Origin(CLASS, model.prefix + "model_type", traps)
    return str(layout)


def nope_layers(model: Model, layers: list[Parameters], notes: dict[str, Origin]) -> tuple[int, ...]:
    """Return the indices of the layers that do not rotate."""
    rule, total = model.family.get("nope"), model.layers()
    notes["nope_layers"] = Origin(CLASS if rule else FALLBACK, model.prefix + "layer_types")
    if layers[0].switched_off:
        notes["nope_layers"] = Origin(TOP, layers[0].path)
        return tuple(range(total))
    resting = {params.layer_type for params in layers if params.nope}
    if resting:
        notes["nope_layers"] = Origin(DICT, layers[0].path)
        return tuple(i for i, kind in enumerate(model.layer_types()) if kind in resting)
    if rule == "no_rope_layers":
        return flagged(model, total, notes)
    if rule == "layer_rope_theta":
        return without_base(model, total, notes)
    if rule == "attn_type_list":
        return linear_layers(model, total, notes)
    window, _ = model.get("sliding_window")
    if rule == "full_attention" or (rule == "full_attention_if_window" and window is not None):
        return tuple(i for i, kind in enumerate(model.layer_types()) if kind != "sliding_attention")
    return ()


def flagged(model: Model, total: int, notes: dict[str, Origin]) -> tuple[int, ...]:
    """Layers whose entry in no_rope_layers is 0: the flag says 1 where a layer does rotate."""
    path = model.prefix + "no_rope_layers"
    given = model.data.get("no_rope_layers")
    if not given:
        every, origin = model.get("no_rope_layer_interval")
        notes["nope_layers"] = origin if origin.source == TOP else Origin(CLASS, origin.path)
        step = 4 if every is None else config_int(origin.path, every)
        return tuple(i for i in range(total) if (i + 1) % step == 0)
    if not isinstance(given, list | tuple) or len(given) < total:
        raise ConfigError(path, "layer_entries", given, layers=total)
    flags = [
        config_int(f"{path}[{i}]", int(v) if isinstance(v, bool) else v, 0, 1) for i, v in enumerate(given[:total])
    ]
    notes["nope_layers"] = Origin(TOP, path, ("no_rope_flag_inverted",))
    return tuple(i for i, flag in enumerate(flags) if not flag)


def without_base(model: Model, total: int, notes: dict[str, Origin]) -> tuple[int, ...]:
    """Layers whose own base is 0."""
    given = model.data.get("layer_rope_theta")
    if given is None:
        if (model.model_type or "").startswith("muse"):
            return tuple(i for i in range(total) if (total - 1 - i) % 4 == 0)
        return ()
    path = model.prefix + "layer_rope_theta"
    if not isinstance(given, list | tuple) or len(given) < total:
        raise ConfigError(path, "layer_entries", given, layers=total)
    bases = [config_float(f"{path}[{i}]", value) for i, value in enumerate(given[:total])]
    differ = ("layer_bases_differ",) if len({b for b in bases if b}) > 1 else ()
    notes["nope_layers"] = Origin(TOP, path, differ)
    return tuple(i for i, base in enumerate(bases) if not base)


def linear_layers(model: Model, total: int, notes: dict[str, Origin]) -> tuple[int, ...]:
    """Layers of linear attention, which MiniMax's remote code leaves without rotation: 0 in attn_type_list."""
    path = model.path("attn_type_list")
    given = model.data.get("attn_type_list")
    if given is None:
        return ()
    if not isinstance(given, list | tuple) or len(given) < total:
        raise ConfigError(path, "layer_entries", given, layers=total)
    notes["nope_layers"] = Origin(TOP, path)
    return tuple(i for i, kind in enumerate(given[:total]) if not kind)
