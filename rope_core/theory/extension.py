"""All schemes side by side on one geometry: what each does to the pairs, up to factor times the trained length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import ArgumentError, finite, reject, whole
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import SCHEMES, Scheme
from rope_core.spectrum import Request, Spectrum, spectrum
from rope_core.theory.clock import Clock

MAX_CELLS = 4096

Params = Mapping[str, Mapping[str, object]]


def extends(scheme: Scheme) -> bool:
    """Say whether a scheme stretches any geometry by a factor alone, or is the unscaled one it is compared with.

    It is read off the declared Params: a factor above 1 as the default, or no Params at all. Schemes that need a
    model's own vectors, or whose factor is 1 unless somebody says otherwise, have a meaning in that model only.

    >>> extends(SCHEMES["linear"]), extends(SCHEMES["longrope"]), extends(SCHEMES["proportional"])
    (True, False, False)
    """
    default = scheme.defaults().get("factor")
    return not scheme.params or (isinstance(default, float) and default > 1.0)


def compared(own: str = "none") -> tuple[str, ...]:
    """Return the names of the schemes that extend, in SCHEMES's order, and ``own`` where it is not one of them.

    >>> "yarn" in compared(), "longrope" in compared(), "longrope" in compared("longrope")
    (True, False, True)
    """
    return tuple(name for name, scheme in SCHEMES.items() if extends(scheme) or name == own)


def reach(rope: Rope, factor: float) -> int:
    """Return factor times the trained length, tokens, rounded; raises ValueError unless it is in 1..2**31 - 1.

    >>> reach(Rope(128, 10_000.0, 4096), 4.0)
    16384
    """
    length = finite("factor", factor) * rope.train_len
    if not 1 <= length <= MAX_LEN:
        raise reject("factor", "product_range", factor, train_len=rope.train_len, limit=MAX_LEN)
    return round(length)


@dataclass(frozen=True)
class Extension:
    """One scheme on one geometry."""

    scheme: str
    request: Request
    spectrum: Spectrum


def extensions(rope: Rope, params: Params, seq_len: int) -> tuple[list[Extension], dict[str, ArgumentError]]:
    """Run the schemes that ``params`` names at one length; returns those that answer, and the others' errors by name.

    Args:
        rope: the geometry.
        params: each scheme's parameters by name.
        seq_len: the length in use, tokens; only schemes that follow it are given it.

    >>> extended, refused = extensions(Rope(2), {"linear": {"factor": 2.0}, "ntk": {"factor": 2.0}}, 8192)
    >>> [extension.scheme for extension in extended], list(refused)
    (['linear'], ['ntk'])
    """
    extended, refused = [], {}
    for name, values in params.items():
        try:
            request = Request(rope, name, values, seq_len if SCHEMES[name].follows_length else None)
            extended.append(Extension(name, request, spectrum(request)))
        except ArgumentError as error:
            refused[name] = error
    return extended, refused


def clocks(
    clock: Clock, params: Params, length: int, train_len: int
) -> tuple[dict[str, Clock], dict[str, ArgumentError]]:
    """Slow a clock's hands by every scheme that ``params`` names; returns the clocks, and the errors by name.

    ``length`` over ``train_len``, both tokens, is how many rounds of the slowest hand are in use, for the schemes that
    follow it. A scheme with one number per pair of some model has nothing to say about these hands and is refused with
    its own sentence.

    >>> from rope_core.theory.clock import WALL
    >>> clocks(WALL, {"linear": {"factor": 4.0}}, 8192, 4096)[0]["linear"].periods
    (240.0, 14400.0, 172800.0)
    """
    slowed, refused = {}, {}
    for name, values in params.items():
        try:
            seconds = clock.once_round * length / train_len if SCHEMES[name].follows_length else None
            slowed[name] = clock.slowed(clock.slowdown(name, values, seconds))
        except ArgumentError as error:
            refused[name] = error
    return slowed, refused


def unseen_pairs(rope: Rope, s: Spectrum, length: int) -> int:
    """Return how many pairs reach, within ``length`` tokens, angles that training within rope.train_len never showed.

    A pair that completed a turn in training has seen every angle; one that did not has seen [0, theta * train_len).

    >>> rope = Rope(128, 10_000.0, 4096)
    >>> unseen_pairs(rope, spectrum(Request(rope)), 16_384)
    18
    """
    whole_turn = 2.0 * np.pi
    seen = np.minimum(rope.theta * rope.train_len, whole_turn)
    used = np.minimum(s.inv_freq * whole("length", length, 1, MAX_LEN), whole_turn)
    return int(np.sum(used > seen * (1.0 + 1e-9)))


def cell_edges(length: int, count: int, logarithmic: bool) -> npt.NDArray[np.int64]:
    """Return the borders of at most ``count`` cells of whole positions: even from 0, or logarithmic from 1, to length.

    Shape (cells + 1,), strictly rising; narrow cells at the start of a logarithmic axis merge into whole positions.

    >>> cell_edges(8, 4, False).tolist(), cell_edges(8, 4, True).tolist()
    ([0, 2, 4, 6, 8], [1, 2, 3, 5, 8])
    """
    last = whole("length", length, 2, MAX_LEN)
    parts = whole("count", count, 1, MAX_CELLS)
    edges = np.geomspace(1, last, parts + 1) if logarithmic else np.linspace(0, last, parts + 1)
    return np.unique(np.rint(edges).astype(np.int64))


def mean_cos(s: Spectrum, edges: npt.ArrayLike) -> Array:
    """Return the mean of cos(position * inv_freq) over the positions of each cell [edges_j, edges_j+1).

    The sum over N positions from a is cos((a + (N - 1)/2) w) sin(N w/2) / sin(w/2), so a cell of many turns is 0, as
    it looks from afar, instead of a moire of single samples.

    Shapes: edges (cells + 1,) integers, rising; returns float64 (dim/2, cells).

    >>> mean_cos(Spectrum.of([0.0, np.pi]), [0, 1, 4]).round(4).tolist()
    [[1.0, 1.0], [1.0, -0.3333]]
    """
    borders = np.asarray(edges)
    if borders.ndim != 1 or borders.size < 2 or borders.dtype.kind not in "iu" or np.any(np.diff(borders) <= 0):
        raise reject("edges", "a rising vector of at least 2 integers", edges)
    first, count = borders[:-1].astype(np.float64), np.diff(borders).astype(np.float64)
    # Whole turns per token do not show at whole positions; without them only a still pair has half = 0.
    w = np.remainder(s.inv_freq + np.pi, 2.0 * np.pi)[:, None] - np.pi
    half = np.sin(w / 2.0)
    still = np.abs(half) < 1e-12
    kernel = np.where(still, count, np.sin(count * w / 2.0) / np.where(still, 1.0, half))
    return np.asarray(np.cos((first + (count - 1.0) / 2.0) * w) * kernel / count)
