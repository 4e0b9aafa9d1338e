"""All schemes side by side on one geometry: what each does to the pairs, up to factor times the trained length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rope_core.errors import ArgumentError, argument_error, checked_finite, checked_int
from rope_core.rope import MAX_LEN, Array, Rope
from rope_core.schemes import SCHEMES, UNSCALED, Scheme
from rope_core.spectrum import Request, Spectrum, spectrum

MAX_CELLS = 4096
TURN = 2.0 * np.pi
SHORT = 0.2
"""Turns in training of a hand that a longer text sends to new angles for a while."""
# An angle that is passed by rounding alone is not passed.
SLACK = 1.0 + 1e-9

ParamsByScheme = Mapping[str, Mapping[str, object]]


def is_factor_only_scheme(scheme: Scheme) -> bool:
    """Say whether a scheme stretches any geometry by a factor alone, or is the unscaled one it is compared with.

    It is read off the declared Params: a factor above 1 as the default, or no Params at all. Schemes that need a
    model's own vectors, or whose factor is 1 unless somebody says otherwise, have a meaning in that model only.

    >>> [is_factor_only_scheme(SCHEMES[name]) for name in ("linear", "longrope", "proportional")]
    [True, False, False]
    """
    default = scheme.defaults().get("factor")
    return not scheme.params or (isinstance(default, float) and default > 1.0)


def compared_schemes(own: str = "none") -> tuple[str, ...]:
    """Return the names of the schemes up to YaRN that extend, in SCHEMES's order, and ``own`` where it is another.

    >>> "yarn" in compared_schemes(), "longrope" in compared_schemes(), "longrope" in compared_schemes("longrope")
    (True, False, True)
    """
    return tuple(n for n, scheme in SCHEMES.items() if (is_factor_only_scheme(scheme) and not scheme.newer) or n == own)


def extended_length(rope: Rope, factor: float) -> int:
    """Return factor times the trained length, tokens, rounded; raises ValueError unless it is in 1..2**31 - 1.

    >>> extended_length(Rope(128, 10_000.0, 4096), 4.0)
    16384
    """
    length = checked_finite("factor", factor) * rope.train_len
    if not 1 <= length <= MAX_LEN:
        raise argument_error("factor", "product_range", factor, train_len=rope.train_len, limit=MAX_LEN)
    return round(length)


@dataclass(frozen=True)
class SchemeSpectrum:
    """One scheme on one geometry."""

    scheme: str
    request: Request
    spectrum: Spectrum


def scheme_spectra(
    rope: Rope, params: ParamsByScheme, seq_len: int | None
) -> tuple[list[SchemeSpectrum], dict[str, ArgumentError]]:
    """Run the schemes that ``params`` names at one length; returns those that answer, and the others' errors by name.

    Args:
        rope: the geometry.
        params: each scheme's parameters by name.
        seq_len: the length in use, tokens, None for the trained one; only schemes that follow it are given it.

    >>> extended, refused = scheme_spectra(Rope(2), {"linear": {"factor": 2.0}, "ntk": {"factor": 2.0}}, 8192)
    >>> [extension.scheme for extension in extended], list(refused)
    (['linear'], ['ntk'])
    """
    extended, refused = [], {}
    for name, values in params.items():
        try:
            request = Request(rope, name, values, seq_len if SCHEMES[name].follows_length else None)
            extended.append(SchemeSpectrum(name, request, spectrum(request)))
        except ArgumentError as error:
            refused[name] = error
    return extended, refused


def length_independent_schemes(own: str = UNSCALED) -> tuple[str, ...]:
    """Return the names of the schemes of `compared_schemes` but those that wait for the text's length; and ``own``.

    >>> length_independent_schemes(), "longrope" in length_independent_schemes("longrope")
    (('linear', 'ntk', 'ntk_by_parts', 'yarn', 'llama3'), True)
    """
    each = [name for name in compared_schemes(own) if name != UNSCALED]
    return tuple(name for name in each if name == own or not SCHEMES[name].follows_length)


def with_factor(request: Request, factor: float) -> Request:
    """Return a request with another factor; one whose scheme takes none as it is.

    A scheme that follows the length gets factor times the trained length where the request has none.

    >>> request = with_factor(Request(Rope(8, 100.0, 16), "dynamic"), 2.0)
    >>> request.params, request.seq_len
    ({'factor': 2.0}, 32)
    """
    scheme = SCHEMES[request.scheme]
    if scheme.follows_length and request.seq_len is None:
        request = replace(request, seq_len=extended_length(request.rope, factor))
    if "factor" not in request.params:
        return request
    return replace(request, params={**request.params, "factor": factor})


def first_pair_under_fifth_turn(rope: Rope) -> int:
    """Return the first pair that made less than a fifth of a turn in training, the last one where none did.

    At four times the trained length it has not come round yet.

    >>> first_pair_under_fifth_turn(Rope(128, 10_000.0, 4096)), first_pair_under_fifth_turn(Rope(2))
    (57, 0)
    """
    slow = rope.turns < SHORT
    return int(slow.argmax()) if slow.any() else rope.pairs - 1


def trained_angles(rope: Rope) -> Array:
    """Return the angle up to which training turned each pair, rad, at most a whole turn, float64 (dim/2,)."""
    return np.minimum(rope.theta * rope.train_len, TURN)


def reached_untrained_angle_mask(rope: Rope, s: Spectrum, distances: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which pairs come, on the way from 0 to each distance, to angles that training never showed.

    A pair that completed a turn in training has seen every angle; one that did not has seen [0, theta * train_len).

    Shapes: distances in tokens (n,); returns bool (n, dim/2).
    """
    used = np.minimum(np.multiply.outer(np.asarray(distances, dtype=np.float64), s.inv_freq), TURN)
    return np.asarray(used > trained_angles(rope) * SLACK)


