"""A position-id check: padding, packed texts, slices of a parallel group, images, and rows that a cache lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.findings import SEVERITIES, Finding, FindingPhrase, make_finding
from rope_core.hf.places import AXES, multimodal_positions
from rope_core.rope import MAX_LEN
from rope_core.theory.packing import (
    SLICINGS,
    ZIGZAG,
    PositionIds,
    cumulative_lengths,
    packed_positions,
    rank_token_indices,
    token_segment_ids,
    worst_misread_distance,
)

FIELD = "position_ids"
MOST_AXES = 8
# Of the whole row, over all ranks.
MOST_TOKENS = 2**24


def checked_position_ids(name: str, values: Any, with_axes: bool = False) -> PositionIds:
    """Positions or a mask as int64 (batch, seq), or (axes, batch, seq); from numbers, numpy or torch."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    shapes = "(seq,), (batch, seq) or (axes, batch, seq)" if with_axes else "(seq,) or (batch, seq)"
    try:
        array = np.asarray(values)
    except ValueError:
        raise argument_error(name, f"a rectangle of integers, {shapes}", values) from None
    whole_numbers = array.dtype.kind in "iub" or (array.dtype.kind == "f" and bool(np.all(array == np.floor(array))))
    fits = array.ndim in (1, 2) or (with_axes and array.ndim == 3 and array.shape[0] <= MOST_AXES)
    if not fits or not array.size or not whole_numbers or not np.all(np.isfinite(array)):
        raise argument_error(name, f"integers of shape {shapes}", values)
    ids = np.atleast_2d(array).astype(np.int64)
    return ids[None] if with_axes and ids.ndim == 2 else ids


