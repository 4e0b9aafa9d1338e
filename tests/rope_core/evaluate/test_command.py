"""`rope eval` as a user runs it: results on disk, the lab's weights beside the lab itself, refusals as sentences."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rope_core.__main__ import main
from rope_core.evaluate import tasks
from rope_core.evaluate.texts import TextTokenizer
from rope_core.lab import evaluate, passkey, retrieval, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.estimates import window_perplexity
from rope_core.lab.lines import get_line
from rope_core.lab.plan import line_encoding
from tests.support.tiny_checkpoints import checkpoint, saved

TEXT = b"".join(each.text for each in held_out_documents()[:6])


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a text and a small model."""
    root = tmp_path_factory.mktemp("eval")
    (root / "text.txt").write_bytes(TEXT)
    saved("llama", root / "model")
    return root


def test_a_model_s_results_as_json_and_as_a_page(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--text", str(there / "text.txt"), "--lengths", "32", "160", "--schemes", "none", "yarn", "window"]
    options += ["--documents", "2", "--trials", "2", "--chunk", "50", "--out", str(there / "out")]
    assert main(["eval", str(there / "model"), *options, "--plan"]) == 0
    assert re.fullmatch(r"memory about 0.0\d GiB of .* GiB free; about .* for 24 cells\n", capsys.readouterr().err)
    assert main(["eval", str(there / "model"), *options, "--json", "--lang", "zh"]) == 0
    out, err = capsys.readouterr()
    report = json.loads((there / "out" / "eval.json").read_text())
    assert [json.loads(row)["line"] for row in out.splitlines()] == [row["line"] for row in report["results"]]
    assert report["complete"] and report["kind"] == "rope eval" and report["trained"] == report["window"] == 32
    assert report["model"]["class"] == "LlamaForCausalLM" and report["text"]["unit"] == "token"
    count = {task: sum(row["task"] == task for row in report["results"]) for task in ("perplexity", "passkey", "copy")}
    assert count == {"perplexity": 6, "passkey": 15, "copy": 3} and len(report["results"]) == report["cells"]
    page = (there / "out" / "eval.html").read_text()
    assert 'lang="zh-CN"' in page and "滑动窗口" in page and page.count("<svg") == 2 and "<script" not in page
    assert not re.search(r'(src|href)="http', page) and "http-equiv" in page
    assert "内存约" in err


def test_weights_of_the_lab_give_the_lab_s_own_numbers(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One model by two programs: transformers' Llama in chunks, and the lab's own in one pass."""
    options = ["--text", str(there / "text.txt"), "--lengths", "512", "--schemes", "linear", "yarn", "window"]
    options += ["--documents", "2", "--trials", "2", "--chunk", "200", "--tasks", "perplexity", "--json"]
    assert main(["eval", "rope-0", *options, "--out", str(there / "lab")]) == 0
    cells = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    model, documents = weights.load_shipped_model("rope-0"), evaluate.cut_documents(TEXT, 512, 2)
    for cell in cells:
        if cell["line"] == "window":
            nats = evaluate.sliding_losses(model, documents)
        else:
            nats = evaluate.scheme_byte_losses(model, documents, get_line(cell["line"]).request(model.shape, 512))
        assert cell["whole"][0] == pytest.approx(window_perplexity(nats).value, rel=2e-5)
        assert cell["last"][0] == pytest.approx(window_perplexity(nats, 0.75).value, rel=2e-5)


def test_pass_keys_are_found_where_the_lab_finds_them(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--text", str(there / "text.txt"), "--lengths", "256", "--schemes", "none", "linear", "--factor", "4"]
    options += ["--trials", "3", "--tasks", "passkey", "--json", "--out", str(there / "key")]
    assert main(["eval", "rope-0-passkey", *options]) == 0
    cells = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    model, filler = weights.load_shipped_model("rope-0-passkey"), np.frombuffer(TEXT, np.uint8).astype(np.int64)
    result: dict[str, int] = {}
    for cell in cells:
        examples = tasks.passkey_examples(TextTokenizer(list), filler, 256, cell["depth"], 3, 0)
        rows = np.stack([ids for ids, _ in examples]).astype(np.uint8)
        assert {answer for _, answer in examples} == {passkey.DIGITS}
        hits = retrieval.digits_right(model, rows, line_encoding(model, cell["line"], 256, 4.0))
        assert cell["right"] == int(hits.all(1).sum()) and cell["digits"][0] == pytest.approx(hits.mean(), abs=1e-6)
        result[cell["line"]] = result.get(cell["line"], 0) + cell["right"]
    assert result["none"] >= 10 > result["linear"]


def test_a_number_hidden_at_a_depth() -> None:
    """The space before the number belongs to the answer where the tokenizer joins the two."""
    rng = np.random.default_rng(1)

    def joined(text: bytes) -> list[int]:
        return [int.from_bytes(word, "little") % 2**31 for word in re.findall(rb" ?[^ ]+| ", text)]

    for coder, answer in ((TextTokenizer(list, begin=(7,)), 5), (TextTokenizer(joined, begin=(7,)), 1)):
        ids, count = tasks.hidden_number_example(coder, np.zeros(500, np.int64), 200, 0.25, rng)
        assert len(ids) == 200 and ids[0] == 7 and count == answer
        line = len(coder.encode(passkey.HIDE % (b"12345", b"12345")))
        tail = len(coder.encode(passkey.ASK + b"12345"))
        begin = 1 + round(0.25 * (200 - 1 - line - tail))
        assert not ids[1:begin].any() and ids[begin : begin + line].all() and not ids[begin + line : -tail].any()


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str], *words: str) -> None:
    for lang, expected in zip(("en", "zh"), words, strict=True):
        assert main(["eval", *arguments, "--lang", lang]) == 2
        err = capsys.readouterr().err
        assert expected in err and err.count("\n") == 1, err


def test_bad_input_is_a_sentence_in_both_languages(
    there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ["--text", str(there / "text.txt")]
    refused(
        ["no such model", *text], capsys, "model must be a folder of a transformers model", "transformers 模型的目录"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    refused([str(empty), *text], capsys, "model must be a folder with weights as safetensors", "safetensors 权重")
    (empty / "pytorch_model.bin").write_bytes(b"\x80\x04")
    refused([str(empty), *text], capsys, "pickle files run code when they are read, got 'pytorch_model.bin'", "pickle")
    own = tmp_path / "own"
    shutil.copytree(there / "model", own)
    config = json.loads((own / "config.json").read_text())

    def written(**changes: Any) -> list[str]:
        (own / "config.json").write_text(json.dumps({**config, **changes}))
        return [str(own), *text]

    (own / "modeling_mine.py").write_text("raise SystemExit('ran')")
    mine = {"model_type": "mine", "auto_map": {"AutoModelForCausalLM": "modeling_mine.Mine"}}
    refused(written(**mine), capsys, "code that a checkpoint brings (modeling_mine.py) is not run", "不会被执行")
    (own / "modeling_mine.py").unlink()
    refused(written(model_type="mine"), capsys, "model_type must be a type that transformers", "支持的类型")
    refused(written(model_type="gpt2"), capsys, "rope", "RoPE")
    refused(written(num_hidden_layers=3), capsys, "with all weights of its class; 9 are missing", "缺少 9 项")
    good = str(there / "model")
    refused([good, *text, "--lengths", "99999"], capsys, "at least one file with 100,000 tokens", "至少一个文件")
    refused([good, *text, "--schemes", "su"], capsys, "--schemes must be one of own, none", "--schemes 要求")
    refused([good, *text, "--factor", "0.5"], capsys, "factor must be", "factor 要求")
    refused([good, *text, "--device", "cuda:99"], capsys, "--device must be cpu", "--device 要求")
    short = ["--lengths", "40", "--tasks", "passkey"]
    refused([good, *text, *short], capsys, "--lengths must be at least 1", "--lengths 要求：不小于")
    refused([good, *text, "--dtype", "int8"], capsys, "--dtype must be one of", "--dtype 要求")
    refused([good, "--text", str(there / "none.txt")], capsys, "--text", "--text")
    refused([good, *text, "--out", str(there / "text.txt")], capsys, "--out must be a folder", "可写的目录")
    refused(["alibi-0", *text], capsys, "model must be of a model with rotary positions", "旋转位置模型的权重")
    file = own / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5])
    refused(written(), capsys, "model must be a whole safetensors file", "完整的 safetensors")
    monkeypatch.setattr("rope_core.evaluate.cost.free_memory", lambda device: 1000)
    refused([good, *text], capsys, "--lengths must be lengths that fit the 0.0 GiB free on cpu", "可用内存")


def test_a_failure_in_the_middle_keeps_what_was_measured(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [str(there / "model"), "--text", str(there / "text.txt"), "--lengths", "40", "80", "--schemes", "linear"]
    options += ["--tasks", "perplexity", "--documents", "2", "--out", str(there / "cut")]
    from rope_core.evaluate.reading import TransformersReader

    plain = TransformersReader.token_losses

    def limited(reader: TransformersReader, tokens: Any) -> Any:
        if tokens.shape[1] > 41:
            raise torch.OutOfMemoryError("no room\nmore")
        return plain(reader, tokens)

    monkeypatch.setattr(TransformersReader, "token_losses", limited)
    assert main(["eval", *options]) == 2
    assert "--lengths must be a length that the device's memory holds (no room)" in capsys.readouterr().err
    report = json.loads((there / "cut" / "eval.json").read_text())
    assert [cell["length"] for cell in report["results"]] == [40] and not report["complete"]
    assert "1 of 2 cells" in (there / "cut" / "eval.html").read_text()
    monkeypatch.setattr(TransformersReader, "token_losses", plain)
    assert main(["eval", *options]) == 0
    assert json.loads((there / "cut" / "eval.json").read_text())["complete"]


def test_a_class_without_frequencies_that_can_be_written(there: Path, tmp_path: Path) -> None:
    from rope_core.evaluate.modules import RotaryModules
    from rope_core.evaluate.variants import rope_variant_at_load

    model = checkpoint("llama")
    config = json.loads((there / "model" / "config.json").read_text())
    del model.model.rotary_emb
    with pytest.raises(ValueError, match=r"model must be of a class that keeps its rotary frequencies in inv_freq"):
        RotaryModules(model, rope_variant_at_load(config))
