"""The small experiments of the block page: drawn tensors through each part, with the residual of each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_finite
from rope_core.layout import DimIndices, convert
from rope_core.rope import Array, Rope
from rope_core.schemes import SCHEMES
from rope_core.spectrum import Request, spectrum
from rope_core.theory.block.cache import attention_output, decode_logits
from rope_core.theory.block.logit import MlaHeadWeights, mla_absorption_error, mla_scores
from rope_core.theory.block.norm import norm_rotation_error
from rope_core.theory.demo import random_vectors
from rope_core.theory.encodings.compare import encoding_logits, random_encoding_weights, token_vectors
from rope_core.theory.encodings.rotary import position_angles
from rope_core.theory.softmax import softmax

TOKENS = 16


def norm_rotation_errors(rope: Rope, position: int, attention_factor: float, layout: str) -> dict[str, float]:
    """Return max |N(f R x) - f R N(x)| over drawn rows at ``position`` and after, by what N is.

    Keys: "rms" (no weight), "rms_paired" (a weight equal in each pair), "rms_weight" (any weight), "layer".
    """
    rng = np.random.default_rng(0)
    x = rng.standard_normal((TOKENS, rope.dim)) + 0.5
    per_pair, weight = 1 + 0.5 * rng.standard_normal(rope.pairs), 1 + 0.5 * rng.standard_normal(rope.dim)
    paired = np.repeat(per_pair, 2)[convert(rope.dim, "interleaved", layout)]
    angle = position_angles(np.arange(position, position + TOKENS), rope.theta)

    def gap(kind: str, gamma: Array | None) -> float:
        return norm_rotation_error(x, angle, kind, gamma, attention_factor, layout)

    return {
        "rms": gap("rms", None),
        "rms_paired": gap("rms", paired),
        "rms_weight": gap("rms", weight),
        "layer": gap("layer", None),
    }


@dataclass(frozen=True, eq=False)
class ShiftedOutput:
    """Attention's last output while all positions move: plain v, rotated v, each (shifts, dim)."""

    plain: Array
    rotated: Array


def shifted_outputs(rope: Rope, shifts: npt.ArrayLike) -> ShiftedOutput:
    """Return the last token's attention output for every common shift, with v as it is and with v rotated."""
    q, k, v = np.random.default_rng(0).standard_normal((3, TOKENS, rope.dim))

    def path(rotate_v: bool) -> Array:
        return np.array([attention_output(q, k, v, rope.theta, int(s), rotate_v)[-1] for s in np.asarray(shifts)])

    return ShiftedOutput(path(False), path(True))


def shifted_output_errors(rope: Rope, shifts: npt.ArrayLike) -> tuple[Array, Array]:
    """Return how far the last token's output is from the unmoved one at every common shift, relative, (n,) each.

    First with v as it is, then with v rotated.

    >>> [bool((drift < 1e-12).all()) for drift in shifted_output_errors(Rope(16, 100.0), [0, 1, 40])]
    [True, False]

    One pair turns whole: by 22 tokens, seven half turns, the output comes to lie opposite.

    >>> shifted_output_errors(Rope(2), [0, 1, 22])[1].round(3).tolist()
    [0.0, 0.959, 2.0]
    """
    moved, still = shifted_outputs(rope, shifts), shifted_outputs(rope, [0])

    def relative(part: Array, origin: Array) -> Array:
        return np.asarray(np.linalg.norm(part - origin, axis=1) / np.linalg.norm(origin))

    return relative(moved.plain, still.plain), relative(moved.rotated, still.rotated)


def attention_output_partial_sums(
    tokens: Sequence[str], base: float, theta: float, start: int, rotate_v: bool
) -> Array:
    """Return the partial sums of the last token's attention output over the tokens, from zero on, (n + 1, 2).

    A drawn head 16 wide with RoPE gives the shares of attention; each token's value is a drawn pair of numbers, rotated
    by ``theta`` (rad) times its position where ``rotate_v``. ``start``: the first token's position.

    >>> chains = [attention_output_partial_sums(["a", "b", "a"], 1e4, 0.3, start, False) for start in (0, 5)]
    >>> bool(np.abs(chains[1] - chains[0]).max() < 1e-12)
    True
    """
    positions = np.arange(len(tokens)) + start
    shares = softmax(encoding_logits("rope", token_vectors(tokens, 16), positions, random_encoding_weights(16, base)))[
        -1
    ]
    kinds = list(dict.fromkeys(tokens))
    values = random_vectors(2, len(kinds), 27)[[kinds.index(token) for token in tokens]]
    turn = np.exp(1j * theta * positions) if rotate_v else 1.0
    sums = np.cumsum(shares * turn * (values @ [1, 1j]))
    return np.array([[0.0, 0.0], *zip(sums.real, sums.imag, strict=True)])


def first_length_scheme_name() -> str:
    """Return the name of the first scheme whose frequencies follow the length and need no searched vector."""
    names = (
        name
        for name, scheme in SCHEMES.items()
        if scheme.follows_length and all(param.kind != "vector" for param in scheme.params)
    )
    return next(names)


def stale_logits(rope: Rope, times: float) -> tuple[DimIndices, Array, Array]:
    """Return (key positions, true logits, logits against a stale cache) of the query at the last position, (n,) each.

    The keys were cached while the text was within the trained context; the query comes when it is ``times`` as long,
    under a scheme whose frequencies follow the length. 64 positions spread over the whole text represent all, and every
    key is the query itself.
    """
    if checked_finite("times", times) < 1:
        raise argument_error("times", "at_least", times, low=1)
    length = round(rope.train_len * times)
    name = first_length_scheme_name()
    before = spectrum(Request(rope, name, seq_len=rope.train_len)).inv_freq
    after = spectrum(Request(rope, name, seq_len=length)).inv_freq
    positions = np.unique(np.linspace(0, length - 1, 64).round().astype(np.int64))
    q = np.random.default_rng(0).standard_normal((positions.size, rope.dim))
    k = np.broadcast_to(q[-1], q.shape)
    true = decode_logits(q, k, after, positions=positions)
    return positions, true, decode_logits(q, k, after, before, positions=positions)


@lru_cache(maxsize=256)
def mla_absorption_errors(rank: int, position: int) -> tuple[float, float]:
    """Return (error of absorbed scores, error if the content part were rotated too) of a drawn MLA head."""
    head = MlaHeadWeights.draw(dim=64, nope=32, rope=16, rank=rank, seed=0)
    x = np.random.default_rng([0, 1]).standard_normal((TOKENS, 64))
    places = np.arange(position, position + TOKENS)
    small = position_angles(places, Rope(16).theta)
    absorbed = np.abs(mla_scores(x, small, head, True) - mla_scores(x, small, head, False)).max()
    return float(absorbed), mla_absorption_error(x, position_angles(places, Rope(32).theta), head)
