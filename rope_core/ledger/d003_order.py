"""Document 003, order and tables: what a model without positions misses, and where tables of positions end."""

from __future__ import annotations

import numpy as np

from rope_core.hf.catalogue import architecture_rows, released_models, unrotated_models
from rope_core.ledger.entry import ClaimCheck, max_difference, register_claim, relative_shortfall
from rope_core.ledger.kit import DIM, random_normal
from rope_core.rope import Array
from rope_core.theory.encodings.additive import learned_vectors, sinusoidal_shift_residual, sinusoidal_vectors
from rope_core.theory.encodings.compare import (
    mean_attention_output,
    position_only_logits,
    random_encoding_weights,
    relative_residual,
    token_vectors,
    word_order_difference,
)
from rope_core.theory.encodings.relative import nezha_table, shaw_logits
from rope_core.theory.softmax import softmax

FIRST, SECOND = "小明喜欢狗但不喜欢猫", "小明不喜欢狗但喜欢猫"
LINE = np.arange(30)
ROWS = 2048
FAR = 2**30


@register_claim("003-same-vectors")
def same_vectors() -> ClaimCheck:
    x, y = token_vectors(list(FIRST), 16), token_vectors(list(SECOND), 16)
    as_sets = max_difference(x[np.lexsort(x.T)], y[np.lexsort(y.T)])
    seen = word_order_difference("nope", list(FIRST), list(SECOND), random_encoding_weights(16))
    return ClaimCheck(max_difference(x, y), condition=max(as_sets, seen))


@register_claim("003-order-seen")
def order_seen() -> ClaimCheck:
    """Each kind of encoding the document names must tell the two sentences apart."""
    w = random_encoding_weights(16)
    size = float(np.abs(mean_attention_output("nope", list(FIRST), w)).max())
    least = min(
        word_order_difference(name, list(FIRST), list(SECOND), w) for name in ("sinusoidal", "nezha", "deberta", "rope")
    )
    return ClaimCheck(relative_shortfall(least, 1e-3 * size))


@register_claim("003-rnn-order")
def rnn_order() -> ClaimCheck:
    """Measure the last state of a drawn recurrent layer, its inputs in order and reversed."""
    x, (a, b) = random_normal(43, 5, DIM), random_normal(44, 2, DIM, DIM)

    def last(inputs: Array) -> Array:
        state = np.zeros(DIM)
        for row in inputs:
            state = np.tanh(a @ state + b @ row)
        return state

    return ClaimCheck(relative_shortfall(max_difference(last(x), last(x[::-1])), 0.1))


@register_claim("003-parallel")
def parallel() -> ClaimCheck:
    """All rows of an attention layer at once, against each row on its own, last row first."""
    q, k, v = random_normal(45, 3, 6, DIM)
    alone = [softmax(q[[t]] @ k.T)[0] @ v for t in reversed(range(6))]
    return ClaimCheck(max_difference(softmax(q @ k.T) @ v, alone[::-1]))


@register_claim("003-pairs-independent")
def pairs_independent() -> ClaimCheck:
    """One word changed: the other pairs' weights, then their scores before softmax."""
    q, k = random_normal(46, 2, 6, DIM)
    other = k.copy()
    other[5] += 1.0
    before, after = q @ k.T, q @ other.T
    return ClaimCheck(
        max_difference(softmax(before)[:, :5], softmax(after)[:, :5]),
        condition=max_difference(before[:, :5], after[:, :5]),
    )


@register_claim("003-relative-attends")
def relative_attends() -> ClaimCheck:
    """Measure NeZha's and DeBERTa's scores for one repeated word, against the nearest function of distance alone."""
    w = random_encoding_weights(16)
    return ClaimCheck(
        max(relative_residual(position_only_logits(name, LINE, w), LINE) for name in ("nezha", "deberta"))
    )


@register_claim("003-absolute-way")
def absolute_way() -> ClaimCheck:
    """Each vector is turned by its own position, and the scores depend on the distance alone."""
    return ClaimCheck(relative_residual(position_only_logits("rope", LINE, random_encoding_weights(16)), LINE))


@register_claim("003-relative-rate")
def relative_rate() -> ClaimCheck:
    """How often texts of 8 to 64 tokens use each row of a table by distance; then NeZha's, which is not learned."""
    used = np.zeros(64)
    for length in range(8, 65):
        used[:length] += length - np.arange(length)
    return ClaimCheck(
        float(1.0 - used.min() / used.max()),
        condition=max_difference(nezha_table(4, DIM), sinusoidal_vectors(np.arange(-4, 5), DIM)),
    )


def _row_missing(position: int) -> bool:
    try:
        learned_vectors([position], random_normal(47, ROWS, DIM))
    except ValueError:
        return True
    return False


@register_claim("003-predefined")
def predefined() -> ClaimCheck:
    """Measure the share of {learned, NeZha, sinusoidal, rotary} whose vectors at position 2**30 no table has to hold.

    Sinusoidal and rotary vectors are computed: their shift law holds at any position. A learned table and NeZha's
    clipped one are finite sets of vectors.
    """
    near = np.array([FAR, FAR + 7])
    clipped = shaw_logits(np.ones((2, DIM)), np.zeros((2, DIM)), [0, FAR], nezha_table(4, DIM))
    computed = [
        not _row_missing(FAR),
        clipped[0, 1] != shaw_logits(np.ones((2, DIM)), np.zeros((2, DIM)), [0, 4], nezha_table(4, DIM))[0, 1],
        sinusoidal_shift_residual(5, near, DIM) < 1e-5,
        relative_residual(position_only_logits("rope", near, random_encoding_weights(DIM)), near) < 1e-5,
    ]
    return ClaimCheck(float(np.mean(computed)), condition=float(np.mean(computed[:2])))


@register_claim("003-mainstream")
def mainstream() -> ClaimCheck:
    """Measure the share of the catalogue's models from 2023 on that do not rotate; the condition: up to 2024."""
    rotating = {each.name: (each.year, True) for each in released_models()}
    rows = {
        each.name: (int(each.year), "RoPE" in each.corrected("position"))
        for each in architecture_rows()
        if each.position
    }
    years = {**rows, **rotating, **{each.name: (each.year, False) for each in unrotated_models()}}.values()
    recent = [rotates for year, rotates in years if year >= 2023]
    return ClaimCheck(
        1 - float(np.mean(recent)), condition=float(not all(turns for year, turns in years if 2023 <= year < 2025))
    )


@register_claim("003-table-end")
def table_end() -> ClaimCheck:
    """Past a table of 2048 rows: the sinusoidal encoding still has its shift law; a learned table has no row."""
    past = np.arange(ROWS, ROWS + 100)
    return ClaimCheck(float(sinusoidal_shift_residual(5, past, DIM) < 1e-9), condition=float(not _row_missing(ROWS)))
