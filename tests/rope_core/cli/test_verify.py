"""`rope verify` on a model's folder: its modes, its JSON and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rope_core.__main__ import main
from tests.support import tiny_models


def test_a_folder_is_loaded_and_run_in_each_mode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, _ = tiny_models.model("llama", num_hidden_layers=1)
    model.save_pretrained(tmp_path)
    assert main(["verify", str(tmp_path), "--modes", "eager,bfloat16", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(each["config"], each["findings"]) for each in files] == [
        (f"{tmp_path} (eager)", []),
        (f"{tmp_path} (bfloat16)", []),
    ]
    # Stored tensors alone, where a config is named beside them.
    assert main(["verify", str(tmp_path), "--config", str(tmp_path), "--json"]) == 0
    assert "weights_alone" in capsys.readouterr().out


def test_what_cannot_be_loaded_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("config.json", '{"model_type": "llama"}'), ("other.json", "{}")):
        (tmp_path / name[:5]).mkdir()
        (tmp_path / name[:5] / name).write_text(text)
        assert main(["verify", str(tmp_path / name[:5])]) == 2
        assert capsys.readouterr().err.startswith("MODEL must be")
    assert main(["verify", str(tmp_path), "--modes", "fast"]) == 2
    assert "--modes must be" in capsys.readouterr().err
