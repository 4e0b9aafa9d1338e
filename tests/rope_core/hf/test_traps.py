"""from_hf: layouts, resting layers, provenance and its traps, and what it refuses, as literal expectations."""

import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.hf import families as hf_families

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "max_position_embeddings": 131072,
}
YARN: dict[str, Any] = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16384}
PAIRS = 64


def of(**fields: Any) -> rc.HfRope:
    """from_hf of a Llama config with these fields."""
    return rc.from_hf({**LLAMA, **fields})


def test_the_interleave_flag_of_deepseek() -> None:
    on = rc.from_hf({"model_type": "deepseek_v3"})
    off = rc.from_hf({"model_type": "deepseek_v3", "rope_interleave": False})
    assert (on.layout, on.provenance["layout"].traps) == ("interleaved", ("deinterleaved_then_half",))
    assert (off.layout, off.provenance["layout"].traps) == ("half", ("rope_interleave_off",))
    assert rc.from_hf({"model_type": "kimi_k2"}).layout == "interleaved"


def test_layers_that_do_not_rotate() -> None:
    smol = {"model_type": "smollm3", "num_hidden_layers": 8}
    assert rc.from_hf(smol).nope_layers == (3, 7)
    given = rc.from_hf({**smol, "no_rope_layers": [1, 0, 1, 1, 1, 1, 1, 0]})
    assert given.nope_layers == (1, 7)
    assert given.provenance["nope_layers"].traps == ("no_rope_flag_inverted",)
    assert rc.from_hf({**smol, "no_rope_layer_interval": 2}).nope_layers == (1, 3, 5, 7)
    assert rc.from_hf({"model_type": "cohere2", "num_hidden_layers": 8}).nope_layers == (3, 7)
    exaone = {"model_type": "exaone4", "num_hidden_layers": 8}
    assert rc.from_hf(exaone).nope_layers == (3, 7)
    assert rc.from_hf({**exaone, "sliding_window": None, "layer_types": ["full_attention"] * 8}).nope_layers == ()
    assert rc.from_hf({"model_type": "llama", "num_hidden_layers": 8}).nope_layers == ()


def test_a_layer_type_without_rotation() -> None:
    beam = {"model_type": "beam", "num_hidden_layers": 6}
    assert rc.layer_types(beam) == ["sliding_attention", "full_attention"]
    rope = rc.from_hf(beam, "full_attention")
    assert rope.nope and not rope.inv_freq.any() and rope.nope_layers == (5,)
    assert not rc.from_hf(beam, "sliding_attention").nope


def test_layer_types_that_differ_must_be_named() -> None:
    gemma = {"model_type": "gemma3_text"}
    assert rc.layer_types(gemma) == ["sliding_attention", "full_attention"]
    with pytest.raises(rc.ConfigError, match="sliding_attention, full_attention"):
        rc.from_hf(gemma)
    with pytest.raises(rc.ConfigError, match="sliding_attention, full_attention"):
        rc.from_hf(gemma, "global")
    assert rc.from_hf(gemma, "full_attention").base == 1e6
    assert rc.layer_types({"model_type": "olmo3"}) == []
    assert rc.from_hf({"model_type": "olmo3"}, "full_attention").base == rc.from_hf({"model_type": "olmo3"}).base == 5e5
    scaled = {"model_type": "olmo3", "rope_scaling": YARN}
    assert rc.layer_types(scaled) == ["sliding_attention", "full_attention"]
    assert [rc.from_hf(scaled, kind).scheme for kind in rc.layer_types(scaled)] == ["none", "yarn"]


