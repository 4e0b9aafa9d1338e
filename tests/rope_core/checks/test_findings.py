"""check: no alarm on released models, the right finding for each known bug, both languages, and numbers by hand."""

import json
import math
import re
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

import rope_core as rc
from rope_core.checks.check import check, check_text, finding_severities_and_titles, issue_groups
from rope_core.findings import finding_texts, sanitized_text, value_text
from rope_core.hf.families import TRAPS as ALL_TRAPS
from rope_core.languages import words
from rope_core.programs.engines import engines
from tests.rope_core.hf.test_traps import BAD, TRAPS
from tests.support.configs import LLAMA, YARN, of

SLOW = "pairs_below_one_turn"


def keys(config: object, **options: Any) -> list[str]:
    """Return the findings by key."""
    return [each.key for each in check(config, **options)]


def only(key: str, config: object, **options: Any) -> rc.Finding:
    """Return the finding with this key."""
    return next(each for each in check(config, **options, everything=True) if each.key == key)


@pytest.mark.parametrize("model", rc.models(), ids=lambda model: model.id)
def test_no_alarm_on_a_released_config(model: rc.Model) -> None:
    findings = check(model.hf_config())
    assert [each.key for each in findings if each.severity != "note" or each.key == "released_differs"] == []


def test_4_57_raises_no_alarm_but_on_what_it_cannot_read() -> None:
    for model in rc.models():
        config = model.hf_config()
        alarms = {each.key for each in check(config, "4.57") if each.severity != "note"}
        newer = "rope_parameters" in json.dumps(config)
        assert alarms == ({"rope_parameters_not_read"} if newer else set()), model.id


@pytest.mark.parametrize("group", [g for g in issue_groups() if g.by == "config"], ids=lambda group: str(group.number))
def test_a_group_of_threads_is_found_and_nothing_else(group: Any) -> None:
    assert sorted(keys(group.config)) == sorted((*group.keys, *group.beside))


def test_all_groups_stand_in_the_table() -> None:
    assert [group.number for group in issue_groups()] == list(range(1, len(issue_groups()) + 1))
    everything = finding_texts()["finding"]
    for group in issue_groups():
        assert group.threads and group.title() and group.title("zh")
        assert group.by == "engines" or set(group.keys) <= set(everything)
        assert (group.config is not None) == (group.by in ("config", "engines"))
    third = next(group for group in issue_groups() if group.by == "engines")
    assert any(set(third.keys) <= set(engine.notes) for engine in engines(third.config))


def scaled(**fields: Any) -> dict[str, Any]:
    """Return Llama with YaRN and other fields in its block."""
    return of(rope_scaling={**YARN, **fields})


def qwen_vl(**fields: Any) -> dict[str, Any]:
    return {"model_type": "qwen2_vl_text", "rope_theta": 1e6, "rope_scaling": {"type": "mrope", **fields}}


LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LISTS = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [1.0] * 63}
EIGHTFOLD = {"rope_type": "linear", "factor": 8.0}
GEMMA = {"full_attention": EIGHTFOLD | {"rope_theta": 1e6}, "sliding_attention": EIGHTFOLD | {"rope_theta": 1e4}}
PROPORTIONAL = {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 2.0}
SECTIONLESS = {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25}
UNKNOWN = {"model_type": "nobody", "hidden_size": 512, "num_attention_heads": 4}
PLAIN = {"rope_type": "default", "rope_theta": 1e6}
# What the released configs of known models look like with one mistake each, typed by hand from the threads.
MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    (of(rope_scaling={"rope_type": "yarn", "factor": 8.0}), "trained_length_is_max_length", "warning"),
    (of(rope_scaling=YARN, rope_parameters=PLAIN), "rope_scaling_replaces_rope_parameters", "error"),
    (scaled(type="linear"), "type_and_rope_type_differ", "warning"),
    (qwen_vl(rope_type="default", mrope_section=[16, 24, 24]), "type_and_rope_type_differ", "note"),
    (of(rope_scaling={"type": "su", "factor": 4.0}), "type_of_another_program", "error"),
    (of(rope_scaling={"type": "foo", "factor": 4.0}), "type_not_known", "error"),
    (of(rope_scaling={"type": "linear"}), "key_missing", "error"),
    # A typing slip, and a training script's remark.
    (scaled(beta_fats=32), "key_not_read", "warning"),
    (scaled(finetuned=True), "key_not_read", "note"),
    (of(rope_scaling={"type": "dynamic", "factor": 1.0, "alpha": 1000.0}), "key_not_read", "warning"),
    (of(rope_scaling={"type": "linear", "factor": 2.0, "mscale": 1.0}), "key_not_read", "warning"),
    (scaled(beta_fast=1.0, beta_slow=32.0), "betas_swapped", "warning"),
    (scaled(beta_fast=1.0, beta_slow=1.0), "ramp_is_a_step", "note"),
    (scaled(rope_type="llama3", low_freq_factor=4.0, high_freq_factor=1.0), "llama3_swapped", "warning"),
    (scaled(rope_type="llama3", low_freq_factor=1.0, high_freq_factor=1.0), "llama3_no_blend", "note"),
    (scaled(**LLAMA3, original_max_position_embeddings=131072), "train_len_not_below_max", "warning"),
    # YaRN from the maximum, as Qwen2.5 says.
    (
        scaled(original_max_position_embeddings=32768) | {"max_position_embeddings": 32768},
        "train_len_not_below_max",
        "note",
    ),
    (of(rope_scaling={**LISTS, "original_max_position_embeddings": 4096}), "list_length", "error"),
    (qwen_vl(mrope_section=[1, 2, 3]), "mrope_sections_sum", "error"),
    (of(rotary_pct=0.25), "top_level_key_not_read", "warning"),
    (of(rope_interleave=True), "interleave_flag_not_read", "warning"),
    (scaled(mscale=0.707), "mscale_alone", "warning"),
    # Indices in the place of flags.
    (
        {"model_type": "smollm3", "num_hidden_layers": 8, "rope_theta": 5e6, "no_rope_layers": [3, 7]},
        "nope_list_length",
        "error",
    ),
    (of(rope_theta=1e6, rope_parameters={**PLAIN, "rope_theta": 1e4}), "top_level_base_ignored", "warning"),
    (UNKNOWN, "base_from_nowhere", "note"),
    ({**UNKNOWN, "model_type": "llama", "max_position_embeddings": 65536}, "base_small_for_length", "warning"),
    (of(rope_parameters=PROPORTIONAL), "proportional_factor", "warning"),
    ({"model_type": "gemma3_text", "sliding_window": 1024, "rope_parameters": GEMMA}, "sliding_layers_scaled", "note"),
    ({**rc.model("qwen3.5-27b").hf_config(), "rope_parameters": SECTIONLESS}, "sections_missing", "warning"),
    ({**rc.model("llama-2-7b").hf_config(), "factor": 4.0}, "scaling_key_outside", "warning"),
    (
        {
            "model_type": "gemma3",
            "text_config": rc.model("gemma-3-27b").hf_config(),
            "rope_parameters": EIGHTFOLD,
        },
        "level_not_read",
        "warning",
    ),
    (of(text_config={"rope_scaling": YARN}), "level_not_read", "warning"),
    ({**rc.model("llama-4-scout").hf_config(), "model_type": "llama4"}, "flattened", "error"),
    ({"model_type": "gpt2"}, "no_rotary_embedding", "note"),
    (of(rope_theta=math.nan), "value_refused", "error"),
    (of(rope_theta="1e4"), "value_refused", "error"),
]


@pytest.mark.parametrize(("config", "key", "severity"), MISTAKES)
def test_a_mistake_is_found_at_its_severity(config: dict[str, Any], key: str, severity: str) -> None:
    assert only(key, config).severity == severity
    # Nothing graver than the mistake itself.
    order = ("error", "warning", "note")
    assert order.index(check(config)[0].severity) == order.index(severity)


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_of_the_reader_is_a_finding(trap: str) -> None:
    fields, _ = TRAPS[trap]
    assert trap in keys(of(**fields))


