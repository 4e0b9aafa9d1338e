"""What the lab's kinds of work share: the lines of some weights, the documents read, positions, what is undefined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.lab import cards, corpus
from rope_core.lab.estimates import Estimate, perplexity_curve, wilson_interval, window_columns, window_perplexity
from rope_core.lab.evaluate import check_lab_memory as check_lab_memory
from rope_core.lab.evaluate import cut_documents
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.model import LabModel
from rope_core.lab.positions import PositionEncoding, rotary_encoding_for
from rope_core.lab.remapped import RemappedEncoding
from rope_core.lab.shape import ModelShape
from rope_core.rope import Array
from rope_core.schemes import UNSCALED

MAX_TEXT = 50 * 10**6
MAX_LENGTH = 2**17
BINS = 32
AFTER = 16
"""Of the second occurrence of a stretch, what does not count: until then nothing says that it is one."""
C = TypeVar("C")


def readable_lines(shape: ModelShape, keys: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the lines to read a model of a shape by, all by default.

    Models without rotary positions have nothing to stretch: they have one line, and the sliding window if it is named.

    Raises ValueError on an unknown line.
    """
    chosen = tuple(keys) or tuple(each.key for each in scheme_lines())
    for key in chosen:
        get_line(key)
    if shape.encoding == "rope":
        return chosen
    return (UNSCALED, *(key for key in keys if get_line(key).sliding))


def checked_weight_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of shipped weights, checked; raises ValueError where there are none, or none of a name."""
    if isinstance(names, str) or not names:
        raise argument_error("weights", "some_names", names)
    for name in names:
        cards.get_weights_card(name)
    return tuple(names)


def checked_lengths(lengths: Sequence[int]) -> tuple[int, ...]:
    """Return lengths in bytes, checked, short ones first; raises ValueError where there is none."""
    if not lengths:
        raise argument_error("lengths", "some_values", lengths)
    return tuple(sorted(checked_int("lengths", length, 2, MAX_LENGTH) for length in lengths))


def measurement_cells(
    names: Sequence[str],
    keys: Sequence[str],
    lengths: Sequence[int],
    factor: float | None,
    include_sliding: bool = True,
) -> list[tuple[str, str, int]]:
    """Return (weights, line, length) in the order in which they are done, short lengths first.

    ``include_sliding``: whether this kind of work can read in a sliding window and by rules of position; without it
    only the     lines that frequencies say all of are left.

    Raises ValueError on names that there are not, or a factor that a line does not take.
    """
    planned = [
        (name, key, length)
        for length in checked_lengths(lengths)
        for name in checked_weight_names(names)
        for key in readable_lines(cards.get_weights_card(name).recipe.shape, keys)
        if include_sliding or get_line(key).is_frequency_only
    ]
    for name, key, length in planned:
        get_line(key).request(cards.get_weights_card(name).recipe.shape, length, factor)
    return planned


def check_text_length(text: bytes) -> None:
    """Raise ValueError on more text than the lab takes."""
    if len(text) > MAX_TEXT:
        raise argument_error("text", "text_bytes", f"{len(text):,}", limit=MAX_TEXT)


def evaluation_documents(
    length: int, max_count: int, text: bytes = b"", argument: str = "length"
) -> npt.NDArray[np.uint8]:
    """Return what is read, uint8 (n, length + 1): the held-out documents' first bytes, or ``text`` cut up.

    ``argument`` names the length where it is refused.

    Raises ValueError on too little or too much text, or a length that the held-out documents do not have.
    """
    checked_int("length", length, 2, MAX_LENGTH)
    count = checked_int("documents", max_count, 1, 4096)
    check_text_length(text)
    if text:
        return cut_documents(text, length, count)
    kept = corpus.held_out_documents()[:count]
    if length + 1 > len(kept[0].text):
        raise argument_error(argument, "held_out_most", length, limit=len(kept[0].text) - 1)
    return np.stack([np.frombuffer(each.text, dtype=np.uint8)[: length + 1] for each in kept])


def line_encoding(model: LabModel, key: str, length: int, factor: float | None = None) -> PositionEncoding:
    """Return where a line puts ``length`` bytes; the trained positions of a model without rotary ones.

    Args:
        factor: of the line; None means what the line takes at the length.
    """
    chosen = get_line(key)
    if model.shape.encoding != "rope":
        return model.position
    if chosen.rule:
        return RemappedEncoding(model.shape, chosen.rule, chosen.params)
    return rotary_encoding_for(model.shape, chosen.request(model.shape, length, factor))


def undefined_reason(shape: ModelShape, length: int) -> str:
    """Return why a model has no positions at a length, or ""."""
    ends = shape.encoding == "learned" and length > shape.context
    return f"its table ends at position {shape.context}" if ends else ""


def estimate_to_json(estimate: Estimate) -> list[float | None]:
    """Return value, low and high as JSON values: None where there is no interval."""
    return [None if v != v else round(v, 6) for v in (estimate.value, estimate.low, estimate.high)]


def perplexity_record(losses: Array) -> dict[str, Any]:
    """Return the results of losses (documents, length), as JSON values.

    "whole" and "last" [value, low, high] are perplexities over the window and its last quarter, "nats" the mean loss of
    each document's last quarter, "curve" perplexity against position in bins.
    """
    bins = perplexity_curve(losses, min(BINS, losses.shape[1]))
    return {
        "whole": estimate_to_json(window_perplexity(losses)),
        "last": estimate_to_json(window_perplexity(losses, 0.75)),
        "nats": window_columns(losses, 0.75, 1.0).mean(1).round(6).tolist(),
        "curve": {name: np.round(values, 4).tolist() for name, values in asdict(bins).items()},
    }


def accuracy_record(hits: Sequence[npt.NDArray[Any]]) -> dict[str, Any]:
    """Return the results of answers, one array of right and wrong parts each, as JSON values.

    "right" of "trials" whole answers were right, "low" and "high" are the share's 95 % interval; "digits" is the share
    of single parts that were, with its interval, the parts of an answer counted as one trial.
    """
    trials, right, parts = len(hits), sum(bool(each.all()) for each in hits), float(sum(each.mean() for each in hits))
    low, high = (round(end, 6) for end in wilson_interval(right, trials))
    digits = [round(each, 6) for each in (parts / trials, *wilson_interval(parts, trials))]
    return {"right": right, "trials": trials, "low": low, "high": high, "digits": digits}


def copy_record(losses: Array) -> dict[str, Any]:
    """Return the results of the losses of second occurrences (examples, copying.SPAN), as JSON values.

    "copy" is the perplexity from the 17th on, [value, low, high], "nats" the mean loss in each example.
    """
    late = losses[:, AFTER:]
    return {"copy": estimate_to_json(window_perplexity(late)), "nats": late.mean(1).round(6).tolist()}


def with_progress(cells: Sequence[C], cost: Callable[[C], float] = lambda _: 1.0) -> Iterator[tuple[float, C]]:
    """Yield cells in turn, each with the share of all work that is done after it."""
    total, done = sum(map(cost, cells)), 0.0
    for each in cells:
        done += cost(each)
        yield done / total, each
