"""Papers of the second half of 2026, quoted from their abstracts: what of their claims runs here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rope_core import schemes
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided, relative_shortfall
from rope_core.ledger.kit import DIM, ROPE, M, N, random_normal, rotation_block_matrix
from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix

PositionIds = npt.NDArray[np.int64]
PLAIN = Rope(128, 10_000.0)
LLAMA = Rope(128, 500_000.0, 8192)
LLAMA_3B = LLAMA.theta / schemes.llama3(LLAMA, LLAMA.train_len, 32.0, 1.0, 4.0).slowdown
# Frequencies and native context of the models that ATFlash's abstract names; the second one's are rescaled.
WINDOWED = (
    (Rope(64, 1e6).theta, 32_768),
    (LLAMA_3B, 131_072),
    (Rope(128, 1e7).theta, 1_048_576),
)
BASES = (1e6, 5e5, 1e7)
# Widths of a window, in wavelengths; the abstract does not give the authors' own.
WIDTHS = (1.0, 4.0)
# Algorithm 2 of HD-RoPE on a block of four, as a reader of the paper transcribed it.
HIGHER = np.array([[0, -1, 2, 2], [1, 0, -2, 2], [-2, 2, 0, 1], [-2, -2, -1, 0]]) / 3.0
TRAINED, LOCAL, TEXT = 16, 6, 40


@register_claim("arXiv-2610.06963-aliasing")
def aliasing() -> ClaimCheck:
    """Turn by a distance and by a period of one pair more: all pairs, then that pair alone."""
    theta, gaps, alone = Rope(128, 1e6).theta, [], []
    for pair in (5, 20, 40):
        near, far = np.exp(1j * np.outer([M, M + 2 * np.pi / theta[pair]], theta))
        gaps.append(max_difference(near, far))
        alone.append(max_difference(near[pair], far[pair]))
    return ClaimCheck(max(gaps), condition=max(alone))


register_undecided("arXiv-2610.06963-helmet")


def _pruned(theta: Array, length: int, width: float) -> float:
    """Return the share of a causal text's terms, a pair of one query and key, beyond ``width`` wavelengths."""
    kept = np.minimum(np.floor(width * 2 * np.pi / theta) + 1, length)
    return float(1 - np.mean(kept * (2 * length + 1 - kept)) / (length * (length + 1)))


