"""Document 004, the block: the table of architectures, norms, activations, serial and parallel layers."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np

from rope_core.hf.catalogue import ARCHITECTURE_FIELDS, ArchitectureCorrection, ArchitectureRow, architecture_rows
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, register_undecided, relative_shortfall
from rope_core.ledger.kit import DIM, numerical_gradient, random_normal
from rope_core.rope import Array
from rope_core.theory.block.activation import activation_and_derivative, feed_forward, gated_product, sigmoid
from rope_core.theory.block.norm import layer_norm, norm_cost, rms_norm
from rope_core.theory.block.stack import (
    gradient_norms,
    parallel_block,
    random_blocks,
    relu_feed_forward,
    self_attention,
    serial_block,
)
from rope_core.theory.softmax import softmax

X = random_normal(61, 5, DIM)
LAYER = random_blocks(1, DIM, 4 * DIM, 62)[0]


def _contradicted(row: ArchitectureRow) -> list[ArchitectureCorrection]:
    """Return the row's printed cells that its model's own paper or code says otherwise, as far as that was verified."""
    return [
        c for c in row.corrections if c.verified and c.printed and c.corrected and not c.corrected.startswith(c.printed)
    ]


def _row(row: ArchitectureRow) -> ClaimCheck:
    """Measure the share of a row's printed cells that are contradicted; each correction must name where it was read."""
    cells = [field for field in ARCHITECTURE_FIELDS if getattr(row, field)]
    wrong = _contradicted(row)
    return ClaimCheck(len(wrong) / len(cells), corrected=float(sum(not c.source for c in wrong)))


for _architecture in architecture_rows():
    if _contradicted(_architecture):
        register_claim(f"004-table-{_architecture.id}")(partial(_row, _architecture))


@register_claim("004-rnn-variant")
def rnn_variant() -> ClaimCheck:
    """Measure what the order of inputs moves: a recurrent layer's last state, not attention's set of rows.

    The condition replaces softmax by a product of positive features, causally: then a state of fixed size, updated
    token by token, gives the same rows.
    """
    a, b = random_normal(70, 2, DIM, DIM)
    order = [3, 1, 4, 0, 2]

    def last(inputs: Array) -> Array:
        state = np.zeros(DIM)
        for row in inputs:
            state = np.tanh(a @ state + b @ row)
        return state

    moved = max_difference(last(X), last(X[order])) > 0.1
    still = max_difference(self_attention(X, LAYER)[order], self_attention(X[order], LAYER)) < 1e-12
    q, k = (np.exp(0.3 * X @ w) for w in (a, b))
    weights = np.tril(q @ k.T)
    rows, state, total = [], np.zeros((DIM, DIM)), np.zeros(DIM)
    for t in range(5):
        state, total = state + np.outer(k[t], X[t]), total + k[t]
        rows.append(q[t] @ state / (q[t] @ total))
    linear = max_difference(weights / weights.sum(axis=1, keepdims=True) @ X, rows)
    return ClaimCheck(float(moved and still), condition=linear)


@register_claim("004-prenorm-gradient")
def prenorm_gradient() -> ClaimCheck:
    """Mean gradient of the lower half of a random 24-layer pre-norm stack against the upper half's."""
    norms = gradient_norms("pre")
    return ClaimCheck(relative_shortfall(float(norms[:12].mean()), float(norms[12:].mean())))


@register_claim("004-prenorm-flow")
def prenorm_flow() -> ClaimCheck:
    """With the sub-layers silent, the residual hands the gradient down unchanged; post-norm rescales it."""
    silent = type(LAYER)(
        *(np.zeros_like(w) for w in (LAYER.w_q, LAYER.w_k, LAYER.w_v, LAYER.w_o, LAYER.w_1, LAYER.w_2))
    )
    target = random_normal(63, DIM)
    through = numerical_gradient(lambda x: float(serial_block(x[None], silent)[0] @ target), X[0])
    after_norm = numerical_gradient(lambda x: float(layer_norm(x[None])[0] @ target), X[0])
    if max_difference(after_norm, target) < 0.01:
        return ClaimCheck(float("nan"))
    return ClaimCheck(max_difference(through, target), tolerance=1e-7)


@register_claim("004-ln-mean")
def ln_mean() -> ClaimCheck:
    return ClaimCheck(max_difference([sum(row) / DIM for row in X], X.mean(axis=-1)))


@register_claim("004-ln-variance")
def ln_variance() -> ClaimCheck:
    return ClaimCheck(max_difference([sum((v - sum(row) / DIM) ** 2 for v in row) / DIM for row in X], X.var(axis=-1)))


