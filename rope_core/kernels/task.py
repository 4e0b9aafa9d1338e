"""What one call asks of a backend, checked at the door; ``check_index_values`` reads the index tensors' values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from rope_core.errors import argument_error, checked_finite, checked_int
from rope_core.layout import HALF, Layout, checked_layout
from rope_core.spectrum import MAX_POSITION

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INDEX_DTYPES = (torch.int32, torch.int64)
# Below this many bytes nobody asks the system how much memory is left.
SMALL = 2**28


# Not frozen: one is made in every call, and a frozen one takes three times as long to make.
@dataclass(slots=True, eq=False)
class RotationSpec:
    """By how much each token turns.

    Attributes:
        cos, sin: (rows, pairs) tables that positions index, or (1 or B, S, pairs) already per token; None with steps.
        steps: int64 (pairs,), turns per token in 64-bit fixed point (Spectrum.phase_step); None with tables.
        scale: multiplies cos and sin made from ``steps`` (the attention factor).
        positions: (1 or B, S) integers, or None where tokens count up from ``start``.
        cu_seqlens: (n + 1,) borders of packed sequences, each counting from its own offset; or None.
        offsets: (B,) or (n,) first positions; or None.
        start: first position where there is no tensor that says otherwise.
        half: the half layout; else interleaved.
        back: turn the other way.
    """

    cos: Tensor | None
    sin: Tensor | None
    steps: Tensor | None
    scale: float
    positions: Tensor | None
    cu_seqlens: Tensor | None
    offsets: Tensor | None
    start: int
    half: bool
    back: bool = False

    @property
    def pairs(self) -> int:
        """Rotating pairs."""
        table = self.cos if self.steps is None else self.steps
        assert table is not None
        return int(table.shape[-1])

    @property
    def per_token(self) -> bool:
        """Whether cos and sin hold one row per token instead of one per position."""
        return self.cos is not None and self.cos.dim() == 3

    @property
    def rows(self) -> int:
        """The number of positions: 0..rows - 1."""
        return MAX_POSITION + 1 if self.cos is None else int(self.cos.shape[-2])

    @property
    def layout(self) -> str:
        """The layout's name."""
        return "half" if self.half else "interleaved"


def check_tensors(q: Any, k: Any) -> tuple[Tensor, Tensor]:
    """Return q and k as (B, S, heads, D), packed (T, heads, D) with a batch of one, or raise ValueError."""
    for name, x in (("q", q), ("k", k)):
        if not isinstance(x, Tensor):
            raise argument_error(name, "a torch tensor", type(x).__name__)
        if x.dtype not in DTYPES:
            raise argument_error(name, "float32, float16, bfloat16 or float64", x.dtype)
        if x.dim() not in (3, 4):
            raise argument_error(name, "of shape (B, S, heads, D) or packed (T, heads, D)", tuple(x.shape))
        if x.shape[-2] < 1 or x.shape[-1] < 2:
            raise argument_error(name, "of at least one head of at least two dimensions", tuple(x.shape))
    if q.dtype != k.dtype or q.device != k.device:
        raise argument_error("k", f"of q's type and device, {q.dtype} on {q.device}", f"{k.dtype} on {k.device}")
    if q.dim() != k.dim() or q.shape[:-2] != k.shape[:-2] or q.shape[-1] != k.shape[-1]:
        raise argument_error("k", f"of q's shape {tuple(q.shape)} but for the heads", tuple(k.shape))
    return (q, k) if q.dim() == 4 else (q.unsqueeze(0), k.unsqueeze(0))


