"""Blocks that extend a context: the spectra of their schemes, the costs counted by hand, transformers' own reading."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.checks.extend import WAYS, fix_for, fixes
from rope_core.checks.schemas import to_v5
from rope_core.hf.normal import resolve

LLAMA = rc.model("llama-2-7b").hf_config()


def by_name(config: dict[str, Any], length: int) -> dict[str, Any]:
    return {fix.name: fix for fix in fix_for(config, length)}


def test_each_way_runs_its_scheme() -> None:
    made = by_name(LLAMA, 16384)
    assert tuple(made) == WAYS
    rope = rc.Rope(128, 10000.0, 4096)
    for name, fix in made.items():
        params = {"factor": 4.0}
        wanted = rc.spectrum(rc.Request(rope, name, params))
        np.testing.assert_allclose(fix.ropes[None].inv_freq, wanted.inv_freq, rtol=1e-12)
        assert fix.attention_factor == pytest.approx(wanted.attention_factor)
        assert fix.config["max_position_embeddings"] == 16384 and fix.factor == 4.0
    assert made["ntk"].block["rope_parameters"]["rope_theta"] == pytest.approx(10000 * 4 ** (128 / 126))


def test_costs_by_hand() -> None:
    made = by_name(LLAMA, 16384)
    assert [made[name].fastest for name in WAYS] == [4.0, 1.0, 1.0, 1.0]
    assert made["linear"].kept == 0 and made["linear"].unseen == 0
    # NTK: pairs between the first and the last that do not turn once in 4096 tokens and slow down by less than 4.
    slow = 10000 ** (-np.arange(64) / 64) * 4096 < 2 * np.pi
    reach = 10000 ** (-np.arange(64) / 64) * 4 ** (-np.arange(64) / 63) * 16384
    assert made["ntk"].unseen == int(np.sum(slow & (reach > 10000 ** (-np.arange(64) / 64) * 4096 * (1 + 1e-9))))
    assert made["yarn"].kept == 21 and made["yarn"].unseen == 0


@pytest.mark.parametrize("model", rc.models(), ids=lambda model: model.id)
def test_every_released_model(model: rc.Model) -> None:
    config = model.hf_config()
    if model.id == "gpt-j-6b":
        with pytest.raises(rc.ConfigError, match="whose code states them"):
            fix_for(config, 8192)
        return
    kinds = rc.layer_types(config) or [None]  # type: ignore[list-item]
    length = 2 * max(rc.from_hf(config, kind).train_len for kind in kinds)
    for fix in fix_for(config, length):
        for kind, rope in fix.ropes.items():
            assert rope.inv_freq.size == rc.from_hf(config, kind).inv_freq.size
        assert not [one.key for one in rc.check(fix.config) if one.severity == "error"], fix.name
        for kind in set(kinds) - set(fix.ropes):
            np.testing.assert_array_equal(rc.from_hf(fix.config, kind).inv_freq, rc.from_hf(config, kind).inv_freq)
        for lang in ("en", "zh"):
            assert "{" not in fix.cost(lang)


def test_the_old_block_reads_alike() -> None:
    for fix in fix_for(LLAMA, 16384):
        bare = {key: value for key, value in LLAMA.items() if key not in ("rope_theta", "max_position_embeddings")}
        old = rc.from_hf({**bare, **fix.old_block})  # type: ignore[dict-item]
        np.testing.assert_array_equal(old.inv_freq, fix.ropes[None].inv_freq)


def test_sliding_layers_stay() -> None:
    gemma = rc.model("gemma-3-4b").hf_config()
    for fix in fix_for(gemma, 262144):
        assert set(fix.ropes) == {"full_attention"}
        assert fix.block["rope_parameters"]["sliding_attention"] == to_v5(gemma)["rope_parameters"]["sliding_attention"]


def test_a_class_that_knows_no_other_type_is_left_with_the_base() -> None:
    names = [fix.name for fix in fix_for(rc.model("phi-4").hf_config(), 32768)]
    assert names == ["ntk"] and resolve({"model_type": "phi3"}).known


@pytest.mark.parametrize("length", [0, 4096, 2**31, 4096 * 1025])
def test_lengths_out_of_reach(length: int) -> None:
    with pytest.raises(ValueError, match="length must be"):
        fix_for(LLAMA, length)


def test_longrope_is_explained_not_invented() -> None:
    assert "longrope" not in WAYS
    assert "2402.13753" in fixes()["searched"]["en"] and "搜索" in fixes()["searched"]["zh"]
    assert set(WAYS) < set(fixes())
