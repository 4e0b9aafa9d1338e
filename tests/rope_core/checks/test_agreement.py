"""check and engines on one config: the same refusals, at both versions of transformers, over drawn configs."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import rope_core as rc
from rope_core.checks.check import check
from rope_core.checks.rules.refusals import BY_RULE
from rope_core.hf.families import class_defaults_by_family

REFUSALS = {*BY_RULE.values(), "value_refused", "type_of_another_program", "type_newer_than_4"}
FAMILIES = sorted(class_defaults_by_family())
TYPES = ["default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional", "su", "x"]
DICT = st.fixed_dictionaries(
    {
        "rope_type": st.sampled_from(
            ["default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional", "su", "x"]
        )
    },
    optional={
        "type": st.sampled_from(["linear", "yarn", "dynamic", "su", None]),
        "factor": st.sampled_from([4.0, 1, 0.5, 0, -2.0, "4", None]),
        "rope_theta": st.sampled_from([1e6, 1.0, 0, "1e6", None]),
        "original_max_position_embeddings": st.sampled_from([4096, 0, 4096.5, None]),
        "low_freq_factor": st.sampled_from([1.0, 0]),
        "high_freq_factor": st.sampled_from([4.0, 1.0]),
        "short_factor": st.sampled_from([[1.0] * 64, [1.0] * 3, None]),
        "long_factor": st.sampled_from([[2.0] * 64, [0.0] * 64]),
        "partial_rotary_factor": st.sampled_from([0.5, 2.0, None]),
        "attention_factor": st.sampled_from([1.0, 0.0, -1.0, None]),
    },
)
TOP = st.fixed_dictionaries(
    {},
    optional={
        "rope_theta": st.sampled_from([1e6, 0.5, "a"]),
        "head_dim": st.sampled_from([128, 7, 0, None]),
        "max_position_embeddings": st.sampled_from([32768, 0, None]),
        "partial_rotary_factor": st.sampled_from([0.5, 0.0]),
    },
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FAMILIES), DICT, TOP, st.sampled_from(["rope_scaling", "rope_parameters"]))
def test_check_refuses_what_the_table_of_engines_refuses(
    name: str, inner: dict[str, Any], top: dict[str, Any], at: str
) -> None:
    config = {"model_type": name, **top, at: inner}
    for version in ("5.24", "4.57"):
        findings = check(copy.deepcopy(config), version)
        refused = [each for each in findings if each.severity == "error" and (each.key in REFUSALS or stops(each))]
        try:
            kinds: list[str | None] = [*rc.layer_types(config)] or [None]
            rows = {kind: row(config, kind, version) for kind in kinds}
        except rc.ConfigError:
            assert version != "5.24" or refused, (config, [each.key for each in findings])
            continue
        if any(each.refused == "no_family" for each in rows.values()):
            assert "family_newer_than_4" in [each.key for each in findings], config
            continue
        stopped = [kind for kind, each in rows.items() if each.refused]
        assert bool(stopped) == bool(refused), (version, config, stopped, [each.key for each in refused])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(FAMILIES), st.sampled_from(["default", "linear"]), st.sampled_from([0.5, 0.25]), st.booleans())
def test_check_and_the_table_of_engines_name_one_difference_at_4_57(
    name: str, kind: str, share: float, outside: bool
) -> None:
    inner = {"rope_type": kind, "factor": 4.0, "rope_theta": 1e6, "partial_rotary_factor": share}
    top = {"head_dim": 128, "rope_theta": 1e6, **({"partial_rotary_factor": share} if outside else {})}
    config = {"model_type": name, **top, "rope_parameters": inner}
    stated = [each for each in check(copy.deepcopy(config), "4.57") if each.key == "rope_parameters_not_read"]
    try:
        kinds: list[str | None] = [*rc.layer_types(config)] or [None]
        rows = [row(config, kind, "4.57") for kind in kinds]
    except rc.ConfigError:
        return
    if stated and all(each.difference is not None for each in rows):
        assert stated[0].values["worst"] == 100.0 * max(each.difference for each in rows)


def stops(finding: rc.Finding) -> bool:
    """Whether a finding says that transformers builds nothing."""
    return getattr(finding.values.get("runs"), "key", "") == "stops"


def row(config: dict[str, Any], kind: str | None, version: str) -> Any:
    return next(each for each in rc.engines(config, kind) if each.name == f"transformers {version}")
