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
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert lines["not_faster"].split()[-2:] == ["-0.74", "@0!"] and lines["arguments"].endswith("!")
    assert lines["resolution"].split()[1:3] == ["-4.93", "@0~"]
    assert "mine takes train_len, and its frequencies are the same whatever that is." in out
    # The ramp runs from 20 to 46 as YaRN's does, but for the clamp.
    assert "linear against yarn: equal at pairs 46–63; differs at 0–45, most at pair 0, 0.125 times" in out
    _, out, _ = printed(capsys, "compare", "yarn", tmp_path / "mine.py", "yarn", "--factor", "8")
    assert "yarn against mine: equal at pairs 20–63; differs at 0–19" in out and "yarn against yarn: equal" in out
    _, out, _ = printed(capsys, "compare", "yarn", tmp_path / "mine.py", "--lang", "zh")
    assert "没有一对快于未缩放时（要求，未满足）" in out.replace(" (", "（").replace(")", "）")


def test_json_has_columns_and_checks(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "compare", "none", "llama-3.1-8b", "--length", "65536", "--json")
    columns = json.loads(out)["columns"]
    assert code == 0 and [each["name"] for each in columns] == ["none", "llama-3.1-8b"]
    for column in columns:
        for check in column["checks"]:
            assert {"key", "holds", "margin", "pair", "source", "counterexample"} <= check.keys()
    assert columns[0]["length"] == 65536 and columns[1]["length"] == 131072


def test_a_page_is_one_file_without_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert printed(capsys, "compare", "yarn", "ntk", "--html", page)[0] == 0
    text = page.read_text("utf-8")
    assert text.count("<polyline") == 2 and "not_faster" not in text and "no pair faster" in text
    assert "<script" not in text and "http-equiv" in text
    assert printed(capsys, "compare", "yarn", "--html", tmp_path / "no" / "page.html")[0] == 2


def test_the_test_file_runs_elsewhere_and_fails_on_each_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, command = (
        tmp_path / "test_frequencies.py",
        [sys.executable, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider"],
    )
    given = ["yarn", "dynamic", "--factor", "4", "--threshold", "resolution=1.5", "--pytest", path]
    assert printed(capsys, "compare", *given)[0] == 0
    text = path.read_text()
    assert "rope_core" not in text and "torch" not in text
    pinned = json.loads(text.split('r"""')[1].split('"""')[0])
    assert {*pinned["yarn"][0]["margins"]} == {*checks()} - {"programs", "arguments"}
    assert pinned["yarn"][0]["allowed"]["resolution"] == 1.5 and pinned["yarn"][1]["geometry"][1] == 500_000.0
    lookup = "lambda *geometry: answer('yarn', *geometry)"
    changes = {
        lookup: "lambda *geometry: [1.001 * f for f in answer('yarn', *geometry)[0]]",
        lookup + ",": "lambda *geometry: (answer('yarn', *geometry)[0], 1.0),",
        lookup + ",\n": "lambda dim, base, *more: answer('yarn', dim, 10000.0, 4096, *more[1:]),\n",
        '"resolution": 1.5,': '"resolution": 2.0,',
    }
    assert subprocess.run([*command, str(path)], cwd=tmp_path, capture_output=True).returncode == 0
    for old, new in changes.items():
        assert old in text
        path.write_text(text.replace(old, new, 1))
        run = subprocess.run([*command, str(path)], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 1 and "1 failed, 1 passed" in run.stdout, new


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
