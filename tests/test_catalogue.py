"""The catalogue against what it claims: sources, joins, the research notes' counts, and transformers itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from rope_core.catalogue import ARCHITECTURE_FIELDS, Model, architecture, architectures, model, models
from rope_core.rope import Rope
from rope_core.spectrum import Request, spectrum

MODELS = models()
IDS = [m.id for m in MODELS]
# The names of source 004's table, in its order; GPT2 stands there twice.
PRINTED_NAMES = [
    "Original transformer",
    "GPT",
    "T5 (11B)",
    "GPT2",
    "GPT2",
    "T5 (XXL 11B) v1.1",
    "mT5",
    "GPT3 (175B)",
    "GPTJ",
    "LaMDA",
    "Anthropic LM (not claude)",
    "Gopher (280B)",
    "GPT-NeoX",
    "BLOOM (175B)",
    "OPT (175B)",
    "PaLM (540B)",
    "Chinchilla",
    "Mistral (7B)",
    "LLaMA2 (70B)",
    "LLaMA (65B)",
    "GPT4",
    "Olmo 2",
    "Gemma 2 (27B)",
    "Nemotron-4 (340B)",
    "Qwen 2 (72B) - same for 2.5",
    "Falcon 2 11B",
    "Ph3 (small) - same for ph4",
    "Llama 3 (70B)",
    "Reka Flash",
    "Command R+",
    "OLMo",
    "Qwen (14B)",
    "DeepSeek (67B)",
    "Yi (34B)",
    "Mixtral of Experts",
    "Command A",
    "Gemma 3",
    "SmolLM2 (1.7B)",
]


def test_at_least_fifty_models_with_unique_slugs_and_names() -> None:
    assert len(MODELS) >= 60
    assert len(set(IDS)) == len(IDS)
    assert len({m.name for m in MODELS}) == len(MODELS)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*", i) for i in IDS)


@pytest.mark.parametrize("entry", MODELS, ids=IDS)
def test_every_model_says_where_its_values_were_read(entry: Model) -> None:
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


def test_families_stand_together() -> None:
    order = [m.family for m in MODELS]
    blocks = [family for i, family in enumerate(order) if i == 0 or order[i - 1] != family]
    assert len(blocks) == len(set(order))


def test_model_finds_by_id_and_names_the_known_ids() -> None:
    assert model("llama-2-7b").name == "Llama 2 7B"
    with pytest.raises(ValueError, match=r"^id must be one of llama-7b, .*, got 'lama'$"):
        model("lama")
    with pytest.raises(ValueError, match=r"^id must be one of"):
        architecture("")


def test_a_model_cannot_be_changed_but_its_copied_config_can() -> None:
    entry = model("phi-4-mini")
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
    assert model("phi-4-mini").hf_config()["rope_scaling"]["long_factor"][0] == 1


def test_import_does_not_parse_the_file() -> None:
    code = "import sys, rope_core.catalogue as c; print(c._catalogue.cache_info().currsize, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False"]


def test_every_row_of_source_004_stands_once_in_its_order() -> None:
    rows = architectures()
    assert [row.name for row in rows] == PRINTED_NAMES
    assert len(rows) == 38
    assert len({row.id for row in rows}) == 38
    assert all(row.pre_norm in ("yes", "no", "") for row in rows)
    assert all(row.block in ("Serial", "Parallel", "") for row in rows)


def test_corrections_change_what_is_printed_and_carry_a_source() -> None:
    for row in architectures():
        assert len({c.field for c in row.corrections}) == len(row.corrections)
        for correction in row.corrections:
            assert correction.field in ARCHITECTURE_FIELDS
            assert correction.printed == str(getattr(row, correction.field))
            assert correction.corrected != correction.printed
            assert row.corrected(correction.field) == correction.corrected
            assert correction.source.startswith("https://")
            assert correction.note


def test_the_known_errors_of_source_004_are_corrected() -> None:
    for row_id in ("gpt-2", "opt", "mixtral"):
        assert architecture(row_id).pre_norm == "no"
        assert architecture(row_id).corrected("pre_norm") == "yes"
    assert architecture("bloom").corrected("block") == "Serial"
    assert "LayerNorm" in architecture("olmo").corrected("norm")
    assert architecture("gpt-2-2020").corrected("name") == "T5 (XXL 11B) v1.1"
    assert architecture("llama").corrected("norm") == "RMSNorm"
    with pytest.raises(ValueError, match=r"^field must be one of name"):
        architecture("llama").corrected("colour")


def test_models_join_the_table_by_id_and_those_rows_have_rope() -> None:
    joined = [m for m in MODELS if m.architecture]
    assert len({m.architecture for m in joined}) >= 15
    for entry in joined:
        assert "RoPE" in architecture(entry.architecture).corrected("position")


def plain(entry: Model, rotary_dim: int | None = None) -> Rope:
    """Rope of the config's own words, without hf.py: a second reading of the same keys."""
    config = entry.config
    head = config.get("head_dim") or config.get("n_embd", config.get("hidden_size", 0)) // (
        config.get("n_head") or config["num_attention_heads"]
    )
    share = config.get("partial_rotary_factor") or config.get("rotary_pct") or 1.0
    base = config.get("rope_theta") or config.get("rotary_emb_base") or 10_000.0
    length = config.get("n_positions") or config["max_position_embeddings"]
    return Rope(rotary_dim or config.get("rotary_dim") or int(head * share), float(base), length)


