"""Surprises in a value's origin that need no numbers beyond the value itself."""

from __future__ import annotations

from collections.abc import Iterator

from rope_core.checks.case import LayerContext
from rope_core.findings import Finding, make_finding

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


def find_family_traps(case: LayerContext) -> Iterator[Finding]:
    """Traps that are findings as they are."""
    for name, origin in case.rope.provenance.items():
        for trap in origin.traps:
            if trap in PLAIN:
                value = case.rope.rotary_dim if trap == "odd_width" else case.rope.params.get(name, case.rope.rope_type)
                names = origin.values.get("names") or ("-",)
                yield make_finding(trap, origin.path, value=value, type=case.rope.rope_type, names=names)


RULES = (find_family_traps,)
