"""`rope check` on what is no language model's config, on special files, and on input made to be slow or large."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rope_core as rc
from rope_core.__main__ import main
from tests.support import ROOT

OTHERS: dict[str, dict[str, Any]] = {
    "app": {"name": "app"},
    "empty": {},
    "lora": {"peft_type": "LORA", "base_model_name_or_path": "org/name", "r": 8, "target_modules": ["q_proj"]},
    "scheduler": {"_class_name": "EulerDiscreteScheduler", "num_train_timesteps": 1000, "beta_end": 0.012},
    "unet": {"_class_name": "UNet2DConditionModel", "attention_head_dim": 8, "num_attention_heads": None},
    "sentences": {"__version__": {"sentence_transformers": "5.1.0"}, "similarity_fn_name": "cosine"},
}
PLAIN: dict[str, Any] = {"hidden_size": 512, "num_attention_heads": 8, "rope_theta": 1e4, "max_position_embeddings": 64}


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_turns(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [(each.key, each.severity) for each in rc.check(OTHERS[name])] == [("nothing_turns", "note")]
    (tmp_path / "config.json").write_text(json.dumps(OTHERS[name]))
    for lang, words in (("en", "Nothing here rotates"), ("zh", "没有会旋转的内容")):
        assert main(["check", str(tmp_path), "--lang", lang]) == 0
        assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "brandnew", **PLAIN},
        {"model_type": "brandnew", "hidden_size": 512, "num_attention_heads": 8},
        {"rope_theta": 1e4},
        {"model_type": "brandnew", "part": {"rope_theta": 1e4}},
        {"model_type": "llama"},
    ],
)
def test_a_config_that_may_be_a_model_s_is_read(config: dict[str, Any]) -> None:
    assert "nothing_turns" not in {each.key for each in rc.check(config)}


def test_an_unknown_type_is_read_by_the_general_rule() -> None:
    (note,) = rc.check({"model_type": "brandnew", **PLAIN})
    assert (note.key, note.severity) == ("unknown_family", "note")
    assert "general rule" in note.why("en") and "通用规则" in note.why("zh")
    wanted = 1e4 ** (-2.0 * 31 / 64)
    assert rc.from_hf({"model_type": "brandnew", **PLAIN}).inv_freq[-1] == pytest.approx(wanted, rel=1e-12)


CHILD = """
import pathlib, re, sys, time
from rope_core.__main__ import main
import rope_core.cli.check, rope_core.checks.check
before = time.process_time()
code = main(["check", sys.argv[1]])
# getrusage would count what the parent held before exec.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) // 1024
print(f"cost {time.process_time() - before:.3f} {peak}", file=sys.stderr)
sys.exit(code)
"""


def checked(path: Path) -> tuple[int, str, float, int]:
    """Return the exit code, the output, seconds of processor and peak memory in MB, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    assert "Traceback" not in ran.stderr
    seconds, peak = re.findall(r"cost (\S+) (\d+)", ran.stderr)[0]
    return ran.returncode, ran.stdout + ran.stderr, float(seconds), int(peak)


@pytest.mark.parametrize("what", ["device", "pipe", "socket_folder"])
def test_only_regular_files_are_read(what: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    if what == "device":
        path.symlink_to("/dev/zero")
    elif what == "pipe":
        os.mkfifo(path)
    else:
        (tmp_path / "below").mkdir()
        os.mkfifo(tmp_path / "below" / "config.json")
        path = tmp_path
    code, text, seconds, peak = checked(path)
    assert code == 2 and "must be a regular file" in text and seconds < 1 and peak < 200


def test_a_pipe_among_weights_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.safetensors")
    for given in (tmp_path, tmp_path / "model.safetensors"):
        with pytest.raises(ValueError, match="must be a regular file"):
            rc.verify(given, {"model_type": "llama", "head_dim": 64})


KEYS = {f"key{i}": i for i in range(3000)}


def test_many_unread_keys_are_counted() -> None:
    config = {"model_type": "llama", "head_dim": 64,
              "rope_parameters": {**KEYS, "rope_type": "linear", "factor": 2.0, "scaling_factor": 2.0}}  # fmt: skip
    findings = rc.check(config)
    listed = [each for each in findings if each.key == "key_not_read"]
    (more,) = [each for each in findings if each.key == "more_keys_not_read"]
    assert len(listed) == 20 and more.values["count"] == 3001 - 20
    assert {each.values["near"] for each in listed if each.values["key"] == "scaling_factor"} == {"factor"}
