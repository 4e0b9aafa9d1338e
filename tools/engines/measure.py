"""What a child process shares: reading tasks, measuring a rotation by the vectors it returns, writing rows."""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
# The logits of these pairs of positions are recorded; all lie within the shortest context of the table.
POSITIONS = ((1000, 0), (37, 1000), (1999, 234))
RotateVector = Callable[[Vector, int], Vector]


class NotSupported(Exception):
    """The engine has no such model type or rotation."""


class NotRun(Exception):
    """The engine may have it; this tool did not get its code to run, and the text says why."""


def query_and_key(dim: int) -> tuple[Vector, Vector]:
    """Return the q and k whose logits are recorded."""
    lanes = np.arange(dim, dtype=np.float64)
    return np.cos(1.7 * lanes + 0.3), np.sin(2.3 * lanes + 0.1)


def measured(rotate: RotateVector, dim: int) -> dict[str, Any]:
    """Return layout, inv_freq, factor and logits of a rotation of vectors (dim,) to a position.

    The lane that the first unit vector moves to gives the layout; the angle of every pair at position 1 is its
    frequency (below pi, as no frequency is above 1 by more than LongRoPE's factors), its length the attention factor.
    """
    first = np.zeros(dim)
    first[0] = 1.0
    moved = np.abs(rotate(first, 1))
    partner = 1 + int(np.argmax(moved[1:]))
    changed = np.flatnonzero(rotate(np.ones(dim), 1000) != 1.0)
    if not changed.size or moved[partner] < 1e-6:
        raise NotRun("nothing turns")
    if partner == 1:
        pairs = (int(changed[-1]) + 2) // 2
        lanes, others = np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2)
    else:
        pairs = partner
        lanes, others = np.arange(pairs), np.arange(pairs, 2 * pairs)
    ones = np.zeros(dim)
    ones[lanes] = 1.0
    turned = rotate(ones, 1)
    inv_freq = np.arctan2(turned[others], turned[lanes])
    q, k = query_and_key(dim)
    logits = [float(rotate(q, m) @ rotate(k, n)) for m, n in POSITIONS]
    return {
        "layout": "interleaved" if partner == 1 else "half",
        "factor": round(float(np.median(np.hypot(turned[lanes], turned[others]))), 7),
        "logits": [float(f"{x:.6g}") for x in logits],
        "inv_freq": [float(f"{x:.7g}") for x in inv_freq],
    }


def without_lane_reordering(rotate: RotateVector, dim: int) -> RotateVector:
    """Return a rotation that reorders lanes as well (DeepSeek's apply functions do) without the reordering."""
    order = np.argmax([rotate(lane, 0) for lane in np.eye(dim)], axis=1)
    return lambda x, position: rotate(x, position)[order]


def measure_tasks(run: Callable[[dict[str, Any]], tuple[RotateVector, int]]) -> int:
    """Measure every task of standard input and print the rows: id to what was measured, or why nothing was."""
    rows: dict[str, Any] = {}
    for task in json.load(sys.stdin):
        try:
            rows[task["id"]] = measured(*run(task))
        except NotSupported as error:
            rows[task["id"]] = {"not_supported": str(error)}
        except NotRun as error:
            rows[task["id"]] = {"not_run": str(error)}
        except SystemExit:
            rows[task["id"]] = {"not_run": "it ends the process for want of another package"}
        except Exception as error:  # whatever an engine raises is its answer
            rows[task["id"]] = {"refuses": f"{type(error).__name__}: {error}".splitlines()[0][:160]}
    sys.stdout.write("\n" + json.dumps(rows, allow_nan=False))
    return 0