def test_where_the_base_came_from() -> None:
    assert (of().base, of().provenance["base"].source) == (10_000.0, "class default")
    assert (of(rope_theta=5e5).base, of(rope_theta=5e5).provenance["base"].source) == (5e5, "top level")
    inside = of(rope_theta=5e5, rope_parameters={"rope_type": "default", "rope_theta": 1e4})
    assert (inside.base, inside.provenance["base"].source) == (1e4, "dict")
    assert inside.provenance["base"].traps == ("top_level_base_ignored",)
    assert inside.provenance["base"].values == {"top_level": 5e5}
    bert = {"model_type": "modernbert", "global_rope_theta": 7e4, "local_rope_theta": 2e4}
    assert [rc.from_hf(bert, kind).base for kind in ("full_attention", "sliding_attention")] == [7e4, 2e4]
    gemma = {"model_type": "gemma3_text", "rope_theta": 3e6, "rope_local_base_freq": 2e4}
    both = [rc.from_hf(gemma, kind) for kind in ("full_attention", "sliding_attention")]
    assert [rope.base for rope in both] == [3e6, 2e4]
    assert both[0].traps == both[1].traps == ()
    unknown = rc.from_hf({"model_type": "nobody_knows", "hidden_size": 512, "num_attention_heads": 4})
    assert unknown.provenance["base"].source == "fallback"
    assert unknown.traps == ("unknown_family",)


