"""verify: no healthy model of any family that transformers can build small is accused."""

import random
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import transformers

import rope_core as rc
from rope_core.hf.read import read_config
from rope_core.hf.resolve import ropes_of
from tests.rope_core.verification.test_verify_models import trained
from tests.support import tiny_models

# Seconds of processor time for building one model.
LIMIT = 20
# Fields, dtype, weights as training leaves them, and whether the model is in training mode with eager attention.
VARIANTS: dict[str, tuple[dict[str, Any], torch.dtype | None, bool, bool]] = {
    "fresh": ({}, None, False, False),
    "one KV head": ({"num_key_value_heads": 1, "pad_token_id": 1}, None, True, True),
    "bfloat16": ({"pad_token_id": 2}, torch.bfloat16, True, False),
    "padding id 1": ({"pad_token_id": 1}, None, False, True),
}
# Families that turn and that no small model is built of, by the reason.
UNBUILT = {
    "no auto class has the part alone": """
        blt_global_transformer blt_local_decoder blt_local_encoder blt_patcher clvp_encoder csm_depth_decoder_model
        deepseek_ocr2_encoder deepseek_ocr2_text dia_decoder dia_encoder diffusion_gemma_text emu3_text_model evolla
        EvollaModel granite4_vision_text jev mllama_text_model paddleocr_vl_text pp_chart2table qwen2_5_omni
        qwen2_5_omni_dit qwen2_5_omni_talker qwen2_5_omni_text qwen3_omni_moe_talker_code_predictor
        qwen3_omni_moe_talker_text
        shieldgemma2 step3p5 t5_gemma_module t5gemma2_decoder t5gemma2_text unlimited_ocr_text
        voxtral_realtime_text
    """,
    "its vision tower needs timm": """
        fast_vlm gemma3n pe_audio_video pe_audio_video_encoder pe_video pe_video_encoder perception_lm
    """,
    "its class demands sizes of the released model": """
        dbrx deepseek_ocr2 dots3_note dots3_note_audio_encoder ernie4_5_vl_moe ernie4_5_vl_moe_text fun_asr_nano
        gemma4_unified_assistant gradium_phonon_tts granite4_vision molmo2 moonshine_streaming
        nemotron3_5_transcribe_word_timestamp pocket_tts qwen4_exp qwen4_exp_text t5gemma2_encoder
    """,
    "its codec convolves in groups": """
        csm mimi mimi_decoder pocket_tts_audio_tokenizer pocket_tts_audio_tokenizer_decoder
    """,
    "its layers come in groups of a fixed number": "zamba2",
}
# What transformers does: these compute frequencies in the default dtype, bfloat16 where the model is built in it.
TRUE = {(name, "rotation_frequencies_rounded") for name in ("codegen", "gptj")}


def turns(model_type: str) -> bool:
    """Whether a family has a rotation that follows token positions."""
    try:
        return bool(ropes_of(read_config(transformers.CONFIG_MAPPING[model_type]())))
    except Exception:  # no rotary embedding, or a class default that cannot stand
        return False


def _too_long(*_: object) -> None:
    raise TimeoutError


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small products are slower on several threads, many times where other programs use the processors as well."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def accused(model_type: str, variant: str) -> list[str] | None:
    """Return the errors and warnings of a family's healthy small model; None where none can be built."""
    changes, dtype, trains, eager = VARIANTS[variant]
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        model, config = tiny_models.model(model_type, dtype, **changes)
        if eager:
            config._attn_implementation = "eager"
            model.train()
    except Exception:  # sizes that do not fit each other, a package that is absent
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    result = rc.verify(trained(model) if trains else model, config)
    wrong = [each for each in result if each.severity != "note" and (model_type, each.key) not in TRUE]
    return [f"{model_type}, {variant}: {each.key} {dict(each.values)}" for each in wrong]


def test_a_drawn_sample_of_healthy_models_is_not_accused() -> None:
    draw = random.Random(0)
    names = draw.sample(sorted(transformers.CONFIG_MAPPING), 40)
    answers = [accused(name, draw.choice([*VARIANTS])) for name in names if turns(name)]
    assert [line for answer in answers for line in answer or []] == []
    assert sum(answer is not None for answer in answers) >= 5


@pytest.mark.long
def test_no_healthy_model_of_any_family_is_accused() -> None:
    names = [name for name in transformers.CONFIG_MAPPING if turns(name)]
    others = [*VARIANTS][1:]
    pairs = [(name, variant) for i, name in enumerate(names) for variant in ("fresh", others[i % 3])]
    answers = {pair: accused(*pair) for pair in pairs}
    assert [line for answer in answers.values() for line in answer or []] == []
    unbuilt = {name for name in names if answers[name, "fresh"] is None}
    assert unbuilt == {name for row in UNBUILT.values() for name in row.split()}
