"""Norms of pairs read from files, held to loops over the tensors that transformers saved."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from rope_core.__main__ import main
from rope_core.hf.read import read_config
from rope_core.lab import weights
from rope_core.verification.pairs import MASSIVE, layer_pair_norms, pair_changes_by_scheme, pair_summaries
from tests.support import tiny_models
from tests.support.tiny_checkpoints import FAMILIES, checkpoint

HALVES, NEIGHBOURS = "halves", "neighbours"


def norms(rows: torch.Tensor, heads: int, first: int, width: int, order: str) -> np.ndarray[Any, Any]:
    """Each pair's norm (heads, pairs) by loops: rows (heads * head_dim, in), ``width`` turn from ``first``."""
    size, result = len(rows) // heads, np.empty((heads, width // 2))
    for head in range(heads):
        for pair in range(width // 2):
            single, two = (pair, pair + width // 2) if order == HALVES else (2 * pair, 2 * pair + 1)
            both = torch.stack([rows[head * size + first + each] for each in (single, two)]).double()
            result[head, pair] = math.sqrt(float((both**2).sum()))
    return result


def saved(family: str, folder: Path, dtype: torch.dtype = torch.float32) -> tuple[dict[str, torch.Tensor], Any]:
    """Save a random model of a family; return its tensors as safetensors reads them back, and its config."""
    if family == "gpt_neox":
        torch.manual_seed(1)
        config = tiny_models.config(family, num_hidden_layers=2, rotary_pct=0.5)
        model = AutoModelForCausalLM.from_config(config)
    else:
        model = checkpoint(family)
    for name, tensor in model.named_parameters():
        if name.endswith("_norm.weight"):
            torch.nn.init.uniform_(tensor, 0.2, 3.0)
    model.to(dtype).save_pretrained(folder)
    return load_file(folder / "model.safetensors"), model.config


def expected(family: str, tensors: dict[str, torch.Tensor], layer: int) -> tuple[Any, ...]:
    """q and k of a layer as the family's code cuts its projections."""
    if family == "gpt_neox":
        rows = tensors[f"gpt_neox.layers.{layer}.attention.query_key_value.weight"].view(4, 3, 16, -1)
        return tuple(norms(rows[:, part].flatten(0, 1), 4, 0, 8, HALVES) for part in (0, 1))
    own = f"model.layers.{layer}.self_attn."
    if family == "phi3":
        fused = tensors[own + "qkv_proj.weight"]
        return norms(fused[:64], 4, 0, 8, HALVES), norms(fused[64:96], 2, 0, 8, HALVES)
    if family == "deepseek_v3":
        latent = tensors[own + "kv_a_proj_with_mqa.weight"]
        return norms(tensors[own + "q_b_proj.weight"], 4, 16, 16, NEIGHBOURS), norms(latent[32:], 1, 0, 16, NEIGHBOURS)
    q, k = tensors[own + "q_proj.weight"], tensors[own + "k_proj.weight"]
    if own + "q_norm.weight" in tensors:
        single = 1.0 if family == "gemma3_text" else 0.0
        q = q.double() * (tensors[own + "q_norm.weight"].double() + single).repeat(4)[:, None]
        k = k.double() * (tensors[own + "k_norm.weight"].double() + single).repeat(2)[:, None]
    return norms(q, 4, 0, 16, HALVES), norms(k, 2, 0, 16, HALVES)


@pytest.mark.parametrize("family", [*FAMILIES, "gpt_neox"])
def test_pairs_of_a_family_are_those_that_its_code_turns(family: str, tmp_path: Path) -> None:
    dtype = torch.bfloat16 if family == "qwen3" else torch.float32
    tensors, _ = saved(family, tmp_path, dtype)
    result = layer_pair_norms(tmp_path, read_config(tmp_path))
    assert [each.index for each in result] == [0, 1]
    for each in result:
        q, k = expected(family, tensors, each.index)
        np.testing.assert_allclose(each.q, q, rtol=1e-6)
        np.testing.assert_allclose(each.k, k, rtol=1e-6)
    if family == "gemma3_text":
        assert [each.rope.layer_type for each in result] == ["sliding_attention", "full_attention"]
        assert list(pair_summaries(result)) == ["sliding_attention", "full_attention"]


def test_a_planted_pair_is_massive_and_what_schemes_do_to_it(tmp_path: Path) -> None:
    tensors, _ = saved("llama", tmp_path)
    own = "model.layers.1.self_attn.k_proj.weight"
    tensors[own][16 + 6] *= 40.0
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    each = pair_summaries(layer_pair_norms(tmp_path, read_config(tmp_path)))[None]
    assert np.flatnonzero(each.massive).tolist() == [6] and each.massive[6] == 1 and each.heads == 12
    assert MASSIVE == 5.0 and each.k.argmax() == 6
    # base 700, 32 tokens, 8 pairs: wavelengths 2 pi 700^(i/8), so that pairs 2 to 7 never finish a turn.
    np.testing.assert_allclose(each.wavelength, 2 * np.pi * 700.0 ** (np.arange(8) / 8), rtol=1e-12)
    assert (each.trained_turns < 1).tolist() == [False] * 2 + [True] * 6
    result = pair_changes_by_scheme(each, 64)
    weight = each.q * each.k / (each.q * each.k).sum()
    assert result["linear"].kept == 0.0 and result["linear"].unseen == pytest.approx(weight[2:].sum())
    assert result["ntk"].kept == pytest.approx(weight[0]) and result["ntk"].slowdown[-1] == pytest.approx(2.0)
    assert each.score_share(each.trained_turns < 1) == pytest.approx(weight[2:].sum())


def test_the_command_reads_shipped_weights_as_the_model_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pairs", "rope-1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    state = weights.load_shipped_model("rope-1").state_dict()
    for each in result["layers"]:
        qkv = state[f"blocks.{each['layer']}.attention.qkv.weight"]
        for part, rows in zip("qk", qkv.chunk(3)[:2], strict=True):
            np.testing.assert_allclose(each[part], norms(rows, 6, 0, 32, HALVES), rtol=1e-6)
    assert len(result["layers"]) == 4 and result["types"][0]["heads"] == 48
    assert main(["pairs", "rope-1", "--layer", "2", "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("所有层：q、k 共 12 个头") and len(out.splitlines()) == 2 + 16 + 2 + 4


def test_files_that_hold_no_pairs_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}))
    name = "model.layers.0.self_attn.q_proj.weight"
    head = {name: {"dtype": "F32", "shape": [64, 64], "data_offsets": [0, 16384]}}

    def written(header: object, data: bytes = b"") -> None:
        text = json.dumps(header).encode()
        (tmp_path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)

    cases: list[tuple[Any, str, str]] = [
        (None, "a folder with weights as safetensors", "safetensors 权重"),
        (head, "data_offsets within the file", "均在文件之内"),
        ([1], "a whole safetensors file", "完整的 safetensors"),
        ({name: {**head[name], "shape": [2**62, 4]}}, "data_offsets within the file", "均在文件之内"),
        ({name: {"dtype": "I8", "shape": [0], "data_offsets": [0, 0]}}, "floating-point type", "浮点类型"),
        ({"a": 1}, "hold q and k projections", "q、k 投影"),
    ]
    for header, english, chinese in cases:
        if header is not None:
            written(header)
        for lang, words in (("en", english), ("zh", chinese)):
            assert main(["pairs", str(tmp_path), "--lang", lang]) == 2
            err = capsys.readouterr().err
            assert words in err and err.count("\n") == 1, err
    for arguments in (["alibi-0"], ["gpt-5"], ["rope-0", "--layer", "9"], ["rope-0", "--length", "0"]):
        assert main(["pairs", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
