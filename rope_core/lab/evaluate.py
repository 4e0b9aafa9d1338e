"""Perplexity of a model past its trained length, scheme by scheme, with intervals over documents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F

from rope_core.errors import argument_error, checked_int
from rope_core.lab.model import VOCABULARY, LabModel
from rope_core.lab.positions import PositionEncoding, rotary_encoding_for
from rope_core.lab.shape import ModelShape
from rope_core.rope import Array
from rope_core.spectrum import Request

MEMORY = 2 * 2**30
AT_ONCE = 8 * 2048


def memory_needed(shape: ModelShape, length: int) -> int:
    """Return about how many bytes one document of that length takes while it is read.

    Logits and their logarithms, the widest layer's activations, and where scores carry a bias, a score per pair.
    """
    plain = length * 4 * (3 * VOCABULARY + 4 * shape.hidden + 8 * shape.width)
    biased = shape.encoding in ("alibi", "t5")
    return plain + (length * length * 4 * (2 * shape.heads + 2) if biased else 0)


def check_lab_memory(shape: ModelShape, length: int, extra_bytes: int = 0) -> None:
    """Raise ValueError when one document of a length, and ``extra_bytes`` bytes beside it, pass the lab's memory."""
    needed = memory_needed(shape, length) + extra_bytes
    if needed > MEMORY:
        raise argument_error("length", "lab_memory", length, most=MEMORY / 2**30, needed=needed / 2**30)


def cut_documents(text: bytes, length: int, max_count: int = 64) -> npt.NDArray[np.uint8]:
    """Cut text into documents of ``length + 1`` bytes, one after another, uint8 (n, length + 1), at most ``max_count``.

    Raises ValueError when it does not hold one.
    """
    size = checked_int("length", length, 2, 2**20) + 1
    if len(text) < size:
        raise argument_error("text", "document_bytes", len(text), low=size, length=length)
    count = min(len(text) // size, checked_int("most", max_count, 1, 4096))
    return np.frombuffer(text, dtype=np.uint8, count=count * size).reshape(count, size)


def byte_losses(model: LabModel, documents: npt.NDArray[np.uint8], place: PositionEncoding | None = None) -> Array:
    """Return the loss of every byte but the first, given all before it: nats, float64 (documents, length).

    Args:
        model: of any encoding.
        documents: uint8 (documents, length + 1).
        place: positions to read them with; None means as trained.

    Raises ValueError on an empty array, or a length past the memory limit of 2 GiB.
    """
    if documents.ndim != 2 or documents.shape[0] < 1 or documents.shape[1] < 2:
        raise argument_error("documents", "documents_array", documents.shape)
    count, length = documents.shape[0], documents.shape[1] - 1
    check_lab_memory(model.shape, length)
    together = max(1, AT_ONCE // length)
    out = np.empty((count, length))
    with torch.no_grad():
        for first in range(0, count, together):
            part = torch.from_numpy(documents[first : first + together].astype(np.int64))
            here = None if place is None else place.at(0, length)
            logits = model(part[:, :-1], place=here)
            nats = F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="none")
            out[first : first + together] = nats.view(-1, length).double().numpy()
    return out


def sliding_losses(model: LabModel, documents: npt.NDArray[np.uint8]) -> Array:
    """Return the loss of every byte but the first from the last bytes of a trained window: nats, (documents, length).

    The window moves on by a quarter of the trained length, and only the bytes that are new in it count: each is given
    between three quarters of it and all of it before, where there are so many bytes.

    Raises ValueError on an empty array.
    """
    context, length = model.shape.context, documents.shape[1] - 1
    step = max(1, context // 4)
    out = byte_losses(model, documents[:, : context + 1])
    for end in range(context + step, length + step, step):
        end = min(end, length)
        new = byte_losses(model, documents[:, end - context : end + 1])
        out = np.concatenate([out, new[:, out.shape[1] - end :]], axis=1)
    return out


def scheme_byte_losses(model: LabModel, documents: npt.NDArray[np.uint8], request: Request) -> Array:
    """Return ``byte_losses`` of a rope model under a request."""
    return byte_losses(model, documents, rotary_encoding_for(model.shape, request))
