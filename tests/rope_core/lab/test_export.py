"""The exported checkpoint, read by transformers: the lab's model is held to a Llama that others wrote."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

import rope_core as rc
from rope_core.__main__ import main
from rope_core.hf.write import llama_fields
from rope_core.lab import cards, sweep, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.export import export_as_llama
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.model import LabModel
from rope_core.lab.positions import rotary_encoding_for
from rope_core.lab.recipe import TrainingRecipe
from rope_core.lab.train import CHECKPOINT, save_checkpoint, start_run
from rope_core.spectrum import Request
from tests.support.lab_reader import small

WRITTEN = [each.key for each in scheme_lines() if not each.sliding]


def llama(folder: Path) -> Any:
    """Return the checkpoint as transformers reads it, its class checked."""
    model, report = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert type(model) is LlamaForCausalLM and model.dtype == torch.float32
    assert not report["missing_keys"] and not report["unexpected_keys"] and not report["mismatched_keys"]
    return model.eval()


def held_to(model: LabModel, request: Request, folder: Path, tokens: torch.Tensor, near: float = 1e-5) -> None:
    """Assert that transformers' logits of tokens (1, S) are the lab's, in float32 as a user runs both.

    ``near``, a share of the largest: transformers' angles are float32 products, the lab's are rounded once.
    """
    theirs, length = llama(folder), tokens.shape[1]
    rotary = theirs.model.rotary_emb
    assert theirs.config.rms_norm_eps == 1e-6
    with torch.no_grad():
        expected, ours = (
            theirs(tokens).logits,
            model(tokens, place=rotary_encoding_for(model.shape, request).at(0, length)),
        )
        largest = float(expected.abs().max())
        assert float((ours - expected).abs().max()) <= near * largest
        spectrum = rc.spectrum(request)
        np.testing.assert_allclose(rotary.inv_freq.double().numpy(), spectrum.inv_freq, rtol=5e-7)
        assert rotary.attention_scaling == pytest.approx(spectrum.attention_factor, rel=1e-12)


def document(length: int, which: int = 0) -> torch.Tensor:
    return torch.tensor([list(held_out_documents()[which].text[:length])])


@pytest.mark.parametrize("key", WRITTEN)
def test_a_drawn_model_under_every_line(key: str, tmp_path: Path) -> None:
    model = small(seed=5, width=48, heads=3, context=20, base=700.0)
    request = get_line(key).request(model.shape, 90)
    export_as_llama(model, request, tmp_path / "out")
    # Weights drawn this large make more of the last digit of an angle than trained ones.
    held_to(model, request, tmp_path / "out", document(90), near=5e-5)


def test_shipped_weights_past_256_bytes_as_they_were_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rope-0", "rope-0-yarn"):
        folder = tmp_path / name
        assert main(["lab", "export", name, str(folder)]) == 0
        assert capsys.readouterr().out == f"{folder}\n"
        held_to(weights.load_shipped_model(name), cards.get_weights_card(name).recipe.request, folder, document(300))


@pytest.mark.long
@pytest.mark.parametrize("key", WRITTEN)
def test_perplexity_at_2048_is_the_lab_s(key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, count = tmp_path / "out", 4
    assert main(["lab", "export", "rope-0", str(folder), "--line", key]) == 0
    capsys.readouterr()
    theirs = llama(folder)
    nats = []
    for which in range(count):
        tokens = document(2049, which)
        with torch.no_grad():
            logits = theirs(tokens[:, :-1]).logits[0]
        nats.append(F.cross_entropy(logits, tokens[0, 1:], reduction="none").double())
    ask = sweep.SweepSettings(("rope-0",), (key,), (2048,), documents=count)
    [(_, cell)] = list(sweep.run_sweep(ask))
    every = torch.stack(nats)
    assert cell["whole"][0] == pytest.approx(math.exp(float(every.mean())), rel=1e-4)
    assert cell["last"][0] == pytest.approx(math.exp(float(every[:, 1536:].mean())), rel=1e-4)


def test_the_written_bytes_go_on_without_begin_or_end(tmp_path: Path) -> None:
    model = small(context=20)
    export_as_llama(model, Request(model.shape.rope), tmp_path)
    theirs, tokens = llama(tmp_path), document(7)
    expected = tokens
    for _ in range(6):
        with torch.no_grad():
            expected = torch.cat([expected, model(expected)[:, -1:].argmax(-1)], 1)
    built = theirs.generate(tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=6, do_sample=False)
    assert built.tolist() == expected.tolist()
    assert theirs.config.bos_token_id is theirs.config.eos_token_id is theirs.generation_config.eos_token_id is None


def test_the_tokenizer_s_ids_are_the_bytes(tmp_path: Path) -> None:
    model = small()
    export_as_llama(model, Request(model.shape.rope), tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert len(tokenizer) == 256 and tokenizer.all_special_tokens == []
    rng = random.Random(3)
    ranges = [(0, 256), (0, 0xD800), (0x4E00, 0xA000), (0xE000, 0x110000)]
    drawn = ["".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(40)) for _ in range(200)]
    for text in ["", " a  b .\r\n\t\x00", "旋转位置编码", "e\u0301 ﬁ \u00a0 😀", "<s></s><unk>", "don 't", *drawn]:
        ids = tokenizer(text)["input_ids"]
        assert ids == list(text.encode()) and tokenizer.decode(ids) == text
    assert tokenizer.decode([0xE6, 0x97, 0x8B, 0xFF, 0x41, 0xE6]) == "旋\ufffdA\ufffd"


def test_a_scheme_of_more_fields_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scheme must be one of none, linear, .*, got 'longrope'"):
        llama_fields(Request(small().shape.rope, "longrope"))


def test_a_bad_target_or_source_is_a_sentence_in_both_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full, run = tmp_path / "full", tmp_path / "run"
    full.mkdir()
    run.mkdir()
    (full / "mine.txt").write_text("kept")
    (run / CHECKPOINT).write_bytes(b"no checkpoint")
    new = str(tmp_path / "new")
    cases = [
        (["rope-0", str(full)], "folder must be a new or empty folder", "folder 要求：可写的新目录或空目录"),
        (["rope-0", str(full / "mine.txt" / "x")], "folder must be a new or empty folder", "可写的新目录或空目录"),
        (["gpt-5", new], "weights must be shipped weights (", "weights 要求：随附权重（"),
        ([str(full), new], "weights must be a folder with a readable checkpoint", "可读检查点的目录"),
        ([str(run), new], "weights must be a folder with a readable checkpoint", "可读检查点的目录"),
        (["alibi-0", new], "weights must be of a model with rotary positions, got 'alibi-0'", "旋转位置模型的权重"),
        (["rope-0", new, "--line", "window"], "line must be one of none, linear", "line 要求：none、linear"),
        (["rope-0", new, "--line", "yarn", "--factor", "0.5"], "must be a number in [1, 4096]", "factor 要求"),
    ]
    for arguments, english, chinese in cases:
        for lang, words in (("en", english), ("zh", chinese)):
            assert main(["lab", "--lang", lang, "export", *arguments]) == 2
            out, err = capsys.readouterr()
            assert words in err and err.count("\n") == 1 and not out, err
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(["full", "mine.txt", "run", CHECKPOINT])


def test_a_run_s_folder_is_evaluated_and_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = small(context=20)
    recipe = TrainingRecipe(model.shape, scheme="linear", params={"factor": 4.0}, window=80, steps=1, warmup=0)
    run = start_run(recipe)
    run.model.load_state_dict(model.state_dict())
    (tmp_path / "run").mkdir()
    save_checkpoint(run, tmp_path / "run" / CHECKPOINT)
    source = str(tmp_path / "run")
    assert main(["lab", "export", source, str(tmp_path / "out")]) == 0
    held_to(model, recipe.request, tmp_path / "out", document(80))
    capsys.readouterr()
    options = ["--lengths", "40", "20", "--documents", "2", "--lines", "linear", "window", "--json"]
    assert main(["lab", "eval", source, "rope-0", *options]) == 0
    cells = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    expected = [(name, key, n) for name in ("rope-0", source) for n in (20, 40) for key in ("linear", "window")]
    assert [(cell["weights"], cell["line"], cell["length"]) for cell in cells] == expected
    tokens = torch.cat([document(41), document(41, 1)])
    with torch.no_grad():
        place = rotary_encoding_for(model.shape, get_line("linear").request(model.shape, 40)).at(0, 40)
        logits = model(tokens[:, :-1], place=place)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    assert cells[6]["whole"][0] == pytest.approx(math.exp(float(nats)), rel=1e-5)