@register_claim("004-ln")
def ln() -> ClaimCheck:
    gamma, beta, eps = random_normal(64, DIM), random_normal(65, DIM), 1e-5
    loops = [[gamma[d] * (row[d] - row.mean()) / np.sqrt(row.var() + eps) + beta[d] for d in range(DIM)] for row in X]
    return ClaimCheck(max_difference(loops, layer_norm(X, gamma, beta, eps)))


@register_claim("004-ln-per-token")
def ln_per_token() -> ClaimCheck:
    other = X.copy()
    other[1:] *= 9.0
    return ClaimCheck(max_difference(layer_norm(other)[0], layer_norm(X)[0]))


@register_claim("004-ln-length-name")
def ln_length_name() -> ClaimCheck:
    """In x_{n,l,d} of 2 samples with 5 positions, which axis has the length of the sequence: N's, then L's."""
    x = random_normal(71, 2, 5, DIM)
    return ClaimCheck(abs(x.shape[0] - len(x[0])) / len(x[0]), corrected=abs(x.shape[1] - len(x[0])) / len(x[0]))


@register_claim("004-rms")
def rms() -> ClaimCheck:
    gamma, eps = random_normal(66, DIM), 1e-5
    loops = [[gamma[d] * row[d] / np.sqrt(sum(row**2) / DIM + eps) for d in range(DIM)] for row in X]
    return ClaimCheck(max_difference(loops, rms_norm(X, gamma, eps)))


@register_claim("004-rms-l2")
def rms_is_l2() -> ClaimCheck:
    return ClaimCheck(
        max_difference(X / (np.linalg.norm(X, axis=-1, keepdims=True) / np.sqrt(DIM)), rms_norm(X, eps=0.0))
    )


@register_claim("004-rms-no-mean")
def rms_no_mean() -> ClaimCheck:
    """RMSNorm divides and takes nothing away: times the root mean square it is x, mean and all; LayerNorm is not."""
    root = np.sqrt((X**2).mean(axis=-1, keepdims=True))
    centred = layer_norm(X, eps=0.0) * root
    if max_difference(centred, X) < 0.01:
        return ClaimCheck(float("nan"))
    return ClaimCheck(max_difference(rms_norm(X, eps=0.0) * root, X))


@register_claim("004-rms-fewer")
def rms_fewer() -> ClaimCheck:
    """Fewer passes over memory, unfused; fused into one pass the two move the same bytes."""

    def saved(fused: bool) -> bool:
        layer, root = norm_cost("layer", fused), norm_cost("rms", fused)
        return layer.reads + layer.writes > root.reads + root.writes

    return ClaimCheck(0.0 if saved(fused=True) else 1.0, condition=0.0 if saved(fused=False) else 1.0)


@register_claim("004-rms-no-bias")
def rms_no_bias() -> ClaimCheck:
    return ClaimCheck(abs(norm_cost("rms", True).parameters - norm_cost("layer", True).parameters + 1.0))


W_1, W_2, V = random_normal(67, DIM, 12), random_normal(68, 12, DIM), random_normal(69, DIM, 12)


@register_claim("004-ff")
def ff() -> ClaimCheck:
    loops = [[sum(max(row @ W_1[:, h], 0.0) * W_2[h, d] for h in range(12)) for d in range(DIM)] for row in X]
    layer = type(LAYER)(LAYER.w_q, LAYER.w_k, LAYER.w_v, LAYER.w_o, W_1, W_2)
    return ClaimCheck(max_difference(loops, relu_feed_forward(X, layer)))


@register_claim("004-glu")
def glu() -> ClaimCheck:
    """Against the unit of that name, whose gate is a sigmoid, and against the one whose gate is ReLU."""
    printed = np.maximum(0, X @ W_1) * (X @ V)
    named, meant = (gated_product(name, X @ W_1, X @ V) for name in ("glu", "reglu"))
    return ClaimCheck(max_difference(printed, named), condition=max_difference(printed, meant))


@register_claim("004-reglu")
def reglu() -> ClaimCheck:
    loops = [
        [sum(max(row @ W_1[:, h], 0.0) * (row @ V[:, h]) * W_2[h, d] for h in range(12)) for d in range(DIM)]
        for row in X
    ]
    return ClaimCheck(max_difference(loops, feed_forward("reglu", X, W_1, W_2, V)))


def swiglu(x: Array, w_1: Array, w_2: Array) -> Array:
    """Return the definition as document 004 prints it: Swish(x W1) * (x W2)."""
    z = x @ w_1
    return np.asarray(z / (1.0 + np.exp(-z)) * (x @ w_2))


