"""Workers that share a folder, one of them killed; folders that other benchmarks read."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

from rope_core.__main__ import main
from rope_core.evaluate.run import Evaluation
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.shards import WorkShard
from tests.support import ROOT
from tests.support.tiny_checkpoints import plain_losses, saved

TEXT = b"".join(each.text for each in held_out_documents()[:2])
WORKER = "import sys; from tests.rope_core.evaluate.test_shards import work; sys.exit(work(*sys.argv[1:]))"


def work(log: str, batches: str, *arguments: str) -> int:
    """Run a command that writes down what it measures, and is killed once it has measured so many batches."""
    measure, left = Evaluation._measure, int(batches)

    def logged(self: Evaluation, how: Any, tokens: Any, *rest: Any) -> Any:
        nonlocal left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        read = measure(self, how, tokens, *rest)
        key = hashlib.sha256(how.cache_key_bytes() + tokens.tobytes() + repr(rest).encode()).hexdigest()
        with open(log, "a") as file:
            file.write(key + "\n")
        return read

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluation, "_measure", logged)
        return main(arguments)


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a text and small models."""
    root = tmp_path_factory.mktemp("shards")
    (root / "text.txt").write_bytes(TEXT)
    for family in ("llama", "gemma3_text", "phi3"):
        saved(family, root / family)
    return root


def test_workers_on_one_folder_measure_each_batch_once_and_any_of_them_writes_the_report(there: Path) -> None:
    text = ["--text", str(there / "text.txt"), "--documents", "3", "--trials", "2"]
    arguments = ["eval", str(there / "llama"), *text, "--threads", "1", "--lengths", "32", "160"]
    arguments += ["--schemes", "none", "ntk", "dynamic", "window"]
    out, log = there / "shared", there / "log"

    def given(shard: str, batches: int = -1) -> list[str]:
        return [str(log), str(batches), *arguments, "--out", str(out), "--shard", shard]

    two = [given("0/2"), given("1/2", 5)]
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, *each], cwd=ROOT) for each in two]
    assert [each.wait(timeout=120) for each in workers] == [0, -9]
    # Whichever of them ended first: a worker that finds its share measured writes what both have kept.
    assert work(*given("0/2")) == 0
    partial = json.loads((out / "eval.json").read_text())
    assert not partial["complete"] and 0 < len(partial["results"]) < partial["cells"]
    assert work(*given("1/2")) == 0
    assert main([*arguments, "--out", str(there / "one")]) == 0
    for name in ("eval.json", "eval.html"):
        assert (out / name).read_bytes() == (there / "one" / name).read_bytes()
    assert json.loads((out / "eval.json").read_text())["complete"]
    measured = log.read_text().split()
    parts = [sorted(path.name for path in (there / each / "parts").iterdir()) for each in ("shared", "one")]
    assert len(measured) == len(set(measured)) == len(parts[0]) and parts[0] == parts[1]


def test_the_lab_s_sweep_is_shared_out_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["lab", "eval", "rope-0", "--lengths", "16", "32", "--lines", "none", "ntk", "yarn", "--documents", "2"]
    assert main([*arguments, "--out", str(tmp_path / "a"), "--shard", "1/2", "--json"]) == 0
    assert [json.loads(row)["length"] for row in capsys.readouterr().out.splitlines()] == [16, 32, 32]
    first = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "parts").iterdir()}
    assert not json.loads((tmp_path / "a" / "sweep.json").read_text())["complete"]
    assert main([*arguments, "--out", str(tmp_path / "a"), "--shard", "0/2"]) == 0
    assert main([*arguments, "--out", str(tmp_path / "b")]) == 0
    again = {path: path.stat().st_mtime_ns for path in (tmp_path / "a" / "parts").iterdir()}
    assert len(first) == 3 and first.items() <= again.items()
    report = (tmp_path / "a" / "sweep.json").read_bytes()
    assert report == (tmp_path / "b" / "sweep.json").read_bytes() and json.loads(report)["complete"]
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    plain = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert [{k: v for k, v in row.items() if k != "seconds"} for row in plain] == json.loads(report)["results"]


@pytest.mark.parametrize("text", ["", "2/2", "1", "-1/2", "a/b", "0/0", "0/99999999", "1/2/3", "\u0661/2"])
def test_a_shard_is_i_of_n(text: str) -> None:
    with pytest.raises(ValueError, match=r"--shard must be i/n with i from 0 to n - 1, such as 0/8, got"):
        WorkShard.parse(text)


def test_shards_share_everything_out_once() -> None:
    for count in (1, 3, 8):
        owners = [[WorkShard.parse(f"{i}/{count}").has_item(number) for i in range(count)] for number in range(20)]
        assert all(sum(row) == 1 for row in owners)


def test_what_is_refused_about_workers_is_a_sentence(
    there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = ["eval", str(there / "llama"), "--text", str(there / "text.txt")]
    monkeypatch.setattr("rope_core.evaluate.loading._is_installed", lambda name: name != "accelerate")
    for more, words in (
        (["--shard", "0/2"], "--shard must be with --out, the folder that all workers share"),
        (["--shard", "2/2", "--out", str(there / "x")], "--shard must be i/n"),
        (["--device-map", "auto"], "--device-map must be a model whose packages this machine has; missing: accelerate"),
        (["--device-map", "auto", "--device", "cpu"], "--device-map must be without --device"),
        (["--lm-eval", str(there)], "--lm-eval must be a new or empty folder"),
    ):
        assert main([*good, *more]) == 2
        err = capsys.readouterr().err
        assert words in err and err.count("\n") == 1
    assert main(["eval", str(there / "llama")]) == 2
    assert "--text must be at least one" in capsys.readouterr().err
    assert main(["eval", "rope-0", "--lm-eval", str(there / "new")]) == 2
    assert "safetensors" in capsys.readouterr().err
    assert main(["lab", "eval", "rope-0", "--shard", "0/2"]) == 2
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize("family", ["llama", "gemma3_text", "phi3"])
def test_a_harness_reads_the_model_that_was_measured(
    family: str, there: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each folder, loaded by transformers as the harness loads it, has the perplexity that `rope eval` measures."""
    folder = tmp_path / "folder"
    arguments = ["eval", str(there / family), "--lengths", "96"]
    assert main([*arguments, "--lm-eval", str(folder)]) == 0
    capsys.readouterr()
    more = ["--text", str(there / "text.txt"), "--documents", "2", "--tasks", "perplexity", "--json"]
    assert main([*arguments, *more, "--out", str(tmp_path / "out")]) == 0
    cells = {row["line"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    tokens = np.array([list(TEXT[:97]), list(TEXT[97:194])])
    script = (folder / "commands.sh").read_text()
    for key in cells.keys() - {"stale", "window"}:
        path = folder / f"{key}-96"
        model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype="float64").eval()
        assert np.exp(plain_losses(model, tokens).mean()) == pytest.approx(cells[key]["whole"][0], rel=2e-6), key
        assert (path / "model.safetensors").resolve() == there / family / "model.safetensors"
        assert f"pretrained={key}-96,max_length=96,dtype=auto" in script
        # Servers multiply LongRoPE's cos and sin by a factor of their own: only what they turn the same is run there.
        assert (f"--model=$PWD/{key}-96" in script) == ("longrope" not in (path / "config.json").read_text()), key
    assert subprocess.run(["sh", "-n", str(folder / "commands.sh")], check=False).returncode == 0
    assert not (folder / "window-96").exists() and "sliding window: no config says this" in script
