"""`rope check` for programs: its JSON against the published schema, SARIF 2.1.0, folders, severities, keys."""

import json
from pathlib import Path

import jsonschema
import pytest

import rope_core as rc
from rope_core.__main__ import main
from tests.support import ROOT

GOOD = rc.model("llama-3.1-8b").hf_config()
WARNED = {**GOOD, "rope_scaling": {**GOOD["rope_scaling"], "atention_factor": 1.0}}
WRONG = {**GOOD, "rope_scaling": {"type": "foo", "factor": 8.0}}
SCHEMA = json.loads((ROOT / "docs/check.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    places = {"good": GOOD, "deep/er/warned": WARNED, "deep/wrong": WRONG, ".git/wrong": WRONG, "node_modules/a": WRONG}
    for name, config in places.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "config.json").write_text(json.dumps(WARNED))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(list(arguments))
    except SystemExit as stop:
        code = int(stop.code or 0)
    text = capsys.readouterr()
    assert "Traceback" not in text.out + text.err
    return code, text.out, text.err


@pytest.mark.parametrize("what", [["good"], ["deep"], ["good", "broken.json"], ["good", "--all", "--lang", "zh"]])
def test_the_json_follows_its_schema(files: Path, what: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "check", *what, "--json")
    built = json.loads(out)
    jsonschema.validate(built, SCHEMA)
    assert built["exit"] == code and built["tool"]["version"] == rc.__version__ and built["schema"] == 1


def test_sarif(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "check", ".", "broken.json", "--sarif")
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
    assert uris == {"deep/er/warned/config.json", "deep/wrong/config.json", "a%20b/config.json"}
    assert ran(capsys, "check", "good", "--sarif", "--json")[0] == 2


def test_a_folder_s_configs_are_found(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "check", ".", "--json", "--ignore", "type_not_known")
    names = [row["config"] for row in json.loads(out)["files"]]
    wanted = ["a b/config.json", "deep/er/warned/config.json", "deep/wrong/config.json", "good/config.json"]
    assert code == 1 and sorted(names) == wanted
    assert ran(capsys, "check", "deep/er/warned")[0] == 1
    (files / "empty").mkdir()
    code, _, err = ran(capsys, "check", "empty")
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
    given, out, _ = ran(capsys, "check", *arguments, "--json")
    assert given == code
    assert {each["severity"] for each in json.loads(out)["files"][0]["findings"]} == seen


@pytest.mark.parametrize(("lang", "word"), [("en", "must be the key of a finding"), ("zh", "检查项的键")])
def test_an_unknown_key_is_refused(files: Path, lang: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "check", "good", "--ignore", "key_not_red", "--lang", lang)
    assert code == 2 and out == "" and word in err and "key_not_read" in err and err.count("\n") == 1


def test_two_notes_come_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    config = {**rc.model("llama-2-7b").hf_config(), "torch_dtype": "bfloat16"}
    on_request = {"pairs_below_one_turn", "half_precision"}
    assert not on_request & {each.key for each in rc.check(config)}
    assert on_request <= {each.key for each in rc.check(config, everything=True)}
