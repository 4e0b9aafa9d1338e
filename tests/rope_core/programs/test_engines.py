"""The engine table against literal values, transformers' own functions, and formulas written out by hand."""

import math
import re
import subprocess
from functools import cache
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.errors import ConfigError
from rope_core.extension.extend import extend
from rope_core.hf.families import recorded_class_defaults as wheel
from rope_core.programs.commands import launch_commands
from rope_core.programs.engines import (
    EngineResult,
    engine_evidence_sentence,
    engine_records,
    engine_sentences,
    engines,
    known_types,
)
from rope_core.programs.formulas import ENGINES
from tests.support.configs import LLAMA, YARN, of
from tools.engines.__main__ import SOURCES, installed, load, measure
from tools.engines.compare import by_id, row_verdict
from tools.engines.compare import verdict_counts_and_differences as compared_with


def table(
    config: object, layer_type: str | None = None, seq_len: int | None = None, context: int | None = None
) -> dict[str, EngineResult]:
    """Return the engines by the first word of their names; "4.57" for the older transformers."""
    result = engines(config, layer_type, seq_len, context)
    return {e.name.split(" ")[0] if "4.57" not in e.name else "4.57": e for e in result}


def inv(engine: EngineResult) -> np.ndarray[Any, np.dtype[np.float64]]:
    assert engine.inv_freq is not None
    return engine.inv_freq


def test_plain_rotation_is_the_same_everywhere() -> None:
    for engine in engines(rc.model("llama-2-7b").hf_config()):
        np.testing.assert_allclose(inv(engine), 1e4 ** (-np.arange(64) / 64), rtol=1e-12)
        assert engine.difference == 0 and engine.attention_factor == 1 and engine.refused is None


def test_who_rounds_gpt_oss() -> None:
    built = table(rc.model("gpt-oss-20b").hf_config())
    assert built["vLLM"].difference == 0 and inv(built["vLLM"])[16] == pytest.approx(4.56483918e-4, rel=1e-6)
    for name in ("llama.cpp", "mlx-lm"):
        # The value that transformers gives with truncate true.
        assert inv(built[name])[16] == pytest.approx(5.80947497e-4, rel=1e-6)
        assert built[name].difference == pytest.approx(0.76, abs=0.01) and "rounds" in built[name].notes


def test_vllm_dynamic_is_static() -> None:
    config = of(rope_scaling={"type": "dynamic", "factor": 4.0})
    built = table(config, None, 262144)
    reference = rc.from_hf(config, seq_len=262144)
    np.testing.assert_array_equal(inv(built["transformers"]), reference.inv_freq)
    np.testing.assert_array_equal(inv(built["vLLM"]), reference.unscaled)
    assert built["vLLM"].notes == ("static",) and built["vLLM"].difference == pytest.approx(4.0)
    assert built["llama.cpp"].notes == ("plain",) and built["LitGPT"].refused == "not_supported"


def test_vllm_refuses_an_integer_factor() -> None:
    whole = table(of(rope_scaling={"type": "linear", "factor": 4}))["vLLM"]
    assert whole.refused == "integer_factor" and whole.inv_freq is None and whole.difference is None
    assert engine_sentences(whole) == ["TypeError: the factor must be written as a float (4.0)"]
    assert table(of(rope_scaling={"type": "linear", "factor": 4.0}))["vLLM"].difference == 0


def test_two_types_go_three_ways() -> None:
    built = table(of(rope_scaling={**YARN, "type": "linear"}))
    assert built["transformers"].difference == 0 and built["vLLM"].refused == "type_conflict"
    np.testing.assert_allclose(inv(built["mlx-lm"]), 5e5 ** (-np.arange(64) / 64) / 8, rtol=1e-12)
    assert "old_type_wins" in built["mlx-lm"].notes


def test_attention_factors() -> None:
    built = table(of(rope_scaling={**YARN, "attention_factor": 1.0}))
    formula = 0.1 * math.log(8) + 1
    assert [built[name].attention_factor for name in ("transformers", "vLLM", "LitGPT")] == [1.0, 1.0, 1.0]
    assert built["llama.cpp"].attention_factor == built["mlx-lm"].attention_factor == pytest.approx(formula)
    assert built["mlx-lm"].attention_difference == pytest.approx(formula - 1)
    assert "attention_overwritten" in built["llama.cpp"].notes and "attention_ignored" in built["mlx-lm"].notes
    tele = table(of(rope_scaling={**YARN, "rope_type": "telechat3-yarn"}))["vLLM"]
    assert tele.attention_factor == pytest.approx(0.07 * math.log(8) + 1)
    deepseek = table(rc.model("deepseek-v2").hf_config())
    assert {round(e.attention_factor or 0, 9) for e in deepseek.values() if e.refused is None} == {1.0}
    assert deepseek["vLLM"].logit_scale == pytest.approx(1.58963, abs=5e-6)


