"""The position-id check on hand-made batches."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_core.checks.positions import check_positions


def keys(*arguments: Any, **options: Any) -> list[str]:
    return [each.key for each in check_positions(*arguments, **options)]


CASES: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "right": ([[0, 1, 2, 3]], {"rows": 4}, []),
    "one row": ([0, 1, 2], {}, []),
    "left padding counted": ([[0, 1, 2, 3]], {"attention_mask": [[0, 0, 1, 1]]}, ["positions_count_padding"]),
    "left padding right": ([[1, 1, 0, 1]], {"attention_mask": [[0, 0, 1, 1]]}, []),
    "right padding": ([[0, 1, 1, 1]], {"attention_mask": [[1, 1, 0, 0]]}, []),
    "second row only": ([[0, 1], [0, 1]], {"attention_mask": [[1, 1], [0, 1]]}, ["positions_count_padding"]),
    "offset": ([[1, 2, 3]], {}, ["positions_offset"]),
    "decoding": ([[7]], {"past": 7}, []),
    "decoding off by one": ([[8]], {"past": 7}, ["positions_offset"]),
    "packed": ([[0, 1, 2, 0, 1]], {}, ["positions_restart"]),
    "bf16": ([[255, 256, 256, 258]], {"past": 255}, ["positions_repeat", "positions_gap"]),
    "past the rows": ([[0, 1, 2]], {"rows": 2}, ["positions_past_cache"]),
    "hidden past the rows": ([[0, 1, 99]], {"rows": 2, "attention_mask": [[1, 1, 0]]}, []),
    "negative": ([[-1, 0, 1]], {}, ["positions_negative", "positions_offset"]),
    "all padding": ([[0, 0]], {"attention_mask": [[0, 0]]}, ["positions_all_padding"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_batch(name: str) -> None:
    ids, options, expected = CASES[name]
    assert keys(ids, **options) == expected
    assert keys(np.array(ids), **options) == keys(torch.tensor(ids), **options) == expected


def test_the_numbers_are_named() -> None:
    single = check_positions([[0, 1], [5, 6]], rows=6)[0]
    assert (single.severity, single.values) == ("error", {"highest": 6, "rows": 6})
    padded = check_positions([[0, 1, 2, 3]], attention_mask=[[0, 0, 1, 1]])[0].values
    assert padded == {"first": 2, "wanted": 0, "padding": 2, "row": 0}


@pytest.mark.parametrize("bad", [[], [[]], [[0.5]], [["a"]], [[[0]]], None, [[0], [0, 1]], [[float("nan")]]])
def test_what_is_no_batch_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="position_ids must be"):
        check_positions(bad)
    with pytest.raises(ValueError, match="attention_mask must be of shape"):
        check_positions([[0, 1]], attention_mask=[[1]])


@given(st.integers(0, 6), st.integers(1, 20), st.integers(0, 50))
def test_positions_from_the_mask_are_always_clean(padding: int, length: int, past: int) -> None:
    mask = [0] * padding + [1] * length
    ids = np.maximum(np.cumsum(mask) - 1, 0) + past
    assert keys([ids], attention_mask=[mask], past=past, rows=past + length) == []
