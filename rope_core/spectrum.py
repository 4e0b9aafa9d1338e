"""From a request to frequencies, and from frequencies and positions to cos and sin."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import MAX_LEN, Array, Rope, read_only_array
from rope_core.schemes import UNSCALED, ParamValue, apply_scheme, get_scheme

MAX_POSITION = 2**31 - 1
MAX_ELEMENTS = 2**30

# 2**160 / (2 pi), rounded: enough digits for the phase of position 2**31 to be exact to 2**-33 turns.
_PER_TURN = Fraction(232605209918111709774537830547806037080859518310, 2**160)

CosSin = tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]


@dataclass(frozen=True)
class Request:
    """Everything a spectrum depends on; hashable whatever it was given, so it is the whole cache key.

    Args:
        rope: the geometry.
        scheme: a name in SCHEMES; "none" is one too.
        params: the scheme's parameters by name; those left out take their defaults.
        seq_len: the length in use, in tokens; None means the trained length.

    Raises:
        ValueError: on an unknown scheme or parameter, or a value outside its range.
    """

    rope: Rope
    scheme: str = UNSCALED
    params: Mapping[str, object] = field(default_factory=dict)
    seq_len: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rope, Rope):
            raise argument_error("rope", "a Rope", self.rope)
        if not isinstance(self.params, Mapping):
            raise argument_error("params", "a mapping from parameter name to value", self.params)
        checked = get_scheme(self.scheme).parse(self.params, self.rope.pairs)
        object.__setattr__(self, "params", FrozenParams(checked))
        if self.seq_len is not None:
            object.__setattr__(self, "seq_len", checked_int("seq_len", self.seq_len, 1, MAX_LEN))


class FrozenParams(dict[str, ParamValue]):
    """A dict of checked parameters that hashes by its items and cannot change."""

    def __hash__(self) -> int:  # type: ignore[override, unused-ignore]
        return hash(frozenset(self.items()))

    def _refuse(self, *_: object, **__: object) -> None:
        raise TypeError("a Request's params cannot change; make another Request")

    __setitem__ = __delitem__ = _refuse
    clear = pop = popitem = setdefault = update = __ior__ = _refuse  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """What a model that runs the request turns by.

    Attributes:
        inv_freq: float64 (dim/2,), rad/token; 0 for a pair that does not turn.
        slowdown: float64 (dim/2,), dimensionless, theta / inv_freq.
        attention_factor: multiplies cos and sin; logits get its square.
    """

    inv_freq: Array
    slowdown: Array
    attention_factor: float = 1.0

    @property
    def wavelength(self) -> Array:
        """Tokens per turn of each pair, float64 (dim/2,); infinite for a pair that does not turn."""
        with np.errstate(divide="ignore"):
            return 2.0 * np.pi / self.inv_freq

    @cached_property
    def phase_step(self) -> npt.NDArray[np.uint64]:
        """Turns per token in 64-bit fixed point, uint64 (dim/2,): round(inv_freq / 2 pi * 2**64) mod 2**64."""
        turns = (round(Fraction(float(f)) * _PER_TURN * 2**64) for f in self.inv_freq)
        steps = np.array([turn % 2**64 for turn in turns], dtype=np.uint64)
        steps.flags.writeable = False
        return steps

    @classmethod
    def from_inv_freq(cls, inv_freq: npt.ArrayLike, attention_factor: float = 1.0) -> Spectrum:
        """Wrap frequencies that came from elsewhere, rad/token (dim/2,), non-negative and finite."""
        values = read_only_array(inv_freq)
        if values.ndim != 1 or not values.size or not np.all(np.isfinite(values)) or np.any(values < 0):
            raise argument_error("inv_freq", "a non-empty vector of finite numbers >= 0", inv_freq)
        return cls(values, read_only_array(np.ones_like(values)), float(attention_factor))


@lru_cache(maxsize=1024)
def spectrum(request: Request) -> Spectrum:
    """Return the frequencies and the attention factor that ``request`` asks for; cached by the whole request.

    Shapes: inv_freq and slowdown float64 (dim/2,), read-only.

    >>> s = spectrum(Request(Rope(4, 100.0), "linear", {"factor": 2.0}))
    >>> s.inv_freq.tolist(), s.slowdown.tolist(), s.attention_factor
    ([0.5, 0.05], [2.0, 2.0], 1.0)
    """
    rope = request.rope
    seq_len = rope.train_len if request.seq_len is None else request.seq_len
    answer = apply_scheme(rope, request.scheme, request.params, seq_len)
    return Spectrum(read_only_array(rope.theta / answer.slowdown), answer.slowdown, answer.attention_factor)


def checked_positions(positions: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return ``positions`` as int64 (n,), or raise ValueError unless they are integers in [0, 2**31)."""
    rule = "integers in [0, 2**31)"
    if isinstance(positions, range):
        if positions and not all(0 <= end <= MAX_POSITION for end in (positions[0], positions[-1])):
            raise argument_error("positions", rule, positions)
        return np.arange(positions.start, positions.stop, positions.step, dtype=np.int64)
    given = np.asarray(positions)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise argument_error("positions", f"a vector of {rule}", positions)
    if given.size and (given.min() < 0 or given.max() > MAX_POSITION):
        raise argument_error("positions", rule, positions)
    return given.astype(np.int64)


