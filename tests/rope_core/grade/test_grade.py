"""rope grade: right solutions pass, each known mistake is named, and whatever code does is one sentence."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rope_core.grade import frequencies, rotations
from rope_core.grade.assignment import TASKS
from rope_core.grade.faults import GradingStageError, StudentFunctions
from rope_core.grade.remote import FILE
from rope_core.languages import words
from tests.support import ROOT
from tests.support.command import printed

pytestmark = pytest.mark.xdist_group("grade")

SOLUTION = Path(__file__).with_name("solution.py").read_text("utf-8")

TURNED = "a * cos - b * sin, a * sin + b * cos"
PAIRED = "angle = np.outer(positions, inv_freq)"
RAMP = "np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)"
BASE = "    theta = spectrum(dim, base)"
BLENDED = "return theta / factor * divided + theta * (1 - divided)"
SAME = "if source == target:\n        return x\n    if target"
SWAPPED = """n = x.shape[-1] // 2
    if source == target:
        return np.roll(x, n, -1)
    if target != 'half':
        return np.stack([x[:, n:], x[:, :n]], -1).reshape(x.shape)
    return np.concatenate([x[:, 1::2], x[:, 0::2]], -1)
    if target"""
BACK = "rotate(grad, -positions, inv_freq, layout)"
MIXED = """    n = x.shape[-1] // 2
    if layout == "half":
        c, s = np.repeat(np.cos(angle), 2, -1), np.repeat(np.sin(angle), 2, -1)
        return x * c + np.concatenate([-x[:, n:], x[:, :n]], -1) * s
    c, s = np.tile(np.cos(angle), 2), np.tile(np.sin(angle), 2)
    return x * c + np.stack([-x[:, 1::2], x[:, 0::2]], -1).reshape(x.shape) * s
"""
# function, stage, what is replaced in the solution, by what, the mistake that must be named
PLANTED = [
    ("rotate", "values", "    kind =", "    return x\n    kind =", "position_zero"),
    ("rotate", "positions", "    kind =", "    return x\n    kind =", "position_zero"),
    ("rotate", "values", TURNED, "a * cos + b * sin, b * cos - a * sin", "transposed"),
    ("rotate", "positions", TURNED, "a * cos + b * sin, b * cos - a * sin", "transposed"),
    ("rotate", "values", 'layout == "half"', 'layout != "half"', "swapped_pairs"),
    ("rotate", "values", 'layout == "half"', "True", "swapped_pairs"),
    ("rotate", "positions", 'layout == "half"', "False", "swapped_pairs"),
    ("rotate", "values", TURNED, "a * sin + b * cos, a * cos - b * sin", "swapped_members"),
    ("rotate", "values", "    out = np.empty", f"{MIXED}    out = np.empty", "mixed_tables"),
    ("rotate", "values", PAIRED, "angle = np.outer(positions, inv_freq[::-1])", "last_first"),
    ("rotate", "values", PAIRED, "angle = np.outer(positions, spectrum(x.shape[-1], 10000.0))", "lost_base"),
    ("rotate", "positions", PAIRED, "angle = np.outer(positions[:1], inv_freq)", "first_position"),
    ("rotate", "positions", PAIRED, "angle = np.outer(np.arange(len(x)), inv_freq)", "row_number"),
    ("rotate", "backward", BACK, "rotate(grad, positions, inv_freq, layout)", "backward_forward"),
    ("rotate", "backward", BACK, "grad", "position_zero"),
    ("spectrum", "values", "-2.0 * i / dim", "-i / dim", "half_exponent"),
    ("spectrum", "values", "-2.0 * i / dim", "-2.0 * (i + 1) / dim", "from_one"),
    ("spectrum", "values", "-2.0 * i / dim", "2.0 * i / dim", "inverse"),
    ("spectrum", "values", "return base **", "return 1e4 **", "lost_base"),
    ("spectrum", "values", "i = np.arange(dim // 2)", "i = np.arange(dim // 2)[::-1]", "last_first"),
    ("convert", "values", "if source == target:", "if True:", "unchanged"),
    ("convert", "values", 'target == "half"', 'target != "half"', "wrong_way"),
    ("convert", "values", "if source == target:\n        return x", "return x[:, ::-1]", "last_first"),
    ("convert", "values", SAME, SWAPPED, "swapped_members"),
    ("yarn", "values", "+ 1\n    return", "+ 1\n    scale = scale**2\n    return", "squared_factor"),
    ("yarn", "values", "+ 1\n    return", "+ 1\n    scale = 1.0\n    return", "no_factor"),
    ("yarn", "values", "+ 1\n    return", "+ 1\n    scale = 1 / scale\n    return", "inverse_factor"),
    ("yarn", "values", BASE, f"    base = 1e4\n{BASE}", "lost_base"),
    ("yarn", "values", BLENDED, "return (theta / factor * divided + theta * (1 - divided))[::-1]", "last_first"),
    ("yarn", "values", RAMP, f"1 - {RAMP}", "ramp_reversed"),
    ("yarn", "values", RAMP, "np.ones(dim // 2)", "all_divided"),
    ("yarn", "values", "max(math.floor(low), 0), min(math.ceil(high), dim - 1)", "low, high", "unrounded"),
    ("yarn", "values", RAMP, "1 - np.clip((train_len * theta / (2 * math.pi) - 1) / 31, 0, 1)", "over_turns"),
]


def outcome(source: str, function: str, stage: str, seed: int = 0) -> GradingStageError | None:
    """Return the stage's fault on a source run in this process."""
    names: dict[str, Any] = {}
    exec(compile(source, FILE, "exec"), names)
    try:
        TASKS[function][stage](StudentFunctions(names), np.random.default_rng(seed))
    except GradingStageError as fault:
        return fault
    return None


