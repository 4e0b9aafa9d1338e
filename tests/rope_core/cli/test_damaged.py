"""Every command that takes a file, on damaged ones: an exit code, one sentence, nothing that steers a terminal."""

import ast
import csv
import io
import json
import os
import re
import subprocess
import time
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stdout
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

import rope_core as rc
from rope_core.__main__ import main
from rope_core.cli.terminal import print_csv_row
from rope_core.verification.arrays import list_safetensors_entries, read_arrays
from tests.support import ROOT
from tests.support.command import printed
from tests.support.tiny_checkpoints import saved

drawn = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], database=None
)
STEERING = ["\x1b[31m", "\x1b]0;x\x07", "\u202e", "\u2066", "\x9b2J", "\r", "\x00", "\u200f", "a\nb"]
NUMBERS = [0, -1, 1.5, 2**31, 2**70, 10**400, float("nan"), float("inf"), True]
values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([*STEERING, *NUMBERS, None, "", "x" * 300, [], {}, [[1], 2], {"factor": []}, [0] * 70]),
    st.integers(),
    st.text(max_size=8),
).map(deepcopy)
CONFIGS: list[dict[str, Any]] = [
    rc.model(name).hf_config() for name in ("llama-2-7b", "llama-3.1-8b", "deepseek-v3", "gemma-3-27b", "qwen3-vl-32b")
]


def damaged(config: dict[str, Any], draw: Any) -> bytes:
    """Return a config's JSON with some values replaced, at the top or in a dict below, or with some bytes changed."""
    config = json.loads(json.dumps(config))
    for _ in range(draw(st.integers(1, 3))):
        place = config
        while (inner := [each for each in place.values() if isinstance(each, dict) and each]) and draw(st.booleans()):
            place = draw(st.sampled_from(inner))
        extra = ["rope_scaling", "rope_type", "model_type", "original_max_position_embeddings", "factor"]
        place[draw(st.sampled_from([*place, *extra]))] = draw(values)
    return broken(json.dumps(config).encode(), draw)


def broken(text: bytes, draw: Any) -> bytes:
    """Return bytes as they are, cut, or with one replaced."""
    how, at = draw(st.sampled_from(["whole", "whole", "cut", "byte"])), draw(st.integers(0, max(0, len(text) - 1)))
    byte = bytes([draw(st.integers(0, 255))])
    return {"whole": text, "cut": text[:at], "byte": text[:at] + byte + text[at + 1 :]}[how]


def lying(text: bytes, draw: Any) -> bytes:
    """Return a safetensors file whose header lies in one entry, or whose bytes are broken."""
    size = int.from_bytes(text[:8], "little")
    header = json.loads(text[8 : 8 + size])
    name = draw(st.sampled_from(sorted(header)))
    field = draw(st.sampled_from(["dtype", "shape", "data_offsets", "all", "none"]))
    odd = st.one_of(values, st.lists(st.sampled_from([0, 1, -1, 2**62, 2**70, 8, "4", None, 1.0]), max_size=4))
    odd = st.one_of(odd, st.sampled_from(["F4", "I8", "F8_E8M0", "C64", "BOOL"]))
    if field == "all":
        header[name] = draw(odd)
    elif field != "none":
        header[name][field] = draw(odd)
    new = json.dumps(header).encode()
    claimed = draw(st.sampled_from([len(new), len(new), len(new), 0, 1, 2**40, 2**63]))
    return broken(claimed.to_bytes(8, "little") + new + text[8 + size :], draw)