def refuse_oversized_table(s: Spectrum, positions: npt.ArrayLike) -> None:
    """Raise ValueError, before anything is allocated, when positions times pairs exceed MAX_ELEMENTS."""
    if isinstance(positions, Sized) and len(positions) * s.inv_freq.size > MAX_ELEMENTS:
        most = MAX_ELEMENTS // s.inv_freq.size
        raise argument_error("the number of positions", "table_entries", len(positions), most=most, limit=MAX_ELEMENTS)


def position_angles(s: Spectrum, positions: npt.ArrayLike) -> Array:
    """Return position times inv_freq reduced to [-pi, pi), float64 (n, dim/2), rad.

    The phase is reduced in 64-bit fixed point, so the error is below 1e-9 rad at every position < 2**31.
    Raises ValueError on positions outside [0, 2**31) or too many of them.
    """
    refuse_oversized_table(s, positions)
    steps = checked_positions(positions).astype(np.uint64)[:, None] * s.phase_step[None, :]
    return np.asarray(steps.view(np.int64) * (2.0 * np.pi / 2**64), dtype=np.float64)


def table_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return ``dtype`` as numpy's, or raise ValueError unless it is a float of 16, 32 or 64 bits."""
    rule = "float16, float32 or float64"
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise argument_error("dtype", rule, dtype) from None
    if dtype is None or kind.name not in ("float16", "float32", "float64"):
        raise argument_error("dtype", rule, dtype)
    return kind


def checked_or_new_tables(s: Spectrum, rows: int, dtype: np.dtype[Any], out: CosSin | None) -> CosSin:
    """Return ``out`` once checked, or two new arrays (rows, dim/2) of ``dtype``."""
    shape = (rows, s.inv_freq.size)
    if out is None:
        return np.empty(shape, dtype), np.empty(shape, dtype)
    for name, table in zip(("out[0]", "out[1]"), out, strict=True):
        if table.shape != shape or table.dtype != dtype or not table.flags.c_contiguous or not table.flags.writeable:
            raise argument_error(
                name, f"a writeable C-contiguous {dtype} array of shape {shape}", (table.shape, table.dtype)
            )
    return out


def cos_sin(
    s: Spectrum, positions: npt.ArrayLike, dtype: npt.DTypeLike = "float32", out: CosSin | None = None
) -> CosSin:
    """Return cos and sin of position times inv_freq, each C-contiguous (n, dim/2), without attention_factor.

    Args:
        s: a Spectrum (dim/2 frequencies).
        positions: integers in [0, 2**31), (n,).
        dtype: "float32", "float64" or "float16".
        out: two preallocated C-contiguous (n, dim/2) arrays of ``dtype`` to write into.

    Raises:
        ValueError: on positions outside the range, or an ``out`` of another shape or dtype.

    The float32 error is at most 2e-7 against exact arithmetic with inv_freq taken as exact. Consecutive positions
    are built by the angle-sum identity from two small tables, other positions one by one.

    >>> c, s_ = cos_sin(spectrum(Request(Rope(2, 10.0))), [0, 1], "float64")
    >>> c.round(6).tolist(), s_.round(6).tolist()
    ([[1.0], [0.540302]], [[0.0], [0.841471]])
    """
    refuse_oversized_table(s, positions)
    where = checked_positions(positions)
    kind = table_dtype(dtype)
    cos, sin = checked_or_new_tables(s, where.size, kind, out)
    consecutive = where.size > FINE and bool(np.all(np.diff(where) == 1))
    if kind == np.dtype("float32") and consecutive:
        _fill_consecutive(s, int(where[0]), cos, sin)
        return cos, sin
    for low in range(0, where.size, CHUNK):
        part = slice(low, low + CHUNK)
        angle = position_angles(s, where[part])
        cos[part], sin[part] = np.cos(angle), np.sin(angle)
    return cos, sin


FINE = 512
TILE = 8
CHUNK = 8192


def _fill_consecutive(s: Spectrum, start: int, cos: npt.NDArray[Any], sin: npt.NDArray[Any]) -> None:
    """Write rows start, start + 1, ... as (coarse + fine): e^{i(a+b)} = e^{ia} e^{ib}, in blocks of FINE rows.

    TILE rows at a time form one line, because numpy's inner loop over a single row of dim/2 is too short.
    """
    rows, pairs = cos.shape
    fine = position_angles(s, np.arange(FINE))
    fine_cos, fine_sin = np.cos(fine).astype(np.float32), np.sin(fine).astype(np.float32)
    coarse = position_angles(s, np.arange(start, start + rows, FINE))
    coarse_cos = np.tile(np.cos(coarse).astype(np.float32), TILE)
    coarse_sin = np.tile(np.sin(coarse).astype(np.float32), TILE)
    scratch = np.empty((FINE, pairs), np.float32)
    for block, low in enumerate(range(0, rows, FINE)):
        n = min(FINE, rows - low)
        line = pairs if n % TILE else pairs * TILE
        c, d = coarse_cos[block, :line], coarse_sin[block, :line]
        a, b, spare = (table[:n].reshape(-1, line) for table in (fine_cos, fine_sin, scratch))
        to_cos, to_sin = (table[low : low + n].reshape(-1, line) for table in (cos, sin))
        np.multiply(a, c, out=to_cos)
        np.multiply(b, d, out=spare)
        to_cos -= spare
        np.multiply(b, c, out=to_sin)
        np.multiply(a, d, out=spare)
        to_sin += spare
