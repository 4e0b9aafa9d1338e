"""Safetensors headers that lie: one sentence, at once, and no more memory than the header's."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import rope_core as rc
from rope_core.rotation import repeat_per_pair
from rope_core.verification.arrays import MAX_HEADER
from rope_core.verification.stored import MAX_BUFFERS, buffers_in_file, buffers_in_state_dict

DATA = np.arange(4, dtype="<f4").tobytes()
GOOD = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}


def written(path: Path, header: Any, data: bytes = DATA) -> Path:
    """Return a file with a header, as JSON or as the bytes given."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def test_a_truthful_header_is_read(tmp_path: Path) -> None:
    header = {"__metadata__": {}, "b.inv_freq": GOOD | {"shape": [2, 1], "data_offsets": [8, 16]}}
    header |= {"a.inv_freq": GOOD | {"shape": [2], "data_offsets": [0, 8]}, "empty.inv_freq": GOOD | {"shape": [0]}}
    header["empty.inv_freq"] = GOOD | {"shape": [0], "data_offsets": [8, 8]}
    result: dict[str, Any] = {buffer.name: buffer.values for buffer in buffers_in_file(written(tmp_path / "f", header))}
    assert [list(np.ravel(result[name])) for name in ("a.inv_freq", "b.inv_freq", "empty.inv_freq")] == [
        [0, 1],
        [2, 3],
        [],
    ]


@pytest.mark.parametrize(
    "entry",
    [
        GOOD | {"data_offsets": [0.0, 16.0]},
        GOOD | {"data_offsets": [False, 16]},
        GOOD | {"data_offsets": [-16, 0]},
        GOOD | {"data_offsets": [0, 16, 32]},
        GOOD | {"data_offsets": [0, 32], "shape": [8]},
        GOOD | {"shape": [2**63, 2**63]},
        GOOD | {"shape": [2**32, 2**32]},
        GOOD | {"shape": [-2, -2]},
        GOOD | {"shape": [10**300] * 300},
        GOOD | {"shape": [4.0]},
        GOOD | {"shape": 4},
        GOOD | {"shape": ["4"]},
        GOOD | {"dtype": []},
        GOOD | {"dtype": "I33"},
        [],
        None,
        "x",
    ],
    ids=lambda entry: str(entry)[-40:],
)
def test_an_entry_that_cannot_be_is_one_sentence(entry: Any, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"^a\.inv_freq must be a safetensors entry with dtype, shape and data_offsets"
    ):
        buffers_in_file(written(tmp_path / "f", {"a.inv_freq": entry}))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        {f"{k}.inv_freq": GOOD | {"shape": [0], "data_offsets": [0, 0]} for k in range(MAX_BUFFERS + 1)},
    ],
    ids=["empty", "list", "open", "letters", "digits", "deep", "many"],
)
def test_a_header_that_is_none_is_one_sentence(header: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"model_or_file must be a (whole )?safetensors file"):
        buffers_in_file(written(tmp_path / "f", header))


def test_a_mapping_of_other_things_is_no_state_dict() -> None:
    state: dict[Any, Any]
    for state in ({}, {"a.inv_freq": [1.0]}, {3: np.ones(4)}):
        with pytest.raises(ValueError, match="model_or_file must be a state dict of tensors by name"):
            buffers_in_state_dict(state)


def test_entries_that_share_bytes_are_refused_at_once(tmp_path: Path) -> None:
    header = {f"{k}.inv_freq": GOOD for k in range(MAX_BUFFERS)}
    began = time.process_time()
    with pytest.raises(ValueError, match="bytes of its own"):
        buffers_in_file(written(tmp_path / "f", header))
    assert time.process_time() - began < 1


SCALED: dict[str, Any] = {"model_type": "llama", "head_dim": 64, "rope_theta": 5e5, "max_position_embeddings": 131072}
SCALED["rope_scaling"] = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SCALED["rope_scaling"]["original_max_position_embeddings"] = 8192


@pytest.mark.parametrize("form", ["half", "interleaved", "pairs", "four axes", "complex", "two numbers"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_tables_are_compared_by_their_angles(form: str, dtype: str, tmp_path: Path) -> None:
    """Tables of another factor, of plain frequencies, and right ones, in each form in which they are stored."""

    def verdicts(inv_freq: Any) -> list[rc.Finding]:
        angle = torch.outer(torch.arange(3000), torch.tensor(inv_freq))
        tables = {"rotary_cos": angle.cos(), "rotary_sin": angle.sin()}
        if form in ("complex", "two numbers"):
            cis = torch.stack([angle.cos(), angle.sin()], -1).to(getattr(torch, dtype))
            tables = {"freqs_cis": torch.view_as_complex(cis.float()) if form == "complex" else cis}
        elif form != "pairs":
            both = {
                name: repeat_per_pair(each.numpy(), "interleaved" if form == "interleaved" else "half")
                for name, each in tables.items()
            }
            tables = {name: torch.tensor(each).to(getattr(torch, dtype)) for name, each in both.items()}
        tables = {
            f"layers.0.{name}": each[None, None] if form == "four axes" else each for name, each in tables.items()
        }
        from_state = rc.verify(tables, SCALED)
        if form != "complex":
            save_file({name: each.contiguous() for name, each in tables.items()}, tmp_path / "f.safetensors")
            assert [each.key for each in rc.verify(tmp_path, SCALED)] == [each.key for each in from_state]
        return from_state

    if form == "complex" and dtype == "bfloat16":
        return
    rope = rc.from_hf(SCALED)
    other = rc.from_hf({**SCALED, "rope_scaling": {**SCALED["rope_scaling"], "factor": 8.0}})
    assert verdicts(rope.inv_freq) == []
    (of_factor,), (plain,) = verdicts(other.inv_freq), verdicts(rope.unscaled)
    assert "those of factor 8" in of_factor.title() and "plain frequencies" in plain.title() and plain.title("zh")
    assert [each.key for each in verdicts(rope.inv_freq**1.1)] == ["table_differs"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_what_is_no_file_and_a_header_that_claims_too_much(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "long").write_bytes((MAX_HEADER + 1).to_bytes(8, "little") + b"{}")
    os.truncate(tmp_path / "long", MAX_HEADER + 100)
    for name in ("pipe", "zero", "long"):
        with pytest.raises(ValueError, match="model_or_file must be a"):
            buffers_in_file(tmp_path / name)
