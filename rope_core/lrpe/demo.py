"""What the LRPE page turns: one call of the op on drawn numbers, and its backward step by step beside autograd."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import checked_int
from rope_core.lrpe import arguments, explain
from rope_core.lrpe.activations import ELEMENTWISE, activate_backward
from rope_core.lrpe.op import lrpe_rotate
from rope_core.rope import Array
from rope_core.theory.demo import random_vectors

TOKENS, HEADS = 12, 4
KINDS = ("geometric", "learned", "per head")


@dataclass(frozen=True)
class LrpeExample:
    """One call of lrpe_rotate on drawn numbers: one sequence of 12 tokens and 4 heads.

    Attributes:
        act, dim, offset: as for lrpe_rotate.
        kind: theta's shape, a name in KINDS; "learned" is drawn once with a fixed seed.
        base: of the geometric frequencies, and of their spread over the heads.
        width: D, even and at least 4.
        front, behind: how many first and last dimensions pass without turning.

    Raises ValueError when the values do not go together.

    >>> LrpeExample("relu", width=8, front=2).rotary_dim, LrpeExample("relu", width=8, kind="per head").theta.shape
    (slice(2, 8, None), (4, 1))
    """

    act: str = "none"
    dim: int | None = None
    kind: str = "geometric"
    base: float = 10_000.0
    width: int = 16
    offset: int = 0
    front: int = 0
    behind: int = 0
    pairs: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checked_int("width", self.width, 4, 1024)
        checked_int("front", self.front, 0, self.width - 2)
        checked_int("behind", self.behind, 0, self.width - 2 - self.front)
        object.__setattr__(self, "pairs", (self.width - self.front - self.behind) // 2)
        shape = (1, TOKENS, HEADS, self.width)
        arguments.make_lrpe_spec(shape, self.theta.shape, self.act, self.dim, self.rotary_dim)
        arguments.start_positions(self.offset, 1, TOKENS)

    @property
    def rotary_dim(self) -> slice:
        """The dimensions that turn."""
        return slice(self.front, self.width - self.behind)

    @property
    def theta(self) -> Array:
        """The frequencies in the shape of ``kind``, rad/token: (P,), (H, P) or (H, 1), which is never read per pair."""
        drawn = explain.sample_theta(self.kind, HEADS, self.pairs, self.base)
        return drawn[:, None] if self.kind == "per head" else drawn

    @property
    def theta_by_head_and_pair(self) -> Array:
        """The same for every head and pair, (H, P)."""
        return np.broadcast_to(self.theta, (HEADS, self.pairs))

    @property
    def x(self) -> Array:
        """X, float64 (1, 12, 4, D), independent standard normal."""
        return random_vectors(self.width, TOKENS * HEADS, seed=0).reshape(1, TOKENS, HEADS, self.width)

    @property
    def grad(self) -> Array:
        """dO, drawn like X from another seed."""
        return random_vectors(self.width, TOKENS * HEADS, seed=1).reshape(1, TOKENS, HEADS, self.width)

    @property
    def positions(self) -> npt.NDArray[np.int64]:
        """The tokens' positions, int64 (12,)."""
        return self.offset + np.arange(TOKENS)

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of lrpe_rotate."""
        return {"offset": self.offset, "act": self.act, "dim": self.dim, "rotary_dim": self.rotary_dim}

    @cached_property
    def stages(self) -> explain.ForwardStages:
        """X, f(X) and O."""
        return explain.forward_stages(self.x, self.theta, **self.options)

    def pair_at(self, wanted: int) -> tuple[int, int, int]:
        """Return the wanted pair, or the last that turns, and its two dimensions."""
        pair = min(checked_int("pair", wanted, 0, 2**31), self.pairs - 1)
        return pair, self.front + pair, self.front + self.pairs + pair

    def cos_sin_by_dimension(self, head: int) -> Array:
        """Return what the rotation multiplies by, float64 (12, D): cos under the first halves, sin under the second.

        NaN where a dimension passes.
        """
        angle = self.positions[:, None] * self.theta_by_head_and_pair[checked_int("head", head, 0, HEADS - 1)]
        table = np.full((TOKENS, self.width), np.nan)
        middle = self.front + self.pairs
        table[:, self.front : middle] = np.cos(angle)
        table[:, middle : self.width - self.behind] = np.sin(angle)
        return table


def negative_output_share(act: str, width: int, base: float, length: int) -> Array:
    """Return which share of the numbers in O is negative at the positions 0 to ``length`` - 1, float64 (length,).

    The same 64 drawn vectors are at every position; ``act`` is an activation of single numbers.

    >>> share = negative_output_share("relu", 8, 100.0, 4)
    >>> bool(share[0] == 0), bool(share[3] > 0)
    (True, True)
    """
    drawn = random_vectors(width, 64, seed=0)
    x = np.broadcast_to(drawn, (1, checked_int("length", length, 1, 2**20), *drawn.shape))
    out = lrpe_rotate(x, explain.sample_theta("geometric", 64, width // 2, base), act=act)
    return np.asarray((out[0] < 0).mean(axis=(1, 2)))


def relative_max_error(values: Array, exact: Array) -> float:
    """Return max |values - exact| over max |exact|.

    >>> relative_max_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    0.5
    """
    return float(np.abs(values - exact).max() / max(float(np.abs(exact).max()), float(np.finfo(np.float64).tiny)))


@dataclass(frozen=True, eq=False)
class BackwardSteps:
    """The backward, a step at a time, float64, with each step's ``relative_max_error`` to torch's autograd.

    Attributes:
        grad, turned, dx: dO, dO turned by -theta, dX.
        factor: what X is needed for: f'(X), or softmax's own output, of which its Jacobian is made.
        gap_turned, gap_factor, gap_dx, gap_dtheta: against autograd; gap_factor is None for softmax.
    """

    grad: Array
    turned: Array
    factor: Array
    dx: Array
    gap_turned: float
    gap_factor: float | None
    gap_dx: float
    gap_dtheta: float


def backward_steps(example: LrpeExample) -> BackwardSteps:
    """Return the backward of ``example``'s call by the formulas, each step compared with autograd; loads torch."""
    x, theta = example.x, example.theta
    plain = {"offset": example.offset, "rotary_dim": example.rotary_dim}
    full = explain.compare_backward(x, theta, example.grad, **example.options)
    at_activation = explain.compare_backward(example.stages.activated, theta, example.grad, **plain).autograd_dx
    factor, gap_factor = example.stages.activated, None
    if example.act in ELEMENTWISE:
        ones = np.ones_like(x)
        factor = activate_backward(x, ones, example.act, example.dim)
        still = explain.compare_backward(x, np.zeros_like(theta), ones, **example.options)
        gap_factor = relative_max_error(factor, still.autograd_dx)
    return BackwardSteps(
        example.grad,
        full.turned,
        factor,
        full.dx,
        relative_max_error(full.turned, at_activation),
        gap_factor,
        relative_max_error(full.dx, full.autograd_dx),
        relative_max_error(full.dtheta, full.autograd_dtheta),
    )
