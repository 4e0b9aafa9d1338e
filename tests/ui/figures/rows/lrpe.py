"""The LRPE page's figures."""

import math

import numpy as np

import rope_core as rc
from rope_core.layout import convert
from rope_core.lrpe import errata, explain, linear
from rope_core.lrpe.demo import TOKENS, Case, backward_steps
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.lrpe import drawn, op, turning
from ui.figures.lrpe import linear as second
from ui.text.words import Words

CASE = Case("silu", base=77.0, width=12, offset=9, front=2, behind=4)
FOUR = {"y": "axis.position", "x3": "dimension", "y3": "axis.position", "x4": "dimension"}


def left(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def stages(t: Words) -> str:
    """Token 4 at position 13, pair 1 of three: dimensions 3 and 6, turned by 13 x 77^(-1/3)."""
    x, bar = (part[0, 4, 1, [3, 6]] for part in (CASE.stages.x, CASE.stages.activated))
    points = {name: f"({a:.3g}, {b:.3g})".replace("-", "−") for name, (a, b) in (("x", x), ("f", bar))}
    angle = f"{math.degrees(13 * 77.0 ** (-1 / 3)):,.0f}"
    return t("turn_finding", act=t("act.silu"), angle=angle, m="13", long=f"{math.hypot(*bar):.3g}", **points)


def thetas(t: Words) -> str:
    return t("thetas_geometric", shape=f"({CASE.pairs},)", base="77", high="1", low=f"{77.0 ** (-2 / 3):.3g}")


def matrices(t: Words) -> str:
    theta = np.array([77.0 ** (-i / 3) for i in range(3)])
    written, computed = (rc.rotation_matrix(13, theta, layout) for layout in ("interleaved", "half"))
    moved = written[np.ix_(convert(6, "interleaved", "half"), convert(6, "interleaved", "half"))]
    np.testing.assert_allclose(moved, computed, atol=1e-12)
    block = explain.block_diagonal(CASE.theta_grid[1], 13, "interleaved")
    half = explain.block_diagonal(CASE.theta_grid[1], 13)
    order = convert(6, "interleaved", "half")
    off = float(np.abs(block @ block.T - np.eye(6)).max())
    apart = float(np.abs(block[np.ix_(order, order)] - half).max())
    return t("matrices_finding", m="13", blocks=3, pairs=3, off=left(off), moved=left(apart))


def decode(t: Words) -> str:
    return t("decode_same", tokens=TOKENS, first="9", last=f"{9 + TOKENS - 1}", apart="0")


def backward(t: Words) -> str:
    steps = backward_steps(CASE)
    gaps = {"turned": steps.gap_turned, "dx": steps.gap_dx, "dtheta": steps.gap_dtheta, "slope": steps.gap_factor}
    return t("backward_finding", act=t("act.silu"), **{name: left(gap or 0.0) for name, gap in gaps.items()})


def slip(t: Words) -> str:
    x, theta = errata.drawn(50.0)
    built = explain.row_vector_slip(x, theta, 7)
    right = x @ explain.block_diagonal(theta, 7).T
    wrong = np.abs(x @ explain.block_diagonal(theta, 7) - right).max()
    return t(
        "slip_finding",
        t="7",
        rows=f"{wrong:.3g}",
        back=left(built.residual_backwards),
        fixed=left(built.residual_transposed),
    )


def attention(t: Words) -> str:
    built = linear.drawn_attention(ROPE.theta, "relu", second.TOKENS)
    below = np.tril_indices(second.TOKENS)
    count = second.TOKENS * (second.TOKENS + 1) // 2
    text = t(
        "attention_finding",
        phi=t("act.relu"),
        least=f"{built.plain[below].min():.3g}",
        negative=int((built.scores[below] < 0).sum()),
        count=count,
        residual=left(built.residual),
    )
    return text + (t("attention_undefined", count=built.undefined) if built.undefined else "")


def decay(t: Words) -> str:
    def mean(d: np.ndarray) -> np.ndarray:
        return np.asarray(np.cos(np.outer(d, ROPE.theta)).mean(axis=1))

    near = np.arange(1, second.REACH + 1)
    drawn = linear.drawn_decay(ROPE.theta, "relu", second.DRAWN)[near]
    ends = mean(np.array([1, 256]))
    np.testing.assert_allclose(explain.mean_decay(ROPE.theta, [1, 256]), ends, atol=1e-12)
    return t(
        "decay_finding",
        last="256",
        reach=64,
        phi=t("act.relu"),
        gap=f"{np.abs(drawn - mean(near)).max():.2g}",
        near=f"{ends[0]:.3f}",
        far=f"{ends[1]:.3f}",
    )


assert math.isclose(CASE.theta_grid[1, 1], 77.0 ** (-1 / 3), rel_tol=1e-6)
PLANE = {"x": "slip_first", "y": ("slip_second", {"i": errata.drawn(50.0)[1].size}), "x2": "dimension"}
ROWS = [
    Row("lrpe", op.thetas, (CASE, 1), {"x": "axis.pair", "y": "theta_axis"}, thetas),
    Row("lrpe", op.matrices, (CASE, 1, 4), {}, matrices),
    Row("lrpe", op.decode, (CASE, 1), {"y": "dimension", "x2": "decode_axis", "y2": "dimension"}, decode),
    Row("lrpe", op.backward, (CASE, 1, 4, 1), FOUR, backward),
    Row("lrpe", second.slip, (50.0, 7), PLANE, slip),
    Row("lrpe", second.attention, (ROPE, "relu"), {"x": "key_n", "y": "query_m", "x2": "key_n"}, attention),
    Row("lrpe", second.decay, (ROPE, "relu"), {"x": "distance", "y": "share_left"}, decay),
]
FILMS = [
    FilmRow(
        "lrpe", turning.stages, (CASE, 1, 1, (0, 9, 40)), {"length": 9, "offset": 9, "token": 4, "beat": 2}, stages
    ),
    FilmRow("lrpe", drawn.negative, (8, 77.0), {}, to_draw),
]
