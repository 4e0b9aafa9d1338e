"""Positions of several numbers: the sections that divide the pairs, text after a video, an image's two axes."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory.encodings import (
    AXES,
    axial_angles,
    grid_positions,
    logits,
    mrope_axes,
    relative_residual,
    rope_logits,
    weights,
    words,
)
from ui.figures.drawing import Drawing, grid, kept
from ui.figures.encodings.scores import WIDTH
from ui.figures.plot import axis, bars, dots, heatmap, line, plot, vband
from ui.figures.positions.patches import AXIS_COLOURS
from ui.film.colours import AMOUNT, GREY, RED
from ui.text.words import Words

SIDE = 15


def interleaved(counts: tuple[int, int, int]) -> np.ndarray | None:
    """Which axis turns each pair when the sections take turns; None where height and width do not find every third."""
    try:
        return mrope_axes(counts, interleaved=True)
    except ValueError:
        return None


@kept
def sections(counts: tuple[int, int, int], t: Words) -> Drawing:
    """Which axis turns each pair: in three blocks, and interleaved where the sections allow it."""
    blocks, mixed = mrope_axes(counts), interleaved(counts)
    total = sum(counts)
    rows = [(1, blocks)] if mixed is None else [(1, blocks), (0, mixed)]
    figure = plot(
        [
            bars(
                np.flatnonzero(owner == k),
                np.full(int((owner == k).sum()), 0.8),
                colour,
                f"{t(f'axis_name.{AXES[k]}')}: {counts[k]}",
                base=row - 0.4,
                width=0.9,
                marker={"line": {"width": 0}},
                showlegend=bool(row),
            )
            for k, colour in enumerate(AXIS_COLOURS)
            for row, owner in rows
        ],
        height=270,
        barmode="overlay",
        margin={"t": 44},
        xaxis=axis(t("axis.pair"), range=[-0.6, total - 0.4]),
        yaxis=axis(tickvals=[1, 0], ticktext=[t("in_blocks"), t("in_turn")], range=[-0.5, 1.5], automargin=True),
    )
    sentence = {"total": total, "counts": f"{counts[0]}, {counts[1]}, {counts[2]}", "block": counts[0] - 1}
    columns = {"pair": np.arange(total), "blocks": blocks}
    if mixed is None:
        finding = t("sections_blocks_only", **sentence)
    else:
        finding = t("sections_finding", turn=int(np.flatnonzero(mixed == 0).max()), **sentence)
        columns["interleaved"] = mixed
    return Drawing(
        "sections",
        figure,
        finding,
        lambda: columns,
        f"""
        from rope_core.theory.encodings import mrope_axes
        print(mrope_axes({counts}, interleaved={mixed is not None}))
        """,
    )


@kept
def video(frames: int, height: int, width: int, t: Words) -> Drawing:
    """Draw the three positions of each token: text, then a video's patches, then text again."""
    around = 4
    config, grid_thw = {"model_type": "qwen2_vl", "vision_config": {"spatial_merge_size": 1}}, [[frames, height, width]]
    types = [0] * around + [2] * (frames * height * width) + [0] * around
    points = rc.multimodal_positions(config, types, video_grid_thw=grid_thw, after_largest=True).T
    index = np.arange(points.shape[0])
    last = around + frames * height * width
    figure = plot(
        [
            line(index, points[:, k], colour, 8 - 2.5 * k, t(f"axis_name.{AXES[k]}"), line={"shape": "hv"})
            for k, colour in enumerate(AXIS_COLOURS)
        ],
        height=330,
        shapes=[vband(around, last, GREY, 0.12)],
        xaxis=axis(t("token_axis")),
        yaxis=axis(t("position_axis")),
    )
    return Drawing(
        "video",
        figure,
        t(
            "video_finding",
            patches=frames * height * width,
            after=int(points[last].max()),
            plain=last,
            final=int(points[-1].max()),
            tokens=len(index),
        ),
        lambda: {"token": index} | {name: points[:, axis] for axis, name in enumerate(AXES)},
        f"""
        import rope_core as rc
        print(rc.multimodal_positions({config}, {types}, video_grid_thw={grid_thw}, after_largest=True))
        """,
    )


@kept
def image(row: int, column: int, base: float, t: Words) -> Drawing:
    """Two-dimensional RoPE's score of one patch with every patch of an image that is the same everywhere."""
    where = grid_positions(SIDE, SIDE)
    word = np.ones((len(where), WIDTH))
    matrix = rope_logits(word, word, axial_angles(where, WIDTH, base))
    picture = matrix[row * SIDE + column].reshape(SIDE, SIDE)
    # All of the image's differences, on a smaller grid: 64 patches are 4,096 scores.
    part = grid_positions(8, 8)
    residual = relative_residual(logits("rope2d", words(["x"] * len(part), WIDTH), part, weights(WIDTH, base)), part)
    figure = plot(
        [
            heatmap(picture, AMOUNT, colorbar={"thickness": 14}),
            dots([column], [row], RED, 17, marker={"symbol": "x"}),
        ],
        height=380,
        margin={"t": 10},
        xaxis=axis(t("column_axis"), constrain="domain"),
        yaxis=axis(t("row_axis"), autorange="reversed", scaleanchor="x", constrain="domain"),
    )
    return Drawing(
        "image",
        figure,
        t("image_finding", row=row, column=column, own=f"{picture[row, column]:.3g}", residual=f"{residual:.1e}"),
        lambda: grid(np.arange(SIDE), np.arange(SIDE), picture, ("column", "row", "score")),
        f"""
        import numpy as np
        from rope_core.theory.encodings import axial_angles, grid_positions, rope_logits
        where = grid_positions({SIDE}, {SIDE})
        word = np.ones((len(where), {WIDTH}))
        scores = rope_logits(word, word, axial_angles(where, {WIDTH}, {base!r}))
        print(scores[{row * SIDE + column}].reshape({SIDE}, {SIDE}))
        """,
    )