def orderly(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Run a command; it must end in an exit code, one sentence where it refuses, and unsteered output."""
    code, out, err = printed(capsys, *arguments)
    assert code in (0, 1, 2) and (code != 2 or err.count("\n") == 1), (code, err)
    for letter in set(out + err) - {"\n"}:
        assert letter.isprintable() or unicodedata.category(letter) == "Zs", (arguments, letter)
    return code, out


@drawn
@given(data=st.data())
def test_a_damaged_config(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(damaged(data.draw(st.sampled_from(CONFIGS)), data.draw))
    command = data.draw(st.sampled_from(["check", "extend", "engines", "convert", "diff", "spectrum", "cache"]))
    more = {"extend": ["--length", "1000000", "--all"], "convert": ["--to", "4"], "diff": [str(path)]}
    options = [*more.get(command, list[str]()), "--lang", data.draw(st.sampled_from(["en", "zh"]))]
    if command in ("check", "cache"):
        options += data.draw(st.sampled_from([[], ["--json"], ["--sarif"]]))
    orderly(capsys, command, path, *options)


IDS = torch.arange(6)
KEYS = torch.randn(6, 1, 128, generator=torch.Generator().manual_seed(0))
MOVED = {"before": KEYS, "after": KEYS * 2, "old": IDS, "new": IDS + 3}
KINDS = (torch.int64, torch.int32, torch.uint8, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float16)


@drawn
@given(data=st.data())
def test_damaged_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS[0]))
    files = ["ids.safetensors", "ids.npy", "ids.json", "moved.safetensors", "model.safetensors"]
    what = data.draw(st.sampled_from(files))
    if what == "ids.npy":
        out = io.BytesIO()
        np.save(out, data.draw(st.sampled_from([IDS.numpy(), IDS.numpy() + 0.5, np.array(["a"]), np.zeros((0, 2))])))
        text = out.getvalue().replace(b"(6,)", data.draw(st.sampled_from([b"(6,)", b"(9**9,)", b"(-1,)", b"([],)"])))
        text = broken(text.replace(b"<i8", data.draw(st.sampled_from([b"<i8", b"|O8", b"<V8", b"[[]"]))), data.draw)
    elif what == "ids.json":
        given_ids = data.draw(st.sampled_from([[0, 1, 2], {"position_ids": data.draw(values)}]))
        text = broken(json.dumps(given_ids).encode(), data.draw)
    else:
        kind = data.draw(st.sampled_from(KINDS))
        tensors = {"ids": {"position_ids": IDS.to(kind)}, "moved": MOVED, "model": {"model.inv_freq": KEYS[0, 0, :64]}}
        text = lying(save(tensors[what.split(".")[0]]), data.draw)
    (tmp_path / what).write_bytes(text)
    config = ["--config", tmp_path / "config.json"]
    ranks = data.draw(st.sampled_from([[], ["--ranks", str(2**31)], ["--rank", "9", "--ranks", str(2**24)]]))
    given_to: dict[str, list[Any]] = {
        "ids": ["positions", tmp_path / what, *ranks],
        "moved": ["cache", config[1], "--moved", tmp_path / what],
        "model": data.draw(st.sampled_from([["verify", tmp_path / what, *config], ["pairs", tmp_path / what]])),
    }
    orderly(capsys, *given_to[what.split(".")[0]])


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("eval")
    (root / "text.txt").write_text("the same words again and again " * 40)
    return saved("llama", root / "model")


@settings(drawn, max_examples=60)
@given(data=st.data())
def test_a_damaged_model(there: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject) -> None:
    whole = {name: (there / name).read_bytes() for name in ("config.json", "model.safetensors", "tokenizer.json")}
    name = data.draw(st.sampled_from([*whole, "config.json"]))
    text = {
        "config.json": lambda: damaged(json.loads(whole[name]), data.draw),
        "model.safetensors": lambda: lying(whole[name], data.draw),
        "tokenizer.json": lambda: broken(whole[name], data.draw),
    }[name]()
    options = ["--text", there.parent / "text.txt", "--lengths", "32", "--schemes", "own", "--tasks", "perplexity"]
    try:
        (there / name).write_bytes(text)
        code, _, err = printed(capsys, "eval", there, *options, "--documents", "1", "--out", there.parent / "out")
        assert code == 0 or (code == 2 and re.match(r"\S+( must be|: |$)", err.splitlines()[-1])), err
    finally:
        (there / name).write_bytes(whole[name])


QUANTISED = {
    "gptq": "gptqmodel", "awq": "gptqmodel", "bitsandbytes": "bitsandbytes", "hqq": "hqq", "quanto": "optimum-quanto",
    "compressed-tensors": "compressed-tensors", "aqlm": "aqlm", "torchao": "torchao", "vptq": "vptq",
}  # fmt: skip


def test_a_quantised_model_without_its_package(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (there / "config.json").read_text()
    more = {"bits": 4, "group_size": 32, "load_in_4bit": True, "config_groups": {}, "quant_type": "int8_weight_only"}
    for method, package in QUANTISED.items():
        quantised = {"quantization_config": {"quant_method": method, **more}}
        (there / "config.json").write_text(json.dumps(json.loads(whole) | quantised))
        code, _, err = printed(capsys, "eval", there, "--text", there.parent / "text.txt", "--lengths", "32")
        assert code == 2 and err.count("\n") == 1 and package in err, (method, err)
    (there / "config.json").write_text(whole)


@drawn
@given(data=st.data())
def test_a_whole_file_is_read_as_safetensors_reads_it(tmp_path: Path, data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 5), max_size=3))
    kind = data.draw(st.sampled_from([*KINDS, torch.bool, torch.int8, torch.float32, torch.float64, torch.uint16]))
    bits = torch.from_numpy(np.random.default_rng(0).integers(0, 256, 4096, dtype=np.uint8))
    wanted = (bits % 2).bool() if kind == torch.bool else bits.view(kind)
    wanted = wanted[: int(np.prod(shape))].reshape(shape)
    path = tmp_path / "a.safetensors"
    path.write_bytes(save({"a": wanted, "position_ids": IDS}))
    result = read_arrays(str(path), ("a", "position_ids"), "position_ids")
    np.testing.assert_array_equal(result["position_ids"], IDS.numpy())
    (entry,) = list_safetensors_entries(path, "file", lambda name: name == "a")
    np.testing.assert_array_equal(entry.read_floats(), wanted.double().numpy())
    assert result["a"].shape == wanted.shape
    if shape and shape[0] > 1:
        np.testing.assert_array_equal(entry.read_floats(1, shape[0]), wanted.double().numpy()[1:])


def test_what_is_too_large_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS[0]))
    header = json.dumps({"position_ids": {"dtype": "I64", "shape": [2**29], "data_offsets": [0, 2**32]}}).encode()
    npy = io.BytesIO()
    np.lib.format.write_array_header_1_0(npy, {"descr": "<i8", "fortran_order": False, "shape": (2**29,)})
    starts = {"a.json": b"[", "a.npy": npy.getvalue(), "a.safetensors": len(header).to_bytes(8, "little") + header}
    for name, begin in starts.items():
        path = tmp_path / name
        path.write_bytes(begin)
        with path.open("r+b") as file:
            file.truncate(len(begin) + 2**32)
        began = time.process_time()
        for command in (["positions", path], ["cache", tmp_path / "config.json", "--moved", path]):
            code, out, err = printed(capsys, *command)
            assert code == 2 and out == "" and err.startswith("file must be") and err.count("\n") == 1, err
        assert time.process_time() - began < 1


def test_configs_that_are_slow_or_deep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.json"
    began = time.process_time()
    path.write_text(json.dumps(CONFIGS[0] | {"a": [[]] * 500_000}))
    code, _, err = printed(capsys, "extend", path, "--length", "16384")
    assert code == 2 and "at most 60,000 lists and objects" in err and time.process_time() - began < 5
    path.write_text('{"a": ' + "9" * 5000 + "}")
    for arguments in (["check", path], ["positions", path]):
        code, _, err = printed(capsys, *arguments)
        assert code == 2 and "numbers of at most 4300 digits" in err and "set_int" not in err
    code, _, err = printed(capsys, "check", tmp_path / "none.json")
    assert code == 2 and err.startswith(f"{tmp_path / 'none.json'}: config must be a file")
    huge = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 10**400}
    path.write_text(json.dumps(CONFIGS[0] | {"rope_scaling": huge}))
    orderly(capsys, "check", path)
    (tmp_path / "a.npy").write_bytes(b"")
    assert orderly(capsys, "positions", tmp_path / "a.npy")[0] == 2
    path.write_text("[0, 1, 2, 4]")
    assert "positions_gap" in orderly(capsys, "positions", path, "--json")[1]
    monkeypatch.chdir(tmp_path)
    assert orderly(capsys, "check", "")[0] == 2
    try:
        for _ in range(1200):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(tmp_path)
        assert orderly(capsys, "check", ".")[0] == 2
    finally:  # shutil.rmtree recurses
        os.chdir(tmp_path)
        subprocess.run(["rm", "-r", "d"], check=True)
    assert main(["eval", "rope-0", "--text", str(path), "--threads", "0"]) == 2
    assert "--threads must be an integer in [1, 4096]" in capsys.readouterr().err


BEFORE = ["", "\r", "\n", " ", "\t", "\u3000", "\ufeff", "a;", "a; ", "b|", "\x1b"]


@given(before=st.sampled_from(BEFORE), sign=st.sampled_from("=+-@＝＋－＠"), rest=st.text(max_size=5))
def test_no_cell_is_a_formula(before: str, sign: str, rest: str) -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        print_csv_row([before + sign + rest, -1.5])
    ((text, number),) = csv.reader(io.StringIO(out.getvalue()))
    assert number == "-1.5" and re.search(rf"(^|[;|])'[\s\ufffd]*[{sign}]", text), text
    assert all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in text)


def written_by(source: str) -> Iterator[str]:
    """Yield the calls that write to the terminal by themselves."""
    for node in ast.walk(ast.parse(source)):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if re.search(r"^print$|\bstd(out|err)\b.*\.write|^csv\.writer$", name):
            yield name


def test_only_one_module_writes() -> None:
    """Rich prints tables of texts that ``harmless`` has seen, and bars of the program's own words."""
    files = [ROOT / "rope_core" / "__main__.py", *(ROOT / "rope_core" / "cli").glob("*.py")]
    texts = {file.name: file.read_text("utf-8") for file in files}
    assert {name for name, text in texts.items() if [*written_by(text)]} == {"terminal.py"}
    assert {name for name, text in texts.items() if "rich.console" in text} == {"output.py", "eval.py"}
    assert len([*written_by("print(1); sys.stdout.buffer.write(b''); csv.writer(sys.stdout)")]) == 3
