"""Layers that differ: their bases, their scaling, and those that do not turn."""

from __future__ import annotations

from collections.abc import Iterator

from rope_core.checks.case import LayerContext
from rope_core.findings import Finding, finite_float_or_none, make_finding, value_text
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT


def rope_type_text(rope: HfRope) -> str:
    """Return a rotation's type with its factor, where it has one."""
    factor = finite_float_or_none(rope.params.get("factor"))
    return rope.rope_type if factor in (None, 1.0) else f"{rope.rope_type} factor {value_text(factor)}"


def layer_type_phrase(rope: HfRope) -> str:
    """Return a layer type in one phrase, for a list."""
    what = "-" if rope.nope else f"{rope_type_text(rope)}, base {value_text(rope.base)}"
    return f"{rope.layer_type} ({what})"


def find_differing_layer_types(case: LayerContext) -> Iterator[Finding]:
    """Two bases in one model, or a scaling that only some layers have. Yielded once, for the first layer type."""
    turning = [rope for rope in case.ropes if not rope.nope]
    if not case.is_first or len(turning) < 2:
        return
    types = "; ".join(layer_type_phrase(rope) for rope in case.ropes)
    scaled = [rope for rope in turning if rope.rope_type != DEFAULT]
    if len({rope.base for rope in turning}) > 1:
        yield make_finding("bases_differ", case.rope.provenance["base"].path, types=types)
    if scaled and len(scaled) < len(turning):
        where = scaled[0].provenance["scheme"].path
        yield make_finding("scaling_on_some_layers", where, types=types, scaled=scaled[0].layer_type)


def find_scaled_sliding_layers(case: LayerContext) -> Iterator[Finding]:
    """Report a scaling on layers whose window is shorter than the trained length already."""
    rope = case.rope
    window = case.fields.get("sliding_window").value
    if rope.layer_type != "sliding_attention" or rope.nope or rope.rope_type == DEFAULT:
        return
    if isinstance(window, int) and not isinstance(window, bool) and 0 < window < rope.train_len:
        path = rope.provenance["scheme"].path
        yield make_finding("sliding_layers_scaled", path, window=window, train=rope.train_len, type=rope.rope_type)


def find_unrotated_layers(case: LayerContext) -> Iterator[Finding]:
    """Layers without rotation, by index; a list of flags that looks turned round."""
    if not case.is_first:
        return
    layers, total = case.rope.nope_layers, case.fields.layer_count()
    origin = case.rope.provenance["nope_layers"]
    if "layer_bases_differ" in origin.traps:
        yield make_finding("layer_bases_differ", origin.path, layers=total)
    if "no_rope_flag_inverted" in origin.traps and 2 * len(layers) > total:
        turning = tuple(i for i in range(total) if i not in set(layers))
        yield make_finding("nope_flags_turned_round", origin.path, resting=len(layers), total=total, turning=turning)
    elif 0 < len(layers) < total:
        yield make_finding("nope_layers", origin.path, layers=layers, resting=len(layers), total=total)


def find_layer_count_mismatch(case: LayerContext) -> Iterator[Finding]:
    """Report a list of layer types that is not as long as the model is deep: transformers refuses to load it."""
    listed, total = case.fields.stated.get("layer_types"), case.fields.layer_count()
    if case.is_first and isinstance(listed, list | tuple) and 0 < total != len(listed):
        severity = "error" if case.fields.is_known_type else "warning"
        yield make_finding(
            "layer_types_count", case.top_level_path("layer_types"), severity, count=len(listed), total=total
        )


RULES = (find_layer_count_mismatch, find_differing_layer_types, find_scaled_sliding_layers, find_unrotated_layers)
