"""Papers after YaRN, quoted from their abstracts: what of their claims runs here."""

from __future__ import annotations

import numpy as np

from rope_core import schemes
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided, relative_shortfall
from rope_core.ledger.kit import DIM, ROPE, M, N, random_normal
from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix
from rope_core.spectrum import Spectrum
from rope_core.theory.limits import order_and_locality_failure_rates

# Llama 3's geometry; the lengths are a short and a long trained context.
LLAMA = Rope(128, 500_000.0, 8192)
LENGTHS = (4096, 32_768)
# A length beyond a hundred turns of the slowest pair, and what 4,096 drawn places leave of a probability there.
FAR, DRAWN = 2**28, 5e-3
# Standard deviations of a random score by which a key along the query stands out.
SIGNAL = 4.0


def _plain(base: float) -> Spectrum:
    return Spectrum.from_inv_freq(Rope(128, base).theta)


@register_claim("arXiv-2605.15514-locality")
def locality() -> ClaimCheck:
    """Measure how far from 1/2 is a key's chance to score lower near than far, at a length beyond every pair's turn."""
    chances = [order_and_locality_failure_rates(_plain(base), FAR, SIGNAL)[1] for base in (1e4, 5e5)]
    return ClaimCheck(max_difference(chances, [0.5, 0.5]), tolerance=DRAWN)


@register_claim("arXiv-2605.15514-order")
def order() -> ClaimCheck:
    """Measure how far from 1/2 is the chance that two keys change their order, at a length beyond every pair's turn."""
    chances = [order_and_locality_failure_rates(_plain(base), FAR, SIGNAL)[0] for base in (1e4, 5e5)]
    return ClaimCheck(max_difference(chances, [0.5, 0.5]), tolerance=DRAWN)


def _against_the_base(starts: tuple[float, ...]) -> float:
    """Return the largest step to a base a hundred times larger by which order got worse or locality better."""
    worst = 0.0
    for length, start in zip(LENGTHS, starts, strict=True):
        rows = np.array(
            [order_and_locality_failure_rates(_plain(start * 100.0**step), length, SIGNAL) for step in range(3)]
        )
        tokens, places = np.diff(rows, axis=0).T
        worst = max(worst, float(tokens.max()), float(-places.min()))
    return worst


@register_claim("arXiv-2605.15514-base")
def base() -> ClaimCheck:
    """Raise the base from 1,000, then from where the slowest pair takes sixteen contexts for a turn."""
    slow = tuple((16 * length / (2 * np.pi)) ** (128 / 126) for length in LENGTHS)
    return ClaimCheck(_against_the_base((1e3, 1e3)), condition=_against_the_base(slow))


@register_claim("arXiv-2605.15514-same")
def same() -> ClaimCheck:
    """Build a key that scores alike at two places, and another key that scores at one of them as it does."""
    q, k, other = random_normal(91, 3, DIM)
    at = [rotation_matrix(place, ROPE.theta, "interleaved").T @ q for place in (M, N)]
    moved = at[0] - at[1]
    k = k - moved * (k @ moved) / (moved @ moved)
    replaced = k + other - at[0] * (other @ at[0]) / (at[0] @ at[0])
    return ClaimCheck(
        max(
            max_difference(at[0] @ k, at[1] @ k),
            max_difference(at[0] @ replaced, at[0] @ k),
            relative_shortfall(max_difference(replaced, k), 0.1),
        )
    )


register_undecided("arXiv-2605.15514-layers")


@register_claim("arXiv-2410.06205-decay")
def decay() -> ClaimCheck:
    """Take the score's variance over random keys at many distances, and the distance at which a chosen key is best."""
    q = random_normal(92, DIM)
    turned = np.array([rotation_matrix(place, ROPE.theta, "interleaved").T @ q for place in range(256)])
    variance = (turned**2).sum(axis=1)
    best = np.argmax(turned @ turned[M])
    return ClaimCheck(max(max_difference(variance, np.full(256, q @ q)), float(abs(best - M))))


register_undecided("arXiv-2410.06205-gemma")


def _unseen(kept: Array, factor: float) -> float:
    """Return the share of pairs that reach angles beyond the trained ones, their frequency times ``kept``."""
    return float(np.mean((LLAMA.turns < 1.0) & (kept * factor > 1.0)))


@register_claim("arXiv-2602.05258-outliers")
def outliers() -> ClaimCheck:
    """Count unseen angles at eight times the length: by the authors' file, then with every unfinished pair clipped."""
    soft = schemes.cope(LLAMA, LLAMA.train_len, clipped_share=20 / 64, soft=True).slowdown
    share = float(np.mean(LLAMA.turns < 1.0))
    hard = schemes.cope(LLAMA, LLAMA.train_len, clipped_share=share, soft=False).slowdown
    return ClaimCheck(_unseen(1.0 / soft, 8.0), condition=_unseen(1.0 / hard, 8.0))


register_undecided("arXiv-2602.05258-leakage", "arXiv-2602.05258-gains")


@register_claim("arXiv-2502.15894-frequency")
def frequency() -> ClaimCheck:
    """Compare the one frequency that changes with the printed one, and its turns in the longer video with one."""
    video, factor = Rope(16, 256.0, 48), 2.5
    slowdown = schemes.riflex(video, video.train_len, factor=factor, period_share=1.0).slowdown
    changed = np.flatnonzero(slowdown != 1.0)
    turns = video.turns[changed] * factor / slowdown[changed]
    return ClaimCheck(max(max_difference(turns, [1.0]), max_difference(np.sign(slowdown[changed] - 1.0), [1.0])))


register_undecided("arXiv-2502.15894-video")


@register_claim("arXiv-2502.20082-critical")
def critical() -> ClaimCheck:
    """Compare the printed index with the first pair that does not finish a turn in training, for three ropes."""
    ropes = (Rope(128, 10_000.0, 4096), Rope(96, 10_000.0, 2048), LLAMA)
    printed = [np.ceil(r.dim / 2 * np.log(r.train_len / (2 * np.pi)) / np.log(r.base)) for r in ropes]
    return ClaimCheck(max_difference(printed, [np.argmax(r.turns < 1.0) for r in ropes]))


register_undecided("arXiv-2502.20082-llama3")


@register_claim("arXiv-2601.22181-radices")
def radices() -> ClaimCheck:
    """Measure what breaks it: Pro's steps rise, Uni's are alike, YaRN's fall; YaRN's as released, then as defined."""
    low, high = schemes.yarn_ramp_bounds(LLAMA, 32.0, 1.0, truncate=True)

    def steps(slowdown: Array) -> Array:
        return np.diff(np.log(slowdown[int(low) : int(high) + 1]))

    def mixed(progressive: bool) -> Array:
        return schemes.mrrope(LLAMA, LLAMA.train_len, 16.0, 32.0, 1.0, progressive=progressive).slowdown

    own = max(0.0, -float(np.diff(steps(mixed(True))).min()), float(np.ptp(steps(mixed(False)))))
    ramps = (
        schemes.interpolation_ramp_by_pair(LLAMA.pairs, low, high),
        schemes.interpolation_ramp_by_turns(LLAMA, 1.0, 32.0),
    )
    # The first step of the defined ramp begins inside it, for its ends are no whole pairs.
    released, defined = (float(np.diff(steps(schemes.blended_slowdown(ramp, 16.0))[1:]).max()) for ramp in ramps)
    return ClaimCheck(max(own, released), condition=max(own, defined))


register_undecided("arXiv-2607.10134-learned")