def make_rotation_spec(
    q: Tensor,
    is_packed: bool,
    cos: Any,
    sin: Any,
    steps: Any,
    scale: float,
    layout: str | Layout,
    positions: Any,
    cu_seqlens: Any,
    offsets: Any,
) -> RotationSpec:
    """Return the checked RotationSpec for q (B, S, heads, D), or raise ValueError."""
    half = checked_layout(layout) is HALF
    batch, seq, dim = q.shape[0], q.shape[1], q.shape[3]
    if steps is None:
        _check_tables(q, cos, sin, dim, is_packed)
        per_token = cos.dim() == 3
        rows = int(cos.shape[-2])
    else:
        _check_steps(q, cos, sin, steps, dim)
        per_token, rows = False, MAX_POSITION + 1
    start = 0
    given = [name for name, value in _named(positions, cu_seqlens, offsets) if value is not None]
    if per_token and given:
        raise argument_error("cos", f"a table of (rows, rotary_dim/2) beside {given[0]}", tuple(cos.shape))
    if positions is not None and len(given) > 1:
        raise argument_error(given[1], "left out beside positions", "both")
    if cu_seqlens is not None:
        _check_index("cu_seqlens", cu_seqlens, q, 1)
        if batch != 1:
            raise argument_error("q", "packed (T, heads, D) beside cu_seqlens", tuple(q.shape))
        if cu_seqlens.shape[0] < 1:
            raise argument_error("cu_seqlens", "the n + 1 borders of n sequences", tuple(cu_seqlens.shape))
    if offsets is not None:
        _check_index("offsets", offsets, q, 1)
        count = batch if cu_seqlens is None else int(cu_seqlens.shape[0]) - 1
        if offsets.shape[0] != count:
            raise argument_error("offsets", f"one first position for each of {count} sequences", tuple(offsets.shape))
    if isinstance(positions, Tensor):
        positions = _check_positions(positions, q, batch, seq)
    elif positions is not None:
        start, positions = checked_int("positions", positions, 0, MAX_POSITION), None
    if not per_token and cu_seqlens is None and offsets is None and positions is None and start + seq > rows:
        raise argument_error("positions", f"below the table's {rows} rows", f"{start}..{start + seq - 1}")
    factor = checked_finite(
        "attention_factor", scale.item() if isinstance(scale, Tensor) and scale.ndim == 0 else scale
    )
    return RotationSpec(cos, sin, steps, factor, positions, cu_seqlens, offsets, start, half)


def _named(positions: Any, cu_seqlens: Any, offsets: Any) -> Sequence[tuple[str, Any]]:
    return ("positions", positions), ("cu_seqlens", cu_seqlens), ("offsets", offsets)


def _check_tables(q: Tensor, cos: Any, sin: Any, dim: int, packed: bool) -> None:
    for name, table in (("cos", cos), ("sin", sin)):
        if not isinstance(table, Tensor) or not table.is_floating_point():
            raise argument_error(name, "a tensor of floating-point numbers", getattr(table, "dtype", table))
        if table.requires_grad:
            raise argument_error(
                name, "a constant (requires_grad=False): no gradient reaches the tables", "requires_grad=True"
            )
        if table.device != q.device:
            raise argument_error(name, f"on q's device {q.device}", table.device)
    if cos.shape != sin.shape or cos.dtype != sin.dtype:
        raise argument_error("sin", f"of cos's shape {tuple(cos.shape)} and type", f"{tuple(sin.shape)} {sin.dtype}")
    fits_tokens = cos.dim() == 3 and cos.shape[0] in (1, q.shape[0]) and cos.shape[1] == q.shape[1]
    if cos.dim() != 2 and not fits_tokens:
        raise argument_error(
            "cos", f"of shape (rows, rotary_dim/2) or {(*q.shape[:2], 'rotary_dim/2')}", tuple(cos.shape)
        )
    _check_width("cos", int(cos.shape[-1]), dim)


def _check_steps(q: Tensor, cos: Any, sin: Any, steps: Any, dim: int) -> None:
    if cos is not None or sin is not None:
        raise argument_error("cos and sin", "None beside phase_step", "both")
    if not isinstance(steps, Tensor) or steps.dtype != torch.int64 or steps.dim() != 1:
        raise argument_error("phase_step", "an int64 tensor (rotary_dim/2,): Spectrum.phase_step.view(int64)", steps)
    if steps.device != q.device:
        raise argument_error("phase_step", f"on q's device {q.device}", steps.device)
    _check_width("phase_step", int(steps.shape[0]), dim)


def _check_width(name: str, pairs: int, dim: int) -> None:
    if pairs < 1 or 2 * pairs > dim:
        raise argument_error(name, f"1..{dim // 2} pairs wide to fit heads of {dim}", pairs)


def _check_index(name: str, index: Any, q: Tensor, dims: int) -> None:
    if not isinstance(index, Tensor) or index.dtype not in INDEX_DTYPES or index.dim() != dims:
        raise argument_error(name, f"an int32 or int64 tensor of {dims} dimension(s)", index)
    if index.device != q.device:
        raise argument_error(name, f"on q's device {q.device}", index.device)