@register_claim("arXiv-2608.02947-logarithm")
def logarithm() -> ClaimCheck:
    """Count pruned terms beside a line in log N: frequencies as the models have them, then as RoPE spaces them."""

    def off(models: tuple[tuple[Array, int], ...]) -> float:
        gaps = []
        for (theta, length), base in zip(models, BASES, strict=True):
            for n, width in ((length // shorter, width) for shorter in (1, 4) for width in WIDTHS):
                line = (np.log(n / (2 * np.pi * width)) - 1.5) / np.log(base) + 0.5 / len(theta)
                gaps.append(max_difference(_pruned(theta, n, width), line))
        return max(gaps)

    spaced = tuple((Rope(2 * len(t), b).theta, n) for (t, n), b in zip(WINDOWED, BASES, strict=True))
    return ClaimCheck(off(WINDOWED), condition=off(spaced), tolerance=1e-3)


@register_claim("arXiv-2608.02947-reachable")
def reachable() -> ClaimCheck:
    """Compare the widest window with 131,072 tokens at base 10,000, then with the contexts of the models named."""
    widest = [relative_shortfall(2 * np.pi / float(theta.min()), length) for theta, length in WINDOWED]
    return ClaimCheck(relative_shortfall(float(PLAIN.wavelength[-1]), 131_072), condition=max(widest))


def _equations(inv_freq: Array) -> Array:
    """Return the linear map of a matrix, column by column, to how it fails to commute with three positions' turns."""
    eye = np.eye(2 * len(inv_freq))
    turns = [rotation_matrix(place, inv_freq, "interleaved") for place in (1, M, N)]
    return np.concatenate([np.kron(eye, turn) - np.kron(turn.T, eye) for turn in turns])


def _commutant(inv_freq: Array) -> int:
    """Return the dimension of the space of matrices that commute with the rotations of three positions."""
    equations = _equations(inv_freq)
    return int(equations.shape[1] - np.linalg.matrix_rank(equations))


def _uncancelled(matrix: Array) -> float:
    """Return how far a query under ``matrix`` and a key under its inverse transpose miss the score of neither."""
    q, k = random_normal(93, 2, DIM)
    turn = rotation_matrix(N - M, ROPE.theta, "interleaved")
    return max_difference((matrix @ q) @ turn @ np.linalg.solve(matrix.T, k), q @ turn @ k)


@register_claim("arXiv-2609.07971-commutant")
def commutant() -> ClaimCheck:
    """Compare the commutant's dimension with two for each pair: where two pairs rest, then where all turn apart."""
    still = np.where(np.arange(DIM // 2) < 2, ROPE.theta, 0.0)
    scaled = np.kron(np.diag(random_normal(94, DIM // 2)), np.eye(2)) + np.kron(
        np.diag(random_normal(95, DIM // 2)), [[0, 1], [-1, 0]]
    )
    own = [
        max_difference(_equations(ROPE.theta) @ scaled.T.ravel(), np.zeros(3 * DIM**2)),
        max_difference(_commutant(ROPE.theta), DIM),
    ]
    cancels = [_uncancelled(scaled), relative_shortfall(_uncancelled(random_normal(96, DIM, DIM)), 0.1)]
    return ClaimCheck(max_difference(_commutant(still), DIM), condition=max(own + cancels))


def _turn(generator: Array, angle: float) -> Array:
    return np.asarray(np.cos(angle) * np.eye(len(generator)) + np.sin(angle) * generator)


@register_claim("arXiv-2608.29715-closure")
def closure() -> ClaimCheck:
    """Compose two turns of the transcribed block, and of blocks of four and eight with a drawn basis."""
    gaps, theta = [], 0.3
    for generator in (HIGHER, _drawn_generator(4), _drawn_generator(8)):
        first, second, between = (_turn(generator, place * theta) for place in (M, N, N - M))
        gaps += [max_difference(first.T @ first, np.eye(len(generator))), max_difference(first.T @ second, between)]
    return ClaimCheck(max(gaps))


def _drawn_generator(size: int) -> Array:
    """Return a skew matrix whose square is minus the identity, in a drawn orthogonal basis."""
    basis = np.linalg.qr(random_normal(97, size, size))[0]
    return np.asarray(basis @ rotation_block_matrix(np.pi / 2, np.ones(size // 2)) @ basis.T)


@register_claim("arXiv-2608.29715-freedom")
def freedom() -> ClaimCheck:
    """Count a block's angles beside RoPE's two; then write it as RoPE with one frequency twice, in a fixed basis."""
    angles = np.abs(np.angle(np.linalg.eigvals(_turn(HIGHER, 0.3))))
    u = np.array([1.0, 0.0, 0.0, 0.0])
    w = np.array([0.0, 0.0, 1.0, 0.0])
    w = w - (HIGHER @ u) * (HIGHER @ u @ w)
    w /= np.linalg.norm(w)
    basis = np.stack([u, HIGHER @ u, w, HIGHER @ w], axis=1)
    twice = [
        max_difference(basis.T @ _turn(HIGHER, place * 0.3) @ basis, rotation_block_matrix(place, np.full(2, 0.3)))
        for place in (M, N)
    ]
    return ClaimCheck(relative_shortfall(len(np.unique(angles.round(9))), 2), corrected=max(twice))


register_undecided("arXiv-2608.11909-logic", "arXiv-2607.19363-heads", "arXiv-2607.07678-width")


def _grouped(length: int) -> PositionIds:
    """Return the far part's position of each token: its group's number, one group a trained place."""
    return np.arange(length, dtype=np.int64) // max(1, -(-length // TRAINED))


@register_claim("arXiv-2607.07740-short")
def short() -> ClaimCheck:
    """Take the far part's positions at every length: those of the model when short, none past training when long."""
    changed = [max_difference(_grouped(length), np.arange(length)) for length in range(1, TRAINED + 1)]
    excess = [float(_grouped(length)[-1] - (TRAINED - 1)) for length in range(1, 8 * TRAINED)]
    return ClaimCheck(max(0.0, *changed, *excess))


def _turned(x: Array, places: PositionIds) -> Array:
    """Return rows, each turned to its place, (n, dim)."""
    turns = [rotation_matrix(abs(int(place)), ROPE.theta, "interleaved") for place in places]
    return np.array([(turn if p >= 0 else turn.T) @ row for row, p, turn in zip(x, places, turns, strict=True)])


@register_claim("arXiv-2607.07740-merge")
def merge() -> ClaimCheck:
    """Add near and far attention and subtract what is in both, from a cache of keys that are turned once more."""
    q, k, v = random_normal(98, 3, TEXT, DIM)
    place, far = np.arange(TEXT, dtype=np.int64), _grouped(TEXT)
    behind = place[:, None] - place
    causal, local = behind >= 0, (behind >= 0) & (behind < LOCAL)

    def weights(queries: Array, keys: Array, seen: npt.NDArray[np.bool_]) -> Array:
        return np.asarray(seen * np.exp(queries @ keys.T / np.sqrt(DIM)))

    near_q, near_k = _turned(q, place), _turned(k, place)
    far_q, far_k = _turned(near_q, far - place), _turned(near_k, far - place)
    near = weights(near_q, near_k, local)
    merged = near + weights(far_q, far_k, causal) - weights(far_q, far_k, local)
    chosen = near + weights(_turned(q, far), _turned(k, far), causal & ~local)
    return ClaimCheck(max_difference(*(w @ v / w.sum(axis=1, keepdims=True) for w in (merged, chosen))))