# The trap says that flags were given; the finding is which layers rest, or that the flags look turned round.
WORDED_OTHERWISE = {"no_rope_flag_inverted"}


def test_every_trap_there_is_has_a_finding() -> None:
    assert set(ALL_TRAPS) - WORDED_OTHERWISE <= set(finding_texts()["finding"])


def test_values_by_hand() -> None:
    missing = only(
        "trained_length_is_max_length", of(rope_theta=1e6, rope_scaling={"rope_type": "yarn", "factor": 4.0})
    )
    # variants.md 1.4 d: the ramp is (30, 47) instead of (23, 40), the frequencies are off by up to 124 %.
    assert missing.values["range"] == (30, 47) and missing.values["meant"] == (23, 40)
    assert missing.values["worst"] == pytest.approx(124, abs=0.5)
    typo = only("attn_factor_not_read", next(g for g in issue_groups() if g.number == 5).config)
    assert typo.values["effective"] == pytest.approx(1.13862944)
    assert typo.values["replaced"] == pytest.approx(0.87824886)
    assert typo.values["multiplied"] == pytest.approx(1.0)
    oss = only("truncate_off", rc.model("gpt-oss-20b").hf_config())
    assert oss.values["exact"] == pytest.approx((8.0928, 17.3980), abs=5e-5)
    assert oss.values["rounded"] == (8, 18) and oss.values["pair"] == 17
    assert oss.values["worst"] == pytest.approx(76, abs=1)
    step = only("ramp_is_a_step", rc.model("kimi-k2").hf_config())
    # Pair 19 keeps its frequency; with 32 and 1 it would be 11/12 of the way to a division by 32.
    assert step.values["usual"] == (8, 20)
    assert step.values["worst"] == pytest.approx(100 / (11 / 12 / 32 + 1 / 12) - 100, rel=1e-6)
    deepseek = only("logit_scale_apart", rc.model("deepseek-v3").hf_config())
    assert deepseek.values["scale"] == pytest.approx(1.87385, abs=5e-6)
    assert only(SLOW, rc.model("llama-2-7b").hf_config()).values["slow"] == 18
    assert only(SLOW, rc.model("gpt-neox-20b").hf_config()).values["slow"] == 4
    half = only("half_precision", {**rc.model("llama-2-7b").hf_config(), "torch_dtype": "bfloat16"})
    assert half.values["error"] == pytest.approx(5.0, abs=0.1)
    bands = only("llama3_no_blend", rc.model("llama-4-scout").hf_config())
    assert (bands.values["kept"], bands.values["divided"]) == (35, 29)


def shaped(model_type: str, width: int, heads: int, longest: int, **fields: Any) -> dict[str, Any]:
    """Return a config of these sizes."""
    sizes = {"hidden_size": width, "num_attention_heads": heads, "max_position_embeddings": longest}
    return {"model_type": model_type, **sizes, **fields}


