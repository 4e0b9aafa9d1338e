"""What a loaded model's attention really multiplies: q and k of every layer at chosen positions, beside their inputs.

A forward pass is watched, not imitated: every product of q and k is seen where torch computes it, whatever the model's
code looks like, and so is every tensor that led there. No table of families or of function names is needed.

Each position is a sequence of its own in the batch, of one and the same token. Its attention has one key, so what a
layer hands on does not follow the position, and the projections of all rows are equal in every layer: a vector that is
the same in all rows is q or k before the rotation, one that is not is the rotated one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from rope_core.verification.products import QueryKeyProduct

WATCHED = ("eager", "sdpa", None)
MOST_WORDS = 512


@dataclass(frozen=True)
class ObservedRun:
    """A watched run: its products in order, the positions, the modules that ran, and a position a row or a token."""

    positions: tuple[int, ...]
    products: tuple[QueryKeyProduct, ...]
    ran: frozenset[str]
    along: str


def observe_attention(
    module: Any,
    positions: tuple[int, ...],
    model_type: str | None,
    raised: list[Exception],
    axis: int | None = None,
    only: str | None = None,
    max_products: int | None = None,
) -> ObservedRun | None:
    """Run the text part of ``module`` on one token at each position and return what its attention multiplied.

    With an ``axis``, 0 to 2, positions are three and the other two are 0, as of a patch of an image. With ``only``, a
    row for each position ("batch") or one text whose positions the model counts ("sequence") is tried.
    With ``max_products``
    the run ends after so many products that follow the position, and what came before them is not kept.

    The module is left as it was: buffers, attributes, training mode. None where no part of it can be run on token
    ids, or where nothing that is multiplied was seen; what the attempts raised is appended to ``raised``.
    """
    from rope_core.verification.recorder import ObservationComplete, QueryKeyRecorder

    for name, part in text_model_candidates(module, model_type):
        for arguments, along in candidate_inputs(part, positions, axis):
            if only not in (None, along):
                continue
            watch = QueryKeyRecorder(along, len(positions), max_products)
            where = positions if along == "batch" else tuple(range(len(positions)))
            with ExitStack() as stack:
                stack.enter_context(preserved_module_state(module))
                stack.enter_context(watch.watch_modules(part, name))
                try:
                    run_without_gradients(part, arguments)
                except ObservationComplete:
                    pass
                except Exception as error:
                    # Somebody's forward with a signature of its own: the next attempt, or no answer.
                    raised.append(error)
                    continue
            if watch.products:
                return ObservedRun(where, tuple(watch.products), frozenset(watch.ran), along)
    return None


def run_without_gradients(part: Any, arguments: dict[str, Any]) -> None:
    """Run a part without gradients."""
    import torch

    with torch.no_grad():
        part(**arguments)


def text_model_candidates(module: Any, model_type: str | None) -> Iterator[tuple[str, Any]]:
    """Parts that take token ids: the text model of this type first, then from the outside in."""
    parts = [(name, part) for name, part in module.named_modules() if takes_tokens(part)]
    own = [(name, part) for name, part in parts if type_of(part) == model_type]
    yield from (own + [row for row in parts if row not in own])[:6]


def type_of(part: Any) -> str | None:
    """Return the model_type in a module's config, or None."""
    return getattr(getattr(part, "config", None), "model_type", None)


def forward_argument_names(module: Any) -> list[str]:
    """Names of the arguments of a module's forward."""
    try:
        return list(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):
        return []


def cache_argument_name(module: Any) -> str:
    """Return what a forward and its answer call the cache: transformers' name, or that since 5.24; "" for none."""
    return next((name for name in ("past_key_values", "cache") if name in forward_argument_names(module)), "")


def takes_tokens(part: Any) -> bool:
    """Whether a forward takes token ids, or is one of somebody's own that holds an embedding and takes one tensor."""
    import torch

    names = forward_argument_names(part)
    if "input_ids" in names or "decoder_input_ids" in names:
        return True
    holds = any(isinstance(child, torch.nn.Embedding) for child in part.children())
    return holds and bool(names)


def candidate_inputs(
    part: Any, positions: tuple[int, ...], axis: int | None = None
) -> Iterator[tuple[dict[str, Any], str]]:
    """Arguments to try: a row for each position; then one sequence, where positions cannot be given."""
    import torch

    names = forward_argument_names(part)
    device = next((tensor.device for tensor in part.parameters()), torch.device("cpu"))
    count = len(positions)
    options = {name: value for name, value in (("use_cache", False), ("return_dict", True)) if name in names}
    where = torch.tensor(positions, device=device)
    first = "input_ids" if "input_ids" in names else names[0]
    ids = torch.full((count, 1), ordinary_token_ids(part)[0], dtype=torch.long, device=device)
    if axis is not None:
        three = torch.zeros(3, count, 1, dtype=torch.long, device=device)
        three[axis, :, 0] = where
        if "position_ids" in names:
            yield {first: ids, "position_ids": three, **options}, "batch"
        return
    if "position_ids" in names:
        yield {first: ids, "position_ids": where[:, None], **options}, "batch"
    if "decoder_input_ids" in names and "decoder_position_ids" in names:
        both = {"decoder_input_ids": ids, "decoder_position_ids": where[:, None], **options}
        own = {"position_ids": where[:, None]} if "position_ids" in names else {}
        yield {first: ids, **own, **both}, "batch"
    yield {first: ids.T, **options}, "sequence"


def ordinary_token_ids(module: Any) -> list[int]:
    """Return ids, at most MOST_WORDS, whose embedding is not 0 and that the config names no special token.

    A padding id's row is 0, and so are then q and k; an image's id asks for an image.
    """
    import torch

    try:
        table = module.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        table = next((child for child in module.modules() if isinstance(child, torch.nn.Embedding)), None)
    weight = getattr(table, "weight", None)
    if weight is None or weight.is_meta or weight.ndim != 2:
        return [1]
    fields = vars(module.config) if hasattr(module, "config") else {}
    special = [value for name, value in fields.items() if name.endswith(("_token_id", "_token_index"))]
    full = (weight[:MOST_WORDS].detach() != 0).any(dim=1).nonzero().flatten().tolist()
    return [word for word in full if word not in special] or full or [1]


@contextmanager
def preserved_module_state(module: Any) -> Iterator[None]:
    """Put a module into evaluation, and restore its modes, small buffers and rotary state afterwards."""
    import torch

    modes = [(part, part.training) for part in module.modules()]
    kept = []
    for part in module.modules():
        if any("inv_freq" in name for name in part._buffers):
            values = {name: None if buffer is None else buffer.clone() for name, buffer in part._buffers.items()}
            kept.append((part, dict(part.__dict__), dict(part._buffers), values))
    configs = {id(part.config): part.config for part in module.modules() if hasattr(part, "config")}
    switched = []
    for config in configs.values():
        kind = getattr(config, "_attn_implementation", None)
        if kind not in WATCHED:
            switched.append((config, kind))
            config._attn_implementation = "eager"
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode
        for config, kind in switched:
            config._attn_implementation = kind
        with torch.no_grad():
            for part, attributes, buffers, values in kept:
                part.__dict__.clear()
                part.__dict__.update(attributes)
                part._buffers.clear()
                part._buffers.update(buffers)
                for name, value in values.items():
                    if value is not None:
                        buffers[name].copy_(value)
