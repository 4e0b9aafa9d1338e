"""Published recipes of model cards: the check is silent or right on each, and offers no fix that breaks the model."""

from typing import Any

import pytest

import rope_core as rc
from rope_core.checks.check import check
from rope_core.hf.types import LENGTH
from tests.support.configs import YARN, of

HUB = "https://huggingface.co/"


def yarn(factor: float, length: int, **more: Any) -> dict[str, Any]:
    return {"rope_type": "yarn", "factor": factor, LENGTH: length, **more}


def model(id: str, **fields: Any) -> dict[str, Any]:
    return {**rc.model(id).hf_config(), **fields}


def sized(kind: str, width: int, heads: int, layers: int, longest: int, **fields: Any) -> dict[str, Any]:
    sizes = {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": layers}
    return {"model_type": kind, **sizes, "max_position_embeddings": longest, **fields}


def longrope(pairs: int, length: int, **more: Any) -> dict[str, Any]:
    lists = {"short_factor": [1.0] * pairs, "long_factor": [1.0 + i / 4 for i in range(pairs)]}
    return {"rope_type": "longrope", **lists, LENGTH: length, **more}


VL3 = {"mrope_section": [24, 20, 20], "mrope_interleaved": True}
VL35 = {
    "mrope_section": [11, 11, 10],
    "mrope_interleaved": True,
    "rope_theta": 1e7,
    "partial_rotary_factor": 0.25,
}
MISTRAL = {"num_key_value_heads": 8, "rope_theta": 10000.0, "sliding_window": 131072}
# The recipe as its card or its repository's config has it, and the place.
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        f"RedPajama {size}": (
            f"togethercomputer/RedPajama-INCITE-{size}",
            sized("gpt_neox", width, 32, 32, 2048, rotary_pct=1.0, vocab_size=50432, use_parallel_residual=False),
        )
        for size, width in (("Base-3B-v1", 2560), ("7B-Base", 4096))
    },
    "Qwen2.5": (
        "Qwen/Qwen2.5-7B-Instruct",
        sized("qwen2", 3584, 28, 28, 32768, num_key_value_heads=4, rope_theta=1e6, rope_scaling=yarn(4.0, 32768)),
    ),
    "Qwen2.5, the maximum raised": (
        "Qwen/Qwen2.5-72B-Instruct",
        sized("qwen2", 8192, 64, 80, 131072, num_key_value_heads=8, rope_theta=1e6, rope_scaling=yarn(4.0, 32768)),
    ),
    "Qwen3": ("Qwen/Qwen3-8B", model("qwen3-8b", rope_scaling=yarn(4.0, 32768))),
    "Qwen3, the maximum raised": (
        "Qwen/Qwen3-8B",
        model("qwen3-8b", rope_scaling=yarn(4.0, 32768), max_position_embeddings=131072),
    ),
    "Qwen3, half way": ("Qwen/Qwen3-8B", model("qwen3-8b", rope_scaling=yarn(2.0, 32768))),
    "Qwen2.5-VL": (
        "Qwen/Qwen2.5-VL-7B-Instruct",
        sized(
            "qwen2_5_vl",
            3584,
            28,
            28,
            128000,
            rope_theta=1e6,
            rope_scaling=yarn(4.0, 32768, mrope_section=[16, 24, 24]) | {"type": "yarn"},
        ),
    ),
    "Qwen3-VL, a million tokens": (
        "Qwen/Qwen3-VL-8B-Instruct",
        sized(
            "qwen3_vl_text",
            4096,
            32,
            36,
            1_000_000,
            head_dim=128,
            rope_theta=5e6,
            rope_scaling=yarn(3.0, 262144, **VL3),
        ),
    ),
    "Qwen3-VL, a million tokens by 2": (
        "Qwen/Qwen3-VL-235B-A22B-Instruct",
        sized(
            "qwen3_vl_moe_text",
            4096,
            64,
            94,
            1_000_000,
            head_dim=128,
            rope_theta=5e6,
            rope_scaling=yarn(2.0, 262144, **VL3),
        ),
    ),
    "Qwen3.5": ("Qwen/Qwen3.5-27B", model("qwen3.5-27b", rope_parameters=yarn(4.0, 262144, **VL35))),
    "Qwen3.5, the maximum raised": (
        "Qwen/Qwen3.5-27B",
        model("qwen3.5-27b", rope_parameters=yarn(4.0, 262144, **VL35), max_position_embeddings=1_010_000),
    ),
    "SmolLM3": ("HuggingFaceTB/SmolLM3-3B", model("smollm3-3b", rope_scaling=yarn(2.0, 65536))),
    "Yarn-Llama-2-7b-64k": (
        "NousResearch/Yarn-Llama-2-7b-64k",
        sized("llama", 4096, 32, 32, 65536, rope_scaling=yarn(16.0, 4096, finetuned=True)),
    ),
    "Yarn-Llama-2-13b-128k": (
        "NousResearch/Yarn-Llama-2-13b-128k",
        sized("llama", 5120, 40, 40, 131072, rope_scaling=yarn(32.0, 4096, finetuned=True)),
    ),
    "Yarn-Mistral-7b-64k": (
        "NousResearch/Yarn-Mistral-7b-64k",
        sized(
            "mistral",
            4096,
            32,
            32,
            32768,
            **MISTRAL,
            max_sequence_length=65536,
            rope_scaling=yarn(8.0, 8192, finetuned=True),
        ),
    ),
    "Yarn-Mistral-7b-128k": (
        "NousResearch/Yarn-Mistral-7b-128k",
        sized(
            "mistral",
            4096,
            32,
            32,
            32768,
            **MISTRAL,
            max_sequence_length=131072,
            rope_scaling=yarn(16.0, 8192, finetuned=True),
        ),
    ),
    "Phi-3.5-mini": ("microsoft/Phi-3.5-mini-instruct", model("phi-3.5-mini")),
    "Phi-4-mini": ("microsoft/Phi-4-mini-instruct", model("phi-4-mini")),
    "gpt-oss": ("openai/gpt-oss-20b", model("gpt-oss-20b")),
    "Kimi K2": ("moonshotai/Kimi-K2-Instruct", model("kimi-k2")),
    "Kimi K2-0905": (
        "moonshotai/Kimi-K2-Instruct-0905",
        model(
            "kimi-k2",
            max_position_embeddings=262144,
            rope_scaling=yarn(64.0, 4096, beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0),
        ),
    ),
    "DeepSeek-V3": ("deepseek-ai/DeepSeek-V3", model("deepseek-v3")),
    "MiniCPM3-4B": (
        "openbmb/MiniCPM3-4B",
        sized(
            "minicpm3",
            2560,
            40,
            62,
            32768,
            qk_rope_head_dim=32,
            qk_nope_head_dim=64,
            rope_theta=1e4,
            rope_scaling=longrope(16, 32768) | {"long_factor": [1.0] * 16},
        ),
    ),
    "MiniCPM4-8B": (
        "openbmb/MiniCPM4-8B",
        sized("minicpm", 4096, 32, 32, 32768, num_key_value_heads=2, rope_theta=1e4, rope_scaling=longrope(64, 32768)),
    ),
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_published_recipe_is_silent_or_right(name: str) -> None:
    # What programs make otherwise of YaRN beside axes of images is no fault of the recipe.
    loud = [each for each in check(RECIPES[name][1]) if each.severity != "note" and each.key != "mrope_with_yarn"]
    assert [(each.key, each.why()) for each in loud] == [], HUB + RECIPES[name][0]
    # Nor is it told to copy an unscaled model's values.
    assert not [each for each in check(RECIPES[name][1]) if each.change().startswith("Copy")]


