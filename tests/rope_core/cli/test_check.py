"""`rope check` as a user, a program, a hook and a CI job run it: exit codes, JSON by its schema, SARIF, folders."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import rope_core as rc
from rope_core.__main__ import main
from tests.support import ROOT
from tests.support.command import printed

GOOD = rc.model("llama-3.1-8b").hf_config()
WARNED = {**GOOD, "rope_scaling": {**GOOD["rope_scaling"], "atention_factor": 1.0}}
WRONG = {**GOOD, "rope_scaling": {"type": "foo", "factor": 8.0}}
SCHEMA = json.loads((ROOT / "docs/check.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory: three configs, a broken one, and deeper ones."""
    places = {"good": GOOD, "warned": WARNED, "wrong": WRONG, "deep/er/warned": WARNED, "deep/wrong": WRONG}
    places |= {"deep/a b": WARNED, "deep/.git/wrong": WRONG, "deep/node_modules/a": WRONG}
    for name, config in places.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    (tmp_path / "broken.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good"], 0),
        (["good/config.json"], 0),
        (["warned"], 1),
        (["wrong"], 1),
        (["warned", "--fail-on", "error"], 0),
        (["wrong", "--fail-on", "error"], 1),
        (["warned", "--ignore", "key_not_read"], 0),
        (["wrong", "--ignore", "key_not_read"], 1),
        (["broken.json"], 2),
        (["absent.json"], 2),
        (["good", "broken.json"], 2),
        (["good", "warned"], 1),
        (["good", "--seq-len", "131072"], 0),
        (["good", "--seq-len", "131073"], 1),
        (["good", "--seq-len", "0"], 2),
        (["good", "--transformers", "4.57"], 0),
    ],
)
def test_exit_codes(files: Path, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ([], ["--json"]):
        given, _, err = printed(capsys, "check", *arguments, *form)
        assert given == code and bool(err) == (code == 2)


def test_json_is_one_object(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(files / "warned"), "--json", "--lang", "zh"]) == 1
    built = json.loads(capsys.readouterr().out)
    first = built["files"][0]["findings"][0]
    assert built["exit"] == 1 and first["key"] == "key_not_read" and first["severity"] == "warning"
    assert first["values"]["near"] == "attention_factor" and "不会被读取" in first["title"]
    assert main(["check", str(files / "broken.json"), "--json"]) == 2
    assert "unreadable" in json.loads(capsys.readouterr().out)["files"][0]


@pytest.mark.parametrize(("lang", "words"), [("en", ("warning", "is not read")), ("zh", ("警告", "不会被读取"))])
def test_the_table_speaks_the_language(
    files: Path, lang: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["check", str(files / "warned"), "--lang", lang])
    table = capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "rich", None)
    main(["check", str(files / "warned"), "--lang", lang])
    plain = capsys.readouterr().out
    for word in (*words, "key_not_read", "rope_scaling.atention_factor"):
        assert word in table and word in plain


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def feed(text: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    feed(json.dumps(WARNED).encode())
    assert main(["check", "-"]) == 1
    feed(json.dumps(GOOD).encode())
    assert main(["spectrum", "-"]) == 0
    feed(b" " * (17 * 2**20))
    capsys.readouterr()
    assert main(["check", "-"]) == 2
    assert "at most" in capsys.readouterr().err


def test_layer_types_can_be_picked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(rc.model("gemma-3-4b").hf_config()))
    main(["check", str(tmp_path), "--json", "--layer-type", "sliding_attention"])
    findings = json.loads(capsys.readouterr().out)["files"][0]["findings"]
    assert findings and {each["layer_type"] for each in findings} <= {None, "sliding_attention"}


