"""The GPU backend: chooses tiles and launches the Triton kernel, which takes q and k at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from rope_core.kernels import gpu_kernels
from rope_core.kernels.task import RotationSpec, compute_dtype

# Bytes of q or k that one step of a program's loop should have under way.
TILE_BYTES = 8192
# The interpreter pays for each program and not for its size.
INTERPRETED_TOKENS = 64


@dataclass(frozen=True)
class TileSizes:
    """How the work is cut.

    Attributes:
        tokens: tokens per program, a power of two.
        heads: heads that one step of its loop turns, a power of two.
        groups: programs that share the heads of the same tokens.
        warps: warps per program.
    """

    tokens: int
    heads: int
    groups: int
    warps: int = 4


def next_power_of_two(n: int) -> int:
    """Return the least power of two that is at least n.

    >>> [next_power_of_two(n) for n in (0, 1, 3, 64)]
    [1, 1, 4, 64]
    """
    return 1 << max(n - 1, 0).bit_length()


def choose_tiles(q: Tensor, k_heads: int, interpreted: bool) -> TileSizes:
    """Return the tiles for q (B, S, heads, D): long runs of memory, enough programs to fill the device.

    Where a token's heads lie side by side one program takes all heads of a few tokens, so that cos and sin are read
    once; where a head's tokens do, it takes more tokens of a few heads.
    """
    batch, seq, heads, dim = q.shape
    row = next_power_of_two(dim) * q.element_size()
    if interpreted:
        return TileSizes(min(next_power_of_two(seq), INTERPRETED_TOKENS), next_power_of_two(heads), 1)
    per_step = max(1, TILE_BYTES // row)
    if q.stride(1) >= q.stride(2):
        # As many heads as k has, so that its tiles are full too; a single one would scatter q's runs.
        wide = min(next_power_of_two(heads), max(4, next_power_of_two(k_heads)), per_step)
        tokens = max(1, min(per_step // wide, next_power_of_two(seq)))
        groups = 1 if batch * triton.cdiv(seq, tokens) >= 1024 else min(triton.cdiv(heads, wide), 8)
        return TileSizes(tokens, wide, groups)
    tokens = min(next_power_of_two(seq), max(1, min(16, per_step)))
    wide = max(1, min(next_power_of_two(heads), per_step // tokens))
    groups = triton.cdiv(heads, 4 * wide) if seq > 1 else triton.cdiv(heads, wide)
    return TileSizes(tokens, wide, max(1, groups))


def run_triton(
    tensors: tuple[Tensor, ...], spec: RotationSpec, out: tuple[Tensor, ...] | None, tiles: TileSizes | None = None
) -> tuple[Tensor, ...]:
    """Turn one or two tensors (B, S, heads, D) of any strides into ``out``, which may be the tensors themselves."""
    q = tensors[0]
    done = tuple(torch.empty_like(x) for x in tensors) if out is None else out
    batch, seq = q.shape[:2]
    if not batch * seq:
        return done
    k, k_heads = (tensors[1], tensors[1].shape[2]) if len(tensors) > 1 else (q, 0)
    cut = tiles or choose_tiles(q, k_heads, q.device.type == "cpu")
    grid = (batch * triton.cdiv(seq, cut.tokens) * cut.groups,)
    arguments, constants = launch_arguments(q, k, done[0], done[-1], k_heads, spec, cut)
    if q.device.type == "cuda":
        with torch.cuda.device(q.device):
            gpu_kernels.rotate_kernel[grid](*arguments, **constants, num_warps=cut.warps)
    else:
        gpu_kernels.rotate_kernel[grid](*arguments, **constants)
    return done


def launch_arguments(
    q: Tensor, k: Tensor, q_out: Tensor, k_out: Tensor, k_heads: int, spec: RotationSpec, cut: TileSizes
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the kernel's arguments and its compile-time constants."""
    pairs, dim = spec.pairs, q.shape[3]
    tensors = (q, k, q_out, k_out)
    align = _alignment(tensors)
    cos, sin, table_b, table_s = _tables(spec, q)
    where, positions, position_b, position_s = gpu_kernels.COUNT, q, 0, 0
    sequences = 0
    if spec.per_token:
        where = gpu_kernels.PER_TOKEN
    elif spec.positions is not None:
        positions = spec.positions
        where, position_s = gpu_kernels.GIVEN, positions.stride(1)
        position_b = positions.stride(0) if positions.shape[0] > 1 else 0
    elif spec.cu_seqlens is not None:
        where, sequences = gpu_kernels.PACKED, spec.cu_seqlens.shape[0] - 1
    elif spec.offsets is not None:
        where = gpu_kernels.OFFSET
    arguments = (
        q,
        k,
        q_out,
        k_out,
        cos,
        sin,
        q if spec.steps is None else spec.steps.contiguous(),
        positions,
        q if spec.cu_seqlens is None else spec.cu_seqlens.contiguous(),
        q if spec.offsets is None else spec.offsets.contiguous(),
        q.shape[1],
        spec.rows,
        spec.start,
        spec.scale,
        *(units for x in tensors for units in (*(stride // align for stride in x.stride()[:3]), x.stride(3))),
        table_b,
        table_s,
        position_b,
        position_s,
        sequences,
        int(sequences).bit_length(),
    )
    rest = dim - 2 * pairs
    constants = {
        "Q_HEADS": q.shape[2],
        "K_HEADS": k_heads,
        "PAIRS": pairs,
        "LANES": next_power_of_two(pairs),
        "DIM": dim,
        "REST": next_power_of_two(rest) if rest else 0,
        "HALF": spec.half,
        "BACK": spec.back,
        "COPY": q_out.data_ptr() != q.data_ptr(),
        "WHERE": where.value,
        "SHIFTED": spec.offsets is not None,
        "ANGLES": spec.steps is not None,
        "COMPUTE": tl.float64 if compute_dtype(q.dtype) == torch.float64 else tl.float32,
        "TOKENS": cut.tokens,
        "HEADS": cut.heads,
        "GROUPS": cut.groups,
        "ALIGN": align,
    }
    return arguments, constants


def _alignment(tensors: tuple[Tensor, ...]) -> int:
    """Return the largest power of two up to 16 that divides the strides of all axes but the last, in elements."""
    common = math.gcd(16, *(stride for x in tensors for stride in x.stride()[:3]))
    return common & -common


def _tables(spec: RotationSpec, q: Tensor) -> tuple[Tensor, Tensor, int, int]:
    """Return cos and sin with neighbouring pairs side by side, elements per batch row and elements per row."""
    if spec.cos is None or spec.sin is None:
        return q, q, 0, 0
    cos, sin = spec.cos, spec.sin
    if cos.stride(-1) != 1 or cos.stride() != sin.stride():
        cos, sin = cos.contiguous(), sin.contiguous()
    per_batch = cos.stride(0) if cos.dim() == 3 and cos.shape[0] > 1 else 0
    return cos, sin, per_batch, cos.stride(-2)
