"""from_hf against transformers itself, against literal values, and against bad input."""

import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.hf.families import class_defaults_by_family, composite_text_fields, families_fixed_in_code
from tests.support import hf_live
from tools import hf_families

# Families whose config needs more than rope fields, or whose oracle cannot be called with these alone.
UNCALLABLE = {
    "blt",  # the rope module is given parts of this config, never the whole
    "cohere2_moe",  # fills in the rope dict before its own layer types, and again after
    "cosmos3_edge_text",  # insists on three axes
    "dbrx",  # its own name for the maximal length is the only one that its class reads in time
    "diffusion_gemma_text",  # a top-level partial factor reaches one type only once another has been built
    "dots3_note_text",
    "gradium_phonon_tts",
    "pocket_tts",
    "step3p5",  # one base and one partial factor per layer
}
# Where this package is narrower than transformers: odd rotating widths, and factors outside the schemes' ranges.
NARROWER = ("an even number of dimensions", "factor must be a number in [")
SCHEMES = ("default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional")


def draw_scheme(rng: random.Random, pairs: int) -> dict[str, Any]:
    """One rope dict of any type."""
    kind = rng.choice(SCHEMES)
    built: dict[str, Any] = {rng.choice(["rope_type", "type"]): kind}
    if kind != "default":
        built["factor"] = rng.choice([1.0, 2, 4.0, 7.5, 32.0])
    if kind in ("yarn", "llama3", "longrope") and rng.random() < 0.7:
        built["original_max_position_embeddings"] = rng.choice([1024, 2048, 4096])
    if kind == "llama3":
        built |= {"low_freq_factor": rng.choice([1.0, 2.0]), "high_freq_factor": rng.choice([2.0, 4.0, 8.0])}
    if kind == "yarn":
        for name, values in {
            "beta_fast": (32, 16.0, 0),
            "beta_slow": (1, 2.0),
            "truncate": (True, False),
            "mscale": (1.0, 0.707),
            "mscale_all_dim": (1.0, 0.707, 0),
            "attention_factor": (1.0, 1.3),
        }.items():
            if rng.random() < 0.3:
                built[name] = rng.choice(values)
    if kind == "longrope":
        built["short_factor"] = [rng.uniform(0.9, 1.2) for _ in range(pairs)]
        built["long_factor"] = [rng.uniform(1.0, 60.0) for _ in range(pairs)]
        if rng.random() < 0.5:
            built.pop("factor")
        if rng.random() < 0.3:
            built["attention_factor"] = 1.19
    if rng.random() < 0.4:
        built["rope_theta"] = rng.choice([1e4, 5e5, 54321.0])
    if rng.random() < 0.2:
        built["partial_rotary_factor"] = rng.choice([0.25, 0.5])
    return built


def draw_config(rng: random.Random, model_type: str) -> dict[str, Any]:
    """Return a config of one family in either schema: sizes, lengths, bases and rope dicts as they occur."""
    family = class_defaults_by_family()[model_type]
    config: dict[str, Any] = {"model_type": model_type}
    if rng.random() < 0.8:
        heads, width = rng.choice([4, 8, 16]), rng.choice([32, 64, 96, 128])
        config |= {"hidden_size": heads * width, "num_attention_heads": heads, "num_hidden_layers": 12}
    if rng.random() < 0.2 and family.get("head_dim_given") != "ignored":
        config["head_dim"] = rng.choice([64, 128])
    if rng.random() < 0.6:
        config["max_position_embeddings"] = rng.choice([4096, 32768, 131072])
    if rng.random() < 0.15:
        config["original_max_position_embeddings"] = 2048
    if rng.random() < 0.4:
        config["rope_theta"] = rng.choice([1e4, 5e5, 1e6, 12345.0])
    if rng.random() < 0.1:
        config["partial_rotary_factor"] = rng.choice([0.25, 0.5, 0.75])
    shape = rng.random()
    if shape < 0.4:
        config["rope_scaling"] = draw_scheme(rng, pairs_of(config))
    elif shape < 0.65 or (shape < 0.9 and not family.get("per_type")):
        config["rope_parameters"] = draw_scheme(rng, pairs_of(config))
    elif shape < 0.9:
        kinds = family.get("labels") or sorted(set(family.get("layer_types", ["full_attention"])))
        config["rope_parameters"] = {kind: draw_scheme(rng, pairs_of(config)) for kind in kinds}
    return config


