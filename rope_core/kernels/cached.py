"""What an engine does to q, k and v before attention: QK norm, rotation and the write into the cache."""

from __future__ import annotations

import torch
from torch import Tensor

from rope_core.errors import argument_error
from rope_core.kernels.norm import apply_normed
from rope_core.kernels.task import check_tensors
from rope_core.layout import Layout


def apply_normed_cached(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    cos: Tensor,
    sin: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    slots: Tensor,
    *,
    layout: str | Layout,
    eps: float = 1e-6,
    unit_offset: bool = False,
    positions: Tensor | int | None = None,
    out: Tensor | None = None,
    backend: str | None = None,
) -> Tensor:
    """Return q normalised and turned; write k, likewise, and v into the cache's slots. Forward only.

    ``apply_normed``, then one indexed write each for k and v. The slots' values are read, for which a GPU is waited.

    Args:
        q, k, v: packed (T, Hq, D), (T, Hk, D) and (T, Hk, Dv), any strides, as ``apply`` takes them.
        q_weight, k_weight: (D,), RMSNorm's weights; each head is normalised by itself (Qwen3, Gemma 3).
        cos, sin: tables (rows, rotary_dim/2) that positions index.
        k_cache, v_cache: (slots, Hk, D or Dv), or in blocks (blocks, block, Hk, D or Dv) whose tokens count through.
        slots: integers (T,), each token's slot; -1 writes nothing. Each slot at most once.
        layout, eps, unit_offset, backend: as in ``apply_normed``.
        positions: the first token's position (0), or integers (T,).
        out: where q goes, of its shape and type, q itself allowed; None makes a tensor.

    Raises:
        ValueError: on shapes, types, positions or slots that do not fit, and on tensors that require a gradient.

    Source: vLLM's slot_mapping, reshape_and_cache in csrc/cache_kernels.cu.

    >>> x = torch.tensor([[[3.0, 4.0]]])
    >>> one, cache, table = torch.ones(2), torch.zeros(2, 1, 2), (torch.zeros(1, 1), torch.ones(1, 1))
    >>> q = apply_normed_cached(x, x, x, one, one, *table, cache, cache.clone(), torch.tensor([1]), layout="half")
    >>> q.mul(12.5**0.5).round().tolist(), cache[0].tolist(), torch.equal(cache[1], q[0])
    ([[[-4.0, 3.0]]], [[0.0, 0.0]], True)
    """
    check_tensors(q, k)
    if q.dim() != 3:
        raise argument_error("q", "packed (T, heads, D)", tuple(q.shape))
    _check_v(k, v)
    for name, weight in (("q_weight", q_weight), ("k_weight", k_weight)):
        if not isinstance(weight, Tensor):
            raise argument_error(name, "a torch tensor", type(weight).__name__)
    caches = _flat("k_cache", k_cache, k), _flat("v_cache", v_cache, v)
    where = _slots(slots, k, caches)
    if torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v, q_weight, k_weight, k_cache, v_cache)):
        raise argument_error(
            "q, k, v and weights", "without gradients, which a write into a cache does not make", "a gradient"
        )
    if out is not None and (out.shape != q.shape or out.dtype != q.dtype or out.device != q.device):
        raise argument_error("out", f"{q.dtype} {tuple(q.shape)}", f"{out.dtype} {tuple(out.shape)}")
    turned, keys = apply_normed(
        q, k, q_weight, k_weight, cos, sin, layout=layout, eps=eps, unit_offset=unit_offset, positions=positions,
        backend=backend,
    )  # fmt: skip
    written = where >= 0
    for cache, rows in zip(caches, (keys, v), strict=True):
        cache[where[written]] = rows[written]
    return turned if out is None else out.copy_(turned)


def _check_v(k: Tensor, v: Tensor) -> None:
    if not isinstance(v, Tensor) or v.dim() != 3 or v.shape[:2] != k.shape[:2]:
        raise argument_error("v", f"of shape {tuple(k.shape[:2])} and a width", getattr(v, "shape", v))
    if v.dtype != k.dtype or v.device != k.device:
        raise argument_error("v", f"of k's type and device, {k.dtype} on {k.device}", f"{v.dtype} on {v.device}")


def _flat(name: str, cache: Tensor, rows: Tensor) -> Tensor:
    """Return a cache as (slots, heads, D), a view of it."""
    if not isinstance(cache, Tensor) or cache.dim() not in (3, 4) or cache.shape[-2:] != rows.shape[1:]:
        raise argument_error(
            name, f"(slots, {', '.join(map(str, rows.shape[1:]))}) or in blocks", getattr(cache, "shape", cache)
        )
    if cache.dtype != rows.dtype or cache.device != rows.device:
        raise argument_error(name, f"{rows.dtype} on {rows.device}", f"{cache.dtype} on {cache.device}")
    if any(step == 0 and size > 1 for step, size in zip(cache.stride(), cache.shape, strict=True)):
        raise argument_error(name, "no expanded tensor, because several elements share its memory", cache.stride())
    if cache.dim() == 3:
        return cache
    if cache.stride(0) != cache.shape[1] * cache.stride(1) and cache.shape[0] > 1:
        raise argument_error(name, "made of blocks that follow one another without a gap", cache.stride())
    return cache.flatten(0, 1)


def _slots(slots: Tensor, k: Tensor, caches: tuple[Tensor, Tensor]) -> Tensor:
    """Return the slots as int64, or raise ValueError."""
    if not isinstance(slots, Tensor) or slots.dtype not in (torch.int32, torch.int64) or slots.shape != k.shape[:1]:
        raise argument_error("slots", f"an int32 or int64 tensor ({len(k)},)", slots)
    if slots.device != k.device:
        raise argument_error("slots", f"on k's device, {k.device}", slots.device)
    room = min(len(cache) for cache in caches)
    if slots.numel():
        low, high = (int(value) for value in torch.aminmax(slots))
        if low < -1 or high >= room:
            raise argument_error("slots", f"integers in [-1, {room})", low if low < -1 else high)
    return slots.long()