def edited(old: str, new: str) -> str:
    assert SOLUTION.count(old) == 1, old
    return SOLUTION.replace(old, new)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("function", "stage"), [(name, stage) for name, stages in TASKS.items() for stage in stages])
def test_a_right_solution_passes_every_stage(function: str, stage: str, seed: int) -> None:
    fault = outcome(SOLUTION, function, stage, seed)
    assert fault is None, (fault.key, fault.slots)


@pytest.mark.parametrize(("function", "stage", "old", "new", "mistake"), PLANTED)
def test_a_known_mistake_is_named(function: str, stage: str, old: str, new: str, mistake: str) -> None:
    for seed in range(5):
        fault = outcome(edited(old, new), function, stage, seed)
        assert fault is not None and fault.key == "mistake", fault and (fault.key, fault.slots)
        assert fault.slots["mistake"] == mistake


def test_every_known_mistake_is_planted_and_has_a_sentence() -> None:
    known = {*rotations.known_rotate_mistakes(), *rotations.known_rotate_mistakes(-1.0), *rotations.CONVERT_MISTAKES}
    known |= {*frequencies.SPECTRUM_MISTAKES, *frequencies.YARN_MISTAKES}
    assert {row[4] for row in PLANTED} == known == words("en", "grade")["mistake"].keys()


