"""From a ConfigError to a finding: what transformers cannot build, or what no scheme can mean."""

from __future__ import annotations

import re

from rope_core.errors import ArgumentError, ConfigError, RuleText, shortened_repr
from rope_core.findings import Finding, make_finding
from rope_core.hf.types import FOREIGN

_PATH = re.compile(r"[\w.\[\]-]+")
BY_RULE = {
    "rotary_model": "no_rotary_embedding",
    "text_positions": "type_not_known",
    "rope_type": "type_not_known",
    "family_type": "type_not_known",
    "keys_for_type": "key_missing",
    "given_for_type": "key_missing",
    "given_for_model": "key_missing",
    "given_without": "key_missing",
    "given_with": "key_missing",
    "vector_length": "list_length",
    "layer_entries": "nope_list_length",
    "flat_dict": "nesting_refused",
    "dict_per_type": "nesting_refused",
}


def config_error_finding(error: ArgumentError, layer: str | None = None) -> Finding:
    """Return the finding for a config that cannot be read.

    >>> config_error_finding(ConfigError("rope_theta", "finite_above", 0.5, low=1)).key
    'value_refused'
    """
    path = error.path if isinstance(error, ConfigError) else ""
    where = path or error.argument
    where = where if _PATH.fullmatch(where) else "config"
    rule, got = error.rule or RuleText(str(error)), shortened_repr(error.value)
    key = BY_RULE.get(rule.key, "value_refused")
    if key == "type_not_known":
        return _unknown_type(where, rule, error.value, layer)
    if key == "value_refused":
        if error.argument != where:
            rule = RuleText("of_argument", {"argument": error.argument, "rule": rule})
        return make_finding(key, where, None, layer, rule=rule, got=got)
    missing = rule.slots.get("names", where.rpartition(".")[2])
    return make_finding(key, where, None, layer, rule=rule, got=got, missing=missing)


def _unknown_type(where: str, rule: RuleText, name: object, layer: str | None) -> Finding:
    """Return the finding for a rope_type that this model cannot run: another program's, or nobody's."""
    if isinstance(name, str) and name in FOREIGN:
        readers, nearest = FOREIGN[name]
        return make_finding("type_of_another_program", where, None, layer, type=name, readers=readers, nearest=nearest)
    return make_finding("type_not_known", where, None, layer, rule=rule, got=shortened_repr(name))
