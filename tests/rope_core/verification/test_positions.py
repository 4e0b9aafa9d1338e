"""The position-id check on hand-made batches."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_core.verification.positions import check_positions


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


@pytest.mark.parametrize("bad", [[], [[]], [[0.5]], [["a"]], [[[[0]]]], None, [[0], [0, 1]], [[float("nan")]]])
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


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_numbers_in_the_mask_are_texts(lengths: list[int], left: int, right: int, in_mask: bool) -> None:
    numbers = [0] * left + [text + 1 for text, length in enumerate(lengths) for _ in range(length)] + [0] * right
    ids = [1] * left + [n for length in lengths for n in range(length)] + [0] * right
    given_as: dict[str, Any] = {"attention_mask" if in_mask else "segment_ids": [numbers]}
    assert keys([ids], **given_as) == []
    assert keys([ids] * 2, **{name: numbers * 2 for name, numbers in given_as.items()}) == []
    (named,) = check_positions([[n - left if n >= left else 1 for n in range(len(ids))]], **given_as)
    assert (named.key, named.values["index"]) == ("positions_run_on", left + lengths[0])
    ends = [text for text, length in enumerate(lengths) for _ in range(length)] + [-1] * right
    assert keys(ids[left:], segment_ids=ends) == []


@given(st.integers(0, 4), st.integers(1, 9), st.booleans())
def test_a_decoded_token_stands_after_the_real_tokens_of_its_mask(padding: int, length: int, with_past: bool) -> None:
    options: dict[str, Any] = {"attention_mask": [[0] * padding + [1] * (length + 1)]}
    options |= {"past": padding + length} if with_past else {}
    assert keys([[length]], **options) == []
    assert keys([[padding + length]], **options) == ["positions_count_padding"] * (padding > 0)


def test_lengths_that_differ_are_both_named() -> None:
    for name in ("attention_mask", "segment_ids"):
        with pytest.raises(
            ValueError, match=rf"{name} must be of shape \(1, 3\) as the batch's position_ids.*\(1, 2\)"
        ):
            keys([[0, 1, 2]], **{name: [[1, 2]]})


def test_a_distance_read_rightly_has_its_sentence() -> None:
    (named,) = check_positions([0, 1], ranks=2, rank=1, slicing="contiguous")
    assert "is read as" not in named.why() and "read rightly" in named.why() and named.why("zh")


def by_hand(lengths: list[int], rank: int, ranks: int, zigzag: bool) -> list[int]:
    """Return the positions of a rank's tokens, token by token."""
    row = [(text, n) for text, length in enumerate(lengths) for n in range(length)]
    if not zigzag:
        each = len(row) // ranks
        return [n for _, n in row[rank * each : (rank + 1) * each]]
    held = []
    for text, length in enumerate(lengths):
        piece = length // (2 * ranks)
        for k in (rank, 2 * ranks - 1 - rank):
            held += [n for owner, n in row if owner == text and n // piece == k]
    return held


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 4), st.booleans(), st.data())
def test_packed_texts_and_their_slices(pieces: list[int], ranks: int, zigzag: bool, data: st.DataObject) -> None:
    lengths = [2 * ranks * n for n in pieces]
    rank = data.draw(st.integers(0, ranks - 1))
    cuts = [0, *np.cumsum(lengths).tolist()]
    options: dict[str, Any] = {"cu_seqlens": cuts, "rank": rank, "ranks": ranks}
    options["slicing"] = "zigzag" if zigzag else "contiguous"
    right = by_hand(lengths, rank, ranks, zigzag)
    assert keys(right, **options) == []
    texts = [text for text, length in enumerate(lengths) for _ in range(length)]
    assert keys(right, **(options | {"cu_seqlens": None, "segment_ids": texts})) == []
    where = data.draw(st.integers(0, len(right) - 1))
    wrong = list(right)
    wrong[where] += 100_000
    (named,) = check_positions(wrong, **options)
    values: dict[str, Any] = dict(named.values)
    assert (values["index"], values["wanted"]) == (where, right[where])
    assert values["true"] == right[values["second"]] - right[values["first"]]
    assert values["read"] == wrong[values["second"]] - wrong[values["first"]]
    assert (named.key == "positions_shifted") == (values["true"] == values["read"])