def test_longrope_is_chosen_at_start() -> None:
    built = table(rc.model("phi-4-mini").hf_config())
    long = rc.from_hf(rc.model("phi-4-mini").hf_config(), seq_len=131072).inv_freq
    for name in ("vLLM", "llama.cpp", "mlx-lm"):
        np.testing.assert_allclose(inv(built[name]), long, rtol=1e-12)
        assert built[name].attention_factor == pytest.approx(1.19023807)
    short = table(rc.model("phi-4-mini").hf_config(), None, 4096, 4096)
    assert short["vLLM"].difference == short["llama.cpp"].difference == 0 and short["mlx-lm"].difference != 0
    assert built["LitGPT"].notes == ("plain",) and built["LitGPT"].attention_factor == 1


@pytest.mark.parametrize(("context", "name"), [(None, "long_factor"), (8192, "long_factor"), (4096, "short_factor")])
def test_the_context_chooses_longrope_s_list_and_not_the_length(context: int | None, name: str) -> None:
    config = rc.model("phi-4-mini").hf_config()
    factors = config["rope_scaling"][name] if "rope_scaling" in config else config["rope_parameters"][name]
    for length in (None, 3000, 4096, 100_000):
        built = table(config, None, length, context)
        for engine in (built["llama.cpp"], built["vLLM"]):
            # Measured in llama.cpp: at 3,000 tokens in a context of 8,192 it turns by the long list.
            np.testing.assert_allclose(inv(engine), 1e4 ** (-np.arange(48) / 48) / np.asarray(factors), rtol=1e-12)
            assert engine.values["list"] == name and "length read" in engine_sentences(engine)[0]
    with pytest.raises(ValueError, match="context"):
        engines(config, context=0)


LITGPT_BASE = 150000.0
LITGPT: dict[str, Any] = {"factor": 32.0, "original_max_position_embeddings": 4096, "rope_type": "yarn"}
ENDS = {"beta_fast": 32.0, "beta_slow": 1.0}
LITGPT_PAIRS = [0, 8, 10, 14, 16, 17, 31]
# LitGPT 0.5.13's own code, base 150,000, width 64: a model (GPT.rope_cache).
LITGPT_MODEL = [3.124999851e-2, 1.587914723e-3, 5.428176432e-3, 3.330935350e-3, 2.081728836e-3, 1.606753937e-3,
                9.675236469e-6]  # fmt: skip


@pytest.mark.parametrize("truncate", [True, False])
def test_litgpt_s_models_drop_truncate(truncate: bool) -> None:
    config = of(head_dim=64, rope_theta=LITGPT_BASE, rope_scaling={**LITGPT, **ENDS, "truncate": truncate})
    lit = table(config)["LitGPT"]
    np.testing.assert_allclose(inv(lit)[LITGPT_PAIRS], LITGPT_MODEL, rtol=5e-7)
    assert lit.notes == (("inverted",) if truncate else ("inverted", "truncate_dropped"))
    # The largest gap over all pairs between both of LitGPT's functions is 6.138 %.
    assert truncate or ("6.1 %" in engine_sentences(lit)[1] and "6.1 %" in engine_sentences(lit, "zh")[1])


def test_litgpt_takes_yarn_only_where_both_ends_are_stated() -> None:
    def lit(**ends: float) -> EngineResult:
        return table(of(head_dim=64, rope_theta=LITGPT_BASE, rope_scaling={**LITGPT, **ends}))["LitGPT"]

    theta = LITGPT_BASE ** (-np.arange(0, 64, 2) / 64)
    np.testing.assert_allclose(inv(lit()), theta / 32.0, rtol=1e-12)
    assert lit().notes == ("linear_alone",) and lit().own_formula and lit().attention_factor == 1
    for name, value in ENDS.items():
        assert lit(**{name: value}).refused == "missing_end"


