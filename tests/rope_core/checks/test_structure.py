"""Which layers, how wide and like which released model: every family, and every model of the catalogue."""

import copy
from typing import Any

import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

import rope_core as rc
from rope_core.checks.check import check
from rope_core.checks.rules.likeness import ADDED, model_shape_key, released_by_model_shape
from rope_core.hf.families import class_defaults_by_family
from rope_core.hf.resolve import resolve
from tests.support import hf_live

CLASSES = transformers.CONFIG_MAPPING
TYPED = sorted(name for name, row in class_defaults_by_family().items() if "layer_types" in row and name in CLASSES)
LISTED = [model for model in rc.models() if len(set(resolve(model.hf_config()).text.fields.layer_types())) > 1]
MODELS = st.sampled_from(rc.models())
SIZES = st.sampled_from(["vocab_size", "num_key_value_heads", "intermediate_size"])


def severities(config: Any) -> dict[str, str]:
    return {each.key: each.severity for each in check(config)}


@pytest.mark.parametrize("name", TYPED)
def test_a_list_of_layer_types_of_another_length_than_the_model(name: str) -> None:
    """Refused by transformers' class, so an error here."""
    own = resolve({"model_type": name, "num_hidden_layers": 8}).text.fields.layer_types()
    config = {"model_type": name, "num_hidden_layers": 8, "layer_types": own[:-1]}
    try:
        hf_live.config_of(name, {key: value for key, value in config.items() if key != "model_type"})
    except Exception:  # its own kind of validation error
        assert "error" in severities(config).values()
    else:
        assert name.startswith("step3p"), name


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LISTED), st.integers(1, 5), st.booleans())
def test_layer_types_in_another_order_than_released(model: rc.Model, by: int, all_full: bool) -> None:
    config = model.hf_config()
    own = resolve(config).text.fields.layer_types()
    other = ["full_attention"] * len(own) if all_full else own[by:] + own[:by]
    if other == own or (all_full and "full_attention" not in own):
        return
    result = severities({**config, "layer_types": other})
    assert result.get("layer_types_differ") == "warning"
    assert "layer_types_differ" not in severities({**config, "layer_types": own})


@settings(max_examples=150, deadline=None)
@given(MODELS, SIZES, st.integers(ADDED + 1, 99_999))
def test_another_vocabulary_or_number_of_key_heads_is_another_model(model: rc.Model, field: str, more: int) -> None:
    """Whatever it turns by, no released model's values are held against it; a few added tokens are the same model."""
    config = model.hf_config()
    text = resolve(config).text.fields
    stated = {
        row.name: row.fields.get(field)
        for row in released_by_model_shape().get(model_shape_key(text.stated, text.model_type), [])
    }
    if None in stated.values() or not stated or text.prefix or text.places:
        return
    likenesses = {"released_differs", "base_lost", "scaling_lost", "released_shorter", "layer_types_differ"}
    for size in (max(value for value in stated.values() if value) + more, None):
        other = {**copy.deepcopy(config), field: size, "rope_theta": 54_321.0}
        if size is None:
            if field != "num_key_value_heads" or config["num_attention_heads"] in stated.values():
                continue
            other.pop(field)
        assert not likenesses & severities(other).keys(), (model.id, field)


def test_added_tokens_are_the_same_model() -> None:
    config = {**rc.model("llama-3-8b").hf_config(), "rope_theta": 10_000.0}
    for size, expected in ((128256, True), (128256 + ADDED, True), (128256 + ADDED + 1, False), (32000, False)):
        assert ("released_differs" in severities({**config, "vocab_size": size})) == expected
    deepseek = {**rc.model("code-llama-7b").hf_config(), "vocab_size": 32256, "rope_theta": 100_000.0}
    (lost,) = [each for each in check(deepseek) if each.severity == "warning"]
    assert (lost.key, lost.values["model"]) == ("scaling_lost", "DeepSeek Coder 6.7B")


SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("stablelm-3b-4e1t", {"partial_rotary_factor": 1.0}),
    ("pythia-6.9b", {"rotary_pct": 1.0}),
    ("qwen3-8b", {"head_dim": 64}),
    (
        "qwen3-vl-32b",
        {"rope_scaling": {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [16, 24, 24]}},
    ),
    ("glm-4-9b-chat", {"partial_rotary_factor": 1.0}),
    ("phi-4-mini", {"partial_rotary_factor": 1.0}),
    ("command-r", {"rope_theta": 10_000.0}),
]


@pytest.mark.parametrize(("name", "fields"), SHAPES)
@pytest.mark.parametrize("stretched", [False, True])
def test_a_width_that_no_model_of_the_shape_has_is_loud(name: str, fields: dict[str, Any], stretched: bool) -> None:
    """Also with another maximum: further training changes a base, never a width."""
    config = {**rc.model(name).hf_config(), **fields}
    if stretched and "rope_theta" not in fields:
        config["max_position_embeddings"] //= 2
    assert any(each.severity != "note" for each in check(config))


