"""Every example runs, and does what it says."""

import json
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rope_core as rc
from rope_core.__main__ import main
from tests.support import ROOT


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what an example prints: run as `python -m` runs it, in this process, which has the libraries."""

    def ran(name: str, *arguments: object, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        status: object = 0
        try:
            runpy.run_module(f"examples.{name}", run_name="__main__")
        except SystemExit as end:
            status = end.code or 0
        assert status == code
        return capsys.readouterr().out

    return ran


def test_each_has_a_line_in_the_list() -> None:
    listed = re.findall(r"\((\w+\.py)\)", (ROOT / "examples" / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in (ROOT / "examples").glob("[a-z]*.py"))


def test_a_folder_of_configs(tmp_path: Path, run: Callable[..., str]) -> None:
    base = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 2, "max_position_embeddings": 8192}
    yarn = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 0.5, "original_max_position_embeddings": 4096}
    for name, rope in (("good", {"rope_type": "default", "rope_theta": 1e4}), ("bad", yarn)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(base | {"rope_parameters": rope}))
    printed = run("check_folder", tmp_path, code=1)
    assert "bad: error" in printed and "good: error" not in printed
    (tmp_path / "bad" / "config.json").unlink()
    assert "error" not in run("check_folder", tmp_path)
    (tmp_path / "good" / "config.json").write_text("[")
    assert run("check_folder", tmp_path, code=1).startswith("good: config")


def test_a_spectrum_is_drawn(tmp_path: Path, run: Callable[..., str]) -> None:
    run("plot_spectrum", tmp_path / "spectrum.html")
    page = (tmp_path / "spectrum.html").read_text("utf-8")
    assert all(f'"name":"{name}"' in page for name in rc.SCHEMES) and "wavelength (tokens)" in page


def test_a_patched_model_has_the_same_logits(run: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    monkeypatch.setattr(llama, "apply_rotary_pos_emb", llama.apply_rotary_pos_emb)  # which the example replaces
    match = re.search(r"difference of a logit: (\S+), of logits up to (\S+)", run("patch_model"))
    assert match
    assert 0 < float(match[1]) < 1e-5 < float(match[2])


def test_a_loaded_model_is_verified(run: Callable[..., str]) -> None:
    printed = run("verify_model")
    assert printed.startswith("as built: []\n") and "rounded to bfloat16" in printed


def test_the_starter_is_graded_by_the_assignment(capsys: pytest.CaptureFixture[str]) -> None:
    starter, sheet = str(ROOT / "rope_core/grade/starter.py"), str(ROOT / "examples/assignment.toml")
    assert main(["grade", starter, "--assignment", sheet]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Rotary position embedding, sheet 1\n") and out.endswith("\n0 of 12 points\n")
    assert "raised NotImplementedError: rotate_backward is yours to write" in out
    solved = ROOT / "tests/rope_core/grade/solution.py"
    assert main(["grade", str(solved), "--assignment", sheet]) == 0
    assert capsys.readouterr().out.endswith("\n12 of 12 points\n")