LONG: dict[str, Any] = {"long_factor": [1.0 + i for i in range(64)], "short_factor": [1.0] * 64}
SU = LONG | {"type": "su", "factor": 1.0, "original_max_position_embeddings": 8192}
PHI_MOE = LONG | {"type": "longrope", "original_max_position_embeddings": 4096}
CSM = {"rope_type": "llama3", "factor": 32.0, "high_freq_factor": 0.0078125, "low_freq_factor": 0.001953125}
MROPE = {"type": "mrope", "mrope_section": [16, 24, 24]}
QWEN3_VL = {"interleaved": True, "mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"}
HUNYUAN = {"type": "dynamic", "factor": 1.0, "alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0}
GEMMA_3 = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "sliding_window": 1024}
# Combinations of keys that released models ship with, beside those of the catalogue.
RELEASED: dict[str, dict[str, Any]] = {
    "csm-1b": shaped(
        "csm",
        2048,
        32,
        2048,
        head_dim=64,
        rope_theta=500000,
        rope_scaling=CSM | {"original_max_position_embeddings": 1024},
    ),
    "Phi-3-small-128k": shaped(
        "phi3small",
        4096,
        32,
        131072,
        rope_embedding_base=1000000,
        rope_scaling=SU | {"long_mscale": 1.1902380714238083, "short_mscale": 1.0},
    ),
    "Qwen2-VL, flat": {
        "model_type": "qwen2_vl",
        "hidden_size": 3584,
        "num_attention_heads": 28,
        "rope_theta": 1000000.0,
        "rope_scaling": MROPE,
    },
    "Yarn-Llama-2-7b-128k": shaped(
        "llama",
        4096,
        32,
        131072,
        rope_scaling={"type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "finetuned": True},
    ),
    "deepseek-coder-6.7b": shaped(
        "llama", 4096, 32, 16384, rope_theta=100000, rope_scaling={"factor": 4.0, "type": "linear"}
    ),
    "Hunyuan-A13B": shaped(
        "hunyuan_v1_moe",
        4096,
        32,
        32768,
        head_dim=128,
        rope_theta=10000.0,
        rope_scaling=HUNYUAN | {"mscale_all_dim": 1.0},
    ),
    "Qwen2.5-VL-7B": shaped(
        "qwen2_5_vl", 3584, 28, 128000, rope_theta=1000000.0, torch_dtype="bfloat16", rope_scaling=MROPE
    ),
    "Qwen3-VL text, old names": shaped(
        "qwen3_vl_text",
        4096,
        32,
        262144,
        head_dim=128,
        rope_theta=5000000,
        rope_scaling=QWEN3_VL | {"type": "default"},
    ),
    "Gemma 3 4B, as its text_config": {
        "model_type": "gemma3",
        "text_config": GEMMA_3 | {"rope_scaling": {"factor": 8.0, "rope_type": "linear"}},
    },
    "Baichuan2-7B": shaped("baichuan", 4096, 32, 4096, num_hidden_layers=32, model_max_length=4096),
    "Phi-3.5-MoE": shaped(
        "phimoe",
        4096,
        32,
        131072,
        original_max_position_embeddings=4096,
        rope_theta=10000.0,
        rope_scaling=PHI_MOE | {"long_mscale": 1.243163121016122, "short_mscale": 1.243163121016122},
    ),
}


@pytest.mark.parametrize("name", RELEASED)
def test_no_alarm_on_released_configs_beside_the_catalogue(name: str) -> None:
    for version in ("4.57", "5.24"):
        findings = check(RELEASED[name], version)
        assert [(each.key, each.values) for each in findings if each.severity != "note"] == []


def test_layer_types_are_named_where_they_differ() -> None:
    gemma = rc.model("gemma-3-4b").hf_config()
    types = str(only("bases_differ", gemma).values["types"])
    assert (
        "sliding_attention (default, base 10000)" in types and "full_attention (linear factor 8, base 1000000)" in types
    )
    slow = {each.layer_type for each in check(gemma, everything=True) if each.key == SLOW}
    # The local base of 10,000 turns its slowest pair in 58,000 of the 131,072 tokens.
    assert slow == {"full_attention"}
    assert {each.layer_type for each in check(gemma, layer_type="full_attention")} <= {None, "full_attention"}
    with pytest.raises(ValueError, match="layer_type must be one of sliding_attention, full_attention"):
        check(gemma, layer_type="global")
    with pytest.raises(ValueError, match="layer_type must be None, because all layers are alike"):
        check(LLAMA, layer_type="full_attention")
    layers = only("nope_layers", rc.model("smollm3-3b").hf_config()).values["layers"]
    assert layers == tuple(range(3, 36, 4))


def test_versions_differ_where_transformers_does() -> None:
    new = {"model_type": "llama", "head_dim": 64, "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}
    assert only("rope_parameters_not_read", new, transformers="4.57").values == {
        "base": 5e5,
        "used": 10000.0,
        "worst": pytest.approx(100 * (50.0 ** (62 / 64) - 1)),
        "apart": ANY,
    }
    assert "rope_parameters_not_read" not in keys(new)
    partial = of(partial_rotary_factor=0.5)
    assert "default_ignores_partial" in keys(partial) and "default_ignores_partial" not in keys(
        partial, transformers="4.57"
    )
    inside = of(rope_scaling={**YARN, "rope_theta": 1e6})
    assert only("not_read_inside_rope_scaling", inside, transformers="4.57").values["used"] == 500000.0
    assert "top_level_base_ignored" in keys(inside)
    with pytest.raises(ValueError, match="transformers must be one of"):
        check(LLAMA, "6.0")


def test_a_length_past_the_end_is_a_finding() -> None:
    assert only("length_beyond", LLAMA, seq_len=131073).values["reach"] == 131072
    assert "length_beyond" not in keys(LLAMA, seq_len=131072)
    short = of(max_position_embeddings=16384, rope_scaling=YARN)
    assert "length_beyond" not in keys(short, seq_len=131072)
    with pytest.raises(ValueError, match="seq_len must be"):
        check(LLAMA, seq_len=0)


def test_every_finding_has_a_severity_a_rule_a_source_and_sentences() -> None:
    for key, row in finding_texts()["finding"].items():
        assert row["severity"] in ("error", "warning", "note") and 1 <= row["rule"] <= 17, key
        assert row["source"].startswith("https://"), key
        assert set(words("en", "findings")["finding"][key]) == {"title", "why", "change"}, key
    assert {row["rule"] for row in finding_texts()["finding"].values()} == set(range(1, 18))
    assert finding_severities_and_titles("zh").keys() == finding_texts()["finding"].keys()


def test_saying_fills_in_the_numbers() -> None:
    single = only("factor_is_not_ratio", of(rope_scaling={**YARN, "factor": 4.0}))
    assert single.title("zh") == "factor 4 与 131072 / 16384 = 8 不符"
    agree = ("factor 8 would agree", "max_position_embeddings 65536", "original_max_position_embeddings 32768")
    assert all(text in single.change() for text in agree) and "which of the three" in single.change()
    # A trained length is whole: 131,072 / 6 is not.
    single = only("factor_is_not_ratio", of(rope_scaling={**YARN, "factor": 6.0}))
    assert "original_max_position_embeddings" not in single.change()
    # A key that is known is not its own nearest one, and nothing is advised where nothing is near.
    scaled = {"type": "linear", "factor": 2.0, "beta_fast": 32, "colour": 1}
    advice = {
        each.values["key"]: each.change() for each in check(of(rope_scaling=scaled)) if each.key == "key_not_read"
    }
    assert advice == {
        "beta_fast": "Remove rope_scaling.beta_fast, or choose the rope_type that reads it.",
        "colour": "Remove rope_scaling.colour.",
    }
    both = of(rope_scaling=YARN, rope_parameters={"rope_type": "default"})
    assert "(rope_type default)" in only("rope_scaling_replaces_rope_parameters", both).why()
    lost = only(
        "base_missing_in_rope_parameters",
        {"model_type": "llama", "head_dim": 64, "rope_parameters": {"rope_type": "default"}},
    )
    assert "取自模型类的默认值" in lost.why("zh")
    with pytest.raises(ValueError, match="lang must be one of"):
        check(LLAMA, everything=True)[0].why("fr")


def test_refusals_speak_chinese_too() -> None:
    firsts = [check(config)[0] for config, _ in BAD.values() if isinstance(config, dict)]
    refused = [each for each in firsts if each.key == "value_refused"]
    assert len(refused) > 14 and all(each.severity == "error" for each in refused)
    for each in refused:
        rule = re.search(r"[：（]([^（）：]*)", each.why("zh"))
        assert rule and re.search(r"[\u4e00-\u9fff]", rule[1]), (each.key, each.why("zh"))


def test_shown_values_are_plain() -> None:
    assert value_text(2559196.3) == "2560000" and value_text(float("nan")) == "nan"
    assert value_text("\x1b[2J<b>") == "\ufffd[2J<b>" and len(sanitized_text("x" * 999)) == 200


def test_a_key_that_stands_twice() -> None:
    text = '{"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "rope_theta": 5e5}'
    twice = next(each for each in check_text(text) if each.key == "duplicate_key")
    assert twice.values["names"] == ("rope_theta",)
    assert "duplicate_key" not in [each.key for each in check_text(text.replace('"rope_theta": 1e4, ', ""))]


@pytest.mark.parametrize(("longest", "named"), [(16384, True), (16384 + 120, True), (17408, False), (20480, False)])
def test_a_length_is_scaled_twice_only_within_a_hundredth(longest: int, named: bool) -> None:
    scaling = {"rope_type": "linear", "factor": 4.0, "original_max_position_embeddings": 4096}
    result = keys(of(rope_scaling=scaling, max_position_embeddings=longest))
    assert ("length_scaled_twice" in result) == named


def test_one_weight_alone_is_compared_with_the_quotient_of_both() -> None:
    """DeepSeek's factor with mscale left at 1: (0.1 ln 8 + 1) / (0.1 * 0.5 ln 8 + 1)."""
    single = only("mscale_alone", of(rope_scaling={**YARN, "mscale_all_dim": 0.5}))
    assert single.values["key"] == "mscale_all_dim"
    assert single.values["meant"] == pytest.approx((0.1 * math.log(8) + 1) / (0.05 * math.log(8) + 1), rel=1e-12)


def test_the_drift_of_a_dynamic_base_is_an_angle_at_the_trained_length() -> None:
    """The base at twice the length, raised by hand: times (2 factor - (factor - 1)) ** (d / (d - 2))."""
    single = only("dynamic_follows_length", of(rope_scaling={"rope_type": "dynamic", "factor": 4.0}))
    train, share = 131072, [2 * i / 128 for i in range(64)]
    assert (single.values["train"], single.values["twice"]) == (train, 2 * train)
    grown = 500000.0 * 5.0 ** (128 / 126)
    drift = [train * (500000.0**-x - grown**-x) for x in share]
    assert single.values["drift"] == pytest.approx(max(drift), rel=1e-9)
    assert single.values["pair"] == drift.index(max(drift))


@pytest.mark.parametrize("place", ["dict", "path", "text", "file"])
def test_a_fault_of_an_earlier_release_is_noted_where_that_release_is_named(place: str, tmp_path: Path) -> None:
    """huggingface/transformers#48241: rotary_dim is read from 5.18.0 on, as its wheel does."""
    minimax = rc.model("minimax-m2.5").hf_config()
    minimax = {key: value for key, value in minimax.items() if key != "transformers_version"} | {"rotary_dim": 64}
    for release, expected in (("5.0", True), ("5.17", True), ("5.18", False), ("5.22", False), ("5.24", False)):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(minimax))
        calls: dict[str, tuple[Any, ...]] = {
            "dict": (check, minimax, f"{release}.2"),
            "path": (check, path, release),
            "text": (check_text, path.read_bytes(), release),
            "file": (check, {**minimax, "transformers_version": f"{release}.1"}),
        }
        call, *given = calls[place]
        notes = [each for each in call(*given) if each.key == "read_otherwise_before"]
        assert [each.severity for each in notes] == (["note"] if expected else []), release
        assert all("5.18" in each.title() and each.field == "rotary_dim" for each in notes)
    llama = {**rc.model("llama-2-7b").hf_config(), "transformers_version": "5.1.0"}
    assert "read_otherwise_before" not in keys(llama) and "read_otherwise_before" not in keys(minimax)
    without = {key: value for key, value in minimax.items() if key != "rotary_dim"} | {"partial_rotary_factor": 0.5}
    assert "read_otherwise_before" not in keys(without, transformers="5.9")