SLICES: dict[str, tuple[list[int], dict[str, Any], list[str]]] = {
    "of Megatron-LM#5243": ([0, 3, 0, 3], {"cu_seqlens": [0, 4, 8], "ranks": 2}, []),
    "run on": ([0, 1, 2, 3], {"cu_seqlens": [0, 2, 4]}, ["positions_run_on"]),
    "a rank's tokens run on": ([0, 3, 4, 7], {"cu_seqlens": [0, 4, 8], "ranks": 2}, ["positions_run_on"]),
    "every rank from 0": ([0, 1, 2, 3], {"ranks": 2, "rank": 1}, ["positions_local"]),
    "of another rank": ([0, 1, 6, 7], {"ranks": 2, "rank": 1}, ["positions_other_slice"]),
    "sliced otherwise": ([4, 5, 6, 7], {"ranks": 2, "rank": 1}, ["positions_other_slice"]),
    "a text shifted": ([0, 1, 5, 6], {"cu_seqlens": [0, 2, 4]}, ["positions_shifted"]),
    "past the rows": ([0, 1, 0, 1], {"cu_seqlens": [0, 2, 4], "rows": 1}, ["positions_past_cache"]),
}


@pytest.mark.parametrize("name", SLICES)
def test_a_slice(name: str) -> None:
    ids, options, expected = SLICES[name]
    assert keys(ids, **options) == expected


def test_a_slice_says_what_it_costs() -> None:
    (named,) = check_positions([0, 1, 2, 3], ranks=2, rank=0, slicing="zigzag")
    assert (named.key, named.values["true"], named.values["read"]) == ("positions_local", 6, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"cu_seqlens": [0, 3]},
        {"cu_seqlens": [1, 4]},
        {"segment_ids": [0]},
        {"ranks": 2, "rank": 2},
        {"ranks": 3, "cu_seqlens": [0, 4, 12]},
        {"slicing": "spiral", "ranks": 2},
    ],
)
def test_a_group_that_does_not_fit_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        check_positions([0, 1, 2, 3], **options)


QWEN = {"model_type": "qwen2_vl"}
SEEN: dict[str, Any] = {"config": QWEN, "token_types": [0, 0, *[1] * 6, 0, 0, 0], "image_grid_thw": [[1, 4, 6]]}
RIGHT = np.array([[0, 1, *[2] * 6, 5, 6, 7], [0, 1, 2, 2, 2, 3, 3, 3, 5, 6, 7], [0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 7]])
LINE = np.arange(11)
IMAGES: dict[str, tuple[Any, int, list[str]]] = {
    "right": (RIGHT, 0, []),
    "right with the mask's row": (np.vstack([LINE, RIGHT]), 0, []),
    "a window": (RIGHT[:, 5:9], 5, []),
    "a decoded word": (RIGHT[:, 10:], 10, []),
    "as words": (np.stack([LINE] * 3), 0, ["positions_image_as_text"]),
    "as words on a single axis": (LINE, 0, ["positions_image_as_text"]),
    "rows as columns": (RIGHT[[0, 2, 1]], 0, ["positions_axes_swapped"]),
    "words go on by patches": (np.where(LINE > 7, LINE, RIGHT), 0, ["positions_after_image"]),
    "a decoded word by patches": ([[10]] * 3, 10, ["positions_after_image"]),
    "the first window again": (RIGHT[:, :4], 5, ["positions_first_window"]),
    "a patch lost": (np.where(LINE == 4, 9, RIGHT), 0, ["positions_differ"]),
}


@pytest.mark.parametrize("name", IMAGES)
def test_images_among_words(name: str) -> None:
    ids, past, expected = IMAGES[name]
    given = np.asarray(ids)
    assert keys(given if given.ndim == 1 else given[:, None], past=past, **SEEN) == expected


def test_token_types_of_a_batch_of_one_are_taken() -> None:
    assert keys(RIGHT[:, None], **(SEEN | {"token_types": torch.tensor([SEEN["token_types"]])})) == []


def test_words_have_one_number_on_every_axis() -> None:
    assert keys([[[0, 1, 2]], [[0, 1, 2]], [[0, 1, 2]]]) == []
    assert keys([[[0, 1, 2]], [[0, 1, 2]], [[0, 1, 5]]]) == ["positions_axes_differ"]
    with pytest.raises(ValueError, match="of shape"):
        check_positions(RIGHT[:2, None], **SEEN)


def test_words_after_a_long_video_follow_its_last_frame() -> None:
    """As the paper of Qwen2-VL says; transformers 5.24 goes on after the longer side."""
    seen: dict[str, Any] = {"config": QWEN, "token_types": [0, *[2] * 5, 0], "video_grid_thw": [[5, 2, 2]]}
    frames = np.array([[0, 1, 2, 3, 4, 5, 6], [0, *[1] * 5, 6], [0, *[1] * 5, 6]])
    assert keys(frames[:, None], **seen) == []
    frames[:, -1] = 2
    (named,) = check_positions(frames[:, None], **seen)
    assert (named.key, named.values["found"], named.values["wanted"]) == ("positions_in_video", 2, 6)
