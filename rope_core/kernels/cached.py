"""What an engine does to q, k and v before attention, in one pass: QK norm, rotation and the write into the cache."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from rope_core.errors import finite, reject
from rope_core.kernels.backends import choose
from rope_core.kernels.norm import eager_normed
from rope_core.kernels.task import Turn, check_tensors, compute_dtype, make_turn, token_tables, verify
from rope_core.layout import Layout

BACKENDS = ("eager", "numba")


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
    """Return q normalised and turned; write k, likewise, and v into the cache's slots. Forward only, CPU tensors.

    Args:
        q, k, v: packed (T, Hq, D), (T, Hk, D) and (T, Hk, Dv), any strides, as ``apply`` takes them.
        q_weight, k_weight: (D,), RMSNorm's weights; each head is normalised by itself (Qwen3, Gemma 3).
        cos, sin: tables (rows, rotary_dim/2) that positions index.
        k_cache, v_cache: (slots, Hk, D or Dv), or in blocks (blocks, block, Hk, D or Dv) whose tokens count through.
        slots: integers (T,), each token's slot; -1 writes nothing. Each slot at most once.
        layout: "interleaved" or "half".
        eps: added to the mean square.
        unit_offset: multiply by 1 + weight (Gemma) instead of weight.
        positions: the first token's position (0), or integers (T,).
        out: where q goes, of its shape and type, q itself allowed; None makes a tensor.
        backend: "numba", one pass, or "eager", one step after the other; None is numba.

    Raises:
        ValueError: on shapes, types, positions or slots that do not fit, and on tensors that require a gradient.

    Sources: vLLM's slot_mapping, reshape_and_cache in csrc/cache_kernels.cu; RMSNorm as in ``apply_normed``.

    >>> x = torch.tensor([[[3.0, 4.0]]])
    >>> one, cache, table = torch.ones(2), torch.zeros(2, 1, 2), (torch.zeros(1, 1), torch.ones(1, 1))
    >>> q = apply_normed_cached(x, x, x, one, one, *table, cache, cache.clone(), torch.tensor([1]), layout="half")
    >>> q.mul(12.5**0.5).round().tolist(), cache[0].tolist(), torch.equal(cache[1], q[0])
    ([[[-4.0, 3.0]]], [[0.0, 0.0]], True)
    """
    q4, k4 = check_tensors(q, k)
    if q.dim() != 3:
        raise reject("q", "packed (T, heads, D)", tuple(q.shape))
    if q.device.type != "cpu":
        raise reject("q", "on the CPU", q.device)
    small = finite("eps", eps, "a positive number")
    if small <= 0:
        raise reject("eps", "a positive number", eps)
    turn = make_turn(q4, True, cos, sin, None, 1.0, layout, positions, None, None)
    if turn.per_token:
        raise reject("cos", "a table of (rows, rotary_dim/2), which positions index", tuple(cos.shape))
    _check_v(k, v)
    for name, weight in (("q_weight", q_weight), ("k_weight", k_weight)):
        if not isinstance(weight, Tensor) or not weight.is_floating_point() or weight.shape != q.shape[2:]:
            raise reject(name, f"a floating-point tensor ({q.shape[2]},)", getattr(weight, "shape", weight))
    flat = _flat("k_cache", k_cache, k), _flat("v_cache", v_cache, v)
    where = _slots(slots, k, flat)
    if torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v, q_weight, k_weight, k_cache, v_cache)):
        raise reject("q, k, v and weights", "without gradients, which a write into a cache does not make", "a gradient")
    if out is not None and (out.shape != q.shape or out.dtype != q.dtype or out.device != q.device):
        raise reject("out", f"{q.dtype} {tuple(q.shape)}", f"{out.dtype} {tuple(out.shape)}")
    chosen = choose(backend, q.device).name
    if chosen not in BACKENDS:
        raise reject("backend", "one_of", backend, names=BACKENDS)
    verify(turn, 1, len(q))
    kind = compute_dtype(q.dtype)
    gains = [weight.detach().to(kind).add(float(unit_offset)).contiguous() for weight in (q_weight, k_weight)]
    done = torch.empty_like(q) if out is None else out
    if chosen == "numba":
        from rope_core.kernels import cpu_cached

        tables = turn.cos.to(kind).contiguous(), turn.sin.to(kind).contiguous()  # type: ignore[union-attr]
        at = None if turn.positions is None else turn.positions[0].long()
        cpu_cached.forward(q, k, v, done, flat, (gains[0], gains[1]), tables, at, turn.start, where, turn.half, small)
        return done
    _in_steps(q4, k4, v, turn, gains, flat, where, small, done)
    return done


def _in_steps(
    q: Tensor, k: Tensor, v: Tensor, turn: Turn, gains: list[Tensor], caches: tuple[Tensor, Tensor], slots: Tensor,
    eps: float, out: Tensor,
) -> None:  # fmt: skip
    """Do the same by torch's own operations, one after the other."""
    c, s = token_tables(turn, 1, q.shape[1], q.device, gains[0].dtype)
    tables = replace(turn, cos=c, sin=s, positions=None, start=0)
    turned = [eager_normed(x, gain, tables, eps, 0.0, False)[0] for x, gain in zip((q, k), gains, strict=True)]
    out.copy_(turned[0])
    written = slots >= 0
    for cache, rows in zip(caches, (turned[1], v), strict=True):
        cache[slots[written]] = rows[written]


def _check_v(k: Tensor, v: Tensor) -> None:
    if not isinstance(v, Tensor) or v.dim() != 3 or v.shape[:2] != k.shape[:2]:
        raise reject("v", f"of shape {tuple(k.shape[:2])} and a width", getattr(v, "shape", v))
    if v.dtype != k.dtype or v.device != k.device:
        raise reject("v", f"of k's type and device, {k.dtype} on {k.device}", f"{v.dtype} on {v.device}")


def _flat(name: str, cache: Tensor, rows: Tensor) -> Tensor:
    """Return a cache as (slots, heads, D), a view of it."""
    if not isinstance(cache, Tensor) or cache.dim() not in (3, 4) or cache.shape[-2:] != rows.shape[1:]:
        raise reject(
            name, f"(slots, {', '.join(map(str, rows.shape[1:]))}) or in blocks", getattr(cache, "shape", cache)
        )
    if cache.dtype != rows.dtype or cache.device != rows.device:
        raise reject(name, f"{rows.dtype} on {rows.device}", f"{cache.dtype} on {cache.device}")
    if any(step == 0 and size > 1 for step, size in zip(cache.stride(), cache.shape, strict=True)):
        raise reject(name, "no expanded tensor, because several elements share its memory", cache.stride())
    if cache.dim() == 3:
        return cache
    if cache.stride(0) != cache.shape[1] * cache.stride(1) and cache.shape[0] > 1:
        raise reject(name, "made of blocks that follow one another without a gap", cache.stride())
    return cache.flatten(0, 1)


def _slots(slots: Tensor, k: Tensor, caches: tuple[Tensor, Tensor]) -> Tensor:
    """Return the slots as int64, or raise ValueError."""
    if not isinstance(slots, Tensor) or slots.dtype not in (torch.int32, torch.int64) or slots.shape != k.shape[:1]:
        raise reject("slots", f"an int32 or int64 tensor ({len(k)},)", slots)
    room = min(len(cache) for cache in caches)
    if slots.numel():
        low, high = (int(value) for value in torch.aminmax(slots))
        if low < -1 or high >= room:
            raise reject("slots", f"integers in [-1, {room})", low if low < -1 else high)
    return slots.long()
