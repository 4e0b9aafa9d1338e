"""Surprises in a value's origin that need no numbers beyond the value itself."""

from __future__ import annotations

from collections.abc import Iterator

from rope_core.checks.case import Case, Finding, finding

# The trap's key is the finding's.
PLAIN = (
    "su_read_as_longrope",
    "su_without_length_fails",
    "yarn_read_as_longrope",
    "xdrope_read_as_dynamic",
    "nested_dict_not_read",
    "factor_from_lengths",
    "nope_layer_type",
    "switched_off",
    "learned_offsets",
    "odd_width",
    "turns_backwards",
)
UNREAD = ("rope_scaling", "rope_parameters", "rope_theta")


def plain(case: Case) -> Iterator[Finding]:
    """Traps that are findings as they are."""
    for name, origin in case.rope.provenance.items():
        for trap in origin.traps:
            if trap in PLAIN:
                value = case.rope.rotary_dim if trap == "odd_width" else case.rope.params.get(name, case.rope.rope_type)
                names = origin.values.get("names") or ("-",)
                yield finding(trap, origin.path, value=value, type=case.rope.rope_type, names=names)


def fixed_code(case: Case) -> Iterator[Finding]:
    """Models whose code states the base and reads no rope field at all."""
    if "rope_fields_not_read" not in case.rope.provenance["scheme"].traps:
        return
    base = case.rope.provenance["base"].path
    names = tuple(name for name in UNREAD if case.fields.stated.get(name) and case.top(name) != base)
    harmless = names == ("rope_theta",) and case.fields.stated["rope_theta"] == case.rope.base
    yield finding(
        "rope_fields_not_read",
        case.top(names[0]),
        "note" if harmless else "warning",
        names=names,
        base=case.rope.base,
        model_type=case.fields.model_type,
    )


RULES = (plain, fixed_code)
