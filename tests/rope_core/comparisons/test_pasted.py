"""Texts of an address and of a box, exercises, and functions that are called apart in one go."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rope_core as rc
from rope_core.comparisons import examples, pasted, samples
from rope_core.comparisons.compare import compare_column, least_margins
from rope_core.comparisons.rows import ComparisonSetting


@pytest.fixture(autouse=True)
def _torch() -> Iterator[None]:
    """Take back the part of torch that a function is lent where it runs, which is a process or a frame of its own."""
    before = sys.modules.get("torch")
    yield
    sys.modules.pop("torch", None)
    if before is not None:
        sys.modules["torch"] = before


SETTING = ComparisonSetting(rc.Rope(32, 500.0, 128), 4.0, 512)
FACTORS, LENGTHS = (1.0, 4.0), (128, 512)
CODE = "def f(dim, base, train_len, factor):\n    return base ** (-2 * np.arange(dim // 2) / dim) / factor, 1.5"


def test_an_address_gives_back_its_text_and_nothing_too_long() -> None:
    for text in (CODE, '{"rope_theta": 1e4}', "1.0, 0.1", "# 方案\nx = 1", *examples.EXAMPLES):
        assert pasted.unpack(pasted.pack(f"{text}\r\n")) == text
    noise = np.random.default_rng(0).bytes(9000).hex()
    with pytest.raises(ValueError, match="short enough"):
        pasted.pack(noise)
    bomb = base64.urlsafe_b64encode(zlib.compress(b"a" * 10**8, 9)).decode()
    for bad in ("!", "abc", "eJw", bomb, base64.urlsafe_b64encode(zlib.compress(b"\xff\xfe")).decode()):
        with pytest.raises(ValueError, match="packed"):
            pasted.unpack(bad)


def test_texts_and_files_are_columns(tmp_path: Path) -> None:
    f = rc.compare("yarn")[0].inv_freq
    np.save(tmp_path / "f.npy", f)
    for text in (
        json.dumps(f.tolist()),
        "\n".join(map(repr, f.tolist())),
        pasted.read_file("f.npy", (tmp_path / "f.npy").read_bytes()),
        pasted.read_file("f.CSV", ",".join(map(repr, f.tolist())).encode()),
    ):
        assert pasted.kind_of(text) == "numbers"
        np.testing.assert_array_equal(pasted.of_text("mine", text).at(rc.Rope(128), 1.0, 1)[0], f)
    config = pasted.of_text("mine", json.dumps(rc.model("qwen3-8b").hf_config()))
    assert config.rope is not None and config.rope.base == 1e6
    for bad in ("1, two", "1 " * 5000, "{", '{"a": 1'):
        with pytest.raises(ValueError):
            pasted.of_text("mine", bad)
    for name, content in (("f.npy", b"no"), ("f.safetensors", b"\0" * 99), ("f.txt", b"\xff\xff")):
        with pytest.raises(ValueError):
            pasted.read_file(name, content)


def test_a_process_and_a_frame_apart_answer_what_the_function_does_here() -> None:
    calls = samples.calls_of(SETTING, FACTORS, LENGTHS)
    apart = samples.run(CODE, calls)
    frame = samples.of_lines(CODE, calls, list(samples.lines(CODE, "", 0, map(samples.write_call, calls))))
    here = rc.compare(lambda dim, base, train_len, factor: (base ** (-2 * np.arange(dim // 2) / dim) / factor, 1.5))
    assert here[0].column.takes == apart.takes == frame.takes
    columns = [samples.of_answers("mine", each) for each in (apart, frame)]
    compared = [compare_column(each, SETTING).rows for each in (*columns, here[0].column)]
    assert compared[0] == compared[1] == compared[2]
    swept = [least_margins(each, SETTING, FACTORS, LENGTHS, "inside_arc") for each in (*columns, here[0].column)]
    np.testing.assert_array_equal(swept[0], swept[1])
    np.testing.assert_array_equal(swept[0], swept[2])


@pytest.mark.parametrize(
    "code, words",
    [
        ("def f(dim:\n", "line 1"),
        ("def f(dim):\n    return 1 / 0\n", "ZeroDivisionError"),
        ("def f(dim):\n    return np.ones(3)\n", "inv_freq must be numbers of shape (16,)"),
        ("x = 1\n", "no function of"),
    ],
)
def test_what_goes_wrong_is_one_sentence_in_both(code: str, words: str) -> None:
    calls = samples.calls_of(SETTING, FACTORS, LENGTHS)
    try:
        lines = list(samples.lines(code, "", 0, map(samples.write_call, calls)))
    except SyntaxError:
        lines = []
    for answers in (samples.run(code, calls), samples.of_lines(code, calls, lines)):
        assert words in answers.error and "\n" not in answers.error
        with pytest.raises(ValueError):
            samples.of_answers("mine", answers)


@pytest.mark.parametrize("lines", [[], ["no JSON"], ["[]"], ["{}"] * 3, ['{"value": {"dtype": "<f8", "shape": [-1]}}']])
def test_whatever_a_frame_sends_is_a_sentence(lines: list[str]) -> None:
    calls = samples.calls_of(SETTING, FACTORS, LENGTHS)
    for lang in ("en", "zh"):
        error = samples.of_lines(CODE, calls, lines, lang).error
        assert error and "\n" not in error


def test_one_geometry_that_fails_leaves_the_others() -> None:
    code = "def f(dim, base, train_len, factor):\n    assert train_len < 200\n    return np.ones(dim // 2)"
    for bad, words in (
        ("assert train_len < 200", "AssertionError"),
        ("if train_len > 200: return [True]", "inv_freq must be"),
    ):
        text = code.replace("assert train_len < 200", bad)
        calls = samples.calls_of(SETTING, FACTORS, LENGTHS)
        lines = list(samples.lines(text, "", 0, map(samples.write_call, calls)))
        for answers in (samples.run(text, calls), samples.of_lines(text, calls, lines)):
            rows = compare_column(samples.of_answers("mine", answers), SETTING).rows
            (row,) = [each for each in rows if each.key == "arguments"]
            assert row.holds is False and words in row.values["error"]
    # Answers that are all right are asked for in one, beside what the function takes.
    assert len(list(samples.lines(CODE, "", 0, map(samples.write_call, calls)))) == 2


def test_each_exercise_has_its_fault_where_the_checks_find_it() -> None:
    pairs = {"scheme_a": 0, "scheme_b": 60, "scheme_c": 63, "scheme_d": 0, "scheme_e": 12, "scheme_f": 7}
    assert pairs.keys() == examples.FAULTS.keys()
    for name, fault in examples.FAULTS.items():
        (mine,) = rc.compare(examples.EXAMPLES[name], factor=8.0)
        assert examples.check_fault(name, mine, fault, pairs[name]).passed
        assert not examples.check_fault(name, mine, fault, -1).passed
        other = next(each for each in examples.FAULTS.values() if each != fault)
        assert examples.check_fault(name, mine, other, pairs[name]).reason == "fault"
        assert fault not in examples.code(name) and "#" not in examples.code(name)
    (mine,) = rc.compare(examples.mine)
    assert examples.check_fault("mine", mine, "missing_clamp", 0).reason == "none"
