"""Five faults that raise no error, and the trace that each leaves along a text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rope_core.checks.check import check
from rope_core.findings import Finding, FindingPhrase, make_finding
from rope_core.lab import records
from rope_core.layout import HALF, INTERLEAVED, Layout
from rope_core.rope import Array, Rope
from rope_core.rotation import rotation_matrix
from rope_core.theory.precision import round_to_dtype
from rope_core.verification.cache import check_cache
from rope_core.verification.positions import check_positions
from rope_core.verification.verify import verify

ROPE = Rope(128, 10_000.0, 4096)
DRAWN, SEED = 200, 0
"""How many queries and keys are drawn, and from which seed."""
MOVED, PADDING = 500, 3
"""By how many positions a stored text is moved, and how many fillers stand before a short one."""
TRAINED, LENGTH = 256, 2048
"""The small model's trained length, and how long the text is that it reads, bytes: its tokens."""
NAMES = ("mixed", "long", "stale", "padded", "rounded")


@dataclass(frozen=True)
class FaultTrace:
    """What one fault does along a text.

    Attributes:
        tokens: positions in the text, (tokens,); a filler's is below 0.
        error: at each, (tokens,): root mean square of the scores' error over that of the right scores; of ``long``,
            whose error is in the guesses, the share of the way from its least to its greatest perplexity.
        wrong: the first token with an error, as an index of the two.
        command: what finds it, `rope` and its arguments.
        finding: what that command says of a file that has the fault.
    """

    tokens: tuple[int, ...]
    error: Array
    wrong: int
    command: str
    finding: Finding


def llama_config(rope: Rope) -> dict[str, object]:
    """Return the config of a Llama whose four heads have this geometry."""
    width = {"hidden_size": 4 * rope.dim, "num_attention_heads": 4}
    length = {"rope_theta": rope.base, "max_position_embeddings": rope.train_len}
    return {"model_type": "llama", "num_hidden_layers": 4, **width, **length}


def _drawn() -> tuple[Array, Array]:
    q, k = np.random.default_rng(SEED).standard_normal((2, DRAWN, ROPE.dim))
    return q, k


def score_error(distance: int, believed: int, layout: Layout = HALF, inv_freq: Array | None = None) -> float:
    """Return the error of scores at ``distance`` where a program believes another, root mean square over the right's.

    Args:
        distance: of query and key, tokens.
        believed: the distance that the program turns by.
        layout: which numbers it turns together; right is "half".
        inv_freq: by which frequencies it turns, rad/token (64,); None for the right ones.
    """
    q, k = _drawn()
    right = np.einsum("nd,de,ne->n", k, rotation_matrix(distance, ROPE.theta, HALF), q)
    turned = rotation_matrix(believed, ROPE.theta if inv_freq is None else inv_freq, layout)
    error = np.einsum("nd,de,ne->n", k, turned, q) - right
    return float(np.sqrt((error**2).mean() / (right**2).mean()))


@lru_cache(maxsize=1)
def fault_traces() -> dict[str, FaultTrace]:
    """Return the trace of each fault, by its name in NAMES.

    ``mixed``: weights of one layout in code of the other. ``long``: a text past the trained 256 bytes, as recorded.
    ``stale``: a stored text that is moved by 500 while its keys keep their turn. ``padded``: stored words count
    three fillers that new ones do not. ``rounded``: frequencies in bfloat16.
    """
    apart = (0, 1, 2, 3, 4, 6, 8, 10, 14, 20, 28, 40)
    later = (1, 2, 3, 5, 8)
    far = (0, 64, 128, 256, 512, 832, 1216, 1664, 2176, 2688, 3328, 4096)
    rounded = round_to_dtype(ROPE.theta, "bfloat16")
    mixed = [score_error(each, each, INTERLEAVED) for each in apart]
    stale = [0.0] * 6 + [score_error(each, each - MOVED) for each in (5, 6, 8, 11, 15, 20)]
    padded = [0.0] * (PADDING + 4) + [score_error(each, each - PADDING) for each in later]
    old, moved = tuple(range(6)), tuple(MOVED + k for k in (5, 6, 8, 11, 15, 20))
    keys, fillers = np.ones((6, 1, ROPE.dim)), [0] * PADDING
    pairing = FindingPhrase("kernel_other_layout", {"part": FindingPhrase("kernel_part_x")})
    kernel = make_finding("kernel_mistake", "kernel", mistake=pairing, trial=FindingPhrase("trial_plain"))
    (unmoved,) = check_cache(llama_config(ROPE), before=keys, after=keys, old=old, new=moved)
    (counted,) = check_positions([list(range(PADDING + 4))], attention_mask=[[*fillers, 1, 1, 1, 1]])
    (coarse,) = verify({"inv_freq": rounded}, llama_config(ROPE))
    return {
        "mixed": FaultTrace(
            apart, np.array(mixed), 1, "rope verify --kernel my.py:rotate --config config.json", kernel
        ),
        "long": _recorded(),
        "stale": FaultTrace((*old, *moved), np.array(stale), 6, "rope cache config.json --moved keys.json", unmoved),
        "padded": FaultTrace(
            (*range(-PADDING, 4), *(3 + k for k in later)),
            np.array(padded),
            PADDING + 4,
            "rope positions batch.json",
            counted,
        ),
        "rounded": FaultTrace(
            far,
            np.array([score_error(each, each, inv_freq=rounded) for each in far]),
            1,
            "rope verify model.safetensors --config config.json",
            coarse,
        ),
    }


def _recorded() -> FaultTrace:
    """Return the recorded perplexity of the small model along a text of eight trained lengths."""
    sweep = records.shipped_record("sweep").results
    (curve,) = (
        each["curve"] for each in sweep if (each["line"], each["length"], each["weights"]) == ("none", LENGTH, "rope-0")
    )
    tokens, values = np.array(curve["position"]), np.array(curve["value"])
    kept = np.array([0, 1, 2, 3, 5, 8, 11, 14, 18, 22, 27, 31])
    share = (values - values.min()) / np.ptp(values)
    command = f"rope check config.json --seq-len {LENGTH}"
    findings = check(llama_config(Rope(32, ROPE.base, TRAINED)), seq_len=LENGTH)
    (beyond,) = (each for each in findings if each.severity != "note")
    wrong = int(np.sum(tokens[kept] < TRAINED))
    return FaultTrace(tuple(int(each) for each in tokens[kept]), share[kept], wrong, command, beyond)
