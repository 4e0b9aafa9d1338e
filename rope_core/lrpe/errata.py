"""Document 001's slips, each with the residual that proves it and the one that its correction leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rope_core.errors import whole
from rope_core.layout import convert
from rope_core.lrpe import explain
from rope_core.lrpe.activations import activate_backward
from rope_core.lrpe.op import lrpe_rotate
from rope_core.rope import Array
from rope_core.theory.demo import drawn_vectors

WIDTH = 8


@dataclass(frozen=True)
class Erratum:
    """A line of document 001: how far it is from the right answer as printed, and corrected (max |difference|)."""

    key: str
    printed: float
    corrected: float


def drawn(base: float) -> tuple[Array, Array]:
    """Return the drawn vector (8,) and the geometric theta (4,) that the errata are shown on."""
    return drawn_vectors(WIDTH, 1, seed=2)[0], explain.sample_theta("geometric", 1, WIDTH // 2, base)


def errata(base: float, position: int) -> list[Erratum]:
    """Return document 001's slips with their residuals at one position >= 1; loads torch.

    The right answer is the document's own element-wise lines for the forward, torch's autograd of them for the
    backward, and each head turned alone for theta's shape. At position 0 nothing turns and every slip is invisible.
    """
    whole("position", position, 1, 2**31 - 1)
    x, theta = drawn(base)
    do = drawn_vectors(WIDTH, 1, seed=3)[0]
    slip = explain.row_vector_slip(x, theta, position)
    lines = slip.by_elements

    order = convert(WIDTH, "interleaved", "half")
    matrix = explain.block_diagonal(theta, position, "interleaved")
    moved = turned(x[order], theta, position)

    linear = explain.backward_view(x[None, None], theta, do[None, None], offset=position).autograd_dx[0, 0]
    silu = explain.backward_view(x[None, None], theta, do[None, None], offset=position, act="silu").autograd_dx[0, 0]
    d_bar = turned(do, -theta, position)

    many = drawn_vectors(WIDTH, theta.size, seed=4)
    per_pair = lrpe_rotate(many[None, None], theta, offset=position)[0, 0]
    per_head = lrpe_rotate(many[None, None], theta[:, None], offset=position)[0, 0]
    alone = np.stack([turned(row, np.full(theta.size, f), position) for row, f in zip(many, theta, strict=True)])
    return [
        Erratum("row", slip.residual, slip.residual_transposed),
        Erratum("halves", apart(matrix @ x, lines), apart((matrix @ x)[order], moved)),
        Erratum("from_o", apart(turned(lines, -theta, position), linear), apart(d_bar, linear)),
        Erratum(
            "derivative",
            apart(activate_backward(d_bar, np.ones_like(x), "silu", None), silu),
            apart(activate_backward(x, d_bar, "silu", None), silu),
        ),
        Erratum("theta", apart(per_pair, alone), apart(per_head, alone)),
    ]


def turned(x: Array, theta: Array, position: int) -> Array:
    """Return one vector (D,) turned by the document's element-wise lines at ``position``, theta (D/2,)."""
    return np.asarray(lrpe_rotate(x[None, None], theta, offset=position)[0, 0])


def apart(values: Array, exact: Array) -> float:
    """Return max |values - exact|."""
    return float(np.abs(values - exact).max())