def test_a_recipe_from_another_length_than_the_card_s_is_loud() -> None:
    """Qwen3's maximum of 40,960 holds 8,192 tokens of answer: its card scales from 32,768."""
    for base, wrong in ((40960, True), (32768, False)):
        config = model("qwen3-8b", rope_scaling=yarn(4.0, base), max_position_embeddings=4 * base)
        loud = [each for each in check(config) if each.severity == "warning"]
        assert [(each.key, each.values["card"]) for each in loud] == ([("recipe_differs", 32768)] if wrong else [])


def test_a_factor_past_the_ratio_is_a_finding_with_and_without_axes() -> None:
    """Rounded up as Qwen2.5-VL's 4 for 128,000 / 32,768, or below it for images: recipes; 6 is neither."""
    for name, key in (("Qwen2.5-VL", "rope_scaling"), ("Qwen3-VL, a million tokens", "rope_scaling")):
        config = RECIPES[name][1]
        other = {**config, key: {**config[key], "factor": 6.0}}
        assert "factor_is_not_ratio" in [each.key for each in check(other)], name
        assert "factor_is_not_ratio" not in [each.key for each in check(config)], name
    rounded = of(max_position_embeddings=128000, rope_scaling={**YARN, "factor": 8.0})
    assert "factor_is_not_ratio" not in [each.key for each in check(rounded)]


@pytest.mark.parametrize("factor", [1.5, 3.0, 6.0, 7.5, 12.0, 100.0])
def test_three_lengths_that_disagree_get_no_single_fix(factor: float) -> None:
    """Which of factor, trained length and maximum is wrong nobody knows from the config: each is named."""
    for each in check(of(rope_scaling={**YARN, "factor": factor})):
        if each.key in ("factor_is_not_ratio", "factor_reaches_further", "train_len_not_below_max"):
            assert each.severity == "note" or ("Set " not in each.change() and "card" in each.change())
    # A trained length past the maximum: the maximum is not told to grow to their product.
    depth = check(of(max_position_embeddings=33, rope_scaling={**YARN, "factor": factor, LENGTH: 1024}))
    (each,) = [each for each in depth if each.key == "train_len_not_below_max"]
    assert "which of the two" in each.change() and str(int(1024 * factor)) not in each.change()