@pytest.mark.parametrize(
    ("function", "stage", "old", "new", "key"),
    [
        ("rotate", "properties", TURNED, "2 * (a * cos - b * sin), a * sin + b * cos", "length"),
        ("rotate", "properties", PAIRED, "angle = np.outer(positions**2, inv_freq)", "relative"),
        ("rotate", "positions", PAIRED, "angle = np.outer(positions**2, inv_freq)", "different"),
        ("rotate", "positions", TURNED, "a * np.nan, b", "different"),
        ("rotate", "backward", "def rotate_backward", "def backward", "missing"),
        ("rotate", "dtype", "out.astype(x.dtype)", "out", "dtype"),
        ("rotate", "dtype", PAIRED, "angle = np.outer(positions, inv_freq).astype(np.float32)", "precision"),
        ("rotate", "dtype", PAIRED, "angle = np.outer(positions, inv_freq).astype(x.dtype)", "precision"),
        ("rotate", "values", "out.astype(x.dtype)", "out[:, :-1]", "shape"),
        ("rotate", "values", "out.astype(x.dtype)", "'out'", "kind"),
        ("rotate", "values", "layout: str) -> Any:\n    kind", "layout, more) -> Any:\n    kind", "not_called"),
        ("rotate", "values", "out.astype(x.dtype)", "out / None", "raised"),
        ("rotate", "values", "out.astype(x.dtype)", "exit()", "raised"),
        ("spectrum", "properties", "-2.0 * i / dim", "-2.0 * (i + 1) / dim", "first"),
        ("spectrum", "properties", "-2.0 * i / dim", "-2.0 * i * i / dim", "ratio"),
        ("spectrum", "dtype", "-2.0 * i / dim)", "-2.0 * i / dim).astype('f4')", "dtype"),
        ("spectrum", "dtype", "return base **", "return 1.0000001 * base **", "precision"),
        ("convert", "properties", 'target == "half"', "True", "round_trip"),
        ("convert", "positions", 'target == "half"', 'target != "half"', "commute"),
        ("convert", "dtype", "return np.concatenate", "return 1.0 * np.concatenate", "dtype"),
        ("yarn", "properties", "0.1 * math.log(factor) + 1", "factor + 1", "factor_one"),
        ("yarn", "properties", "return theta / factor *", "return theta / factor**2 *", "between"),
        ("yarn", "properties", "+ theta * (1", "+ theta * min(factor, 1.5) * (1", "between"),
        ("yarn", "values", "theta * (1 - divided), scale", "theta * (1 - divided)", "pair"),
    ],
)
def test_another_mistake_is_described(function: str, stage: str, old: str, new: str, key: str) -> None:
    fault = outcome(edited(old, new), function, stage)
    assert fault is not None and fault.key == key, fault and (fault.key, fault.slots)
    for lang in ("en", "zh"):
        assert words(lang, "grade")["fault"][key].format_map({"why": "", **fault.slots})


def write(tmp_path: Path, text: str, name: str = "mine.py") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_command_grades_a_file_in_processes_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "grade", ROOT / "tests/rope_core/grade/solution.py")
    assert code == 0 and out.endswith("15 of 15 points\n") and "failed" not in out
    wrong = write(tmp_path, edited("return base **", "return 1e4 **"))
    code, out, _ = printed(capsys, "grade", wrong, "--only", "spectrum", "--json", "--seed", 3)
    record = json.loads(out)
    assert (code, record["exit"], record["points"], record["most"]) == (1, 1, 1.0, 3.0)
    assert record["results"][0]["key"] == "lost_base"
    code, out, _ = printed(capsys, "grade", wrong, "--only", "spectrum", "--lang", "zh")
    assert code == 1 and "底数丢了" in out


