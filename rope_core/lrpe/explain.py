"""What a page shows of LRPE: its stages, decoding, the backward, linear attention."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.lrpe import arguments, reference
from rope_core.lrpe.activations import apply_activation
from rope_core.lrpe.op import lrpe_rotate, lrpe_rotate_backward
from rope_core.rope import Array

# Feature maps that are nowhere negative, so that linear attention's denominator is not either.
NON_NEGATIVE = ("relu", "sigmoid", "softmax", "1+elu", "relu2")


@dataclass(frozen=True, eq=False)
class ForwardStages:
    """X, f(X) and O, float64, each shaped like x."""

    x: Array
    activated: Array
    out: Array


@dataclass(frozen=True, eq=False)
class IncrementalDecode:
    """The whole sequence at once, and token by token with a growing offset; float64 (B, N, ...) each."""

    whole: Array
    steps: Array

    @property
    def same_bits(self) -> bool:
        """Whether the two agree in every bit, NaN included."""
        return self.whole.tobytes() == self.steps.tobytes()


@dataclass(frozen=True, eq=False)
class GradientComparison:
    """The gradient on its way back, float64.

    Attributes:
        turned: dO turned by -theta, the gradient at the activation's output.
        dx, dtheta: the gradients by the formulas.
        autograd_dx, autograd_dtheta: the same by torch's automatic differentiation of the forward in float64.
    """

    turned: Array
    dx: Array
    dtheta: Array
    autograd_dx: Array
    autograd_dtheta: Array


def forward_stages(x: npt.ArrayLike, theta: npt.ArrayLike, **options: Any) -> ForwardStages:
    """Return X, f(X) and O for lrpe_rotate's arguments, float64 numpy."""
    values = reference.checked_float64("x", x)
    out = lrpe_rotate(values, np.asarray(theta), **options)
    act, dim = options.get("act", "none"), options.get("dim")
    full = values.reshape(arguments.shape_sizes(values.shape))
    return ForwardStages(values, apply_activation(full, act, dim).reshape(values.shape), out)


def compare_decoding(x: npt.ArrayLike, theta: npt.ArrayLike, *, offset: int = 0, **options: Any) -> IncrementalDecode:
    """Return lrpe_rotate of a whole sequence and of its tokens one at a time, token n with offset + n.

    They agree in every bit unless the activation runs along the sequence (dim=1), which one token cannot see.
    """
    values, frequency = reference.checked_float64("x", x), np.asarray(theta)
    whole_run = lrpe_rotate(values, frequency, offset=offset, **options)
    steps = [lrpe_rotate(values[:, n : n + 1], frequency, offset=offset + n, **options) for n in range(values.shape[1])]
    return IncrementalDecode(whole_run, np.concatenate(steps, axis=1) if steps else whole_run.copy())


def has_torch() -> bool:
    """Return whether torch is installed, which ``compare_backward`` compares with."""
    return find_spec("torch") is not None


def compare_backward(x: npt.ArrayLike, theta: npt.ArrayLike, grad: npt.ArrayLike, **options: Any) -> GradientComparison:
    """Return each stage of the backward of lrpe_rotate, and autograd's answer beside it; loads torch."""
    values, frequency, upstream = (
        reference.checked_float64("x", x),
        reference.checked_float64("theta", theta),
        reference.checked_float64("grad", grad),
    )
    dx, dtheta = lrpe_rotate_backward(values, frequency, upstream, **options)
    plain = {key: value for key, value in options.items() if key not in ("act", "dim")}
    turned = lrpe_rotate(upstream, -frequency, **plain)
    torch = importlib.import_module("torch")
    eager = importlib.import_module("rope_core.lrpe.eager")
    p = arguments.make_lrpe_spec(
        values.shape, frequency.shape, options.get("act", "none"), options.get("dim"), options.get("rotary_dim")
    )
    where = arguments.token_position_table(
        arguments.start_positions(options.get("offset", 0), p.batch, p.length), p.length
    )
    tx, tt = torch.tensor(values, requires_grad=True), torch.tensor(frequency, requires_grad=True)
    out = eager.lrpe_formula(tx.reshape(p.shape), tt.reshape(p.theta_shape), where, p)
    auto_dx, auto_dtheta = torch.autograd.grad(out, (tx, tt), torch.from_numpy(upstream).reshape(p.shape))
    return GradientComparison(turned, dx, dtheta, auto_dx.numpy(), auto_dtheta.numpy())


def linear_scores(
    q: npt.ArrayLike, k: npt.ArrayLike, theta: npt.ArrayLike, *, act: str = "1+elu", offset: int = 0
) -> Array:
    """Return linear attention's scores phi(q_m) R_m^T R_n phi(k_n), float64 (N, N), for one head.

    Args:
        q, k: (N, D) each.
        theta: rad/token, (D/2,).
        act: phi, a non-negative activation: "relu", "sigmoid", "softmax" (over the head), "1+elu" or "relu2".
        offset: the first token's position; the scores do not depend on it.

    Raises:
        ValueError: when shapes do not fit, or phi is not non-negative.

    >>> linear_scores(np.ones((2, 2)), np.ones((2, 2)), [np.pi / 2], act="relu").round(12).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    if act not in NON_NEGATIVE:
        raise argument_error("act", "non_negative_act", act, names=NON_NEGATIVE)
    queries, keys = reference.checked_float64("q", q), reference.checked_float64("k", k)
    if queries.ndim != 2 or queries.shape != keys.shape:
        raise argument_error("q and k", "same_matrices", (queries.shape, keys.shape))
    dim = -1 if act == "softmax" else None
    turned = [lrpe_rotate(v[None], np.asarray(theta), offset=offset, act=act, dim=dim)[0] for v in (queries, keys)]
    return np.asarray(turned[0] @ turned[1].T)


def sample_theta(kind: str, heads: int, pairs: int, base: float = 10_000.0, seed: int = 0) -> Array:
    """Return theta to look at, float64 rad/token, in one of the shapes that lrpe_rotate takes.

    Args:
        kind: "geometric" (P,) base**(-i/P); "per head" (H,) base**(-h/H); "learned" (H, P), the geometric ones each
            moved by a drawn factor of about a third, as training would.
        heads, pairs: H and P.
        base: above 1.
        seed: of the draw.

    Raises:
        ValueError: on an unknown kind or sizes below 1.
    """
    h, p = checked_int("heads", heads, 1, 65_536), checked_int("pairs", pairs, 1, 65_536)
    if not base > 1.0:
        raise argument_error("base", "finite_above", base, low=1)
    geometric = base ** (-np.arange(p) / p)
    if kind == "geometric":
        return np.asarray(geometric)
    if kind == "per head":
        return np.asarray(base ** (-np.arange(h) / h))
    if kind == "learned":
        drawn = np.random.default_rng(seed).normal(0.0, 1.0 / 3.0, (h, p))
        return np.asarray(geometric * np.exp(drawn))
    raise argument_error("kind", "one_of", kind, names=("geometric", "per head", "learned"))
