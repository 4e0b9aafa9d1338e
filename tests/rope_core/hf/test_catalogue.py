"""The catalogue against what it claims: sources, joins, the research notes' counts, and transformers itself."""

import re
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import CONFIG_MAPPING

import rope_core.hf.catalogue
from rope_core.errors import ConfigError
from rope_core.hf.catalogue import (
    ARCHITECTURE_FIELDS,
    ArchitectureRow,
    ReleasedModel,
    architecture_row,
    architecture_rows,
    released_model,
    released_models,
    unrotated_models,
)
from rope_core.hf.resolve import from_hf, layer_types
from tests.support.architecture_live import Block
from tests.support.hf_live import config_of, frequencies, rotary_class

MODELS = released_models()
IDS = [m.id for m in MODELS]


def test_at_least_fifty_models_with_unique_slugs_and_names() -> None:
    assert len(MODELS) >= 60
    written = tomllib.loads(Path(rope_core.hf.catalogue.__file__).with_name("models.toml").read_text(encoding="utf-8"))
    assert [row["id"] for row in written["models"]] == IDS
    assert len(written["architectures"]) == len(architecture_rows())
    assert len({m.name for m in MODELS}) == len(MODELS)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*", i) for i in IDS)


@pytest.mark.parametrize("entry", MODELS, ids=IDS)
def test_every_model_says_where_its_values_were_read(entry: ReleasedModel) -> None:
    assert entry.confidence in ("A", "B", "U")
    assert entry.kind in ("config", "values")
    assert entry.family
    assert 2021 <= entry.year <= 2026
    assert len(entry.source) > 15
    if entry.kind == "config":
        pinned = r"https://(github\.com|huggingface\.co)/[\w.-]+/[\w.-]+/blob/[0-9a-f]{40}/\S+"
        assert re.fullmatch(pinned, entry.source), entry.source
    if entry.confidence == "U":
        assert "nverified" in entry.note
    assert isinstance(entry.config["model_type"], str)


def test_model_finds_by_id_and_names_the_known_ids() -> None:
    assert released_model("llama-2-7b").name == "Llama 2 7B"
    with pytest.raises(ValueError, match=r"^id must be one of llama-7b, .*, got 'lama'$"):
        released_model("lama")
    with pytest.raises(ValueError, match=r"^id must be one of"):
        architecture_row("")


def test_a_model_cannot_be_changed_but_its_copied_config_can() -> None:
    entry = released_model("phi-4-mini")
    with pytest.raises(FrozenInstanceError):
        entry.year = 1999  # type: ignore[misc]
    with pytest.raises(TypeError):
        entry.config["rope_theta"] = 1.0  # type: ignore[index]
    with pytest.raises(TypeError):
        entry.config["rope_scaling"]["type"] = "linear"
    with pytest.raises(TypeError):
        entry.config["rope_scaling"]["long_factor"][0] = 2.0
    copy = entry.hf_config()
    assert isinstance(copy["rope_scaling"], dict)
    assert isinstance(copy["rope_scaling"]["long_factor"], list)
    copy["rope_scaling"]["long_factor"][0] = 99.0
    assert released_model("phi-4-mini").hf_config()["rope_scaling"]["long_factor"][0] == 1


def test_every_row_of_source_004_stands_once_in_its_order() -> None:
    rows = architecture_rows()
    assert len(rows) == 38
    assert len({row.id for row in rows}) == 38
    assert sum(bool(row.model_type) for row in rows) >= 23
    assert all(row.pre_norm in ("yes", "no", "") for row in rows)
    assert all(row.block in ("Serial", "Parallel", "") for row in rows)


def test_corrections_change_what_is_printed_and_carry_a_source() -> None:
    with pytest.raises(ValueError, match=r"^field must be one of name"):
        architecture_row("llama").corrected("colour")
    for row in architecture_rows():
        assert len({c.field for c in row.corrections}) == len(row.corrections)
        for correction in row.corrections:
            assert correction.field in ARCHITECTURE_FIELDS
            assert correction.printed == str(getattr(row, correction.field))
            assert correction.corrected != correction.printed
            assert row.corrected(correction.field) == correction.corrected
            assert correction.source.startswith("https://")
            assert correction.note


@pytest.mark.parametrize("row", [r for r in architecture_rows() if r.model_type], ids=lambda row: row.id)
def test_corrected_cells_are_what_the_blocks_of_transformers_compute(row: ArchitectureRow) -> None:
    block = Block(row.model_type)
    assert row.corrected("norm").split()[0] == block.norm()
    assert ("without weight" in row.corrected("norm")) == (block.norm_weights() == 0)
    assert row.corrected("block") == block.order()
    # A norm on the stream itself is post-norm; OLMo 2 norms what its sub-layers add to it.
    on_the_stream = not block.keeps_the_stream()
    assert on_the_stream == (row.corrected("pre_norm") == "no")


def test_opt_350m_alone_is_post_norm() -> None:
    assert Block("opt", do_layer_norm_before=True).keeps_the_stream()
    assert not Block("opt", do_layer_norm_before=False).keeps_the_stream()


def test_models_join_the_table_by_id_and_those_rows_have_rope() -> None:
    joined = [m for m in MODELS if m.architecture]
    assert len({m.architecture for m in joined}) >= 15
    for entry in joined:
        assert "RoPE" in architecture_row(entry.architecture).corrected("position")


# transformers 5.24 knows the type "su" but looks for its trained length before it renames it to longrope.
REFUSED = {"phi-3-vision-128k"}
# Their checkpoints bring their own code.
UNKNOWN_TYPES = {"qwen", "kimi_k2", "internlm2"}


