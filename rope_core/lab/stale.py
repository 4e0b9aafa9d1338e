"""The key-value cache bug of dynamic NTK: keys cached as they were turned then, or turned anew at each byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from rope_core.errors import argument_error, checked_int
from rope_core.lab import cards, plan, weights
from rope_core.lab.evaluate import byte_losses
from rope_core.lab.generate import DecodingPositions, next_byte_logits
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.model import KeyValueCache, LabModel
from rope_core.lab.positions import RotaryEncoding, scaled_cos_sin
from rope_core.rope import Array
from rope_core.schemes import SCHEMES, UNSCALED
from rope_core.spectrum import Request, spectrum

# Cheap ones first: a page shows them while the last one decodes byte by byte.
VARIANTS = ("unscaled", "stale", "recomputed")
FOLLOWING = next(each.key for each in scheme_lines() if SCHEMES[each.scheme].follows_length)


class StaleKeyEncoding(RotaryEncoding):
    """Each byte, as a query and as a key, is turned by the frequencies in force when it came.

    A cache of turned keys holds just that: key i by the frequencies of length i + 1, the query by those of its own
    length. No byte sees a later length, so one pass over the whole text gives what decoding byte by byte would.

    Args:
        model: whose positions they are.
        request: of a scheme that follows the length.
        prefill: bytes that are read at once at first, at the frequencies of that length.
    """

    def __init__(self, model: LabModel, request: Request, prefill: int) -> None:
        super().__init__(model.shape, spectrum(request))
        self.request, self.prefill = request, prefill

    def at(self, before: int, length: int) -> StaleKeyEncoding:
        """Have the rows of all bytes so far."""
        self.before, self.length = before, length
        rows = 0 if self.tables is None else len(self.tables[0])
        if rows < before + length:
            spans = [self._rows(first, end) for first, end in self._spans(before + length)]
            self.tables = torch.cat([cos for cos, _ in spans]), torch.cat([sin for _, sin in spans])
        return self

    def _spans(self, end: int) -> list[tuple[int, int]]:
        """Return stretches of positions with frequencies of their own: the prefill, then byte by byte."""
        read = min(self.prefill, end)
        return [(0, read), *((i, i + 1) for i in range(read, end))]

    def _rows(self, first: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        return scaled_cos_sin(spectrum(replace(self.request, seq_len=max(end, self.prefill))), range(first, end))


def decoding_losses(
    model: LabModel, documents: npt.NDArray[np.uint8], places: DecodingPositions, prefill: int
) -> Array:
    """Return the loss of every byte but the first of documents (n, length + 1) that are read as a chat would be.

    The first ``prefill`` bytes are read at once, the others one by one after a cache of unturned keys, each true byte
    whatever was predicted: nats, float64 (n, length).
    """
    ids = torch.from_numpy(documents.astype(np.int64))
    cache, losses = KeyValueCache([]), []
    with torch.inference_mode():
        for part in (ids[:, : min(prefill, ids.shape[1] - 1)], *ids[:, prefill:-1, None].unbind(1)):
            logits = next_byte_logits(part, cache, places)
            true = ids[:, cache.length - part.shape[1] + 1 : cache.length + 1]
            nats = F.cross_entropy(logits.flatten(0, 1), true.flatten(), reduction="none")
            losses.append(nats.view(len(ids), -1).double().numpy())
    return np.concatenate(losses, 1)


def variant_losses(
    model: LabModel, documents: npt.NDArray[np.uint8], request: Request, variant: str, prefill: int
) -> Array:
    """Return the loss of every byte but the first, nats, float64 (n, length), with one handling of cached keys.

    Args:
        documents: uint8 (n, length + 1).
        request: of a scheme that follows the length.
        variant: "recomputed" turns all keys anew at each byte, "stale" keeps them as they were turned, "unscaled" keeps
            the trained frequencies.
        prefill: bytes read at once at first.

    Raises ValueError on an unknown variant.
    """
    if variant not in VARIANTS:
        raise argument_error("variant", "one_of", variant, names=VARIANTS)
    length = documents.shape[1] - 1
    plan.check_lab_memory(model.shape, length, len(documents) * length * model.shape.width * 8 * model.shape.layers)
    if variant == "recomputed":
        return decoding_losses(model, documents, DecodingPositions(model, request), prefill)
    return byte_losses(model, documents, StaleKeyEncoding(model, request, prefill) if variant == "stale" else None)


@dataclass(frozen=True)
class StaleKeySettings:
    """What is compared, whole.

    Args:
        weights: names of shipped weights with rotary positions.
        length: bytes per document, past the trained length.
        factor: of dynamic NTK; None means what the line takes at the length.
        documents: how many to read at most.

    Raises ValueError on values that make no such work.
    """

    weights: tuple[str, ...] = ("rope-0",)
    length: int = 1024
    factor: float | None = None
    documents: int = 4

    def __post_init__(self) -> None:
        for name in plan.checked_weight_names(self.weights):
            shape = cards.get_weights_card(name).recipe.shape
            if shape.encoding != "rope":
                raise argument_error("weights", "rotary_weights", name)
            checked_int("length", self.length, shape.context + 1, plan.MAX_LENGTH)
            get_line(FOLLOWING).request(shape, self.length, self.factor)
        self.read_documents()

    def read_documents(self) -> npt.NDArray[np.uint8]:
        """Return the documents, uint8 (n, length + 1)."""
        return plan.evaluation_documents(self.length, self.documents)


def measure_stale_keys(settings: StaleKeySettings) -> Iterator[tuple[float, dict[str, Any]]]:
    """Compare variant by variant; yields the share of the work that is done, and the result.

    "last" is the perplexity of the last quarter, "curve" perplexity against position, "nats" each document's mean loss
    over the last quarter.
    """
    documents = settings.read_documents()
    # Decoding byte by byte takes about as long as twenty readings.
    cells = [(name, each) for name in settings.weights for each in VARIANTS]
    for done, (name, variant) in plan.with_progress(cells, lambda each: 1 + 20 * (each[1] == "recomputed")):
        model = weights.load_shipped_model(name)
        request = get_line(FOLLOWING).request(model.shape, settings.length, settings.factor)
        nats = variant_losses(model, documents, request, variant, model.shape.context)
        read = plan.perplexity_record(nats)
        head = {
            "weights": name,
            "line": UNSCALED if variant == "unscaled" else FOLLOWING,
            "length": settings.length,
            "factor": request.params["factor"],
            "variant": variant,
            "documents": len(documents),
        }
        yield done, head | {key: read[key] for key in ("last", "nats", "curve")}