def pairs_of(config: dict[str, Any]) -> int:
    """Pairs that turn in this config before a rope dict is added."""
    try:
        kinds: list[str | None] = [*rc.layer_types(config)] or [None]
        return rc.from_hf(config, kinds[0]).rotary_dim // 2
    except rc.ConfigError:
        return 32


def compare(config: dict[str, Any], rng: random.Random, seen: Counter[str]) -> None:
    """One config, every layer type, against transformers; what transformers cannot build is only counted."""
    model_type = str(config["model_type"])
    given = {key: value for key, value in config.items() if key != "model_type"}
    try:
        live = hf_live.config_of(model_type, given)
    except Exception:
        seen["transformers refuses the config"] += 1
        return
    try:
        kinds: list[str | None] = [*rc.layer_types(config)] or [None]
        ropes = [rc.from_hf(config, kind) for kind in kinds]
        if ropes[0].max_len and rng.random() < 0.5:
            ropes += [rc.from_hf(config, kind, rng.choice([1, 3]) * ropes[0].max_len // 2) for kind in kinds]
    except rc.ConfigError as error:
        seen["both refuse" if refused(model_type, live, error) else f"only we refuse {config}: {error}"] += 1
        return
    for rope in ropes:
        if rope.nope:
            continue
        try:
            inv_freq, scaling = hf_live.frequencies(model_type, live, rope.layer_type, rope.seq_len)
        except Exception:
            seen["transformers fails to build"] += 1
            continue
        assert inv_freq.shape == rope.inv_freq.shape, (config, rope.layer_type, rope.provenance["rotary_dim"])
        np.testing.assert_allclose(rope.inv_freq, inv_freq, rtol=1e-5, atol=0, err_msg=repr((config, rope.seq_len)))
        assert rope.attention_factor == pytest.approx(scaling, rel=1e-6), config
        seen[rope.rope_type] += 1


def refused(model_type: str, live: Any, error: rc.ConfigError) -> bool:
    """Whether transformers cannot build the rotary module either, or the config is one of NARROWER."""
    if any(rule in str(error) for rule in NARROWER):
        return True
    for kind in [*sorted(set(getattr(live, "layer_types", None) or [])), None]:
        try:
            hf_live.frequencies(model_type, live, kind, None)
        except Exception:
            continue
        return False
    return True


def test_drawn_configs_agree_with_transformers() -> None:
    rng = random.Random(20261121)
    seen: Counter[str] = Counter()
    callable_ones = [
        name
        for name in class_defaults_by_family()
        if name not in families_fixed_in_code() and name not in UNCALLABLE and hf_live.rotary_class(name)
    ]
    assert len(callable_ones) > 120
    for _ in range(5):
        for model_type in callable_ones:
            compare(draw_config(rng, model_type), rng, seen)
    assert not [key for key in seen if key.startswith("only we")], seen
    agreed = {kind: seen[kind] for kind in SCHEMES}
    assert sum(agreed.values()) >= 400, seen
    assert all(n >= 20 for n in agreed.values()), agreed


@pytest.mark.long
def test_every_family_of_the_table_is_what_the_wheel_does() -> None:
    """Every value of hf_families.toml, read off the installed classes again; drawn configs hold what it decides."""
    assert sorted(class_defaults_by_family().keys() - families_fixed_in_code().keys()) == hf_families.model_types()
    assert composite_text_fields() == hf_families.composites()
    for name in sorted(class_defaults_by_family().keys() - families_fixed_in_code().keys()):
        live = hf_families.record(name)
        assert json.loads(json.dumps(class_defaults_by_family()[name])) == json.loads(
            json.dumps(live).replace(": null", ": {}")
        ), name


@pytest.mark.parametrize("model_type", ["muse_spark_text", "muse_glimmer_text"])
@pytest.mark.parametrize("layers", [4, 5, 6, 7, 12])
def test_every_fourth_layer_from_the_last_rests_in_muse(model_type: str, layers: int) -> None:
    """Counted from the end, so that a number of layers that is no multiple of four shows the difference."""
    live = hf_live.config_of(model_type, {"num_hidden_layers": layers})
    resting = tuple(i for i, base in enumerate(live.layer_rope_theta) if not base)
    assert rc.from_hf({"model_type": model_type, "num_hidden_layers": layers}).nope_layers == resting
