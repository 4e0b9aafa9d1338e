"""Every example runs, and does what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import rope_core as rc
from tests.support import ROOT


def run(name: str, *arguments: object, code: int = 0) -> str:
    """What an example prints."""
    command = [sys.executable, "-m", f"examples.{name}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_each_has_a_line_in_the_list() -> None:
    listed = re.findall(r"\((\w+\.py)\)", (ROOT / "examples" / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in (ROOT / "examples").glob("[a-z]*.py"))


def test_a_folder_of_configs(tmp_path: Path) -> None:
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


def test_a_spectrum_is_drawn(tmp_path: Path) -> None:
    run("plot_spectrum", tmp_path / "spectrum.html")
    page = (tmp_path / "spectrum.html").read_text("utf-8")
    assert all(f'"name":"{name}"' in page for name in rc.SCHEMES) and "wavelength (tokens)" in page


def test_a_patched_model_has_the_same_logits() -> None:
    match = re.search(r"difference of a logit: (\S+), of logits up to (\S+)", run("patch_model"))
    assert match
    assert 0 < float(match[1]) < 1e-5 < float(match[2])


def test_a_loaded_model_is_verified() -> None:
    printed = run("verify_model")
    assert printed.startswith("as built: []\n") and "rounded to bfloat16" in printed
