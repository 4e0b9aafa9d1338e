"""A position-id check: left padding, offset, restart, gaps, and rows that a cos/sin cache does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.checks.case import SEVERITIES, Finding, finding
from rope_core.errors import reject, whole
from rope_core.rope import MAX_LEN

FIELD = "position_ids"


def as_ids(name: str, values: Any) -> npt.NDArray[np.int64]:
    """Positions or a mask as int64 (batch, seq); from numbers, numpy or torch."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise reject(name, "a rectangle of integers, (seq,) or (batch, seq)", values) from None
    whole_numbers = array.dtype.kind in "iub" or (array.dtype.kind == "f" and bool(np.all(array == np.floor(array))))
    if array.ndim not in (1, 2) or not array.size or not whole_numbers or not np.all(np.isfinite(array)):
        raise reject(name, "integers of shape (seq,) or (batch, seq)", values)
    return np.atleast_2d(array).astype(np.int64)


def check_positions(
    position_ids: Any, rows: int | None = None, attention_mask: Any = None, past: int = 0
) -> list[Finding]:
    """Return what is wrong with the positions of a batch, the gravest first.

    Args:
        position_ids: integers (seq,) or (batch, seq); lists, numpy or torch.
        rows: rows of the cos/sin cache, or the longest length that the model serves.
        attention_mask: the same shape, 1 where a token counts; left padding is zeros at the start.
        past: tokens that are in the KV cache already; the first position of this batch.

    Raises:
        ValueError: on anything but integers of that shape.

    >>> [one.key for one in check_positions([[0, 1, 2, 3]], attention_mask=[[0, 0, 1, 1]])]
    ['positions_count_padding']
    >>> check_positions([[0, 0, 0, 1]], attention_mask=[[0, 0, 1, 1]])
    []
    """
    ids = as_ids(FIELD, position_ids)
    whole("past", past, 0, MAX_LEN)
    mask = np.ones_like(ids) if attention_mask is None else as_ids("attention_mask", attention_mask)
    if mask.shape != ids.shape:
        raise reject("attention_mask", f"of shape {ids.shape}", mask.shape)
    findings = [*range_of(ids, mask, rows)]
    for row in range(len(ids)):
        findings += order_of(ids[row], mask[row] != 0, row, past)
    once: dict[str, Finding] = {}
    for each in findings:
        once.setdefault(each.key, each)
    return sorted(once.values(), key=lambda each: SEVERITIES.index(each.severity))


def range_of(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64], rows: int | None) -> Iterator[Finding]:
    """Positions below 0 or past the last row of the cache, among tokens that count."""
    used = ids[mask != 0]
    if not used.size:
        yield finding("positions_all_padding", FIELD, tokens=ids.size)
        return
    if used.min() < 0:
        yield finding("positions_negative", FIELD, lowest=int(used.min()))
    if rows is not None and used.max() >= whole("rows", rows, 1, MAX_LEN):
        yield finding("positions_past_cache", FIELD, highest=int(used.max()), rows=rows)


def order_of(ids: npt.NDArray[np.int64], counts: npt.NDArray[np.bool_], row: int, past: int) -> Iterator[Finding]:
    """Start and steps of one sequence's tokens that count."""
    used = ids[counts]
    if not used.size:
        return
    padding = int(np.argmax(counts))
    first = int(used[0])
    if first != past:
        padded = padding > 0 and first == past + padding
        key = "positions_count_padding" if padded else "positions_offset"
        yield finding(key, FIELD, first=first, wanted=past, padding=padding, row=row)
    steps = np.diff(used)
    for key, wrong in (
        ("positions_restart", steps < 0),
        ("positions_repeat", steps == 0),
        ("positions_gap", steps > 1),
    ):
        if np.any(wrong):
            where = int(np.argmax(wrong))
            yield finding(key, FIELD, row=row, index=where + 1, before=int(used[where]), after=int(used[where + 1]))
