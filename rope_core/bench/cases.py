"""What is measured: shapes, types, memory order, direction; and the suites that list them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from rope_core.errors import argument_error, checked_int
from rope_core.layout import checked_layout

ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
TABLE_BYTES = 4
MEMORY = ("bhsd", "bshd")
DIRECTIONS = ("forward", "backward", "both")


@dataclass(frozen=True)
class BenchmarkCase:
    """One measured shape.

    Attributes:
        device: "cpu" or "cuda".
        dtype: "float32", "float16" or "bfloat16".
        batch, seq, q_heads, k_heads, dim, rotary_dim: sizes.
        layout: "half" or "interleaved".
        memory: "bhsd" or "bshd", the order in which q and k lie in memory.
        direction: "forward", "backward" or "both".
        inplace: whether results overwrite their inputs.
    """

    device: str
    dtype: str
    batch: int
    seq: int
    q_heads: int
    k_heads: int
    dim: int
    rotary_dim: int
    layout: str = "half"
    memory: str = "bhsd"
    direction: str = "forward"
    inplace: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (
            ("device", ("cpu", "cuda")),
            ("dtype", tuple(ITEM_BYTES)),
            ("memory", MEMORY),
            ("direction", DIRECTIONS),
        ):
            if getattr(self, name) not in allowed:
                raise argument_error(name, "one_of", getattr(self, name), names=allowed)
        checked_layout(self.layout)
        for name in ("batch", "seq", "q_heads", "k_heads", "dim", "rotary_dim"):
            object.__setattr__(self, name, checked_int(name, getattr(self, name), 1, 2**31 - 1))
        if self.q_heads % self.k_heads:
            raise argument_error("k_heads", "heads_divisor", self.k_heads, heads=self.q_heads)
        if self.rotary_dim % 2 or self.rotary_dim > self.dim:
            raise argument_error("rotary_dim", "even_most", self.rotary_dim, limit=self.dim)
        if self.inplace and self.direction != "forward":
            raise argument_error("inplace", "forward_only", self.direction)

    @property
    def tensor_bytes(self) -> int:
        """Bytes of q and k together."""
        return self.batch * self.seq * (self.q_heads + self.k_heads) * self.dim * ITEM_BYTES[self.dtype]

    @property
    def memory_passes(self) -> int:
        """How often q and k are read and written at the least: once, or twice for forward and backward."""
        return 2 if self.direction == "both" else 1

    @property
    def min_bytes_moved(self) -> int:
        """Bytes that must move at the least: q and k read once and written once in each pass, and the tables read."""
        tables = 2 * self.seq * (self.rotary_dim // 2) * TABLE_BYTES
        return self.memory_passes * (2 * self.tensor_bytes + tables)

    @property
    def key(self) -> str:
        """The case as text that compares equal for equal cases."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def title(self) -> str:
        """The case in one line."""
        shape = f"B{self.batch} S{self.seq} H{self.q_heads}/{self.k_heads} D{self.dim}"
        part = "" if self.rotary_dim == self.dim else f" R{self.rotary_dim}"
        place = " in place" if self.inplace else ""
        return f"{self.device} {self.dtype} {shape}{part} {self.layout} {self.memory} {self.direction}{place}"

    @classmethod
    def from_key(cls, key: str | dict[str, Any]) -> BenchmarkCase:
        """Read a case back, or raise ValueError."""
        values = json.loads(key) if isinstance(key, str) else key
        names = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or not set(values) <= names:
            raise argument_error("case", "object_with", values, names=sorted(names))
        try:
            return cls(**values)
        except TypeError as error:
            raise argument_error("case", "object_with", values, names=sorted(names)) from error


def _cpu_suite() -> Iterator[BenchmarkCase]:
    """Yield the CPU shapes: prefill and decode, both layouts, in and out of place, forward and backward."""
    for dtype in ("float32", "bfloat16"):
        big = BenchmarkCase("cpu", dtype, 1, 2048, 32, 32, 128, 128)
        for layout in ("half", "interleaved"):
            case = replace(big, layout=layout)
            yield from (case, replace(case, inplace=True), replace(case, direction="both"), replace(case, seq=1))
        yield from (replace(big, memory="bshd"), replace(big, direction="backward"))


def _quick_suite() -> Iterator[BenchmarkCase]:
    """Yield a few small CPU shapes, seconds long."""
    for dtype in ("float32", "bfloat16"):
        for layout in ("half", "interleaved"):
            yield BenchmarkCase("cpu", dtype, 1, 256, 8, 8, 128, 128, layout)


GPU_LENGTHS = (1, 16, 128, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
GPU_DIMS = (64, 96, 128, 256)


def _gpu_suite() -> Iterator[BenchmarkCase]:
    """Yield the GPU sweep: the headline shape in every direction, then lengths by widths by memory orders."""
    yield from dict.fromkeys(_gpu_cases())


def _gpu_cases() -> Iterator[BenchmarkCase]:
    head = BenchmarkCase("cuda", "bfloat16", 4, 8192, 32, 8, 128, 128)
    for memory in MEMORY:
        for layout in ("half", "interleaved"):
            case = replace(head, memory=memory, layout=layout)
            yield from (replace(case, direction=direction) for direction in DIRECTIONS)
            yield replace(case, inplace=True)
        for dim in GPU_DIMS:
            for seq in GPU_LENGTHS:
                # One batch row at the longest lengths keeps q, k, results and gradients of all peers on one card.
                case = replace(head, memory=memory, dim=dim, rotary_dim=dim, seq=seq, batch=4 if seq <= 16_384 else 1)
                yield from (case, replace(case, direction="backward"))


SUITES = {"cpu": _cpu_suite, "quick": _quick_suite, "gpu": _gpu_suite}
