"""Regions, ramps, cached keys and axes, against transformers' own modules and by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rope_core as rc
from rope_core.hf import anatomy
from rope_core.rope import Array

YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 2048}


def config(**rope: object) -> dict[str, object]:
    base = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 6}
    return base | {"max_position_embeddings": 16_384, "rope_theta": 50_000.0} | ({"rope_scaling": rope} if rope else {})


@given(
    low=st.floats(0.5, 4.0),
    gap=st.floats(0.0, 30.0),
    base=st.floats(500.0, 1e7),
    factor=st.floats(1.5, 64.0),
)
@settings(max_examples=40, deadline=None)
def test_regions_of_llama3_follow_turns(low: float, gap: float, base: float, factor: float) -> None:
    given = {"rope_type": "llama3", "factor": factor, "low_freq_factor": low, "high_freq_factor": low + gap}
    rope = rc.from_hf(config(**given, original_max_position_embeddings=4096) | {"rope_theta": base})
    turns = rope.unscaled * 4096 / (2 * math.pi)
    for name, count in zip(anatomy.pair_effects(rope), turns.tolist(), strict=True):
        if min(abs(count - low), abs(count - low - gap)) > 1e-6 * count:
            wanted = "divided" if count < low else "kept" if count > low + gap else "blended"
            assert name == wanted


def test_regions_by_kind_of_scheme() -> None:
    assert set(anatomy.pair_effects(rc.from_hf(config()))) == {"kept"}
    assert set(anatomy.pair_effects(rc.from_hf(config(rope_type="linear", factor=2.0)))) == {"divided"}
    lists = {"short_factor": [1.0] * 31 + [2.0], "long_factor": [3.0] * 32, "original_max_position_embeddings": 4096}
    phi = config(rope_type="longrope", **lists) | {"model_type": "phi3"}
    assert anatomy.pair_effects(rc.from_hf(phi)) == ("kept",) * 31 + ("own",)
    assert anatomy.pair_effects(rc.from_hf(phi, seq_len=4097)) == ("own",) * 32
    gemma = rc.from_hf(rc.model("gemma-4-31b").hf_config(), "full_attention")
    assert anatomy.equal_runs(anatomy.pair_effects(gemma)) == [("kept", 0, 63), ("still", 64, 255)]


def test_ramp_of_gpt_oss_is_that_of_the_released_code() -> None:
    result = anatomy.ramp_bounds(rc.from_hf(rc.model("gpt-oss-20b").hf_config()))
    assert result is not None and not result.rounds
    # YaRN's find_correction_dim, written out: dim * ln(L / (beta 2 pi)) / (2 ln base).
    exact = [64 * math.log(4096 / (beta * 2 * math.pi)) / (2 * math.log(150_000)) for beta in (32, 1)]
    np.testing.assert_allclose(result.exact, exact, rtol=1e-12)
    assert result.rounded == (math.floor(exact[0]), math.ceil(exact[1])) == (8, 18)
    assert anatomy.ramp_bounds(rc.from_hf(config())) is None
    llama = anatomy.ramp_bounds(rc.from_hf(rc.model("llama-3.1-8b").hf_config()))
    assert llama is not None and llama.rounded is None and (llama.fast, llama.slow) == (4.0, 1.0)


@pytest.mark.parametrize("rounds", [True, False])
def test_share_gives_the_frequencies_back(rounds: bool) -> None:
    rope = rc.from_hf(config(**YARN))
    request = anatomy.with_ramp_rounding(rope.request, rounds)
    share = anatomy.interpolation_share(request)
    blend = rope.unscaled * (1 - share) + rope.unscaled / 8.0 * share
    np.testing.assert_allclose(rc.spectrum(request).inv_freq, blend, rtol=1e-12)
    assert share.min() == 0.0 and share.max() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="factor must be a number > 1"):
        anatomy.interpolation_share(rc.from_hf(config()).request)


def test_key_drift_is_what_transformers_dynamic_module_does() -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    given = config(rope_type="dynamic", factor=4.0) | {"max_position_embeddings": 256}
    rope = rc.from_hf(given)

    def turned(length: int) -> Array:
        module = LlamaRotaryEmbedding(LlamaConfig(**given))
        module(torch.zeros(1, 1, 8), torch.arange(length)[None])
        return np.asarray(module.inv_freq, dtype=np.float64)

    positions, length = np.array([0, 100, 255, 300, 699]), 700
    now = turned(length)
    wanted = np.stack([abs(turned(p + 1) - now) * p for p in positions.tolist()])
    np.testing.assert_allclose(anatomy.cached_key_angle_error(rope.request, length, positions), wanted, atol=2e-4)
    assert wanted[2].max() > 0.1, "the last key of the trained length is far off"
    assert anatomy.cached_key_angle_error(rope.request, 256, np.arange(256)).max() == 0.0


@pytest.mark.parametrize("positions", [[700], [-1], [], [0.5], [[1]]])
def test_key_drift_refuses_positions_that_are_not_cached(positions: list[object]) -> None:
    with pytest.raises(ValueError, match="positions must be"):
        anatomy.cached_key_angle_error(
            rc.from_hf(config(rope_type="dynamic", factor=4.0)).request, 700, np.array(positions)
        )


@pytest.mark.parametrize("section", [(11, 11, 10), (12, 10, 10), (8, 12, 12)])
def test_axes_are_those_of_transformers_code(section: tuple[int, int, int]) -> None:
    from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding

    pairs = sum(section)
    of_axis = torch.arange(3)[:, None, None, None].expand(3, 1, 1, pairs).clone()
    module = Qwen3VLTextRotaryEmbedding.__new__(Qwen3VLTextRotaryEmbedding)
    torch.nn.Module.__init__(module)
    module.mrope_section = list(section)
    dealt = module.recomposition_frequencies(of_axis)[0, 0, :pairs].tolist()
    assert [anatomy.AXES.index(name) for name in anatomy.multimodal_pair_axes(section, "qwen3_vl_text")] == dealt
    runs = [m for m, count in enumerate(section) for _ in range(count)]
    assert [anatomy.AXES.index(name) for name in anatomy.multimodal_pair_axes(section, "qwen2_vl")] == runs


def test_axes_of_ernie_alternate_height_and_width_before_time() -> None:
    assert anatomy.multimodal_pair_axes((2, 2, 1), "ernie4_5_vl_moe_text") == ("h", "w", "h", "w", "t")
    assert anatomy.multimodal_pair_axes((1, 1, 1, 1), "hunyuan_vl_text") == ("0", "1", "2", "3")


def test_layer_count() -> None:
    assert anatomy.layer_count(config()) == 6
    assert anatomy.layer_count(rc.model("llama-4-scout").hf_config()) == 48
