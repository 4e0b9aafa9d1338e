"""`rope eval --engine vllm`: a stub that answers as vLLM's Python API does, by transformers, gives the same numbers."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
import torch

from rope_core.__main__ import main
from tests.rope_core.evaluate.test_command import TEXT
from tests.support.tiny_checkpoints import saved


@dataclass
class Logprob:
    logprob: float
    rank: int


@dataclass
class RequestOutput:
    prompt_logprobs: list[dict[int, Logprob] | None]


@dataclass
class SamplingParams:
    max_tokens: int
    temperature: float
    prompt_logprobs: int
    detokenize: bool


class LLM:
    """Loads a folder under overrides, and says of each token of a prompt how likely it was."""

    loads: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, model: str, dtype: str, hf_overrides: dict[str, Any], max_model_len: int, **rest: Any) -> None:
        from transformers import AutoConfig, AutoModelForCausalLM

        assert rest == {"tensor_parallel_size": 1, "trust_remote_code": False, "seed": 0}
        self.loads.append(hf_overrides)
        fields = json.loads((Path(model) / "config.json").read_text()) | hf_overrides
        config = AutoConfig.for_model(**{name: value for name, value in fields.items() if name != "rope_scaling"})
        self.model = AutoModelForCausalLM.from_pretrained(model, config=config, dtype=getattr(torch, dtype)).eval()
        self.longest = max_model_len

    def generate(
        self, prompts: list[dict[str, list[int]]], sampling: SamplingParams, use_tqdm: bool
    ) -> list[RequestOutput]:
        assert not use_tqdm and sampling == SamplingParams(1, 0.0, 0, False)
        return [self.read(prompt["prompt_token_ids"]) for prompt in prompts]

    def read(self, ids: list[int]) -> RequestOutput:
        assert len(ids) + 1 <= self.longest, "a prompt and one token fit"
        with torch.inference_mode():
            wide = torch.log_softmax(self.model(input_ids=torch.tensor([ids])).logits[0].double(), -1)
        rows: list[dict[int, Logprob] | None] = [None]
        for k, token in enumerate(ids[1:]):
            rows.append({token: Logprob(float(wide[k, token]), 1 + int((wide[k] > wide[k, token]).sum()))})
        return RequestOutput(rows)


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    module = ModuleType("vllm")
    vars(module).update(LLM=LLM, SamplingParams=SamplingParams, __version__="0.33.0")
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr(LLM, "loads", [])
    (tmp_path / "text.txt").write_bytes(TEXT)
    saved("llama", tmp_path / "model")
    return tmp_path


def cells(there: Path, engine: str, *more: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    options = ["--text", str(there / "text.txt"), "--lengths", "64", "160", "--documents", "2", "--trials", "2"]
    options += ["--out", str(there / engine), "--engine", engine, *more]
    assert main(["eval", str(there / "model"), *options]) == 0
    report = json.loads((there / engine / "eval.json").read_text())
    assert report["complete"]
    names = ("task", "line", "length", "depth", "distance")
    return {tuple(cell.get(name) for name in names): cell for cell in report["results"]}


def numbers(value: Any) -> list[float]:
    """Return every number of a JSON value, in order."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return [each for part in parts for each in numbers(part)]
    return [float(value)] if isinstance(value, int | float) else []


def test_the_same_numbers_by_both_engines_and_one_load_a_variant(there: Path) -> None:
    lines = ("none", "linear", "yarn", "ntk", "window")
    ours, theirs = (cells(there, engine, "--schemes", *lines) for engine in ("transformers", "vllm"))
    assert ours.keys() == theirs.keys() and len(ours) > 20
    for at, cell in ours.items():
        assert numbers(theirs[at]) == pytest.approx(numbers(cell), rel=1e-4), at
    assert len(LLM.loads) <= 2 * len(lines)
    report = json.loads((there / "vllm" / "eval.json").read_text())
    assert report["model"]["class"] == "vLLM" and report["model"]["device"] == "vllm 0.33.0"


def test_what_vllm_cannot_read_is_left_out_with_a_sentence(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = cells(there, "vllm", "--schemes", "yarn", "stale", "--tasks", "perplexity")
    assert {at[1] for at in results} == {"yarn"}
    assert "one set of frequencies" in json.loads((there / "vllm" / "eval.json").read_text())["left_out"]["stale"]["en"]
    options = ["--text", str(there / "text.txt"), "--engine", "vllm"]
    assert main(["eval", "rope-0", *options]) == 2
    assert "--engine must be transformers for weights of the lab" in capsys.readouterr().err
    assert main(["eval", str(there / "model"), *options, "--device", "cpu"]) == 2
    assert "CUDA_VISIBLE_DEVICES" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "vllm", None)
    assert main(["eval", str(there / "model"), *options]) == 2
    assert "vllm" in capsys.readouterr().err


def test_a_scheme_that_vllm_turns_otherwise_is_refused(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rope_core.evaluate.vllm.vllm_transformers_difference_text", lambda config, length: "3 %")
    options = ["--text", str(there / "text.txt"), "--engine", "vllm", "--schemes", "yarn", "--lengths", "64"]
    assert main(["eval", str(there / "model"), *options]) == 2
    assert "vLLM turns by as transformers does" in capsys.readouterr().err and not LLM.loads
