"""The traces of faults, against scores that are turned pair by pair in plain Python."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import save_file

from rope_core.__main__ import main
from rope_core.lab import faults
from tests.support import ROOT

HALF = [(i, i + 64) for i in range(64)]
NEIGHBOURS = [(2 * i, 2 * i + 1) for i in range(64)]


def turned(x: np.ndarray, pairs: list[tuple[int, int]], position: int, steps: list[float]) -> list[float]:
    result = [0.0] * 128
    for (a, b), step in zip(pairs, steps, strict=True):
        c, s = math.cos(position * step), math.sin(position * step)
        result[a], result[b] = c * x[a] - s * x[b], s * x[a] + c * x[b]
    return result


def error(query: int, key: int, at: tuple[int, int], pairs: list[tuple[int, int]], steps: list[float]) -> float:
    """Return the error where a program turns query and key by the positions ``at``."""
    q, k = faults._drawn()
    theta = [10_000.0 ** (-2 * i / 128) for i in range(64)]
    right, wrong = [], []
    for x, y in zip(q, k, strict=True):
        right.append(np.dot(turned(x, HALF, query, theta), turned(y, HALF, key, theta)))
        wrong.append(np.dot(turned(x, pairs, at[0], steps), turned(y, pairs, at[1], steps)))
    off: list[float] = [(a - b) ** 2 for a, b in zip(wrong, right, strict=True)]
    return float(np.sqrt(sum(off) / sum(a * a for a in right)))


def bfloat16(x: float) -> float:
    """Return the nearest number with 8 binary digits, half to even."""
    exponent = math.floor(math.log2(x))
    return round(x / 2.0 ** (exponent - 7)) * 2.0 ** (exponent - 7)


THETA = [10_000.0 ** (-2 * i / 128) for i in range(64)]


@pytest.mark.parametrize("at", [1, 5, 11])
def test_mixed_layouts_pair_neighbours_where_halves_belong_together(at: int) -> None:
    trace = faults.fault_traces()["mixed"]
    place = trace.tokens[at]
    assert trace.error[0] == pytest.approx(0.0, abs=1e-12) and trace.wrong == 1
    assert trace.error[at] == pytest.approx(error(place, 0, (place, 0), NEIGHBOURS, THETA), rel=1e-9)


def test_a_stale_key_is_five_hundred_positions_behind_its_text() -> None:
    trace = faults.fault_traces()["stale"]
    assert not trace.error[: trace.wrong].any()
    # The query's text is moved to 500; the key at its first word was stored at 0.
    assert trace.error[8] == pytest.approx(error(508, 500, (508, 1000), HALF, THETA), rel=1e-9)


def test_stored_words_count_the_fillers_and_new_ones_do_not() -> None:
    trace = faults.fault_traces()["padded"]
    assert trace.tokens[:3] == (-3, -2, -1) and trace.wrong == 7
    for at in (7, 11):
        word = trace.tokens[at]
        assert trace.error[at] == pytest.approx(error(word, 3, (word, 6), HALF, THETA), rel=1e-9)


def test_rounded_frequencies_err_more_with_the_position() -> None:
    trace = faults.fault_traces()["rounded"]
    assert trace.error[0] == pytest.approx(0.0, abs=1e-12)
    steps = [bfloat16(theta) for theta in THETA]
    for at in (2, 7):
        place = trace.tokens[at]
        assert trace.error[at] == pytest.approx(error(place, 0, (place, 0), HALF, steps), rel=1e-6)


def test_guesses_are_recorded_and_worsen_past_the_trained_256_bytes() -> None:
    trace = faults.fault_traces()["long"]
    assert [token < 256 for token in trace.tokens] == [k < trace.wrong for k in range(12)]
    assert trace.error[: trace.wrong].max() < 0.02 < trace.error[trace.wrong :].min()


KERNEL = """
import torch

def rotate(x, cos, sin):
    cos, sin = (each[..., : each.shape[-1] // 2].repeat_interleave(2, -1).unsqueeze(-2) for each in (cos, sin))
    turned = torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
    return x * cos + turned * sin
"""


@pytest.mark.parametrize("name", faults.NAMES)
def test_a_command_prints_its_finding_on_a_file_that_has_the_fault(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    trained, dim = (256, 32) if name == "long" else (4096, 128)
    config = {"model_type": "llama", "hidden_size": 4 * dim, "num_attention_heads": 4, "num_hidden_layers": 4}
    (tmp_path / "config.json").write_text(json.dumps(config | {"max_position_embeddings": trained, "rope_theta": 1e4}))
    (tmp_path / "my.py").write_text(KERNEL)
    keys = np.random.default_rng(1).standard_normal((6, 2, 128)).tolist()
    moved = {
        "before": keys,
        "after": keys,
        "old": list(range(6)),
        "new": list(faults.fault_traces()["stale"].tokens[6:]),
    }
    (tmp_path / "keys.json").write_text(json.dumps(moved))
    fillers = {"position_ids": [list(range(7))], "attention_mask": [[0, 0, 0, 1, 1, 1, 1]]}
    (tmp_path / "batch.json").write_text(json.dumps(fillers))
    save_file({"inv_freq": torch.tensor(THETA).bfloat16()}, tmp_path / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    trace = faults.fault_traces()[name]
    program, *arguments = trace.command.split()
    assert program == "rope" and main([*arguments, "--json"]) == 1
    first = json.loads(capsys.readouterr().out)["files"][0]["findings"][0]
    assert (first["severity"], first["title"]) == (trace.finding.severity, trace.finding.title())