@register_claim("004-swiglu-ffn")
def swiglu_ffn() -> ClaimCheck:
    """Compare the printed call, which hands over two products, with the definition of input and two matrices."""
    takes = len(inspect.signature(swiglu).parameters)
    given, meant = (X @ W_1, X @ V), (X, W_1, V)
    return ClaimCheck(
        float(takes - len(given)),
        corrected=max_difference(swiglu(*meant) @ W_2, feed_forward("swiglu", X, W_1, W_2, V)),
    )


@register_claim("004-swiglu")
def swiglu_definition() -> ClaimCheck:
    return ClaimCheck(max_difference(swiglu(X, W_1, V), gated_product("swiglu", X @ W_1, X @ V)))


@register_claim("004-swish")
def swish() -> ClaimCheck:
    z = np.linspace(-30, 30, 301)
    return ClaimCheck(max_difference(z * sigmoid(z), activation_and_derivative("silu", z)[0]))


@register_claim("004-sigmoid")
def logistic() -> ClaimCheck:
    z = np.linspace(-30, 30, 301)
    return ClaimCheck(max_difference(1 / (1 + np.exp(-z)), 0.5 * (1 + np.tanh(z / 2))))


@register_claim("004-swish-smooth")
def swish_smooth() -> ClaimCheck:
    """ReLU's derivative takes 0 and 1 and jumps between them; Swish's changes by no more than its slope allows."""
    z = np.linspace(-8, 8, 16_001)
    relu, silu = activation_and_derivative("relu", z)[1], activation_and_derivative("silu", z)[1]
    jump = float(np.abs(np.diff(silu)).max()) / (z[1] - z[0])
    return ClaimCheck(0.0 if set(relu) == {0.0, 1.0} and jump <= 0.5 + 1e-9 else 1.0)


SHAZEER, PALM = "2002.05202", "2204.02311"


@register_claim("004-swiglu-origin")
def swiglu_origin() -> ClaimCheck:
    """Months from the first paper with SwiGLU to PaLM, by their arXiv numbers (year and month)."""
    months = [12 * int(number[:2]) + int(number[2:4]) for number in (SHAZEER, PALM)]
    return ClaimCheck(float(months[1] - months[0]), corrected=float(months[0] - min(months)))


@register_claim("004-swiglu-llama")
def swiglu_llama() -> ClaimCheck:
    """Measure the share of the table's LLaMA rows whose feed-forward unit is another one."""
    units = [each.corrected("activation") for each in architecture_rows() if each.id in ("llama", "llama-2", "llama-3")]
    return ClaimCheck(float(np.mean([unit != "SwiGLU" for unit in units])))


@register_claim("004-score-name")
def score_name() -> ClaimCheck:
    """Compare attention whose softmax is given the dot products; the condition: over sqrt(d)."""
    dots, values = (X @ LAYER.w_q) @ (X @ LAYER.w_k).T, X @ LAYER.w_v @ LAYER.w_o
    plain, scaled = (
        max_difference(softmax(scores) @ values, self_attention(X, LAYER)) for scores in (dots, dots / np.sqrt(DIM))
    )
    return ClaimCheck(plain, condition=scaled)


@register_claim("004-serial-parallel")
def serial_parallel() -> ClaimCheck:
    """Each position's row is computed on its own, so positions run in parallel; the MLP waits for attention."""
    u = layer_norm(X)
    mixed, keys, values = self_attention(u, LAYER), u @ LAYER.w_k, u @ LAYER.w_v @ LAYER.w_o
    alone = [softmax(keys @ (u[t] @ LAYER.w_q) / np.sqrt(DIM)) @ values for t in range(5)]
    rows_alone = max_difference(alone, mixed) < 1e-12
    waits = max_difference(layer_norm(X + mixed), layer_norm(X + 2 * mixed)) > 0.01
    return ClaimCheck(float(rows_alone), condition=float(not waits))


@register_claim("004-serial")
def serial() -> ClaimCheck:
    """Measure the printed second residual, which starts from x again and loses the attention's own."""
    h = X + self_attention(layer_norm(X), LAYER)
    printed = X + relu_feed_forward(layer_norm(h), LAYER)
    return ClaimCheck(
        max_difference(printed, serial_block(X, LAYER)),
        corrected=max_difference(h + relu_feed_forward(layer_norm(h), LAYER), serial_block(X, LAYER)),
    )


@register_claim("004-parallel")
def parallel() -> ClaimCheck:
    printed = X + relu_feed_forward(layer_norm(X), LAYER) + self_attention(layer_norm(X), LAYER)
    return ClaimCheck(max_difference(printed, parallel_block(X, LAYER)))


register_undecided(
    "004-table",
    "004-table-gpt-4",
    "004-ln-robust",
    "004-rms-sufficient",
    "004-prenorm-trains",
    "004-prenorm-worse",
    "004-postnorm-finetunes",
    "004-rms-mean-cost",
    "004-swiglu-better",
)