def test_single_structures() -> None:
    nemo = next(row for rows in released_by_model_shape().values() for row in rows if row.name == "Mistral Nemo 12B")
    config = {"model_type": "mistral", **nemo.fields, "rope_theta": 1e6, "max_position_embeddings": 131072}
    (each,) = [each for each in check(config) if each.key == "released_differs"]
    assert each.severity == "warning" and "head_dim 128" in each.title() and "head_dim 160" in each.title()
    chat = {"model_type": "chatglm", "seq_length": 131072, "num_layers": 40}
    assert severities(chat).get("base_small_for_length") == "warning"
    assert "base_small_for_length" not in severities({**chat, "rope_ratio": 500})
    assert "base_small_for_length" not in severities({**chat, "seq_length": 8192})
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    assert (
        severities({**rc.model("qwen3-8b").hf_config(), "rope_scaling": {**yarn, "attention_factor": 0}})[
            "attention_factor_zero"
        ]
        == "error"
    )
    flat = {"rope_type": "default", "mrope_section": [24, 20, 20]}
    vision = {"model_type": "qwen3_vl_text", "rope_parameters": {**flat, "rope_theta": 5e6}}
    assert severities(vision)["interleaving_missing"] == "warning"
    assert all("axes_in_blocks" in each.notes for each in rc.engines(vision) if each.name[:4] in ("vLLM", "SGLa"))
    entry = {"rope_type": "default", "rope_theta": 1e6}
    for kind in ("full_attention", "sliding_attention"):
        half = {"model_type": "gemma3_text", "rope_parameters": {kind: entry}}
        assert severities(half)["layer_dict_missing"] == "warning"
    wide = {"model_type": "gemma4_text", "rope_parameters": {"full_attention": entry}}
    assert severities(wide)["layer_dict_missing"] == "error"


VL = {"head_dim": 128, "num_attention_heads": 32, "vocab_size": 151936, "rope_theta": 5e6, "num_hidden_layers": 36}
VL |= {"max_position_embeddings": 262144, "hidden_size": 4096, "num_key_value_heads": 8}
AXES = {"mrope_section": [24, 20, 20], "mrope_interleaved": True, "rope_type": "default"}
NEOX = {"model_type": "gpt_neox", "rotary_emb_base": 10000, "max_position_embeddings": 2048, "rotary_pct": 0.25}
YI = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "vocab_size": 64000,
}
YI |= {"num_key_value_heads": 4, "max_position_embeddings": 262144, "rope_theta": 1e7}
OLMO = {
    "model_type": "olmo3",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "rope_theta": 5e5,
}
OLMO |= {"max_position_embeddings": 65536, "rope_scaling": {"rope_type": "yarn", "factor": 8.0}}
OLMO["rope_scaling"] |= {"original_max_position_embeddings": 8192}  # type: ignore[operator]
LM2 = {"model_type": "stablelm", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32}
# Sizes that are in no table, with what their family has alike; a field, another value, and the finding's field.
FAMILY: dict[str, tuple[dict[str, Any], str, Any]] = {
    **{
        f"qwen3_vl{more}": (
            {"model_type": f"qwen3_vl{more}_text", **VL, "rope_scaling": AXES},
            "rope_scaling",
            {**AXES, "mrope_section": [16, 24, 24]},
        )
        for more in ("", "_moe")
    },
    **{
        f"pythia {width}": (
            {**NEOX, "hidden_size": width, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 50304},
            "rotary_pct",
            1.0,
        )
        for width in (768, 1536)
    },
    "stablelm 2": ({**LM2, "partial_rotary_factor": 0.25, "vocab_size": 100352}, "partial_rotary_factor", 1.0),
    "yi 9b 200k": (YI, "rope_theta", 5e6),
    "olmo 3 7b": (OLMO, "rope_theta", 10_000.0),
}


# Whose released vocabulary is in no table.
UNLISTED = ("stablelm 2", "olmo 3 7b")


@pytest.mark.parametrize("name", FAMILY)
def test_what_every_size_of_a_family_has_alike_speaks_for_all_sizes(name: str) -> None:
    config, field, value = FAMILY[name]
    assert "family_differs" not in severities(config)
    (single,) = [each for each in check({**config, field: value}) if each.key == "family_differs"]
    assert single.severity == "warning" and single.field.startswith(field)
    assert all(text(lang) for text in (single.title, single.why, single.change) for lang in ("en", "zh"))
    # Another vocabulary is another family; so are serial blocks.
    assert "family_differs" not in severities({**config, field: value, "vocab_size": 77_777}) or name in UNLISTED
    if name.startswith("pythia"):
        assert "family_differs" not in severities({**config, field: value, "use_parallel_residual": False})


def test_a_base_that_no_released_model_of_the_family_has_is_a_warning_where_the_class_gives_it() -> None:
    command = rc.model("command-r").hf_config() | {"max_position_embeddings": 131072, "vocab_size": 256000}
    del command["rope_theta"]
    assert severities(command)["base_is_class_default"] == "warning"
    # DeepSeek's distilled models keep the base of Qwen2.5-Math.
    distilled = {"model_type": "qwen2", "hidden_size": 1536, "num_hidden_layers": 28, "num_attention_heads": 12}
    distilled |= {
        "num_key_value_heads": 2,
        "max_position_embeddings": 131072,
        "rope_theta": 10000,
        "vocab_size": 151936,
    }
    assert set(severities(distilled).values()) <= {"note"}
