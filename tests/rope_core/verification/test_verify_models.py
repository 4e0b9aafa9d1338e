"""verify: small random models of transformers, as it builds them, are clean; and are left as they were."""

from typing import Any

import pytest
import torch

import rope_core as rc
from tests.support import tiny_models
from tests.support.configs import keys

# One of each kind of rotation and of each way to write an attention.
TEXT = """
afmoe aria_text axk1 cohere cohere2 deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 falcon gemma gemma2 gemma3_text
gemma3n_text gemma4_text glm4 glm4v_text glm_moe_dsa gpt_neox gpt_neox_japanese gpt_oss gptj codegen gte hy_v4 lfm2
llama llama4_text longcat_flash minimax modernbert nanochat nomic_bert olmo2 olmo3 phi phi3 qwen2 qwen3 qwen3_next
roformer smollm3 stablelm cosmos3_edge_text flint
"""
TOWERS = """
glm4v mistral3 qwen2_5_vl qwen2_vl qwen3_5 qwen3_vl
"""
LATER = """
axk2 beam cohere2_moe embedding_gemma2_text ernie4_5_moe exaone_moe flex_olmo glm4_moe_lite glm4v_moe_text
glm_image_text glm_ocr_text granitemoe granitemoeshared hrm_text hunyuan_v1_moe hunyuan_vl_text hy_v3 hyperclovax
iquestcoder jais2 jina_embeddings_v3 laguna lfm3 mellum minicpm3 ministral mllama modernbert-decoder muse_spark_text
neomme olmo_hybrid olmoe openai_privacy_filter qwen2_5_vl_text qwen2_vl_text qwen3_5_moe_text qwen3_5_text qwen3_moe
qwen3_vl_moe_text qwen3_vl_text solar_open ultrabert youtu aya_vision gemma3 gemma4 granite_speech internvl llava
ovis2 paligemma qwen2_audio smolvlm voxtral apertus arcee cwm doge ernie4_5 eurobert exaone4 glm granite helium
hunyuan_v1_dense internlm3 jetmoe minimax_m2 ministral3 mistral mixtral olmo persimmon phimoe qwen2_moe seed_oss
vaultgemma starcoder2 nemotron bitnet diffllama glm4_moe
"""


def trained(model: Any) -> Any:
    """Return the model with biases and norm weights as training leaves them: neither 0 nor 1."""
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 1:
                change = (0.3 * torch.randn(weight.shape, generator=random)).to(weight.dtype)
                weight += change.abs() if "softmax_scaling" in name else change
    return model


@pytest.mark.parametrize(
    "model_type", [*TEXT.split(), *(pytest.param(name, marks=pytest.mark.long) for name in LATER.split())]
)
def test_every_layer_is_observed_and_clean(model_type: str) -> None:
    model, config = tiny_models.model(model_type)
    result = rc.verify(trained(model), config)
    assert [each for each in result if each.key != "part_not_observed"] == []


@pytest.mark.parametrize("model_type", TOWERS.split())
def test_a_vision_tower_is_named_and_not_compared(model_type: str) -> None:
    model, config = tiny_models.model(model_type)
    assert keys(rc.verify(trained(model), config)) == ["part_not_observed"]


def test_frequencies_of_time_steps_are_no_rotation() -> None:
    model, config = tiny_models.model("voxtral_realtime")
    result = rc.verify(trained(model), config)
    # Its forward wants speech beside tokens: the text's rotary embedding is called by itself.
    assert [(each.key, each.field) for each in result] == [
        ("attention_not_observed", "language_model.rotary_emb"),
        ("part_not_observed", "audio_tower.rotary_emb"),
    ]
    model.language_model.rotary_emb.inv_freq *= 1.5
    assert "buffer_differs" in keys(rc.verify(model, config))


@pytest.mark.parametrize("model_type", ["qwen2_vl_text", "qwen2_5_vl_text", "glm4v_text", "paddleocr_vl"])
def test_sections_in_another_order_are_seen_though_text_comes_out_right(model_type: str) -> None:
    """Each of an image's three positions moves alone; the sections are handed to the code in reverse."""
    model, _ = tiny_models.model(model_type)
    for part in model.modules():
        held = getattr(getattr(part, "config", None), "rope_parameters", None)
        if isinstance(held, dict) and held.get("mrope_section"):
            held["mrope_section"] = (2, 2, 4)
        if hasattr(part, "mrope_section"):
            part.mrope_section = (2, 2, 4)
    _, config = tiny_models.model(model_type)
    (wrong,) = (each for each in rc.verify(trained(model), config) if each.key != "part_not_observed")
    assert wrong.key == "mrope_axis_differs" and "time" in wrong.title() and "layers 0" in wrong.why()