@pytest.mark.parametrize(
    ("model_type", "lacking"),
    [
        ("gemma4", {"4.57", "LitGPT"}),
        ("granitemoehybrid", {"LitGPT"}),
        ("qwen3_5_text", {"4.57", "LitGPT"}),
        ("mistral", set()),
        ("cwm", {"4.57", "mlx-lm", "LitGPT"}),
        ("kimi_k2", {"LitGPT"}),
    ],
)
def test_an_engine_without_the_family_is_not_the_same(model_type: str, lacking: set[str]) -> None:
    inner = {k: v for k, v in LLAMA.items() if k != "model_type"}
    text = {
        "model_type": "gemma4",
        "text_config": {**inner, "model_type": "gemma4_text", "layer_types": ["full_attention"]},
    }
    built = table(text if model_type == "gemma4" else of(model_type=model_type))
    assert {name for name, engine in built.items() if engine.refused == "no_family"} == lacking
    for name in lacking:
        engine = built[name]
        assert engine.status == "not_supported" and engine.inv_freq is None and engine.difference is None
        assert model_type in engine_sentences(engine)[0] and engine_sentences(engine)[0].startswith("not supported")
        assert engine_sentences(engine, "zh")[0].startswith("不支持")
    assert built["transformers"].status == "runs"


def test_no_line_starts_an_engine_without_the_family() -> None:
    way = extend(of(model_type="cwm"), 262144)[0]
    for lang, start in (("en", "not supported: mlx-lm"), ("zh", "不支持：mlx-lm")):
        built = next(each for each in launch_commands(way, lang=lang) if each.engine == "mlx-lm")
        assert built.line is None and built.note.startswith(start)


def test_the_lists_of_model_types_are_the_packages_own() -> None:
    types = wheel()["family"].keys() | wheel()["composite"].keys()
    counts = {
        name: len(known or ()) for name, known in ((name, known_types(name)) for name in engine_records()["engine"])
    }
    listed = {name: count for name, count in counts.items() if count}
    assert listed == {"transformers 4.57": 145, "mlx-lm 0.32.2": 138, "LitGPT 0.5.13": 18}
    assert (known_types("transformers 4.57") or set()) < types and (known_types("LitGPT 0.5.13") or set()) < types


@cache
def record() -> dict[str, Any]:
    return load()


# The catalogue reads this model of type phi3_v, which comes with code of its own, as a phi3.
ALSO_READ = {"phi-3-vision-128k", "phi-3-vision-128k@8192"}


@pytest.mark.parametrize("name", SOURCES)
def test_the_table_is_what_the_engine_s_own_code_gave(name: str) -> None:
    counts, apart = compared_with(name, record()[name]["rows"])
    assert record()[name]["rows"].keys() == by_id().keys() and set(apart) <= ALSO_READ, apart
    row = engine_records()["engine"][name]
    assert (row["measured"], row["configs"]) == (record()[name]["date"], counts["agrees"])
    for lang in ("en", "zh"):
        assert row["measured"] in engine_evidence_sentence(name, lang) and str(
            counts["agrees"]
        ) in engine_evidence_sentence(name, lang)


@pytest.mark.parametrize("field", ["inv_freq", "factor", "logits", "layout"])
def test_a_row_with_another_rotation_is_seen(field: str) -> None:
    row = record()["vLLM 0.33"]["rows"]["made:yarn_not_rounded"]
    changed = {"inv_freq": [1.00002 * x for x in row["inv_freq"]], "factor": row["factor"] + 2e-5,
               "logits": [row["logits"][0], row["logits"][1] + 0.01, row["logits"][2]],
               "layout": "interleaved"}  # fmt: skip
    assert row_verdict("vLLM 0.33", "made:yarn_not_rounded", row) == "agrees"
    assert (
        "differ" in (how := row_verdict("vLLM 0.33", "made:yarn_not_rounded", {**row, field: changed[field]}))
        or "but" in how
    )
    for other in ({"not_supported": "llama"}, {"refuses": "ValueError"}):
        assert row_verdict("vLLM 0.33", "made:yarn_not_rounded", other).startswith("runs")
    assert row_verdict("vLLM 0.33", "made:linear_whole_factor", row) == "integer_factor, but it runs"


def test_each_column_says_whether_it_was_measured() -> None:
    names = [engine.name for engine in engines(LLAMA)]
    assert list(engine_records()["engine"]) == names and set(names) - set(SOURCES) == {"llama.cpp 0c1e5709"}
    for name in names:
        assert re.match(r"measured 2026-11-2\d on ", engine_evidence_sentence(name))
        assert re.match(r"实测 2026-11-2\d，", engine_evidence_sentence(name, "zh"))


@pytest.mark.long
@pytest.mark.parametrize("name", SOURCES)
def test_engines_run_again_give_the_table(name: str) -> None:
    try:
        installed(name, SOURCES[name])
    except subprocess.CalledProcessError:
        pytest.skip(f"{name} does not install here")
    counts, apart = compared_with(name, measure(name))
    assert counts["agrees"] == engine_records()["engine"][name]["configs"] and set(apart) <= ALSO_READ, apart