@pytest.mark.parametrize(
    ("model_id", "train_len", "below", "pairs"),
    [
        ("llama-2-7b", None, 18, 64),
        ("code-llama-7b", None, 27, 64),
        ("llama-3-8b", None, 29, 64),
        ("mistral-7b-v0.1", 8192, 14, 64),
        ("mistral-7b-v0.3", None, 24, 64),
        ("qwen3-8b", None, 23, 64),
        ("gemma-2-9b", None, 28, 128),
        ("gpt-j-6b", None, 11, 32),
        ("gpt-neox-20b", None, 4, 12),
        ("yi-6b", None, 37, 64),
        ("qwen2.5-7b-1m", 262_144, 21, 64),
        ("smollm3-3b", None, 25, 64),
        ("falcon3-7b", None, 48, 128),
    ],
)
def test_pairs_that_never_complete_one_turn(model_id: str, train_len: int | None, below: int, pairs: int) -> None:
    rope = plain(model(model_id))
    rope = Rope(rope.dim, rope.base, train_len or rope.train_len)
    assert rope.pairs == pairs
    assert int(np.count_nonzero(rope.turns < 1.0)) == below


@pytest.mark.parametrize(
    ("model_id", "regions"),
    [("llama-3.1-8b", (29, 6, 29)), ("llama-3.2-1b", (15, 3, 14)), ("llama-4-scout", (35, 0, 29))],
)
def test_llama3_keeps_blends_and_divides_as_many_pairs_as_measured(
    model_id: str, regions: tuple[int, int, int]
) -> None:
    config = model(model_id).config
    scaling = dict(config["rope_scaling"])
    base = plain(model(model_id))
    rope = Rope(base.dim, base.base, scaling["original_max_position_embeddings"])
    params = {key: scaling[key] for key in ("factor", "low_freq_factor", "high_freq_factor")}
    slow = spectrum(Request(rope, "llama3", params)).slowdown
    kept = int(np.count_nonzero(slow == 1.0))
    divided = int(np.count_nonzero(slow == scaling["factor"]))
    assert (kept, rope.pairs - kept - divided, divided) == regions


def test_longrope_lists_have_one_factor_for_each_rotating_pair() -> None:
    found = [m for m in MODELS if "long_factor" in m.config.get("rope_scaling", {})]
    assert len(found) >= 1
    for entry in found:
        scaling = entry.config["rope_scaling"]
        assert len(scaling["long_factor"]) == len(scaling["short_factor"]) == plain(entry).pairs
        assert all(b >= a for a, b in zip(scaling["long_factor"], scaling["long_factor"][1:], strict=False))


def oracle_config(entry: Model) -> Any:
    """transformers' own config object, or None where it does not know the model type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kwargs = entry.hf_config()
    kind = kwargs.pop("model_type")
    return CONFIG_MAPPING[kind](**kwargs) if kind in CONFIG_MAPPING else None


def test_transformers_accepts_every_config_whose_type_it_knows() -> None:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    unknown = {m.config["model_type"] for m in MODELS if oracle_config(m) is None}
    assert unknown == {"qwen", "kimi_k2", "internlm2"}
