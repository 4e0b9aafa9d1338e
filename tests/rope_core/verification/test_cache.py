"""Moved keys against keys that are rotated at their new places, and every usual mistake by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.layout import HALF, INTERLEAVED

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
CONFIG = {"model_type": "llama", "head_dim": 64, "rope_theta": 5e4, "max_position_embeddings": 16384}
CONFIGS: dict[str, dict[str, Any]] = {
    "plain": CONFIG,
    "yarn": {**CONFIG, "rope_scaling": YARN},
    "part of a head": {
        **CONFIG,
        "model_type": "gpt_neox",
        "hidden_size": 256,
        "num_attention_heads": 4,
        "rotary_pct": 0.25,
    },
    "adjacent": {**CONFIG, "model_type": "cohere", "hidden_size": 256, "num_attention_heads": 4},
}


def at(rope: rc.HfRope, keys: np.ndarray, positions: np.ndarray, layout: str = "", factor: float = 0.0) -> np.ndarray:
    """Keys (tokens, heads, dim) rotated at positions, by a loop over pairs of its own."""
    out = keys.copy()
    half = (layout or rope.layout) == HALF.name
    for i, theta in enumerate(rope.inv_freq):
        a, b = (i, i + len(rope.inv_freq)) if half else (2 * i, 2 * i + 1)
        c, s = np.cos(positions * theta)[:, None], np.sin(positions * theta)[:, None]
        scale = factor or rope.attention_factor
        out[..., a] = scale * (c * keys[..., a] - s * keys[..., b])
        out[..., b] = scale * (s * keys[..., a] + c * keys[..., b])
    return out


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_move_is_right_or_its_mistake_is_named(name: str, dtype: str) -> None:
    rope, rng = rc.from_hf(CONFIGS[name]), np.random.default_rng(len(name))
    raw = rng.standard_normal((9, 2, 64))
    old, new = rng.integers(1, 3000, 9), rng.integers(1, 3000, 9)
    before = at(rope, raw, old)
    other = INTERLEAVED.name if rope.layout == HALF.name else HALF.name

    def keys(after: np.ndarray) -> list[str]:
        given = [torch.tensor(x).to(getattr(torch, dtype)) for x in (before, after)]
        return [each.key for each in rc.check_cache(CONFIGS[name], before=given[0], after=given[1], old=old, new=new)]

    assert keys(at(rope, raw, new)) == []
    assert keys(before) == ["cached_keys_not_moved"]
    assert keys(at(rope, before, old - new, factor=1.0)) == ["cached_keys_moved_back"]
    assert keys(at(rope, before, new, factor=1.0)) == ["cached_keys_turned_again"]
    assert keys(at(rope, before, new - old, other, 1.0)) == ["cached_keys_layout"]
    strayed = at(rope, raw, new)
    strayed[4] = at(rope, raw, new + 7)[4]
    assert keys(strayed) == ["cached_keys_elsewhere"]
    left = at(rope, raw, new)
    left[4] = before[4]
    assert keys(left) == ["cached_keys_not_moved"]
    other_base = replace(rope, inv_freq=rope.inv_freq**1.2)
    assert keys(at(other_base, before, new - old, factor=1.0)) == ["cached_keys_elsewhere"]
    first = replace(rope, inv_freq=rope.inv_freq[: len(rope.inv_freq) // 2]) if rope.layout != HALF.name else rope
    plain = replace(rope, inv_freq=rope.unscaled)
    whole = replace(rope, inv_freq=rope.base ** (-np.arange(0, 64, 2) / 64))
    for wrong in (first, plain, whole):
        if not np.array_equal(wrong.inv_freq, rope.inv_freq):
            assert keys(at(wrong, before, new - old, factor=1.0)) == ["cached_keys_other_frequencies"]
    if rope.attention_factor > 1:
        assert keys(at(rope, before, new - old)) == ["cached_keys_factor_again"]


@pytest.mark.parametrize("layer_type", ["full_attention", "sliding_attention"])
def test_keys_moved_as_another_layer_type_are_named(layer_type: str) -> None:
    config = rc.model("gemma-3-4b").hf_config()
    ropes = {kind: rc.from_hf(config, kind) for kind in rc.layer_types(config)}
    keys = np.random.default_rng(1).standard_normal((5, 1, ropes[layer_type].head_dim))
    old, new = np.arange(5), np.arange(5) + 700
    (other,) = ropes.keys() - {layer_type}
    given: dict[str, Any] = {"before": keys, "old": old, "new": new, "layer_type": layer_type}
    assert rc.check_cache(config, after=at(ropes[layer_type], keys, new - old), **given) == []
    (named,) = rc.check_cache(config, after=at(ropes[other], keys, new - old), **given)
    assert other in named.title() or "plain" in named.title()


@pytest.mark.parametrize("model_type", ["smollm3", "cohere2", "exaone4", "llama4_text"])
def test_layers_that_must_not_be_turned_are_named(model_type: str) -> None:
    (named,) = (each for each in rc.check_cache({"model_type": model_type}) if each.key == "cached_keys_some_still")
    assert "3, 7, 11" in named.title() and named.title("zh")


def test_the_first_wrong_key_is_named() -> None:
    keys = np.random.default_rng(0).standard_normal((3, 1, 64))
    before = at(rc.from_hf(CONFIG), keys, np.array([0, 1, 2]))
    single = rc.check_cache(CONFIG, before=before, after=before, old=[0, 1, 2], new=[0, 1, 900])[0]
    assert single.values == {"token": 2, "old": 2, "new": 900, "count": 1}


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (CONFIGS["plain"], "cached_keys_move"),
        (CONFIGS["yarn"], "cached_keys_move"),
        ({**CONFIG, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}, "cached_keys_move"),
        ({**CONFIG, "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, "cached_keys_by_length"),
        ({**CONFIG, "model_type": "qwen2_vl", "rope_scaling": {"mrope_section": [8, 12, 12]}}, "cached_keys_by_axis"),
    ],
)
def test_whether_a_key_can_be_moved_at_all(config: dict[str, Any], key: str) -> None:
    assert [each.key for each in rc.check_cache(config)] == [key]


@pytest.mark.parametrize(
    "change",
    [{"after": np.zeros((2, 1, 64))}, {"old": [0, 1]}, {"new": [0.5]}, {"before": np.zeros(3)}, {"after": None}],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"before": np.ones((1, 1, 64)), "after": np.ones((1, 1, 64)), "old": [0], "new": [1]}
    with pytest.raises(ValueError, match="must be"):
        rc.check_cache(CONFIG, **(given | change))