def test_what_the_engines_own_code_showed() -> None:
    built = table(rc.model("glm-4-9b-chat").hf_config())
    assert built["mlx-lm"].difference == math.inf and built["mlx-lm"].notes == ("whole_width",)
    hunyuan = rc.model("hunyuan-dense").hf_config()
    short, long = table(hunyuan, None, 2048), table(hunyuan, None, 4096)
    assert short["4.57"].difference == long["transformers"].difference == 0 and long["mlx-lm"].difference == 0
    np.testing.assert_allclose(inv(long["4.57"]), (1e4 * 2 ** (128 / 126)) ** (-np.arange(64) / 64), rtol=1e-12)
    phi = rc.model("phi-4-mini").hf_config()
    lists = {length: inv(table(phi, None, length)["SGLang"]) for length in (4097, 4098)}
    np.testing.assert_array_equal(lists[4097], rc.from_hf(phi, seq_len=4096).inv_freq)
    np.testing.assert_array_equal(lists[4098], rc.from_hf(phi, seq_len=4098).inv_freq)


def test_mlx_lm_s_older_files_do_not_read_rope_parameters() -> None:
    new = {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6}
    bare = {k: v for k, v in LLAMA.items() if k != "rope_theta"}
    assert table({**bare, "rope_parameters": new})["mlx-lm"].refused == "old_fields_only"
    assert inv(table(of(rope_parameters=new))["mlx-lm"])[63] == pytest.approx(5e5 ** (-63 / 64))
    assert table({**bare, "model_type": "qwen3", "rope_parameters": new})["mlx-lm"].difference == 0
    way = extend({**bare, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, 262144)[0]
    assert next(each for each in launch_commands(way) if each.engine == "mlx-lm").line is not None


def test_a_chinese_reader_gets_the_error_in_chinese() -> None:
    for scaling in ({**YARN, "factor": "8"}, {"rope_type": "linear"}, {"rope_type": "ntk", "factor": 4.0}):
        for engine in engines(of(rope_scaling=scaling)):
            if engine.refused:
                line = engine_sentences(engine, "zh")[0]
                assert any("\u4e00" <= letter <= "\u9fff" for letter in line), line
                assert " must be " not in line and "unsupported operand" not in line, line
    built = table(of(rope_scaling={**YARN, "factor": "8"}))["transformers"]
    error = built.values["sentence"]
    assert isinstance(error, ConfigError) and error.sentence("zh") in engine_sentences(built, "zh")[0]


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
    built = table(of(original_max_position_embeddings=4096, rope_scaling=long))
    assert built["transformers"].attention_factor == pytest.approx(math.sqrt(1 + math.log(8) / math.log(4096)))
    assert built["4.57"].attention_factor == pytest.approx(math.sqrt(1 + math.log(32) / math.log(4096)))


def test_proportional_factor_is_transformers_own() -> None:
    entry = {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 2.0}
    built = table(of(rope_parameters=entry))
    assert inv(built["vLLM"])[0] == 1.0 and inv(built["transformers"])[0] == 0.5
    assert built["vLLM"].notes == ("factor_not_read",)


def test_transformers_agrees_with_from_hf_for_the_whole_catalogue() -> None:
    for model in rc.models():
        config = model.hf_config()
        for kind in rc.layer_types(config) or [None]:  # type: ignore[list-item]
            result = engines(config, kind)
            assert [e.name for e in result][2:] == list(ENGINES)
            np.testing.assert_array_equal(inv(result[0]), rc.from_hf(config, kind).inv_freq)
            for engine in result:
                for lang in ("en", "zh"):
                    assert all(line and "{" not in line for line in engine_sentences(engine, lang)), model.id
                assert engine.inv_freq is None or np.all(np.isfinite(engine.inv_freq)), (model.id, engine.name)


@pytest.mark.parametrize("factor", [0, -1, "8", None, float("nan"), 10**400, True, []])
def test_bad_values_are_refused_by_each_engine(factor: object) -> None:
    for kind in ("yarn", "linear", "dynamic", "llama3", "proportional", "longrope", "ntk", "deepseek_yarn"):
        for engine in engines(of(rope_scaling={**YARN, "rope_type": kind, "factor": factor})):
            assert (engine.inv_freq is None) == (engine.refused is not None)
            assert engine.inv_freq is None or np.all(np.isfinite(engine.inv_freq))