def _check_positions(positions: Tensor, q: Tensor, batch: int, seq: int) -> Tensor:
    if positions.dtype not in INDEX_DTYPES:
        raise argument_error("positions", "of type int32 or int64", positions.dtype)
    if positions.device != q.device:
        raise argument_error("positions", f"on q's device {q.device}", positions.device)
    shaped = positions.unsqueeze(0) if positions.dim() == 1 else positions
    if shaped.dim() != 2 or shaped.shape[0] not in (1, batch) or shaped.shape[1] != seq:
        raise argument_error("positions", f"an integer, ({seq},) or ({batch}, {seq})", tuple(positions.shape))
    return shaped


def check_result_memory(*tensors: Tensor) -> None:
    """Raise ValueError when results like ``tensors`` would not fit into the memory that is free (CPU only)."""
    need = sum([x.nbytes for x in tensors])
    if need <= SMALL or tensors[0].device.type != "cpu":
        return
    free = available_memory()
    if need > free:
        raise argument_error("q and k", f"small enough for results within the {free:,} free bytes", f"{need:,} bytes")


def available_memory() -> int:
    """Return the bytes that the system says can still be had, or those physically free where it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_index_values(spec: RotationSpec, seq: int) -> None:
    """Raise ValueError on positions outside the table or borders that do not rise; reads the tensors' values."""
    rows = spec.rows
    if spec.positions is not None and spec.positions.numel():
        low, high = (int(v) for v in torch.aminmax(spec.positions))
        if low < 0 or high >= rows:
            raise argument_error("positions", f"integers in [0, {rows})", low if low < 0 else high)
    offsets = None if spec.offsets is None else spec.offsets.tolist()
    if offsets and min(offsets) < 0:
        raise argument_error("offsets", "integers >= 0", min(offsets))
    if spec.cu_seqlens is not None:
        borders = spec.cu_seqlens.tolist()
        if borders[0] != 0 or borders[-1] != seq or any(a > b for a, b in pairwise(borders)):
            raise argument_error("cu_seqlens", f"borders that never fall, from 0 to {seq}", borders)
        firsts = offsets or [0] * (len(borders) - 1)
        lengths = [b - a for a, b in pairwise(borders)]
        ends = [f + n for f, n in zip(firsts, lengths, strict=True) if n]
    else:
        ends = [f + seq for f in offsets] if offsets and seq else []
    if ends and max(ends) > rows:
        raise argument_error("positions", f"integers in [0, {rows})", max(ends) - 1)


def token_positions(spec: RotationSpec, seq: int, device: torch.device) -> Tensor:
    """Return every token's position, int64 (1 or B, S)."""
    if spec.positions is not None:
        return spec.positions.long()
    count = torch.arange(seq, device=device)
    if spec.cu_seqlens is not None:
        borders = spec.cu_seqlens.long()
        which = (torch.searchsorted(borders, count, right=True) - 1).clamp(min=0, max=max(len(borders) - 2, 0))
        first = borders[:-1] if spec.offsets is None else borders[:-1] - spec.offsets.long()
        placed = count - first[which] if len(first) else count
        return torch.where(count < borders[-1], placed, -1)[None]
    if spec.offsets is not None:
        return spec.offsets.long()[:, None] + count
    return (count + spec.start)[None]


def token_cos_sin(spec: RotationSpec, seq: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return cos and sin of every token, (1 or B, S, pairs) in ``dtype``; NaN where a position is outside the table.

    Source of the phase: Spectrum.phase_step; its product with the position wraps at whole turns.
    """
    if spec.per_token:
        assert spec.cos is not None and spec.sin is not None
        return spec.cos.to(dtype), spec.sin.to(dtype)
    where = token_positions(spec, seq, device)
    if spec.steps is not None:
        angle = (where[..., None] * spec.steps).double() * (2.0 * torch.pi / 2.0**64)
        cos, sin = angle.cos() * spec.scale, angle.sin() * spec.scale
        outside = (where < 0)[..., None]
        return cos.masked_fill(outside, torch.nan).to(dtype), sin.masked_fill(outside, torch.nan).to(dtype)
    assert spec.cos is not None and spec.sin is not None
    outside = ((where < 0) | (where >= spec.rows))[..., None]
    inside = where.clamp(0, max(spec.rows - 1, 0))
    cos, sin = spec.cos[inside].to(dtype), spec.sin[inside].to(dtype)
    return cos.masked_fill(outside, torch.nan), sin.masked_fill(outside, torch.nan)


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return the type that numbers of ``dtype`` are turned in: float64 for float64, else float32."""
    return torch.float64 if dtype == torch.float64 else torch.float32
