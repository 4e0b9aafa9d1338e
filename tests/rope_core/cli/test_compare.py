"""`rope compare`: its table, its JSON, its page, and a test file that runs elsewhere with numpy alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rope_core.__main__ import main
from rope_core.cli import compare as cli_compare
from rope_core.cli.command import CRASHED
from rope_core.comparisons.compare import checks
from rope_core.hf.catalogue import released_model
from tests.support.command import printed
from ui.page import fields

MINE = """
import numpy as np

def inv_freq(dim, base, train_len, factor):
    i = np.arange(dim // 2)
    theta = base ** (-2 * i / dim)
    low, high = 20, 46
    g = np.minimum((i - low) / (high - low), 1)
    return theta * (1 - g + g / factor), 0.1 * np.log(factor) + 1
"""


def test_a_missing_clamp_and_literals_are_named_with_their_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    code, out, err = printed(capsys, "compare", "linear", "yarn", tmp_path / "mine.py", "--factor", "8")
    assert code == 1 and not err
    lines = {line[2:34].strip(): line for line in out.splitlines()}
    faster, blur = (lines[checks()[key]["en"]["title"]] for key in ("not_faster", "resolution"))
    assert faster.split()[-8:] == ["≥", "0.999", "✓", "8", "✓", "1", "✗", "0.598", "@0"][1:]
    assert blur[36:].split()[:5] == ["≥", "0.5", "○", "0.016", "@0"] and faster.startswith("* ")
    assert lines[checks()["arguments"]["en"]["title"]].endswith("✗")
    assert "faster than in training (pairs 0–19): s = 0.598, at least 0.999; line 8 bounds one side only" in out
    assert "train_len has no effect; line 7 fits this model only: low, high = 20, 46" in out
    # The ramp runs from 20 to 46 as YaRN's does, but for the clamp.
    assert "linear against yarn: equal at pairs 46–63; differs at 0–45, most at pair 0, 0.125 times" in out
    _, out, _ = printed(capsys, "compare", "yarn", tmp_path / "mine.py", "yarn", "--factor", "8")
    assert (
        "yarn against mine.py:inv_freq: equal at pairs 20–63; differs at 0–19" in out
        and "yarn against yarn (2): equal" in out
    )
    _, out, _ = printed(capsys, "compare", "yarn", tmp_path / "mine.py", "--factor", "8", "--lang", "zh")
    assert "转得比训练时快（第 0–19 对）：s = 0.598，至少 0.999" in out and "(要求，未满足; not_faster)" in out


def test_json_has_columns_and_checks(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "compare", "none", "llama-3.1-8b", "--length", "65536", "--json")
    columns = json.loads(out)["columns"]
    assert code == 0 and [each["name"] for each in columns] == ["none", "llama-3.1-8b"]
    for column in columns:
        for check in column["checks"]:
            assert {"key", "holds", "margin", "measured", "limit", "pair", "source", "counterexample"} <= check.keys()
    assert columns[0]["length"] == 65536 and columns[1]["length"] == 131072


def test_a_config_with_a_fault_ends_with_1_and_names_its_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    config = released_model("llama-3.1-8b").hf_config()
    config["rope_scaling"] |= {"low_freq_factor": 4.0, "high_freq_factor": 1.0}
    path.write_text(json.dumps(config))
    code, out, _ = printed(capsys, "compare", path, "--trained-to", "131072", "--fine-tuned")
    assert code == 1 and "rope_scaling.high_freq_factor: high_freq_factor 1 is below low_freq_factor 4." in out
    code, out, _ = printed(capsys, "compare", path, "--json", "--lang", "zh")
    (check,) = [each for each in json.loads(out)["columns"][0]["checks"] if each["key"] == "config"]
    assert code == 1 and check["holds"] is False and any("交换二者" in text for text in check["values"]["details"])
    assert "llama3_swapped" in [each["key"] for each in check["values"]["findings"]]


def test_a_page_is_one_file_without_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert printed(capsys, "compare", "yarn", "ntk", "--html", page)[0] == 0
    text = page.read_text("utf-8")
    assert text.count("<polyline") == 2 and "not_faster" not in text and "no pair faster" in text
    assert "<script" not in text and "http-equiv" in text
    assert printed(capsys, "compare", "yarn", "--html", tmp_path / "no" / "page.html")[0] == 2


SCHEMES = """
import numpy as np

def yarn(dim, base, train_len, factor):
    i = np.arange(dim // 2)
    c = lambda turns: dim * np.log(train_len / (turns * 2 * np.pi)) / (2 * np.log(base))
    low, high = max(np.floor(c(32)), 0), min(np.ceil(c(1)), dim - 1)
    g = np.clip((i - low) / (high - low), 0, 1)
    return base ** (-2 * i / dim) * (1 - g + g / factor), 0.1 * np.log(factor) + 1

def upside_down(dim, base, train_len, factor):
    f, a = yarn(dim, base, train_len, factor)
    theta = base ** (-2 * np.arange(dim // 2) / dim)
    return theta / factor * theta / f, a

def as_in_transformers(config, device=None, seq_len=None):
    given = config.rope_scaling
    return yarn(config.head_dim, config.rope_theta, given["original_max_position_embeddings"], given["factor"])
"""


def run_tests(folder: Path) -> str:
    """Run every test file below a folder, each beside the code that it imports, and return pytest's report."""
    command = [sys.executable, "-I", "-m", "pytest", "-q", "-rfxX", "--import-mode=importlib", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


def placed(folder: Path, code: str, tests: str) -> None:
    """Write a version of the code and its test file into a folder of their own."""
    folder.mkdir(parents=True)
    (folder / "code.py").write_text(code)
    (folder / "test_schemes.py").write_text(tests)


def test_the_test_file_imports_the_functions_and_expects_broken_checks_to_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, path, text = tmp_path / "code.py", tmp_path / "tests" / "test_schemes.py", SCHEMES
    path.parent.mkdir()
    code.write_text(text)
    given = [f"{code}:{name}" for name in ("yarn", "upside_down", "as_in_transformers")]
    assert printed(capsys, "compare", *given, "--factor", "8", "--pytest", path)[0] == 1
    written = path.read_text()
    assert "rope_core" not in written and "torch" not in written and "('../code.py', 'upside_down')" in written
    pins = json.loads(written.split('r"""')[1].split('"""')[0])
    assert [each["geometry"][3] for each in pins["code.py:yarn"]["geometries"]] == [8.0, 16.0]
    assert [each["geometry"][0] for each in pins["code.py:yarn"]["geometries"]] == [128, 64]
    assert pins["code.py:upside_down"]["geometries"][0]["inv_freq"] is None
    versions = tmp_path / "versions"
    placed(versions / "same", text, written.replace("'../code.py'", "'code.py'"))
    # A literal factor, a lost attention factor and a moved pair are each seen; so is a fault that is gone.
    changes = (
        ("g / factor)", "g / 8)", "test_frequencies[code.py:yarn]"),
        ("np.log(factor) + 1", "np.log(factor)", "test_check[code.py:yarn-attention_factor]"),
        ("g / factor), 0.1 * np.log(factor) + 1", "g / factor)", "test_frequencies[code.py:yarn]"),
        ("np.floor(c(32))", "c(32)", "test_frequencies[code.py:as_in_transformers]"),
        ("return theta / factor * theta / f, a", "return f, a", "test_check[code.py:upside_down-monotone]"),
    )
    for k, (old, new, _) in enumerate(changes):
        assert old in text
        placed(versions / f"change{k}", text.replace(old, new, 1), written.replace("'../code.py'", "'code.py'"))
    out = run_tests(versions)
    assert "XFAIL same/test_schemes.py::test_check[code.py:upside_down-monotone]" in out and "FAILED same" not in out
    assert "broken when this file was written" in out and "skipped" not in out and "XPASS(strict)" in out
    for k, (_, new, failed) in enumerate(changes):
        assert f"FAILED change{k}/test_schemes.py::{failed}" in out, new


def test_a_scheme_in_the_test_file_waits_for_the_code_under_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "test_schemes.py"
    config = tmp_path / "config.json"
    config.write_text(json.dumps(released_model("llama-3.1-8b").hf_config()))
    assert printed(capsys, "compare", "yarn", "yarn", config, "--factor", "8", "--pytest", path)[0] == 0
    written = path.read_text()
    assert "no code under test" in written
    # A config's scheme is pinned at twice its factor too, which a literal in its place would miss.
    pins = json.loads(written.split('r"""')[1].split('"""')[0])[str(config)]["geometries"]
    slowest = [each["geometry"][1] ** (-126 / 128) / each["inv_freq"][-1][-1] for each in pins]
    assert slowest == pytest.approx([8.0, 16.0])
    versions = tmp_path / "versions"
    placed(versions / "without", SCHEMES, written)
    plugged = written.replace("'yarn (2)': None", "'yarn (2)': ('code.py', 'yarn')")
    placed(versions / "right", SCHEMES, plugged)
    wrong = SCHEMES.replace("g / factor)", "g / 8)")
    for k, given in enumerate(("'yarn (2)'", f"{str(config)!r}")):
        placed(versions / f"wrong{k}", wrong, plugged.replace(f"{given}: None", f"{given}: ('code.py', 'yarn')"))
    out = run_tests(versions)
    assert "FAILED without" not in out and "FAILED right" not in out
    assert "FAILED wrong0/test_schemes.py::test_frequencies[yarn (2)]" in out
    assert f"FAILED wrong1/test_schemes.py::test_frequencies[{config}]" in out


def test_functions_of_one_file_are_columns_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "code.py"
    path.write_text(SCHEMES)
    names = [f"{path}:yarn", f"{path}:upside_down", path, path]
    _, out, _ = printed(capsys, "compare", *names, "--json")
    wanted = ["code.py:yarn", "code.py:upside_down", "code.py:as_in_transformers", "code.py:as_in_transformers (2)"]
    assert [each["name"] for each in json.loads(out)["columns"]] == wanted
    _, out, _ = printed(capsys, "compare", *names)
    assert "code.py:yarn against code.py:upside_down" in out and all(name in out for name in wanted)


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["yarn", "--factor", "0.5"], ["yarn", "--threshold", "x=1"], ["yarn", "--length", "8k"]]
)
def test_bad_arguments_are_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = printed(capsys, "compare", *arguments)
    assert code == 2 and len(err.splitlines()) == 1 and "must be" in err


def test_a_mistaken_name_lists_the_nearest_names(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = printed(capsys, "compare", "yarn", "--model", "mistral-7b")
    assert code == 2 and "mistral-7b-v0.1, mistral-7b-v0.2, mistral-7b-v0.3" in err
    code, _, err = printed(capsys, "compare", "yarm", "--lang", "zh")
    assert code == 2 and "最接近的有 yarn" in err


def test_a_crash_has_an_exit_code_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_compare, "compare", lambda *given, **more: 1 / 0)
    assert main(["compare", "yarn"]) == CRASHED not in (0, 1, 2)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_factor_where_none_is_given_is_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = printed(capsys, "compare", "yarn", "--json")
    assert json.loads(out)["columns"][0]["factor"] == fields.FACTOR.default
