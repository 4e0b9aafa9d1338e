"""What every line turns a model by, from the papers' formulas written out."""

import math

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
WARM = ("yarn", "mrrope", "mrrope_uni")


def frequencies(pairs: int, base: float, trained: int, s: float) -> dict[str, Vector]:
    """Return the frequencies of each line at ``s`` times the trained length, float64 (pairs,)."""
    i = np.arange(pairs)
    theta = base ** (-i / pairs)
    turns = trained * theta / (2 * math.pi)
    edges = [pairs * math.log(trained / (n * 2 * math.pi)) / math.log(base) for n in (32.0, 1.0)]
    first, last = max(math.floor(edges[0]), 0), min(math.ceil(edges[1]), 2 * pairs - 1)

    def ntk(factor: float) -> Vector:
        return np.asarray((base * factor ** (pairs / (pairs - 1))) ** (-i / pairs))

    def mixed(low: float, high: float) -> Vector:
        kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
        return np.asarray(kept * theta + (1 - kept) * theta / s)

    def radices(powers: Vector) -> Vector:
        products = np.concatenate([np.ones(first + 1), np.cumprod(s**powers)])[:pairs]
        return np.asarray(theta / np.concatenate([products, np.full(pairs - len(products), products[-1])]))

    share = np.clip((i - first) / (last - first or 0.001), 0.0, 1.0)
    place, tail = i - (pairs - 5 * pairs // 16), max(5 * pairs // 16 - 1, 1)
    wave = 2 * math.pi / theta
    nearest = int(np.abs(np.round(wave) - trained).argmin())
    count = last - first
    rising = 2 * np.arange(1, count + 1) / max(count * (count + 1), 1)
    return {
        **dict.fromkeys(("none", "window", "rerope", "self_extend", "dual_chunk"), theta),
        "linear": theta / s,
        "ntk": ntk(s),
        "dynamic": ntk(s),
        "ntk_double": ntk(2 * s),
        "by_parts": mixed(1.0, 32.0),
        "yarn": share * theta / s + (1 - share) * theta,
        "llama3": mixed(1.0, 4.0),
        "cope": theta * np.where(place < 0, 1.0, (1 + np.cos(np.pi * place / tail)) / 2),
        "hard_clip": np.where(place < 0, theta, 0.0),
        "p_rope": np.where(i < 0.75 * pairs, theta, 0.0),
        "longrope2": theta / s ** np.minimum(i / math.ceil(edges[1]), 1.0),
        "mrrope": radices(rising),
        "mrrope_uni": radices(np.full(count, 1 / max(count, 1))),
        "riflex": np.where(i == nearest, 0.9 * 2 * math.pi / (s * trained), theta),
    }


def attention_factor(key: str, s: float) -> float:
    """Return what multiplies cos and sin."""
    return 0.1 * math.log(s) + 1.0 if key in WARM else 1.0
