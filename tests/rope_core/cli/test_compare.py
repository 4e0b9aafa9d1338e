"""`rope compare`: its table, its JSON, its page, and a test file that runs elsewhere with numpy alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rope_core.__main__ import main
from rope_core.cli import compare as cli_compare
from rope_core.cli.command import CRASHED
from rope_core.comparisons.rows import check_text
from rope_core.hf.catalogue import released_model
from rope_core.languages import words
from rope_core.version import __version__
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
    lines = {line[:36].strip(): line for line in out.splitlines()}
    faster, blur = (lines[check_text(key, "title")] for key in ("not_faster", "resolution"))
    assert faster.split()[-9:] == ["≤", "1.001", "✓", "0.125", "✓", "1", "✗", "1.67", "@0"]
    assert blur[36:].split()[:4] == ["≥", "0.5", "!", "0.016"]
    # One line says what has to hold, here and on the page.
    assert out.count(words("en", "comparison")["table"]["rule"]) == 1
    assert lines[check_text("arguments", "title")].endswith("✗")
    # The ramp runs from 20 to 46 as YaRN's does, but for the clamp; what is faster for it is no fault of its own.
    cause = "a clamp is missing at the fast end of the ramp (line 8 bounds one side only: g = np.minimum("
    assert (
        f"mine.py:inv_freq: Cause: {cause}" in out and "From it follows: faster than in training (pairs 0–19)." in out
    )
    assert "faster than in training (pairs 0–19): 1.67" not in out
    assert "a literal in line 7: low, high = 20, 46" in out
    assert " beside " not in out
    _, out, _ = printed(capsys, "compare", "linear", "yarn", "--factor", "8")
    assert "linear beside yarn: equal at pairs 46–63, differs at pairs 0–45, most at pair 0: 8 times slower" in out
    _, out, _ = printed(capsys, "compare", "yarn", "yarn", "--factor", "8")
    assert "yarn has the frequencies of yarn (2) at all 64 pairs" in out
    _, out, _ = printed(capsys, "compare", "yarn", tmp_path / "mine.py", "--factor", "8", "--lang", "zh")
    assert "由此而来的有：转得比训练时快（第 0–19 对）。" in out


def test_the_head_says_what_columns_are_judged_at_and_what_they_do_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    _, out, _ = printed(capsys, "compare", tmp_path / "mine.py", "--factor", "8")
    version, setting, cause, first = out.splitlines()[:4]
    assert version == f"rope compare {__version__}" and setting.startswith("llama-2-7b: dim 128, base 10,000; ")
    assert all(text in setting for text in ("L = 4,096", "T = 32,768", "×8", "not trained on;"))
    assert cause.startswith("✗ mine.py:inv_freq: Cause: a clamp is missing") and out.count("Cause: a clamp") == 1
    assert first.startswith("mine.py:inv_freq fails 3 of 10 required checks: ") and "is nearest to" not in out
    # Settings and limits of their own are each column's.
    _, out, _ = printed(capsys, "compare", "llama-3.1-8b", "gpt-oss-20b", "--length", "65536")
    lines = out.splitlines()
    assert lines[1].startswith("llama-3.1-8b: dim 128") and lines[2].startswith("gpt-oss-20b: dim 64")
    (slow,) = [line for line in lines if check_text("not_overslowed", "title") in line]
    assert "(≤ 56)" in slow and "(≤ 112)" in slow
    _, out, _ = printed(capsys, "compare", tmp_path / "mine.py", "--json")
    answer = json.loads(out)
    (column,) = answer["columns"]
    assert (answer["version"], answer["exit"], column["holds"]) == (__version__, 1, False)
    assert column["nearest"]["scheme"] == "yarn" and column["nearest"]["mistake"] == "no_clamp_low"
    assert column["follows"] == ["not_faster", "like"] and column["headline"].startswith("mine.py:inv_freq fails")


def test_like_decides_the_exit_and_explanations_come_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(SCHEMES)
    mine = f"{tmp_path / 'mine.py'}:yarn"
    assert printed(capsys, "compare", mine, "--like", "yarn")[0] == 0
    code, out, _ = printed(capsys, "compare", mine, "linear", mine, "--like", "ntk", "--explain")
    assert code == 1 and out.count(check_text("like", "counterexample")) == 1
    assert printed(capsys, "compare", mine, "--like", "nothing")[0] == 2
    # The test file holds another function to the scheme, where this one is not it.
    path = tmp_path / "test_schemes.py"
    assert printed(capsys, "compare", mine, "--like", "yarn", "--pytest", path)[0] == 0
    assert "FAILED" not in run_tests(tmp_path)
    (tmp_path / "mine.py").write_text(SCHEMES.replace("(i - low)", "(2 * i - low)"))
    assert "FAILED test_schemes.py::test_check[mine.py:yarn-like]" in run_tests(tmp_path)


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


@pytest.mark.parametrize("model", ["llama-3.1-8b", "llama-3.2-1b"])
def test_a_function_of_a_config_is_given_the_model_s_lengths(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The length of the config is not the trained one; the file that pins what was seen passes as it is written."""
    by_config = SCHEMES.split("def as_in")[1].replace(
        'given["original_max_position_embeddings"]', "config.max_position_embeddings"
    )
    literal = SCHEMES.split("def yarn")[1].split("def upside")[0].replace("train_len / (", "8192 / (")
    text = f"{SCHEMES}\ndef by{by_config}\ndef literal{literal}"
    placed(tmp_path / "versions", text, "")
    code, path = tmp_path / "versions" / "code.py", tmp_path / "versions" / "test_schemes.py"
    given = [f"{code}:{name}" for name in ("as_in_transformers", "by_transformers", "literal")]
    rc, out = printed(capsys, "compare", *given, "--model", model, "--like", "yarn", "--json", "--pytest", path)[:2]
    rows = [{row["key"]: row["holds"] for row in each["checks"]} for each in json.loads(out)["columns"]]
    assert rc == 1 and [row["like"] for row in rows] == [True, False, True]
    assert [row["arguments"] for row in rows] == [True, False, False]
    out = run_tests(tmp_path / "versions")
    assert "FAILED" not in out and "xfailed" in out, out[-2000:]


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
    name = f"{tmp_path.name}/config.json"
    pins = json.loads(written.split('r"""')[1].split('"""')[0])[name]["geometries"]
    slowest = [each["geometry"][1] ** (-126 / 128) / each["inv_freq"][-1][-1] for each in pins]
    assert slowest == pytest.approx([8.0, 16.0])
    versions = tmp_path / "versions"
    placed(versions / "without", SCHEMES, written)
    plugged = written.replace("'yarn (2)': None", "'yarn (2)': ('code.py', 'yarn')")
    placed(versions / "right", SCHEMES, plugged)
    wrong = SCHEMES.replace("g / factor)", "g / 8)")
    for k, given in enumerate(("'yarn (2)'", f"{name!r}")):
        placed(versions / f"wrong{k}", wrong, plugged.replace(f"{given}: None", f"{given}: ('code.py', 'yarn')"))
    out = run_tests(versions)
    assert "FAILED without" not in out and "FAILED right" not in out
    assert "FAILED wrong0/test_schemes.py::test_frequencies[yarn (2)]" in out
    assert f"FAILED wrong1/test_schemes.py::test_frequencies[{name}]" in out