def without_type(entry: ReleasedModel) -> tuple[str, dict[str, Any]]:
    given = entry.hf_config()
    return given.pop("model_type"), given


def test_transformers_accepts_every_config_whose_type_it_knows() -> None:
    unknown = set()
    for entry in MODELS:
        model_type, given = without_type(entry)
        if model_type not in CONFIG_MAPPING:
            unknown.add(model_type)
        elif entry.id in REFUSED:
            with pytest.raises(KeyError, match="original_max_position_embeddings"):
                config_of(model_type, given)
        else:
            config_of(model_type, given)
    assert unknown == UNKNOWN_TYPES


def test_every_model_rotates_as_its_own_module_in_transformers_does() -> None:
    compared: list[str] = []
    for entry in MODELS:
        model_type, given = without_type(entry)
        if model_type in UNKNOWN_TYPES or entry.id in REFUSED or rotary_class(model_type) is None:
            continue
        config = config_of(model_type, given)
        kinds: list[str | None] = [*layer_types(entry.hf_config())] or [None]
        for layer_type in kinds:
            mine = entry.rope(layer_type)
            if mine.nope:
                continue
            inv_freq, scaling = frequencies(model_type, config, layer_type, None)
            np.testing.assert_allclose(mine.inv_freq, inv_freq, rtol=1e-5, err_msg=f"{entry.id} {layer_type}")
            assert mine.attention_factor == pytest.approx(scaling, rel=1e-6), entry.id
            compared.append(entry.id)
    # GPT-J alone of the types it knows has no rotary module to ask.
    left = {m.id for m in MODELS} - set(compared)
    assert left == {"gpt-j-6b", "qwen-7b", "kimi-k2", "kimi-k2.5", "internlm2-1.8b"} | REFUSED


def test_configs_that_transformers_does_not_read_have_the_spectrum_of_their_notes() -> None:
    """Kimi K2's hard step and the su lists, against the formula written out here."""
    kimi = released_model("kimi-k2").rope()
    theta = 50_000.0 ** (-np.arange(32) / 32.0)
    np.testing.assert_allclose(kimi.inv_freq[:20], theta[:20], rtol=1e-12)
    np.testing.assert_allclose(kimi.inv_freq[20:], theta[20:] / 32.0, rtol=1e-12)
    vision = released_model("phi-3-vision-128k")
    theta = 10_000.0 ** (-np.arange(48) / 48.0)
    for seq_len, key in ((4096, "short_factor"), (4097, "long_factor")):
        factors = np.asarray(vision.config["rope_scaling"][key])
        np.testing.assert_allclose(vision.rope(seq_len=seq_len).inv_freq, theta / factors, rtol=1e-12)
    assert vision.rope().attention_factor == pytest.approx(np.sqrt(1.0 + np.log(32.0) / np.log(4096.0)), rel=1e-12)
    dynamic = released_model("internlm2-1.8b")
    np.testing.assert_allclose(dynamic.rope(seq_len=32_768).inv_freq, 1e6 ** (-np.arange(64) / 64.0), rtol=1e-12)
    base = 1e6 * 3.0 ** (128.0 / 126.0)
    np.testing.assert_allclose(dynamic.rope(seq_len=65_536).inv_freq, base ** (-np.arange(64) / 64.0), rtol=1e-12)


def test_class_defaults_are_those_of_the_wheel() -> None:
    """Every value of 2026's class defaults is in the config class, so none is our own."""
    compared = 0
    for entry in MODELS:
        if "class default" not in entry.source or entry.year < 2026:
            continue
        model_type, given = without_type(entry)
        held = CONFIG_MAPPING[model_type]()
        for key, value in given.items():
            own = getattr(held, key)
            if key == "rope_parameters" and "rope_theta" in value:
                own = {name: own[name] for name in value}
            assert own == value, (entry.id, key, own)
            compared += 1
    assert compared > 60


def test_models_that_do_not_rotate_have_no_rotation_in_the_wheel() -> None:
    types = {
        "kimi-linear-48b": "kimi_linear",
        "kimi-k3": "kimi_linear",
        "nemotron-3-nano-30b": "nemotron_h",
        "granite-4.0-h": "granitemoehybrid",
    }
    types |= {"glm-5.3-flash": "glm5_next_text", "inkling": "inkling_text"}
    assert {each.id for each in unrotated_models()} == set(types)
    for each in unrotated_models():
        assert each.source.startswith(("https://", "transformers 5.24.0")) and each.confidence in ("A", "B")
        assert 2025 <= each.year <= 2026 and 0 < each.attention <= each.layers
        if each.id == "granite-4.0-h":
            assert from_hf({"model_type": types[each.id], "position_embedding_type": "nope"}).nope
            continue
        with pytest.raises(ConfigError, match="turns token positions"):
            from_hf({"model_type": types[each.id]})
    for name in ("glm-5.3-flash", "inkling"):
        held, each = CONFIG_MAPPING[types[name]](), next(each for each in unrotated_models() if each.id == name)
        attending = [kind for kind in held.layer_types if kind != "linear_attention"]
        assert (held.num_hidden_layers, len(attending)) == (each.layers, each.attention)
    assert CONFIG_MAPPING["glm5_next_text"]().qk_rope_head_dim == 0


def test_layers_without_rope_are_every_fourth() -> None:
    known = [("llama-4-scout", 48), ("smollm3-3b", 36), ("command-r7b", 32), ("mistral-large-4", 72)]
    for model_id, layers in (*known, ("muse-glimmer-30b", 52), ("trinity-mini", 32)):
        assert released_model(model_id).rope().nope_layers == tuple(range(3, layers, 4))