LONG = {"rope_type": "longrope", "short_factor": [1.0] * PAIRS, "long_factor": [4.0] * PAIRS}
TRAPS: dict[str, tuple[dict[str, Any], str]] = {
    "rope_scaling_replaces_rope_parameters": (
        {"rope_scaling": YARN, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
        "base",
    ),
    "type_and_rope_type_differ": ({"rope_scaling": {**YARN, "type": "linear"}}, "scheme"),
    "trained_length_is_max_length": ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "train_len"),
    "trained_length_overridden": ({"original_max_position_embeddings": 8192, "rope_scaling": YARN}, "train_len"),
    "default_ignores_partial": ({"partial_rotary_factor": 0.5}, "rotary_dim"),
    "zero_is_default": ({"rope_scaling": {**YARN, "beta_fast": 0}}, "beta_fast"),
    "factor_from_lengths": ({"rope_scaling": {**YARN, "factor": None}}, "factor"),
    "nested_dict_not_read": ({"rope_parameters": {"full_attention": YARN}}, "scheme"),
    "nested_truncate_not_read": (
        {
            "model_type": "olmo3",
            "rope_parameters": {
                "full_attention": {**YARN, "rope_theta": 5e5, "truncate": False},
                "sliding_attention": {**YARN, "rope_theta": 5e5, "truncate": False},
            },
        },
        "truncate",
    ),
    "yarn_read_as_longrope": (
        {"model_type": "phi3", "rope_scaling": {**LONG, "rope_type": "yarn"}, "original_max_position_embeddings": 4096},
        "scheme",
    ),
    "mrope_read_as_default": (
        {"model_type": "qwen2_vl_text", "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}},
        "scheme",
    ),
    "alpha_read_as_ntk": (
        {"model_type": "hunyuan_v1_dense", "rope_scaling": {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}},
        "scheme",
    ),
    "su_without_length_fails": (
        {"model_type": "phi3", "rope_scaling": {**LONG, "type": "su", "rope_type": "su"}},
        "scheme",
    ),
    "head_dim_null_fails": ({"model_type": "mixtral", "rope_scaling": YARN}, "head_dim"),
    "head_dim_not_read": ({"model_type": "deepseek_v2", "head_dim": 96}, "head_dim"),
    "long_factor_never_used": (
        {
            "model_type": "phimoe",
            "rope_scaling": {
                **LONG,
                "short_mscale": 1.1,
                "long_mscale": 1.3,
                "original_max_position_embeddings": 4096,
            },
        },
        "long_factor",
    ),
    "rope_fields_not_read": ({"model_type": "gptj", "rope_scaling": YARN}, "scheme"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_stands_at_its_field_and_only_there(trap: str) -> None:
    fields, field = TRAPS[trap]
    rope = of(**fields)
    assert [name for name, origin in rope.provenance.items() if trap in origin.traps] == [field]
    assert trap not in of().traps


def test_only_listed_traps_can_be_set() -> None:
    assert set(TRAPS) <= set(hf_families.TRAPS)
    with pytest.raises(ValueError, match="keys of TRAPS, got \\['surprise'\\]"):
        rc.Origin("dict", "rope_theta", ("surprise",))


def test_what_the_traps_do() -> None:
    both = of(**TRAPS["rope_scaling_replaces_rope_parameters"][0])
    assert (both.scheme, both.base) == ("yarn", 10_000.0)
    assert of(**TRAPS["type_and_rope_type_differ"][0]).scheme == "yarn"
    assert of(**TRAPS["trained_length_is_max_length"][0]).train_len == 131072
    assert of(**TRAPS["trained_length_overridden"][0]).train_len == 8192
    assert of(partial_rotary_factor=0.5).rotary_dim == 128
    assert of(partial_rotary_factor=0.5, rope_scaling=YARN).rotary_dim == 64
    assert of(rope_scaling={**YARN, "attn_factor": 1.0}).ignored == ("attn_factor",)
    hunyuan = of(**TRAPS["alpha_read_as_ntk"][0])
    np.testing.assert_allclose(hunyuan.inv_freq, (1e4 * 1000 ** (128 / 126)) ** (-np.arange(64) / 64), rtol=1e-12)
    truncated = of(**TRAPS["nested_truncate_not_read"][0])
    flat = of(head_dim=128, rope_scaling={**YARN, "rope_theta": 5e5})
    np.testing.assert_array_equal(truncated.inv_freq, flat.inv_freq)
    assert (flat.inv_freq != of(rope_scaling={**YARN, "rope_theta": 5e5, "truncate": False}).inv_freq).any()
    phimoe = {**LLAMA, **TRAPS["long_factor_never_used"][0]}
    short, long = rc.from_hf(phimoe, seq_len=4096), rc.from_hf(phimoe, seq_len=4097)
    np.testing.assert_array_equal(short.inv_freq, long.inv_freq)
    assert (short.attention_factor, long.attention_factor) == (1.1, 1.3)
    assert of(**TRAPS["mrope_read_as_default"][0]).mrope_section == (16, 24, 24)


def test_widths() -> None:
    assert rc.from_hf({"model_type": "gptj"}).rotary_dim == 64
    neox = rc.from_hf({"model_type": "gpt_neox", "rotary_pct": 0.5, "rotary_emb_base": 25000})
    assert (neox.head_dim, neox.rotary_dim, neox.base) == (96, 48, 25000.0)
    assert rc.from_hf({"model_type": "minimax_m2", "rotary_dim": 64}).rotary_dim == 64
    assert rc.from_hf({"model_type": "deepseek_v3", "qk_rope_head_dim": 32}).rotary_dim == 32
    chatglm = rc.from_hf({"model_type": "chatglm", "kv_channels": 128, "rope_ratio": 500})
    assert (chatglm.rotary_dim, chatglm.base, chatglm.layout) == (64, 5e6, "interleaved")


def test_composite_configs_are_read_at_their_text_part(tmp_path: Path) -> None:
    text = {"model_type": "qwen2_vl_text", "rope_theta": 2e6}
    nested = rc.from_hf({"model_type": "qwen2_vl", "text_config": text})
    flat = rc.from_hf({"model_type": "qwen2_vl", "rope_theta": 2e6})
    assert nested.base == flat.base == 2e6
    assert nested.provenance["base"].path == "text_config.rope_theta"
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2_vl", "text_config": text}))
    assert rc.from_hf(tmp_path).base == rc.from_hf(str(tmp_path / "config.json")).base == 2e6


def test_a_config_object_reads_like_its_fields() -> None:
    transformers = pytest.importorskip("transformers", reason="the config classes are the other side of this test")
    transformers.logging.set_verbosity_error()
    cases: list[tuple[str, dict[str, Any]]] = [
        ("llama", {"rope_theta": 5e5, "rope_scaling": dict(YARN)}),
        ("gemma4_text", {"global_head_dim": 256}),
        ("gemma4_text", {"global_head_dim": 384}),
        ("gemma4_text", {}),
        ("deepseek_v3", {"qk_rope_head_dim": 32}),
        ("llama4_text", {"no_rope_layer_interval": 3}),
        ("cohere2", {"sliding_window_pattern": 3}),
    ]
    for model_type, fields in cases:
        plain = {"model_type": model_type, **fields}
        built = transformers.CONFIG_MAPPING[model_type](**copy.deepcopy(fields))
        for kind in rc.layer_types(plain) or [None]:  # type: ignore[list-item]
            here, there = rc.from_hf(plain, kind), rc.from_hf(built, kind)
            np.testing.assert_array_equal(here.inv_freq, there.inv_freq, err_msg=model_type)
            assert (here.head_dim, here.nope_layers) == (there.head_dim, there.nope_layers), model_type


BAD: dict[str, tuple[object, str]] = {
    "a list": ([1], "config must be"),
    "no file": ("/no/such/file.json", "config must be a file, or a folder that holds config.json"),
    "no rotation": ({"model_type": "gpt2"}, "model_type must be"),
    "a vision tower": ({"model_type": "qwen2_vl_vision"}, "model_type must be"),
    "model_type": ({"model_type": 3}, "model_type must be a name"),
    "NaN": ({**LLAMA, "rope_theta": math.nan}, "rope_theta must be a finite number > 1"),
    "infinite": ({**LLAMA, "rope_theta": math.inf}, "rope_theta must be"),
    "huge": ({**LLAMA, "rope_theta": 10**400}, "rope_theta must be"),
    "a string": ({**LLAMA, "rope_theta": "1e4"}, "rope_theta must be"),
    "true": ({**LLAMA, "rope_theta": True}, "rope_theta must be"),
    "base 1": ({**LLAMA, "rope_theta": 1}, "rope_theta must be"),
    "negative": ({**LLAMA, "hidden_size": -512}, "hidden_size must be"),
    "no heads": ({**LLAMA, "num_attention_heads": 0}, "num_attention_heads must be"),
    "too wide": ({**LLAMA, "head_dim": 10**6}, "head_dim must be"),
    "odd": ({**LLAMA, "head_dim": 63}, "even number"),
    "unknown type": ({**LLAMA, "rope_scaling": {"type": "su"}}, "rope_scaling.type must be one of default"),
    "axial": ({**LLAMA, "rope_parameters": {"rope_type": "axial"}}, "rope_parameters.rope_type must be"),
    "no factor": ({**LLAMA, "rope_scaling": {"type": "linear"}}, "with factor"),
    "factor below 1": ({**LLAMA, "rope_scaling": {"type": "linear", "factor": 0.5}}, "rope_scaling.factor must be"),
    "not an object": ({**LLAMA, "rope_scaling": "yarn"}, "rope_scaling must be an object or null"),
    "short list": ({**LLAMA, "rope_scaling": {**LONG, "long_factor": [1.0]}}, "list of rotary_dim/2 = 64 numbers"),
    "zero in a list": ({**LLAMA, "rope_scaling": {**LONG, "long_factor": [0.0] * 64}}, "long_factor must be"),
    "partial 0": ({**LLAMA, "partial_rotary_factor": 0, "rope_scaling": YARN}, "partial_rotary_factor must be"),
    "flags": ({"model_type": "smollm3", "no_rope_layers": [1, 0]}, "no_rope_layers must be a list"),
    "layer types": ({"model_type": "gemma3_text", "layer_types": "full"}, "layer_types must be a list of names"),
    "one for all": ({"model_type": "gemma4_text", "rope_parameters": {"rope_type": "default"}}, "one object per layer"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_configs_are_refused_in_one_sentence(name: str) -> None:
    config, sentence = BAD[name]
    with pytest.raises(rc.ConfigError) as caught:
        rc.from_hf(config)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "must be JSON"),
        (b"[1, 2]", "must be a JSON object"),
        (b"\xff\xfe\x00", "must be"),
        (b'{"a":' * 100_000, "levels deep"),
        (b'{"a":' * 50 + b"1" + b"}" * 50, "levels deep"),
        (b'{"model_type": "llama", "rope_theta": NaN}', "rope_theta must be"),
        (b'{"model_type": "llama", "rope_theta": 1e400}', "rope_theta must be"),
        (b'{"model_type": "llama", "rope_theta": ' + b"9" * 10_000 + b"}", "must be"),
        (b" " * (17 * 2**20), "at most"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(text: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text)
    with pytest.raises(rc.ConfigError, match=sentence):
        rc.from_hf(path)


def test_a_bad_length_is_refused() -> None:
    for seq_len in (0, -1, 2.5, "many", 2**31):
        with pytest.raises(ValueError, match="seq_len must be"):
            rc.from_hf(LLAMA, seq_len=seq_len)  # type: ignore[arg-type]