def untrained_angle_mask(rope: Rope, s: Spectrum, distances: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which pairs are, at each distance itself, at an angle that training never showed, bool (n, dim/2).

    A pair that went on past a whole turn is back at angles that it knows.

    >>> rope = Rope(4, 10_000.0, 100)
    >>> plain = spectrum(Request(rope))
    >>> reached_untrained_angle_mask(rope, plain, [100, 200, 700])[:, 1].tolist()
    [False, True, True]
    >>> untrained_angle_mask(rope, plain, [100, 200, 700])[:, 1].tolist()
    [False, True, False]
    """
    angle = np.multiply.outer(np.asarray(distances, dtype=np.float64), s.inv_freq)
    return np.asarray(
        reached_untrained_angle_mask(rope, s, distances) & (np.mod(angle, TURN) > trained_angles(rope) * SLACK)
    )


def untrained_pair_count(rope: Rope, s: Spectrum, length: int) -> int:
    """Return how many pairs reach, within ``length`` tokens, angles that training within rope.train_len never showed.

    >>> rope = Rope(128, 10_000.0, 4096)
    >>> untrained_pair_count(rope, spectrum(Request(rope)), 16_384)
    18
    """
    return int(reached_untrained_angle_mask(rope, s, [checked_int("length", length, 1, MAX_LEN)]).sum())


def position_bin_edges(length: int, count: int, logarithmic: bool) -> npt.NDArray[np.int64]:
    """Return the borders of at most ``count`` cells of whole positions: even from 0, or logarithmic from 1, to length.

    Shape (cells + 1,), strictly rising; narrow cells at the start of a logarithmic axis merge into whole positions.

    >>> position_bin_edges(8, 4, False).tolist(), position_bin_edges(8, 4, True).tolist()
    ([0, 2, 4, 6, 8], [1, 2, 3, 5, 8])
    """
    last = checked_int("length", length, 2, MAX_LEN)
    parts = checked_int("count", count, 1, MAX_CELLS)
    edges = np.geomspace(1, last, parts + 1) if logarithmic else np.linspace(0, last, parts + 1)
    return np.unique(np.rint(edges).astype(np.int64))


def mean_cosine_per_bin(s: Spectrum, edges: npt.ArrayLike) -> Array:
    """Return the mean of cos(position * inv_freq) over the positions of each cell [edges_j, edges_j+1).

    The sum over N positions from a is cos((a + (N - 1)/2) w) sin(N w/2) / sin(w/2), so a cell of many turns is 0, as
    it looks from afar, instead of a moire of single samples.

    Shapes: edges (cells + 1,) integers, rising; returns float64 (dim/2, cells).

    >>> mean_cosine_per_bin(Spectrum.from_inv_freq([0.0, np.pi]), [0, 1, 4]).round(4).tolist()
    [[1.0, 1.0], [1.0, -0.3333]]
    """
    borders = np.asarray(edges)
    if borders.ndim != 1 or borders.size < 2 or borders.dtype.kind not in "iu" or np.any(np.diff(borders) <= 0):
        raise argument_error("edges", "a rising vector of at least 2 integers", edges)
    first, count = borders[:-1].astype(np.float64), np.diff(borders).astype(np.float64)
    # Whole turns per token do not show at whole positions; without them only a still pair has half = 0.
    w = np.remainder(s.inv_freq + np.pi, 2.0 * np.pi)[:, None] - np.pi
    half = np.sin(w / 2.0)
    still = np.abs(half) < 1e-12
    kernel = np.where(still, count, np.sin(count * w / 2.0) / np.where(still, 1.0, half))
    return np.asarray(np.cos((first + (count - 1.0) / 2.0) * w) * kernel / count)
