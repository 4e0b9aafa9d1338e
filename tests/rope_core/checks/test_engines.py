"""The engine table against literal values, transformers' own functions, and formulas written out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.checks.engines import Engine, engines, recorded, sentences
from rope_core.checks.formulas import ENGINES

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
}
YARN: dict[str, Any] = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16384}


def table(config: object, layer_type: str | None = None, seq_len: int | None = None) -> dict[str, Engine]:
    """The engines by the first word of their names; "4.57" for the older transformers."""
    found = engines(config, layer_type, seq_len)
    return {e.name.split(" ")[0] if "4.57" not in e.name else "4.57": e for e in found}


def of(**fields: Any) -> dict[str, Any]:
    return {**LLAMA, **fields}


def inv(engine: Engine) -> np.ndarray[Any, np.dtype[np.float64]]:
    assert engine.inv_freq is not None
    return engine.inv_freq


def test_plain_rotation_is_the_same_everywhere() -> None:
    for engine in engines(rc.model("llama-2-7b").hf_config()):
        np.testing.assert_allclose(inv(engine), 1e4 ** (-np.arange(64) / 64), rtol=1e-12)
        assert engine.difference == 0 and engine.attention_factor == 1 and engine.refused is None


def test_litgpt_inverts_yarn() -> None:
    lit = table(rc.model("deepseek-v3").hf_config())["LitGPT"]
    # Measured in LitGPT 0.5.13 with DeepSeek-V3's parameters.
    assert inv(lit)[0] == pytest.approx(0.025, rel=1e-6) and inv(lit)[31] == pytest.approx(1.3335e-4, rel=1e-4)
    assert lit.notes == ("inverted",) and lit.difference == pytest.approx(39.0)


def test_who_rounds_gpt_oss() -> None:
    made = table(rc.model("gpt-oss-20b").hf_config())
    assert made["vLLM"].difference == 0 and inv(made["vLLM"])[16] == pytest.approx(4.56483918e-4, rel=1e-6)
    for name in ("llama.cpp", "mlx-lm"):
        # The value that transformers gives with truncate true.
        assert inv(made[name])[16] == pytest.approx(5.80947497e-4, rel=1e-6)
        assert made[name].difference == pytest.approx(0.76, abs=0.01) and "rounds" in made[name].notes


def test_vllm_dynamic_is_static() -> None:
    config = of(rope_scaling={"type": "dynamic", "factor": 4.0})
    made = table(config, None, 262144)
    reference = rc.from_hf(config, seq_len=262144)
    np.testing.assert_array_equal(inv(made["transformers"]), reference.inv_freq)
    np.testing.assert_array_equal(inv(made["vLLM"]), reference.unscaled)
    assert made["vLLM"].notes == ("static",) and made["vLLM"].difference == pytest.approx(4.0)
    assert made["llama.cpp"].notes == ("plain",) and made["LitGPT"].refused == "not_supported"


def test_vllm_refuses_an_integer_factor() -> None:
    whole = table(of(rope_scaling={"type": "linear", "factor": 4}))["vLLM"]
    assert whole.refused == "integer_factor" and whole.inv_freq is None and whole.difference is None
    assert sentences(whole) == ["TypeError: the factor must be written as a float (4.0)"]
    assert table(of(rope_scaling={"type": "linear", "factor": 4.0}))["vLLM"].difference == 0


def test_two_types_go_three_ways() -> None:
    made = table(of(rope_scaling={**YARN, "type": "linear"}))
    assert made["transformers"].difference == 0 and made["vLLM"].refused == "type_conflict"
    np.testing.assert_allclose(inv(made["mlx-lm"]), 5e5 ** (-np.arange(64) / 64) / 8, rtol=1e-12)
    assert "old_type_wins" in made["mlx-lm"].notes


def test_vllm_ntk_by_its_formula() -> None:
    made = table(of(rope_scaling={"type": "ntk", "factor": 4.0}))
    i = np.arange(64)
    np.testing.assert_allclose(inv(made["vLLM"]), 5e5 ** (-i / 64) * 4.0 ** (-(i + 1) / 64), rtol=1e-12)
    assert made["transformers"].refused == made["4.57"].refused == "not_built"
    assert made["vLLM"].difference is None and made["mlx-lm"].refused == "unknown_type"


def test_attention_factors() -> None:
    made = table(of(rope_scaling={**YARN, "attention_factor": 1.0}))
    formula = 0.1 * math.log(8) + 1
    assert [made[name].attention_factor for name in ("transformers", "vLLM", "LitGPT")] == [1.0, 1.0, 1.0]
    assert made["llama.cpp"].attention_factor == made["mlx-lm"].attention_factor == pytest.approx(formula)
    assert made["mlx-lm"].attention_difference == pytest.approx(formula - 1)
    assert "attention_overwritten" in made["llama.cpp"].notes and "attention_ignored" in made["mlx-lm"].notes
    tele = table(of(rope_scaling={**YARN, "rope_type": "telechat3-yarn"}))["vLLM"]
    assert tele.attention_factor == pytest.approx(0.07 * math.log(8) + 1)
    deepseek = table(rc.model("deepseek-v2").hf_config())
    assert {round(e.attention_factor or 0, 9) for e in deepseek.values() if e.refused is None} == {1.0}
    assert deepseek["vLLM"].logit_scale == pytest.approx(1.58963, abs=5e-6)


def test_longrope_is_chosen_at_start() -> None:
    made = table(rc.model("phi-4-mini").hf_config())
    long = rc.from_hf(rc.model("phi-4-mini").hf_config(), seq_len=131072).inv_freq
    for name in ("vLLM", "llama.cpp", "mlx-lm"):
        np.testing.assert_allclose(inv(made[name]), long, rtol=1e-12)
        assert made[name].attention_factor == pytest.approx(1.19023807)
    short = table(rc.model("phi-4-mini").hf_config(), None, 4096)
    assert short["vLLM"].difference == 0 and short["mlx-lm"].difference != 0
    assert made["LitGPT"].notes == ("plain",) and made["LitGPT"].attention_factor == 1


def test_mrope_with_yarn_starts_from_four_times_the_length() -> None:
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "mrope_section": [16, 24, 24]}
    config = {"model_type": "qwen2_vl_text", "hidden_size": 3584, "num_attention_heads": 28, "rope_theta": 1e6}
    vllm = table({**config, "max_position_embeddings": 131072, "rope_scaling": scaling})["vLLM"]
    right = rc.from_hf({**config, "max_position_embeddings": 131072, "rope_scaling": scaling}).inv_freq
    # Measured in vLLM 0.33.0: 23 of 64 pairs differ, by up to 124 %.
    assert int(np.sum(~np.isclose(inv(vllm), right, rtol=1e-9))) == 23
    assert vllm.difference == pytest.approx(1.24, abs=0.005)


def test_partial_width_of_the_default_type() -> None:
    made = table(of(partial_rotary_factor=0.5))
    assert inv(made["transformers"]).size == 64
    for name in ("4.57", "vLLM", "LitGPT"):
        np.testing.assert_allclose(inv(made[name]), 5e5 ** (-np.arange(32) / 32), rtol=1e-12)
        assert made[name].difference == math.inf


def test_4_57_reads_the_old_fields_only() -> None:
    new = of(rope_parameters={"rope_type": "yarn", **YARN, "rope_theta": 1e6})
    assert inv(table(new)["4.57"])[63] == pytest.approx(5e5 ** (-63 / 64))
    del new["rope_theta"]
    assert inv(table(new)["4.57"])[63] == pytest.approx(1e4 ** (-63 / 64))
    long = {
        "rope_type": "longrope",
        "short_factor": [1.0] * 64,
        "long_factor": [4.0] * 64,
        "factor": 8.0,
        "original_max_position_embeddings": 4096,
    }
    made = table(of(original_max_position_embeddings=4096, rope_scaling=long))
    assert made["transformers"].attention_factor == pytest.approx(math.sqrt(1 + math.log(8) / math.log(4096)))
    assert made["4.57"].attention_factor == pytest.approx(math.sqrt(1 + math.log(32) / math.log(4096)))


def test_proportional_factor_is_transformers_own() -> None:
    entry = {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 2.0}
    made = table(of(rope_parameters=entry))
    assert inv(made["vLLM"])[0] == 1.0 and inv(made["transformers"])[0] == 0.5
    assert made["vLLM"].notes == ("factor_not_read",)


def test_transformers_agrees_with_from_hf_for_the_whole_catalogue() -> None:
    for model in rc.models():
        config = model.hf_config()
        for kind in rc.layer_types(config) or [None]:  # type: ignore[list-item]
            found = engines(config, kind)
            assert [e.name for e in found][2:] == list(ENGINES)
            np.testing.assert_array_equal(inv(found[0]), rc.from_hf(config, kind).inv_freq)
            for engine in found:
                for lang in ("en", "zh"):
                    assert all(line and "{" not in line for line in sentences(engine, lang)), model.id
                assert engine.inv_freq is None or np.all(np.isfinite(engine.inv_freq)), (model.id, engine.name)


def test_every_sentence_is_in_both_languages() -> None:
    for part in recorded().values():
        for key, row in part.items():
            assert set(row) == {"en", "zh"} and row["en"] != row["zh"], key


@pytest.mark.parametrize("factor", [0, -1, "8", None, float("nan"), 10**400, True, []])
def test_bad_values_are_refused_by_each_engine(factor: object) -> None:
    for kind in ("yarn", "linear", "dynamic", "llama3", "proportional", "longrope", "ntk", "deepseek_yarn"):
        for engine in engines(of(rope_scaling={**YARN, "rope_type": kind, "factor": factor})):
            assert (engine.inv_freq is None) == (engine.refused is not None)
            assert engine.inv_freq is None or np.all(np.isfinite(engine.inv_freq))
