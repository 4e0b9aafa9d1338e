"""The command line, run as a user runs it."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import rope_core as rc
from rope_core.__main__ import main
from rope_core.cli import COMMANDS
from rope_core.programs.commands import ENGINES
from rope_core.programs.engines import engines_left_out
from tests.support.command import printed

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


def test_an_unknown_command_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["twist"]) == 2
    assert "command must be one of check, extend" in capsys.readouterr().err


def test_the_module_runs_in_a_fresh_process() -> None:
    ran = subprocess.run([sys.executable, "-m", "rope_core", "--help"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "spectrum" in ran.stdout


def test_help_of_all_and_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "help")
    assert code == 0 and all(f"  {name} " in out for name in COMMANDS)
    for name in set(COMMANDS) - {"ledger", "lab", "bench"}:
        code, out, _ = printed(capsys, "help", name)
        assert code == 0 and out.startswith(f"usage: rope {name}")
    assert printed(capsys, "help", "twist")[0] == 2 and printed(capsys)[0] == 2


@pytest.fixture
def deepseek(tmp_path: Path) -> str:
    path = tmp_path / "deepseek.json"
    path.write_text(json.dumps(rc.model("deepseek-v3").hf_config()))
    return str(path)


def test_extend_prints_blocks_and_lines(deepseek: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "extend", deepseek, "--length", "327680", "--model", "org/name")
    assert code == 0 and out.startswith("This model is scaled already: yarn with factor 40, to 163,840 tokens.")
    for line in ("logit scale 1.87 -> 2.07", '"factor": 80.0', '"mscale_all_dim": 1.0', "vllm serve org/name"):
        assert line in out
    code, out, _ = printed(capsys, "extend", deepseek, "--length", "327680", "--lang", "zh")
    assert code == 0 and out.startswith("该模型已经缩放过") and "logit 缩放 1.87 -> 2.07" in out


def test_extend_as_json(deepseek: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "extend", deepseek, "--length", "327680", "--json")
    (way,) = json.loads(out)
    assert code == 0 and way["name"] == "yarn" and set(way["commands"]) == set(ENGINES)
    assert {"layer_type": None, "field": "factor", "before": 40.0, "after": 80.0} in way["changed"]
    assert way["config"]["rope_parameters"] == way["block"]["rope_parameters"]
    assert rc.from_hf(way["config"]).logit_scale == pytest.approx(2.06843, abs=5e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--length", "4096"], "length must be an integer in [163841, "),
        (["--length", "4096", "--lang", "zh"], "length 要求"),
        (["--length", "128k"], "--length must be a number of tokens in digits, 131072 rather than 128k, got '128k'"),
        (["--length", "128k", "--lang", "zh"], "如写 131072 而非 128k"),
        (["--length", "327680", "--way", "ntk"], "way must be one of yarn"),
    ],
)
def test_extend_refuses_in_a_sentence(
    deepseek: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = printed(capsys, "extend", deepseek, *arguments)
    assert code == 2 and out == "" and words in err and err.count("\n") == 1


def test_engines_convert_and_diff(deepseek: str, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "engines", str(config), "--json")
    rows = json.loads(out)
    assert code == 0 and rows[0]["name"] == "transformers 5.24" and rows[0]["difference"] == 0
    code, out, _ = printed(capsys, "engines", str(config))
    assert code == 0 and len(out.splitlines()) == len(rows) + len(engines_left_out())
    code, new, _ = printed(capsys, "convert", str(config), "--to", "5")
    assert code == 0 and json.loads(new)["rope_parameters"]["rope_type"] == "linear"
    other = config.with_name("other.json")
    other.write_text(new)
    code, old, _ = printed(capsys, "convert", str(other), "--to", "4")
    assert code == 0 and json.loads(old) == CONFIG
    assert printed(capsys, "diff", str(config), str(other))[0] == 0
    code, out, _ = printed(capsys, "diff", str(config), deepseek, "--json")
    assert code == 1 and {row["field"] for row in json.loads(out)} >= {"base", "rope_type", "inv_freq"}
    v4 = config.with_name("v4.json")
    v4.write_text(json.dumps(rc.model("deepseek-v4-flash").hf_config()))
    code, out, err = printed(capsys, "convert", str(v4), "--to", "4")
    assert code == 2 and out == "" and err.count("\n") == 1


def test_verify_reads_a_file(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tensors = pytest.importorskip("safetensors.numpy")
    path = config.with_name("model.safetensors")
    right = (12345.0 ** (-np.arange(0, 64, 2) / 64) / 4).astype(np.float32)
    tensors.save_file({"model.rotary_emb.inv_freq": right}, path)
    code, _, _ = printed(capsys, "verify", str(path), "--config", str(config))
    assert code == 0
    tensors.save_file({"model.rotary_emb.inv_freq": right * 4}, path)
    code, out, _ = printed(capsys, "verify", str(path), "--config", str(config), "--json")
    assert code == 1 and json.loads(out)["files"][0]["findings"][0]["severity"] == "error"
    assert printed(capsys, "verify", str(config), "--config", str(config))[0] == 2


def test_positions_are_read_from_json_npy_and_safetensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"position_ids": [0, 1, 2, 3], "cu_seqlens": [0, 4, 8]}
    (tmp_path / "a.json").write_text(json.dumps(given))
    np.save(tmp_path / "a.npy", np.array(given["position_ids"]))
    save_file({name: torch.tensor(values) for name, values in given.items()}, str(tmp_path / "a.safetensors"))
    for name, options in (("json", ["--ranks", "2"]), ("safetensors", ["--ranks", "2"]), ("npy", ["--ranks", "2"])):
        assert main(["positions", str(tmp_path / f"a.{name}"), *options, "--json"]) == 1
        assert "positions_local" in capsys.readouterr().out
    assert main(["positions", str(tmp_path / "a.npy")]) == 0
    (tmp_path / "b.json").write_text('{"twist": 1}')
    assert main(["positions", str(tmp_path / "b.json")]) == 2
    assert "file must be one of position_ids" in capsys.readouterr().err


def test_a_cache_is_judged_by_its_config_and_by_its_keys(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", str(config)]) == 0
    assert "cached_keys_move" in capsys.readouterr().out
    keys = torch.ones(2, 1, 64)
    moved = {"before": keys, "after": keys.clone(), "old": torch.tensor([0, 1]), "new": torch.tensor([0, 9])}
    save_file(moved, str(tmp_path / "moved.safetensors"))
    assert main(["cache", str(config), "--moved", str(tmp_path / "moved.safetensors")]) == 1
    assert "cached_keys_not_moved" in capsys.readouterr().out
