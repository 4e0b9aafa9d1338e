"""From a ConfigError's sentence to a finding: what transformers cannot build, or what no scheme can mean."""

from __future__ import annotations

import re

from rope_core.checks.case import Finding, finding
from rope_core.errors import ConfigError
from rope_core.hf.types import FOREIGN

SENTENCE = re.compile(r"(?P<field>.+?) must be (?P<rule>.+?), got (?P<got>.*)", re.DOTALL)
PATH = re.compile(r"[\w.\[\]-]+")
BY_RULE = (
    (re.compile(r"a model that turns token positions"), "no_rotary_embedding"),
    (re.compile(r"a type of text positions"), "type_not_known"),
    (re.compile(r"one of .*(default|longrope)"), "type_not_known"),
    (re.compile(r"an object with (?P<missing>[\w, ]+) for rope_type"), "key_missing"),
    (re.compile(r"given(\b| )"), "key_missing"),
    (re.compile(r"a list of rotary_dim/2 = (?P<pairs>\d+)"), "list_length"),
    (re.compile(r"a list with an entry for each of (?P<layers>\d+)"), "nope_list_length"),
    (re.compile(r"one (flat )?object per|one flat object"), "nesting_refused"),
)


def refusal(error: ConfigError, layer: str | None = None) -> Finding:
    """Name the refusal that a ConfigError states.

    >>> refusal(ConfigError("rope_theta must be a finite number > 1, got 0.5")).key
    'value_refused'
    """
    match = SENTENCE.fullmatch(str(error))
    if match is None:
        return finding("value_refused", "config", None, layer, rule=str(error), got="")
    path, rule, got = match["field"].rpartition(": ")[2], match["rule"], match["got"]
    where = match["field"].partition(": ")[0]
    where = where if PATH.fullmatch(where) else "config"
    argument = "" if path == where else f"{path}: "
    for pattern, key in BY_RULE:
        found = pattern.match(rule)
        if found and key == "type_not_known":
            return unknown_type(where, rule, got, layer)
        if found:
            missing = found.groupdict().get("missing") or where.rpartition(".")[2]
            return finding(key, where, None, layer, rule=rule, got=got, missing=missing)
    return finding("value_refused", where, None, layer, rule=argument + rule, got=got)


def unknown_type(where: str, rule: str, got: str, layer: str | None) -> Finding:
    """A rope_type that this model cannot run: one of another program, or nobody's."""
    name = got.strip("'")
    if name in FOREIGN:
        readers, nearest = FOREIGN[name]
        return finding("type_of_another_program", where, None, layer, type=name, readers=readers, nearest=nearest)
    return finding("type_not_known", where, None, layer, rule=rule, got=got)
