"""Models of five families under every line, held to a plain pass with the frequencies overwritten."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import DynamicCache

from rope_core.evaluate import loading, texts
from rope_core.evaluate.run import Evaluation, EvaluationCell
from rope_core.evaluate.settings import EvaluationSettings
from rope_core.evaluate.variants import LADDER, OWN, STALE, WINDOW
from rope_core.lab.corpus import held_out_documents
from rope_core.rope import MAX_LEN
from tests.support import lines_by_hand
from tests.support.tiny_checkpoints import FAMILIES, MSCALE, TRAINED, checkpoint, overwritten, plain_losses, saved

LONG = 3 * TRAINED
BASE = 700.0
# Weights and sums are float64; norms and angles are float32 in transformers, and chunks round them otherwise.
NEAR = 5e-8
TEXT = b"".join(each.text for each in held_out_documents()[:2])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Checkpoints by family, each saved once."""
    root = tmp_path_factory.mktemp("families")

    def folder(family: str) -> Path:
        path = root / family
        return path if path.exists() else saved(family, path)

    return folder


def evaluation(folder: Path, out: Path, **wanted: Any) -> Evaluation:
    source = loading.resolve_model_source(str(folder))
    plain = {"lengths": (LONG,), "documents": 2, "trials": 2, "chunk": 10, "batch": 2, "tasks": ("perplexity",)}
    ask = EvaluationSettings(**{**plain, **wanted}).with_model_defaults(source)
    loaded = loading.load_model(source, "cpu", "auto")
    text = out / "text.txt"
    out.mkdir(exist_ok=True)
    text.write_bytes(TEXT)
    return Evaluation(loaded, texts.tokenize_files([text], loaded.coder, max(ask.lengths), ask.documents), ask, out)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_line_is_a_plain_pass_with_overwritten_frequencies(
    family: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    mine = evaluation(folders(family), tmp_path)
    mine.verify()
    assert not mine.refused and mine.notes == ()
    once, sliding = (mine.work(EvaluationCell("perplexity", WINDOW, times * mine.window)) for times in (1, 3))
    assert sliding == 9 * once, "a window moves by a quarter of itself"
    cells = {cell["line"]: cell for _, cell in mine.run_cells()}
    assert set(cells) == set(LADDER) - ({OWN} if family != "deepseek_v3" else set())
    oracle, tokens = checkpoint(family), mine.texts.documents
    assert tokens.tolist() == [list(TEXT[:97]), list(TEXT[97:194])]
    width = 8 if family == "phi3" else 16
    by_hand = lines_by_hand.frequencies(width // 2, BASE, TRAINED, LONG / TRAINED)
    for key in sorted(set(LADDER) - {OWN, STALE, WINDOW}):
        inv_freq, attention = by_hand[key], lines_by_hand.attention_factor(key, LONG / TRAINED)
        if family == "deepseek_v3":
            # Latent attention multiplies no cos and sin but all logits: YaRN's mscale there, 1 under the others.
            scale = (0.1 * MSCALE * math.log(LONG / TRAINED) + 1.0) ** 2 if key == "yarn" else 1.0
            attention = 1.0
            for layer in oracle.model.layers:
                layer.self_attn.scaling = 32**-0.5 * scale
        overwritten(oracle, inv_freq, attention, "full_attention" if family == "gemma3_text" else "")
        expected = plain_losses(oracle, tokens)
        assert cells[key]["whole"][0] == pytest.approx(math.exp(expected.mean()), rel=NEAR), key
        assert cells[key]["nats"] == pytest.approx(expected[:, 72:].mean(1).tolist(), abs=1e-6), key
    if family == "deepseek_v3":
        expected = plain_losses(checkpoint(family), tokens)
        assert cells[OWN]["whole"][0] == pytest.approx(math.exp(expected.mean()), rel=NEAR)
    different = {cells[key]["whole"][0] for key in cells}
    # Dynamic NTK is NTK at this length, and the window's first part is read without scaling.
    assert len(different) >= len(cells) - 2


@pytest.mark.parametrize("family", ["llama", "gemma3_text"])
def test_the_sliding_window_reads_each_token_from_the_last_ones(
    family: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    mine = evaluation(folders(family), tmp_path, schemes=(WINDOW,))
    mine.verify()
    [(_, cell)] = list(mine.run_cells())
    oracle, tokens = checkpoint(family), mine.texts.documents
    expected = plain_losses(oracle, tokens[:, : TRAINED + 1])
    for end in range(TRAINED + 8, LONG + 1, 8):
        part = plain_losses(oracle, tokens[:, end - TRAINED : end + 1])
        expected = np.concatenate([expected, part[:, -8:]], 1)
    assert expected.shape == (2, LONG)
    assert cell["whole"][0] == pytest.approx(math.exp(expected.mean()), rel=NEAR)


def test_keys_as_cached_are_what_transformers_own_dynamic_rule_gives_token_by_token(
    folders: Callable[[str], Path], tmp_path: Path
) -> None:
    mine = evaluation(folders("llama"), tmp_path, schemes=(STALE,))
    mine.verify()
    [(_, cell)] = list(mine.run_cells())
    theirs = checkpoint("llama")
    rotary = theirs.model.rotary_emb
    rotary.config.rope_parameters = {"rope_type": "dynamic", "rope_theta": BASE, "factor": 1.0}
    rotary.rope_type = "dynamic"
    assert rotary.max_seq_len_cached == TRAINED
    ids, nats, cache = torch.from_numpy(mine.texts.documents), [], DynamicCache(config=theirs.config)
    with torch.no_grad():
        for part in (ids[:, :TRAINED], *ids[:, TRAINED:-1, None].unbind(1)):
            read = cache.get_seq_length()
            logits = theirs(input_ids=part, past_key_values=cache, use_cache=True).logits
            true = ids[:, read + 1 : read + 1 + part.shape[1]]
            nats.append(-logits.log_softmax(-1).gather(-1, true[..., None])[..., 0])
    assert rotary.max_seq_len_cached == LONG
    expected = torch.cat(nats, 1).numpy()
    # transformers' frequencies are float32 products.
    assert cell["whole"][0] == pytest.approx(math.exp(expected.mean()), rel=1e-5)
    plain = plain_losses(checkpoint("llama"), mine.texts.documents)
    assert abs(cell["whole"][0] / math.exp(plain.mean()) - 1) > 1e-3


def test_a_model_that_does_not_turn_as_written_is_refused(folders: Callable[[str], Path], tmp_path: Path) -> None:
    mine = evaluation(folders("llama"), tmp_path, schemes=("linear", "yarn"))
    attention = mine.loaded.model.model.layers[1].self_attn
    inner = attention.forward

    def off(**given: Any) -> Any:
        cos, sin = given["position_embeddings"]
        return inner(**{**given, "position_embeddings": (cos, -sin)})

    attention.forward = off
    with pytest.raises(ValueError, match=r"--schemes must be schemes that the model can take .*LlamaForCausalLM"):
        mine.verify()


def test_what_is_kept_is_not_measured_again(
    folders: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"schemes": ("none", "linear", "ntk"), "documents": 2, "batch": 1}
    whole = [cell for _, cell in evaluation(folders("qwen3"), tmp_path / "whole", **wanted).run_cells()]
    first = evaluation(folders("qwen3"), tmp_path / "cut", **wanted)
    begun = first.run_cells()
    next(begun)
    begun.close()
    parts = sorted((tmp_path / "cut" / "parts").iterdir())
    assert len(parts) == 2
    # A write that a kill cut short, by hand: the next run measures it again.
    parts[0].write_bytes(parts[0].read_bytes()[:70])
    second, count = evaluation(folders("qwen3"), tmp_path / "cut", **wanted), [0]
    measure = Evaluation._measure

    def counted(self: Evaluation, *arguments: Any) -> Any:
        count[0] += 1
        return measure(self, *arguments)

    monkeypatch.setattr(Evaluation, "_measure", counted)
    again = [cell for _, cell in second.run_cells()]
    assert count == [5] and len(again) == 3
    assert [(c["line"], c["whole"], c["nats"]) for c in again] == [(c["line"], c["whole"], c["nats"]) for c in whole]
    other = evaluation(folders("qwen3"), tmp_path / "cut", **{**wanted, "chunk": 7})
    list(other.run_cells())
    assert count == [11]


BOUNDS: dict[str, tuple[int, int]] = {
    "trained": (16, MAX_LEN), "documents": (1, 4096), "trials": (1, 10_000), "batch": (1, 4096), "chunk": (1, MAX_LEN),
    "seed": (0, 2**31 - 1), "factor": (1, 4096),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_each_number_of_an_ask_has_its_bounds(name: str) -> None:
    low, high = BOUNDS[name]
    for value in (low, high):
        assert getattr(EvaluationSettings(**{name: value}), name) == value  # type: ignore[arg-type]
    outside: list[Any] = [low - 1, high + 1, low + 0.5 if name != "factor" else float("nan"), "4"]
    for value in outside:
        with pytest.raises(ValueError, match=f"^--{name} must be"):
            EvaluationSettings(**{name: value})