def test_whatever_the_code_does_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A loop keeps a core busy for its seconds; the others' are enough for a busy machine to start a process.
    short = write(tmp_path, "seconds = 2\n[spectrum]\nproperties = 1\n", "short.toml")
    long = write(tmp_path, "seconds = 120\n[spectrum]\nproperties = 1\nvalues = 1\n", "long.toml")
    for source, expected in [
        ("def spectrum(dim, base):\n    while True: pass", "did not end within 2 seconds"),
        ("while True: pass", "did not end within 2 seconds"),
        ("import os\ndef spectrum(dim, base): os._exit(3)", "ended with code 3"),
        ("raise SystemExit(0)", "Line 1 raised SystemExit"),
        ("x = 1\nimport nothing_of_this_name", "Line 2 raised ModuleNotFoundError"),
        ("def spectrum(dim, base):\n    return spectrum(dim, base)", "Line 2 raised RecursionError"),
        ("def spectrum(dim, base):\n    return input()", "Line 2 raised EOFError"),
        ("spectrum = 3", "no function spectrum"),
        ("class E(Exception):\n    def __str__(self): raise self\ndef spectrum(d, b): raise E", "Line 3 raised E"),
        ("print('\\x1b[2J' * 100000)", "no function spectrum"),
    ]:
        endless = "while" in source
        code, out, err = printed(capsys, "grade", write(tmp_path, source), "--assignment", short if endless else long)
        assert code == 1 and out.count(expected) == 1 and not err, (source, out)
        assert "\x1b" not in out


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from rope_core.grade.frequencies import roformer_frequencies as spectrum", "The file uses rope_core"),
        (f"import sys; sys.path.append({str(ROOT)!r}); __import__('rope_core.rope')", "raised ModuleNotFoundError"),
        ("import numpy as np\ndef spectrum(dim, base): return np.ones(10**8)", "shape (24,), got (100000000,)"),
        ("import numpy as np\ndef spectrum(dim, base): return [np.ones(10**7) for _ in range(99)]", "MemoryError"),
        ("def spectrum(dim, base): return 10**5000", "must return numbers in an array"),
        ("def spectrum(dim, base): open('f', 'wb').write(bytes(10**8))", "Line 1 raised"),
    ],
)
def test_a_file_gains_nothing_by_tricks(
    source: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = write(tmp_path, "seconds = 60\n[spectrum]\nproperties = 1\n", "sheet.toml")
    code, out, err = printed(capsys, "grade", write(tmp_path, source), "--assignment", sheet)
    assert code == 1 and expected in out and not err, out


def test_a_mistake_is_printed_once_with_what_it_gave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = write(tmp_path, edited(TURNED, "a * cos + b * sin, b * cos - a * sin"))
    _, out, _ = printed(capsys, "grade", wrong, "--only", "rotate")
    assert "rotate, the right values, positions above 0: failed\n    The rotation is transposed" in out
    assert out.count("The rotation is transposed") == 1
    assert re.search(r"element \[\d+, \d+\] must be -?\d\.\d+, got -?\d\.\d+\.", out)


def test_a_folder_is_a_line_for_each_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = write(tmp_path, "title = 'Sheet'\n[spectrum]\nproperties = 1\nvalues = 2\n", "sheet.toml")
    folder = tmp_path / "sheets"
    folder.mkdir()
    write(folder, SOLUTION, "ann.py")
    write(folder, edited("return base **", "return 1e4 **"), "=ben.py")
    write(folder, "def f(:", "cem.py")
    code, out, _ = printed(capsys, "grade", folder, "--assignment", sheet)
    head, *rows = list(csv.reader(out.splitlines()))
    assert code == 1 and head == ["file", "points", "most", "spectrum.properties", "spectrum.values", "wrong", "error"]
    assert [row[:5] for row in rows] == [
        ["'=ben.py", "1.0", "3.0", "1.0", "0.0"],
        ["ann.py", "3.0", "3.0", "1.0", "2.0"],
        ["cem.py", "0.0", "3.0", "0.0", "0.0"],
    ]
    code, out, _ = printed(capsys, "grade", folder / "=ben.py", "--assignment", sheet)
    assert code == 1 and out.startswith("Sheet\n") and out.endswith("1 of 3 points\n")
    assert rows[0][5].startswith("The base is lost") and rows[1][5:] == ["", ""]
    assert rows[0][6] == rows[2][5] == "" and "line 1" in rows[2][6]


@pytest.mark.parametrize("text", ["def f(:", "x = '\x00'", "(" * 5000])
def test_a_file_that_is_no_python_is_exit_2(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = printed(capsys, "grade", write(tmp_path, text))
    assert code == 2 and not out and err.startswith("file must be a Python file, but line") and err.count("\n") == 1
    for path in (tmp_path / "absent.py", tmp_path / "absent"):
        code, out, err = printed(capsys, "grade", path)
        assert code == 2 and not out and err.startswith("file must be") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "assignment must be a TOML file"),
        ("", "assignment must be at least one name"),
        ("[twist]\nproperties = 1", "assignment must be one of title, seconds, rotate"),
        ("rotate = 1", "rotate must be a table of points by stage: properties, values, positions, backward, dtype"),
        ("[spectrum]\nbackward = 1", "spectrum must be one of properties, values, dtype, got 'backward'"),
        ("[spectrum]\nproperties = -1", "spectrum.properties must be a finite number >= 0"),
        ("[spectrum]\nproperties = nan", "spectrum.properties must be a finite number"),
        ("[spectrum]\nproperties = '1'", "spectrum.properties must be a finite number"),
        ("seconds = 0\n[spectrum]\nproperties = 1", "seconds must be a number in"),
        ("title = 3\n[spectrum]\nproperties = 1", "title must be a name"),
    ],
)
def test_a_bad_assignment_is_exit_2(
    text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, text, "assignment.toml")
    code, out, err = printed(capsys, "grade", ROOT / "rope_core/grade/starter.py", "--assignment", path)
    assert code == 2 and not out and err.startswith(sentence) and err.count("\n") == 1
