"""Blocks that extend a context: what they keep, loaded into transformers; the spectra of their schemes; their costs."""

import copy
import importlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.__main__ import main
from rope_core.extension.extend import (
    ContextExtension,
    config_reached_length,
    existing_scaling_sentence,
    extend,
)
from rope_core.hf.families import composite_text_fields
from rope_core.hf.resolve import resolve
from rope_core.hf.schemas import to_v5
from rope_core.hf.types import WAYS
from rope_core.languages import words
from tests.support import hf_live

LLAMA = rc.model("llama-2-7b").hf_config()
# (catalogue id, length, layer type, the released rope dict with its new factor written by hand, length as trained)
SCALED: list[tuple[str, int, str | None, dict[str, Any]]] = [
    ("deepseek-v3", 327_680, None, {"factor": 80.0, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32}),
    ("deepseek-v2", 491_520, None, {"factor": 120.0, "mscale": 0.707, "mscale_all_dim": 0.707}),
    ("kimi-k2", 262_144, None, {"factor": 64.0, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 1.0}),
    ("gpt-oss-20b", 262_144, None, {"factor": 64.0, "truncate": False}),
    ("ministral-3", 524_288, None, {"factor": 32.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}),
    ("deepseek-v4-flash", 2_097_152, "compress", {"factor": 32.0, "attention_factor": 1.0}),
    ("olmo-3.1-32b", 131_072, "full_attention", {"factor": 16.0, "attention_factor": 1.2079441541679836}),
    ("llama-3.1-8b", 262_144, None, {"factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}),
    ("llama-3.2-1b", 196_608, None, {"factor": 48.0}),
    ("gemma-3-4b", 262_144, "full_attention", {"factor": 16.0}),
]
LOADED_AS = {"kimi_k2": "deepseek_v3", "internlm2": "llama"}
# Its code states the base; transformers has no class for the other.
UNLOADED = ("gpt-j-6b", "qwen-7b")


def by_name(config: dict[str, Any], length: int) -> dict[str, ContextExtension]:
    return {way.name: way for way in extend(config, length)}


def kinds_of(config: dict[str, Any]) -> list[str | None]:
    return [*rc.layer_types(config)] or [None]


def loaded(config: dict[str, Any]) -> tuple[str, Any]:
    """Return the text part as transformers' own config object, and its class's name there."""
    text = resolve(config).text.fields
    kind = LOADED_AS.get(text.model_type or "", text.model_type or "")
    return kind, hf_live.config_of(kind, {key: value for key, value in text.stated.items() if key != "model_type"})


@pytest.mark.parametrize(("model_id", "length", "layer", "wanted"), SCALED, ids=[row[0] for row in SCALED])
def test_a_scaled_model_keeps_its_scaling(
    model_id: str, length: int, layer: str | None, wanted: dict[str, Any]
) -> None:
    config = rc.model(model_id).hf_config()
    way = extend(config, length)[0]
    released = to_v5(config)
    old = resolve(released).text.fields.stated["rope_parameters"]
    new = resolve(way.config).text.fields.stated["rope_parameters"]
    if layer is not None:
        assert {kind: new[kind] for kind in new if kind != layer} == {kind: old[kind] for kind in old if kind != layer}
        old, new = old[layer], new[layer]
    assert new == {**old, "factor": wanted["factor"]} and all(new[key] == value for key, value in wanted.items())
    assert way.name == old["rope_type"] and str(f"{length:,}") not in existing_scaling_sentence(config)
    assert not [each.key for each in rc.check(way.config) if each.severity != "note"]


def test_attention_and_logit_scale_by_hand() -> None:
    """The numbers that were lost: 1.0 and not 1.438 or 1.347, with the logits' own scale at the new factor."""
    m = 0.1 * math.log(80.0) + 1.0
    deepseek = extend(rc.model("deepseek-v3").hf_config(), 327_680)[0]
    assert deepseek.attention_factor == 1.0 and deepseek.rope.logit_scale == pytest.approx(m * m, rel=1e-12)
    apply = importlib.import_module("transformers.models.deepseek_v3.modeling_deepseek_v3").yarn_apply_mscale
    assert apply(loaded(deepseek.config)[1].rope_parameters, 1.0) == pytest.approx(m * m, rel=1e-12)
    lines = [change.sentence() for change in deepseek.changed]
    assert lines == ["logit scale 1.87 -> 2.07", "factor 40 -> 80"]
    assert deepseek.changed[0].sentence("zh") == "logit 缩放 1.87 -> 2.07"
    ministral = extend(rc.model("ministral-3").hf_config(), 524_288)[0]
    assert ministral.attention_factor == 1.0
    kind, theirs = loaded(ministral.config)
    assert hf_live.frequencies(kind, theirs, None, None)[1] == 1.0
    assert theirs.rope_parameters["llama_4_scaling_beta"] == 0.1
    assert theirs.rope_parameters["original_max_position_embeddings"] == 16_384
    # A softmax temperature that follows the factor follows it, and the list says so.
    oss = extend(rc.model("gpt-oss-20b").hf_config(), 262_144)[0]
    assert oss.attention_factor == pytest.approx(0.1 * math.log(64.0) + 1.0)
    assert "attention factor 1.35 -> 1.42" in [change.sentence() for change in oss.changed]


# Composite classes that fill in a text config by defaults of their own, or check it against a part that is left out.
OWN_DEFAULTS = {"voxtral", "glmasr", "fun_asr_nano"}


def forms(flat: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a config as it is, and below each composite class whose text part is of its type."""
    yield flat
    for kind, row in composite_text_fields().items():
        if row["text_type"] == flat["model_type"] and kind not in OWN_DEFAULTS:
            yield {"model_type": kind, row["text"]: flat}


def pasted(config: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    """Return a config with a printed block written over it, object by object."""
    new = copy.deepcopy(config)
    for key, value in block.items():
        new[key] = pasted(new[key], value) if key.endswith("_config") else value
    return new


def every_model() -> Iterator[Any]:
    """Yield the catalogue's models; those of a class and a scaling that came before are a long run's."""
    seen = set()
    for model in rc.models():
        config = model.hf_config()
        scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
        kind = (
            config["model_type"],
            *sorted(map(str, scaling)),
            scaling.get("rope_type"),
            "partial_rotary_factor" in config,
        )
        if model.id not in UNLOADED:
            yield pytest.param(model, id=model.id, marks=[pytest.mark.long] if kind in seen else [])
            seen.add(kind)


@pytest.mark.parametrize("model", list(every_model()))
def test_transformers_runs_every_printed_block(model: rc.Model) -> None:
    """Each block of both schemas, pasted into the config and loaded: frequencies and attention scaling as printed."""
    for config in forms(model.hf_config()):
        for way in extend(config, 2 * config_reached_length(config)):
            for block in (way.block, way.old_block):
                if block is None:
                    continue
                full = pasted(config, block)
                kind = LOADED_AS.get(full.pop("model_type"), config["model_type"])
                theirs = hf_live.config_of(kind, full)
                text = resolve(way.config).text.fields
                for name in text.prefix.split(".")[:-1]:
                    theirs = getattr(theirs, name)
                kind = LOADED_AS.get(text.model_type or "", text.model_type or "")
                for layer in kinds_of(way.config):
                    rope = way.ropes.get(layer, rc.from_hf(config, layer))
                    longer = way.length if rope.rope_type in ("dynamic", "longrope") else None
                    inv_freq, scaling = hf_live.frequencies(kind, theirs, layer, longer)
                    np.testing.assert_allclose(rope.inv_freq, inv_freq, rtol=2e-5, atol=1e-30)
                    assert scaling == pytest.approx(rope.attention_factor, rel=1e-6)


def test_layers_extend_from_their_own_length() -> None:
    config = rc.model("deepseek-v4-flash").hf_config()
    (way,) = extend(config, 2_097_152)
    assert set(way.ropes) == {"compress"} and config_reached_length(config) == 1_048_576
    before, after = rc.from_hf(config, "compress"), way.ropes["compress"]
    slow = before.unscaled * 65_536 < 2 * np.pi
    np.testing.assert_allclose(before.inv_freq[slow] / after.inv_freq[slow], 2.0, rtol=1e-12)
    np.testing.assert_allclose(after.inv_freq[slow] * 2_097_152, before.unscaled[slow] * 65_536, rtol=1e-12)


@pytest.mark.parametrize(
    ("model_id", "names"),
    [
        ("llama-3.1-8b", ["llama3", "ntk"]),
        ("deepseek-v3", ["yarn"]),
        ("phi-4-mini", ["ntk"]),
        ("gemma-3-4b", ["linear", "ntk"]),
        ("internlm2-1.8b", ["dynamic", "ntk"]),
        ("qwen3-8b", ["yarn-card", *WAYS]),
        ("qwen3-0.6b", list(WAYS)),
        ("phi-4", ["ntk"]),
    ],
)
def test_the_order_of_the_ways(model_id: str, names: list[str]) -> None:
    config = rc.model(model_id).hf_config()
    assert [way.name for way in extend(config, 2 * config_reached_length(config))] == names
    scaled = names[0] != "yarn-card" and len(names) < 4 and model_id != "phi-4"
    for lang in ("en", "zh"):
        assert bool(existing_scaling_sentence(config, lang)) == scaled


@pytest.mark.parametrize("model_id", ["qwen3-8b", "qwen3-32b", "qwen3-30b-a3b", "qwen2.5-7b"])
def test_a_card_s_recipe(model_id: str, tmp_path: Path) -> None:
    config = rc.model(model_id).hf_config()
    way = extend(config, 131_072)[0]
    assert way.name.startswith("yarn") and way.source.startswith("https://huggingface.co/Qwen/")
    assert way.block == {
        "rope_parameters": {
            "rope_type": "yarn",
            "rope_theta": 1_000_000,
            "factor": 4.0,
            "original_max_position_embeddings": 32_768,
        },
        "max_position_embeddings": 131_072,
    }
    assert way.old_block is not None and way.old_block["rope_scaling"]["factor"] == 4.0
    (tmp_path / "config.json").write_text(json.dumps(way.config))
    assert main(["check", str(tmp_path)]) == 0
    (tmp_path / "config.json").write_text(json.dumps({**config, **way.old_block}))
    assert main(["check", str(tmp_path), "--transformers", "4.57"]) == 0
    assert [each.name for each in extend(config, 131_073)] == list(WAYS)


def test_longrope_and_dynamic_keep_what_follows_the_lengths() -> None:
    phi = rc.model("phi-4-mini").hf_config()
    way = extend(phi, 262_144)[0]
    assert way.attention_factor == pytest.approx(math.sqrt(1.0 + math.log(32.0) / math.log(4096.0)))
    internlm = rc.model("internlm2-1.8b").hf_config()
    dynamic = extend(internlm, 65_536)[0]
    assert dynamic.config["max_position_embeddings"] == 32_768
    base = 1e6 * (2.0 * 2.0 - 1.0) ** (128 / 126)
    np.testing.assert_allclose(dynamic.rope.inv_freq, base ** (-np.arange(64) / 64), rtol=1e-12)


def test_each_way_runs_its_scheme() -> None:
    built = by_name(LLAMA, 16384)
    assert tuple(built) == WAYS
    rope = rc.Rope(128, 10000.0, 4096)
    for name, way in built.items():
        wanted = rc.spectrum(rc.Request(rope, name, {"factor": 4.0}))
        np.testing.assert_allclose(way.ropes[None].inv_freq, wanted.inv_freq, rtol=1e-12)
        assert way.attention_factor == pytest.approx(wanted.attention_factor)
        assert way.config["max_position_embeddings"] == 16384 and way.factor == 4.0
    assert built["ntk"].block["rope_parameters"]["rope_theta"] == pytest.approx(10000 * 4 ** (128 / 126))


def test_costs_by_hand() -> None:
    built = by_name(LLAMA, 16384)
    assert [built[name].fastest for name in WAYS] == [1.0, 4.0, 1.0, 1.0]
    assert built["linear"].kept == 0 and built["linear"].unseen == 0
    # NTK: pairs between the first and the last that do not turn once in 4096 tokens and slow down by less than 4.
    slow = 10000 ** (-np.arange(64) / 64) * 4096 < 2 * np.pi
    reach = 10000 ** (-np.arange(64) / 64) * 4 ** (-np.arange(64) / 63) * 16384
    assert built["ntk"].unseen == int(np.sum(slow & (reach > 10000 ** (-np.arange(64) / 64) * 4096 * (1 + 1e-9))))
    assert built["yarn"].kept == 21 and built["yarn"].unseen == 0


def test_layers_that_are_left_and_sentences_that_are_filled() -> None:
    for model in rc.models():
        config = model.hf_config()
        if model.id == "gpt-j-6b":
            with pytest.raises(rc.ConfigError, match="whose code states them"):
                extend(config, 8192)
            continue
        for way in extend(config, 2 * config_reached_length(config)):
            assert all(np.all(rope.inv_freq <= way.before[kind].inv_freq) for kind, rope in way.ropes.items())
            assert not [each.key for each in rc.check(way.config) if each.severity == "error"], way.name
            for kind in set(kinds_of(config)) - set(way.ropes):
                np.testing.assert_array_equal(rc.from_hf(way.config, kind).inv_freq, rc.from_hf(config, kind).inv_freq)
            for lang in ("en", "zh"):
                assert "{" not in way.cost(lang) + way.title(lang)


@pytest.mark.parametrize("length", [0, 4096, 2**31, 4096 * 1025])
def test_lengths_out_of_reach(length: int) -> None:
    with pytest.raises(ValueError, match="length must be"):
        extend(LLAMA, length)
    with pytest.raises(ValueError, match=r"an integer in \[163841, "):
        extend(rc.model("deepseek-v3").hf_config(), 163_840)


def test_longrope_is_explained_not_invented() -> None:
    assert "longrope" not in WAYS
    assert "2402.13753" in words("en", "extension")["searched"]["cost"]
    assert set(WAYS) < words("en", "extension").keys()


def test_a_written_attention_factor_stays_beside_the_formula_s() -> None:
    """OLMo 3 writes 1.2079, which is YaRN's for its factor of 8; at 64 the formula gives 0.1 ln(64) + 1."""
    scaling = {"rope_type": "yarn", "factor": 8.0, "attention_factor": 1.2079441541679836}
    scaling |= {"original_max_position_embeddings": 8192, "rope_theta": 5e5}
    config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 65536, "rope_parameters": scaling}
    (own,) = extend(config, 524_288)
    assert own.attention_factor == scaling["attention_factor"]
    assert f"formula gives {0.1 * math.log(64) + 1:.4g}" in own.cost() and "1.416" in own.cost("zh")
    del scaling["attention_factor"]
    assert "formula" not in extend(config, 524_288)[0].cost()