def test_an_unreadable_column_is_one_and_the_exit_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(SCHEMES + "\ndef wide(dim):\n    return np.ones(3)\n")
    given = ["compare", tmp_path / "mine.py", "yarn", "--html", tmp_path / "page.html"]
    code, out, err = printed(capsys, *given)
    refused = "mine.py:wide is unreadable: inv_freq must be numbers of shape (64,), got (3,)"
    assert code == 2 and not err and f"✗ {refused}" in out and "mine.py:upside_down beside" not in out
    assert "mine.py:upside_down fails" in out and refused in (tmp_path / "page.html").read_text("utf-8")
    code, out, _ = printed(capsys, *given, "--json")
    answer = json.loads(out)
    assert code == answer["exit"] == 2
    names = ["mine.py:yarn", "mine.py:upside_down", "mine.py:as_in_transformers", "yarn", "mine.py:wide"]
    assert [each["name"] for each in answer["columns"]] == names
    assert answer["columns"][-1]["checks"] == [] and "shape (64,)" in answer["columns"][-1]["error"]


def test_functions_of_one_file_are_columns_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "code.py"
    path.write_text(SCHEMES)
    _, out, _ = printed(capsys, "compare", path, f"{path}:yarn", "--json")
    wanted = ["code.py:yarn", "code.py:upside_down", "code.py:as_in_transformers", "code.py:yarn (2)"]
    assert [each["name"] for each in json.loads(out)["columns"]] == wanted
    _, out, _ = printed(capsys, "compare", path)
    assert all(name in out for name in wanted[:3])


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
