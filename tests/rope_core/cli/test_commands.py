"""The command line, run as a user runs it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rope_core as rc
from rope_core.__main__ import main

CONFIG = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 4,
    "max_position_embeddings": 8192,
    "rope_theta": 12345.0,
    "rope_scaling": {"rope_type": "linear", "factor": 4.0},
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    return path


def test_spectrum_prints_the_frequencies(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spectrum", str(config), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    expected = 12345.0 ** (-np.arange(0, 64, 2) / 64) / 4
    np.testing.assert_allclose([float(row["inv_freq"]) for row in rows], expected, rtol=1e-12)
    np.testing.assert_allclose([float(row["slowdown"]) for row in rows], 4.0, rtol=1e-12)


def test_spectrum_as_a_table_names_the_scheme(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spectrum", str(config)]) == 0
    assert "linear, base 12345, rotary 64 of 64, half" in capsys.readouterr().out


def test_an_unreadable_config_is_one_sentence_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "config.json"
    bad.write_text("{")
    assert main(["spectrum", str(bad)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "Traceback" not in said


def test_an_unknown_command_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["twist"]) == 2
    assert "command must be one of spectrum" in capsys.readouterr().err


def test_the_module_runs_in_a_fresh_process() -> None:
    ran = subprocess.run([sys.executable, "-m", "rope_core", "--help"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "spectrum" in ran.stdout


def test_the_version_is_one() -> None:
    assert rc.__version__