def check_positions(
    position_ids: Any,
    rows: int | None = None,
    attention_mask: Any = None,
    past: int = 0,
    *,
    cu_seqlens: Any = None,
    segment_ids: Any = None,
    rank: int = 0,
    ranks: int = 1,
    slicing: str = ZIGZAG,
    config: object = None,
    token_types: Any = None,
    image_grid_thw: Any = None,
    video_grid_thw: Any = None,
    seconds_per_grid: Any = None,
) -> list[Finding]:
    """Return what is wrong with the positions of a batch, the gravest first.

    What the positions should be follows from what is given: the mask; where packed texts begin; the rank that holds the
    tokens; the images among the words. Each finding names the first token that is wrong, what it should have, and the
    two tokens of one text whose distance is read most wrongly.

    Args:
        position_ids: integers (seq,), (batch, seq) or (axes, batch, seq); lists, numpy or torch.
        rows: rows of the cos/sin cache, or the longest length that the model serves.
        attention_mask: (batch, seq), or (batch, past + seq) as transformers decodes; 0 is padding, and numbers above 1
            are packed texts, each of which begins at 0.
        past: tokens that are in the KV cache already; the first position of this batch. With ``token_types`` the ids
            are those of the tokens after the first ``past``: a window of a prefill in pieces, or a decoded token.
        cu_seqlens: (texts + 1,) where packed texts begin and end in the whole row, from 0.
        segment_ids: (seq,) or (batch, seq), the number of the text that each token belongs to, in place of
            ``cu_seqlens``; padding is what the mask says, or -1 and 0 at the ends.
        rank: which rank of a context-parallel group holds these tokens, from 0.
        ranks: size of that group.
        slicing: "zigzag" (each text in 2 ``ranks`` pieces, mirrored) or "contiguous".
        config: of a model with images, for ``token_types``; see ``rc.multimodal_positions`` for it and the next four.
        token_types: (tokens of the whole text,) or (1, tokens), 0 for a word, 1 for an image's patch, 2 for a video's.
        image_grid_thw: (images, 3) patches.
        video_grid_thw: (videos, 3) patches.
        seconds_per_grid: (videos,) seconds.

    Raises:
        ConfigError: on a config that cannot be read, or whose family's images are not described.
        ValueError: on anything but integers of that shape, and on rows that do not divide.

    After a long video transformers 5.24 gives words numbers that frames have already; this is a warning, and what the
    paper of Qwen2-VL says is right (see ``rope_core.hf.places``).

    >>> [one.key for one in check_positions([[0, 1, 2, 3]], attention_mask=[[0, 0, 1, 1]])]
    ['positions_count_padding']
    >>> check_positions([[0, 0, 0, 1]], attention_mask=[[0, 0, 1, 1]])
    []
    >>> [one.key for one in check_positions([0, 1, 2, 3, 4], cu_seqlens=[0, 3, 5])]
    ['positions_run_on']
    """
    ids = checked_position_ids(FIELD, position_ids, with_axes=True)
    checked_int("past", past, 0, MAX_LEN)
    checked_int("ranks", ranks, 1, max(1, MOST_TOKENS // ids.shape[-1]))
    checked_int("rank", rank, 0, ranks - 1)
    before, mask = _masks(attention_mask, ids[0].shape, past)
    findings = [*range_of(ids, mask, rows)]
    texts = _texts(segment_ids, mask, ids, ranks)
    cuts = _cuts(cu_seqlens, None if texts is not None else segment_ids, ids.shape[-1] * ranks)
    if token_types is not None:
        types = checked_position_ids("token_types", token_types)[0]
        seen = (config, types, image_grid_thw, video_grid_thw, seconds_per_grid)
        side, largest = (multimodal_positions(*seen, after_largest=each) for each in (False, True))
        findings += image_position_findings(ids, side, largest, types, past)
    elif cuts is not None or ranks > 1:
        whole_row = cumulative_lengths([ids.shape[-1] * ranks]) if cuts is None else cuts
        findings += sliced(_single(ids), whole_row, rank, ranks, slicing)
    elif texts is not None:
        for row in range(ids.shape[1]):
            findings += _of_texts(ids[0, row], texts[row], slicing)
    else:
        for row in range(ids.shape[1]):
            start = past if before is None else int(np.count_nonzero(before[row]))
            padding = 0 if before is None else before.shape[1] - start
            findings += position_step_findings(ids[0, row], mask[row] != 0, row, start, padding)
            findings += axes_of(ids[:, row, mask[row] != 0], row)
    once: dict[str, Finding] = {}
    for each in findings:
        once.setdefault(each.key, each)
    return sorted(once.values(), key=lambda each: SEVERITIES.index(each.severity))


def _masks(given: Any, shape: tuple[int, ...], past: int) -> tuple[PositionIds | None, PositionIds]:
    """Return the mask of the tokens before the batch, None where it is not given, and that of the batch's own."""
    if given is None:
        return None, np.ones(shape, dtype=np.int64)
    mask = checked_position_ids("attention_mask", given)
    if mask.shape == shape:
        return None, mask
    behind = mask.shape[1] - shape[1]
    if mask.shape[0] != shape[0] or (behind != past and (past or behind < 1 or shape[1] != 1)):
        like = f"of shape {shape} as the batch's {FIELD}, or {(shape[0], past + shape[1])} with the past"
        raise argument_error("attention_mask", like if past else f"of shape {shape} as the batch's {FIELD}", mask.shape)
    return mask[:, :behind], mask[:, behind:]


def _texts(given: Any, mask: PositionIds, ids: PositionIds, ranks: int) -> PositionIds | None:
    """Return the packed text that each token of the batch belongs to, (batch, seq), 0 for padding; None without any."""
    if ranks > 1 or (given is None and mask.max(initial=0) < 2):
        return None
    if given is None:
        return mask
    numbers = checked_position_ids("segment_ids", given)
    if numbers.shape != ids[0].shape:
        raise argument_error("segment_ids", f"of shape {ids[0].shape} as the batch's {FIELD}", numbers.shape)
    texts = np.zeros_like(numbers)
    for row, each in enumerate(numbers):
        # -1 is padding, so is 0 after other texts, and 0 before them where its positions do not count up.
        ends, used = np.where(each < 0, 0, each + 1), np.flatnonzero(each > 0)
        if used.size:
            ends[used[-1] + 1 :] = 0
            front = ids[0, row, : used[0]]
            if front.size and np.ptp(front) == 0 and not np.array_equal(front, np.arange(len(front))):
                ends[: used[0]] = 0
        texts[row] = np.where(mask[row] == 0, 0, ends)
    return texts


def _of_texts(ids: PositionIds, texts: PositionIds, slicing: str) -> Iterator[Finding]:
    """Compare a row of packed texts and padding, both (seq,), with positions that begin at 0 in each text."""
    used = np.flatnonzero(texts)
    if not used.size:
        return
    ends = [0, *np.flatnonzero(np.diff(texts[used])) + 1, len(used)]
    for each in sliced(ids[used], cumulative_lengths(np.diff(ends).tolist()), 0, 1, slicing):
        places = {key: int(used[int(str(each.values[key]))]) for key in ("index", "first", "second")}
        yield replace(each, values=_with_distance({**each.values, **places}))


def _cuts(cu_seqlens: Any, segment_ids: Any, length: int) -> PositionIds | None:
    """Return where the packed texts of a row begin and end; None where nothing says."""
    if cu_seqlens is not None:
        cuts: PositionIds = checked_position_ids("cu_seqlens", cu_seqlens)[0]
        if len(cuts) < 2 or cuts[0] != 0 or np.any(np.diff(cuts) < 1) or cuts[-1] != length:
            raise argument_error("cu_seqlens", f"growing numbers from 0 to the row's {length} tokens", cu_seqlens)
        return cuts
    if segment_ids is None:
        return None
    numbers = checked_position_ids("segment_ids", segment_ids)[0]
    if len(numbers) != length:
        raise argument_error("segment_ids", f"one number for each of the {length} tokens of {FIELD}", numbers.shape)
    return cumulative_lengths(np.diff([0, *np.flatnonzero(np.diff(numbers)) + 1, length]).tolist())


def _single(ids: PositionIds) -> PositionIds:
    """Return the ids of one row of words, (seq,)."""
    if ids.shape[:2] != (1, 1):
        raise argument_error(FIELD, "one row, (seq,), where texts are packed or a group holds slices", ids.shape)
    return np.asarray(ids[0, 0])


def sliced(ids: PositionIds, cuts: PositionIds, rank: int, ranks: int, slicing: str) -> Iterator[Finding]:
    """Compare a row of packed texts, or a rank's part of it, with what it should have; name the usual mistakes."""
    wanted_row, text_of = packed_positions(cuts), token_segment_ids(cuts)
    mine = rank_token_indices(cuts, rank, ranks, slicing)
    wanted, texts = wanted_row[mine], text_of[mine]
    if np.array_equal(ids, wanted):
        return
    several = len(cuts) > 2
    if several and np.array_equal(ids, mine):
        yield make_finding("positions_run_on", FIELD, **_first(ids, wanted, texts), texts=len(cuts) - 1)
        return
    if ranks > 1:
        if np.array_equal(ids, np.arange(len(ids))):
            yield make_finding("positions_local", FIELD, **_first(ids, wanted, texts), rank=rank, ranks=ranks)
            return
        for other in range(ranks):
            for way in SLICINGS:
                for cut in (cuts, cumulative_lengths([int(cuts[-1])])):
                    if _fits(ids, cut, wanted_row, other, ranks, way):
                        named = {"rank": rank, "ranks": ranks, "slicing": slicing, "other": other, "way": way}
                        yield make_finding("positions_other_slice", FIELD, **_first(ids, wanted, texts), **named)
                        return
    values = _first(ids, wanted, texts)
    yield make_finding("positions_shifted" if values["true"] == values["read"] else "positions_differ", FIELD, **values)


def _fits(ids: PositionIds, cuts: PositionIds, row: PositionIds, rank: int, ranks: int, way: str) -> bool:
    """Whether ids are those of the tokens that another rank, or another way to slice, would hold."""
    try:
        return np.array_equal(ids, row[rank_token_indices(cuts, rank, ranks, way)])
    except ValueError:  # that way does not divide this row
        return False


def _with_distance(values: dict[str, Any]) -> dict[str, Any]:
    """Return a finding's values with the sentence on the distance that is read most wrongly."""
    pair = {key: values[key] for key in ("first", "second", "true", "read")}
    return values | {
        "distance": FindingPhrase("distance_kept" if pair["true"] == pair["read"] else "distance_read", pair)
    }


def _first(given: PositionIds, wanted: PositionIds, texts: PositionIds | None = None) -> dict[str, Any]:
    """Return the first wrong token, and the distance within one text that is read most wrongly."""
    where = int(np.argmax(given != wanted))
    worst = (0, 0, 0, 0)
    for text in [None] if texts is None else np.unique(texts):
        own = np.arange(len(given)) if text is None else np.flatnonzero(texts == text)
        a, b, true, read = worst_misread_distance(given[own], wanted[own])
        if abs(read - true) >= abs(worst[3] - worst[2]):
            worst = (int(own[a]), int(own[b]), true, read)
    first, second, true, read = worst
    values = {"index": where, "found": int(given[where]), "wanted": int(wanted[where])}
    return _with_distance(values | {"first": first, "second": second, "true": true, "read": read})


def image_position_findings(
    ids: PositionIds, everything: PositionIds, largest: PositionIds, types: PositionIds, past: int
) -> Iterator[Finding]:
    """Compare the ids of one text with images, or of a window of it, with what its family gives them."""
    axes, batch, length = ids.shape
    if batch != 1 or past + length > everything.shape[1] or axes not in (1, len(everything), len(everything) + 1):
        shape = f"({len(everything)}, 1, at most {max(0, everything.shape[1] - past)})"
        raise argument_error(FIELD, f"of shape {shape} for these token_types", ids.shape)
    wanted = everything[:, past : past + length]
    seen = types[past : past + length] != 0
    line = np.arange(past, past + length)
    if axes == len(everything) + 1:  # transformers takes a row of plain positions before the axes, for its mask
        yield from position_step_findings(ids[0, 0], np.ones(length, dtype=np.bool_), 0, past)
        ids = ids[1:]
    given = np.broadcast_to(ids[:, 0], wanted.shape)
    other = largest[:, past : past + length]
    if np.array_equal(given, other):
        # As the paper has it, whatever transformers 5.24 does.
        return
    if np.array_equal(given, wanted):
        yield make_finding("positions_in_video", FIELD, **_first(given[0], other[0]))
        return
    names = dict(enumerate(AXES if len(wanted) == len(AXES) else map(str, range(len(wanted)))))
    axis = int(np.argmax((given != wanted).any(axis=1)))
    values: dict[str, Any] = _first(given[axis], wanted[axis]) | {"axis": names[axis]}
    if past and np.array_equal(given, everything[:, :length]):
        yield make_finding("positions_first_window", FIELD, **values, past=past)
        return
    if np.any(seen) and (axes == 1 or np.array_equal(given, np.broadcast_to(line, wanted.shape))):
        yield make_finding("positions_image_as_text", FIELD, **values)
        return
    for order in _orders(len(wanted)):
        if np.array_equal(given, wanted[list(order)]):
            yield make_finding("positions_axes_swapped", FIELD, **values, order=[names[k] for k in order])
            return
    apart = given - wanted
    if not np.any(apart[:, seen]) and len(np.unique(apart[:, ~seen])) <= 2:
        yield make_finding("positions_after_image", FIELD, **values)
        return
    yield make_finding("positions_differ", FIELD, **{key: value for key, value in values.items() if key != "axis"})


def _orders(axes: int) -> Iterator[tuple[int, ...]]:
    """Yield every other order of a few axes."""
    yield from (order for order in permutations(range(axes)) if order != tuple(range(axes)))


def axes_of(used: PositionIds, row: int) -> Iterator[Finding]:
    """Words have one number on every axis: a text without images whose axes differ was numbered as an image."""
    if len(used) > 1 and used.size and np.any(used != used[0]):
        where = int(np.argmax((used != used[0]).any(axis=0)))
        yield make_finding("positions_axes_differ", FIELD, row=row, index=where, found=[int(k) for k in used[:, where]])


def range_of(ids: PositionIds, mask: PositionIds, rows: int | None) -> Iterator[Finding]:
    """Positions below 0 or past the last row of the cache, among tokens that count."""
    used = ids[:, mask != 0]
    if not used.size:
        yield make_finding("positions_all_padding", FIELD, tokens=mask.size)
        return
    if used.min() < 0:
        yield make_finding("positions_negative", FIELD, lowest=int(used.min()))
    if rows is not None and used.max() >= checked_int("rows", rows, 1, MAX_LEN):
        yield make_finding("positions_past_cache", FIELD, highest=int(used.max()), rows=rows)


def position_step_findings(
    ids: PositionIds, counts: npt.NDArray[np.bool_], row: int, past: int, before: int = 0
) -> Iterator[Finding]:
    """Start and steps of one sequence's tokens that count; ``before`` so many of padding lie in the cache."""
    used = ids[counts]
    if not used.size:
        return
    padding = before + int(np.argmax(counts))
    first = int(used[0])
    if first != past:
        padded = padding > 0 and first == past + padding
        key = "positions_count_padding" if padded else "positions_offset"
        yield make_finding(key, FIELD, first=first, wanted=past, padding=padding, row=row)
    steps = np.diff(used)
    for key, wrong in (
        ("positions_restart", steps < 0),
        ("positions_repeat", steps == 0),
        ("positions_gap", steps > 1),
    ):
        if np.any(wrong):
            where = int(np.argmax(wrong))
            yield make_finding(
                key, FIELD, row=row, index=where + 1, before=int(used[where]), after=int(used[where + 1])
            )