def test_nothing_of_a_config_steers_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = {**GOOD, "rope_scaling": {**GOOD["rope_scaling"], "\x1b[2J[bold]x": 1, "type": "\x1b]0;t\x07"}}
    (tmp_path / "config.json").write_text(json.dumps(evil))
    assert main(["check", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\x07" not in text and "[bold]" in text


def rope_on_path(folder: Path) -> dict[str, str]:
    """Return an environment in which `rope` is this checkout's, as after an installation."""
    tool = folder / "bin" / "rope"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rope_core "$@"\n')
    tool.chmod(0o755)
    return {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def run(line: str, where: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-e", "-c", line], cwd=where, env=environment, capture_output=True, text=True, check=False
    )


def only(pattern: str, text: str) -> str:
    result: list[Any] = re.findall(pattern, text, re.MULTILINE)
    assert len(result) == 1, result
    return str(result[0])


def test_the_pre_commit_hook_runs(files: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry, pattern = only(r"^  entry: (.+)$", text), only(r"^  files: (.+)$", text)
    models = ["config.json", "llama/config.json", "models/a/config.json", "checkpoints/step_10/config.json"]
    others = ["src/config.json", "frontend/app/config.json", "packages/x/config.json", "node_modules/a/config.json"]
    others += ["public/config.json", ".vscode/config.json", "tokenizer_config.json", "a/myconfig.json"]
    assert [name for name in (*models, *others) if re.search(pattern, name)] == models
    environment = rope_on_path(files)
    assert run(f"{entry} good/config.json", files, environment).returncode == 0
    bad = run(f"{entry} good/config.json warned/config.json", files, environment)
    assert bad.returncode == 1 and "key_not_read" in bad.stdout


def test_the_action_runs(files: Path) -> None:
    action, workflow = (
        yaml.safe_load((ROOT / name).read_text("utf-8")) for name in ("action.yml", "docs/ci-example.yml")
    )
    (step,) = (step for step in action["runs"]["steps"] if step.get("run", "").startswith("rope "))
    example = workflow["jobs"]["check"]["steps"][-1]
    assert set(example["with"]) <= set(action["inputs"])
    given = {"CONFIG": example["with"]["config"], "FAIL_ON": example["with"]["fail-on"]}
    assert set(given) == set(step["env"])
    environment = rope_on_path(files) | given
    assert run(step["run"], files / "good", environment).returncode == 0
    bad = run(step["run"], files / "wrong", environment)
    assert bad.returncode == 1 and "type_not_known" in bad.stdout


def test_a_reader_that_has_enough_ends_it_quietly(files: Path) -> None:
    ran = run("set -o pipefail; rope spectrum good --csv | head -1", files, rope_on_path(files))
    assert ran.returncode == 0 and ran.stderr == "" and ran.stdout.startswith("layer_type")


@pytest.mark.parametrize("what", [["good"], ["deep"], ["good", "broken.json"], ["good", "--all", "--lang", "zh"]])
def test_the_json_follows_its_schema(files: Path, what: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "check", *what, "--json")
    built = json.loads(out)
    jsonschema.validate(built, SCHEMA)
    assert built["exit"] == code and built["tool"]["version"] == rc.__version__ and built["schema"] == 1


def test_sarif(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "check", "deep", "broken.json", "--sarif")
    built = json.loads(out)
    (run,) = built["runs"]
    driver = run["tool"]["driver"]
    # What SARIF 2.1.0 requires of a log, a driver and a result (sections 3.13, 3.19, 3.27).
    assert built["version"] == "2.1.0" and driver["name"] and driver["version"] and driver["rules"]
    assert all(each["message"]["text"] and each["level"] in ("note", "warning", "error") for each in run["results"])
    assert code == 2 and not run["invocations"][0]["executionSuccessful"]
    rules = {rule["id"] for rule in driver["rules"]}
    assert len(rules) == len(driver["rules"])
    assert rules == {result["ruleId"] for result in run["results"]} >= {"type_not_known", "key_not_read"}
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert uris == {"deep/er/warned/config.json", "deep/wrong/config.json", "deep/a%20b/config.json"}
    assert printed(capsys, "check", "good", "--sarif", "--json")[0] == 2


def test_a_folder_s_configs_are_found(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "check", "deep", "--json", "--ignore", "type_not_known")
    names = [row["config"] for row in json.loads(out)["files"]]
    wanted = ["deep/a b/config.json", "deep/er/warned/config.json", "deep/wrong/config.json"]
    assert code == 1 and sorted(names) == wanted
    assert printed(capsys, "check", "deep/er/warned")[0] == 1
    (files / "empty").mkdir()
    code, _, err = printed(capsys, "check", "empty")
    assert code == 2 and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "seen"),
    [
        (["deep/er/warned", "--min-severity", "warning"], 1, {"warning"}),
        (["deep/er/warned", "--min-severity", "error"], 0, set()),
        (["deep/wrong", "--min-severity", "error"], 1, {"error"}),
        (["good", "--min-severity", "note"], 0, set()),
        (["good", "--min-severity", "note", "--all"], 0, {"note"}),
    ],
)
def test_severities(
    files: Path, arguments: list[str], code: int, seen: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given, out, _ = printed(capsys, "check", *arguments, "--json")
    assert given == code
    assert {each["severity"] for each in json.loads(out)["files"][0]["findings"]} == seen


@pytest.mark.parametrize(("lang", "word"), [("en", "must be the key of a finding"), ("zh", "检查项的键")])
def test_an_unknown_key_is_refused(files: Path, lang: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = printed(capsys, "check", "good", "--ignore", "key_not_red", "--lang", lang)
    assert code == 2 and out == "" and word in err and "key_not_read" in err and err.count("\n") == 1


def test_two_notes_come_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    config = {**rc.model("llama-2-7b").hf_config(), "torch_dtype": "bfloat16"}
    on_request = {"pairs_below_one_turn", "half_precision"}
    assert not on_request & {each.key for each in rc.check(config)}
    assert on_request <= {each.key for each in rc.check(config, everything=True)}
