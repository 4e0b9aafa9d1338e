"""Which position a token has where several texts share a row, and which tokens a rank of a parallel group holds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int

PositionIds = npt.NDArray[np.int64]
CONTIGUOUS, ZIGZAG = "contiguous", "zigzag"
SLICINGS = (CONTIGUOUS, ZIGZAG)
MOST = 2**24


def cumulative_lengths(lengths: Sequence[int]) -> PositionIds:
    """Return where texts of these lengths begin and end in their row, as attention kernels take it: (texts + 1,).

    >>> cumulative_lengths([3, 2]).tolist()
    [0, 3, 5]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])


def packed_positions(cu_seqlens: PositionIds) -> PositionIds:
    """Return the positions of texts that share a row: each begins at 0.

    >>> packed_positions(cumulative_lengths([3, 2])).tolist()
    [0, 1, 2, 0, 1]
    """
    return np.asarray(np.arange(cu_seqlens[-1]) - np.repeat(cu_seqlens[:-1], _counts(cu_seqlens)), dtype=np.int64)


def token_segment_ids(cu_seqlens: PositionIds) -> PositionIds:
    """Return the number of the text that each token of a row belongs to, from 0.

    >>> token_segment_ids(cumulative_lengths([3, 2])).tolist()
    [0, 0, 0, 1, 1]
    """
    return np.repeat(np.arange(len(cu_seqlens) - 1), _counts(cu_seqlens))


def _counts(cu_seqlens: PositionIds) -> npt.NDArray[np.intp]:
    """Return each text's length, as repetitions are counted; a browser's Python counts in 32 bits."""
    return np.diff(cu_seqlens).astype(np.intp)


def rank_token_indices(cu_seqlens: PositionIds, rank: int, rank_count: int, slicing: str = ZIGZAG) -> PositionIds:
    """Return the places in the row of the tokens that one rank of a context-parallel group holds, in its order.

    "contiguous" cuts the row into ``rank_count`` runs. "zigzag" cuts every text into 2 ``rank_count`` pieces and gives
    each rank one from the front and its mirror from the back, so that causal attention costs all ranks alike.

    Args:
        cu_seqlens: where the row's texts begin and end, (texts + 1,); [0, n] for a single one.
        rank: from 0.
        ranks: size of the group.
        slicing: "contiguous" or "zigzag".

    Raises ValueError where the row, or a text under zigzag, does not divide.

    >>> rank_token_indices(cumulative_lengths([4, 4]), 0, 2).tolist()  # of NVIDIA/Megatron-LM#5243
    [0, 3, 4, 7]
    >>> rank_token_indices(cumulative_lengths([4, 4]), 1, 2, "contiguous").tolist()
    [4, 5, 6, 7]
    """
    checked_int("ranks", rank_count, 1, MOST)
    checked_int("rank", rank, 0, rank_count - 1)
    if slicing not in SLICINGS:
        raise argument_error("slicing", "one_of", slicing, names=SLICINGS)
    if rank_count == 1:
        return np.arange(cu_seqlens[-1])
    if slicing == CONTIGUOUS:
        each = _share("the row's length", int(cu_seqlens[-1]), rank_count)
        return np.arange(rank * each, (rank + 1) * each)
    rows = []
    for start, stop in zip(cu_seqlens[:-1].tolist(), cu_seqlens[1:].tolist(), strict=True):
        each = _share("every text's length", stop - start, 2 * rank_count)
        rows += [np.arange(each) + start + piece * each for piece in (rank, 2 * rank_count - 1 - rank)]
    return np.concatenate(rows)


def _share(name: str, count: int, parts: int) -> int:
    if count % parts:
        raise argument_error(name, f"a multiple of {parts}", count)
    return count // parts


def worst_misread_distance(position_ids: PositionIds, expected: PositionIds) -> tuple[int, int, int, int]:
    """Return the two tokens of one text whose distance is read most wrongly: their places, the true distance, the read.

    A common shift of all positions misreads no distance: the tokens are then the first and the last.
    """
    error = position_ids - expected
    a, b = sorted((int(error.argmin()), int(error.argmax())))
    if error[a] == error[b]:
        a, b = 0, len(error) - 1
    return a, b, int(expected[b] - expected[a]), int(position_ids[b] - position_ids[a])
