"""The positions that a model gives to words, to the patches of an image and to the frames of a video.

Written from ``get_rope_index`` of each family in transformers 5.24 (models/<name>/modeling_<name>.py), against which
the tests hold it on drawn inputs. A word has the same number on every axis. The patches of an image share their time
and count rows and columns from where the image begins; the next word goes on after the longer side of the image.

After a video whose frames reach further than its sides the sources part: the paper (Qwen2-VL, arXiv:2409.12191, section
2.1) and transformers 4 go on after the largest number, transformers 5.24 after the longer side all the same, so that
words get numbers which frames have already. ``multimodal_positions`` gives either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import ConfigError, argument_error
from rope_core.hf.read import config_int, read_config
from rope_core.rope import MAX_LEN

PositionIds = npt.NDArray[np.int64]
TEXT, IMAGE, VIDEO = 0, 1, 2
AXES = ("time", "height", "width")


@dataclass(frozen=True)
class GridNumbering:
    """How a family numbers a grid of patches.

    Attributes:
        frames: whether the frames of a video come one by one, words between them.
        merge: how many patches along a side become one token, where the config does not say.
        seconds: tokens per second of a video, where the family counts time by the clock, and the config does not say.
        together: how many frames of a video become one, where the config does not say.
        inside: whether patches count within their image alone (width, height, number of the image), and words go on
            as if the patches were words.
    """

    frames: bool = False
    merge: int = 2
    seconds: float | None = None
    together: int = 1
    inside: bool = False


FAMILIES = {
    "cohere_compass": GridNumbering(frames=True),
    "cosmos3_edge": GridNumbering(frames=True),
    "cosmos3_omni": GridNumbering(frames=True),
    "ernie4_5_vl_moe": GridNumbering(together=2),
    "glm46v": GridNumbering(frames=True),
    "glm4v": GridNumbering(frames=True),
    "glm4v_moe": GridNumbering(frames=True),
    "glm_image": GridNumbering(merge=1),
    "glm_ocr": GridNumbering(frames=True),
    "hunyuan_vl": GridNumbering(inside=True),
    "paddleocr_vl": GridNumbering(),
    "qwen2_5_vl": GridNumbering(seconds=4.0),
    "qwen2_vl": GridNumbering(),
    "qwen3_5": GridNumbering(frames=True),
    "qwen3_5_moe": GridNumbering(frames=True),
    "qwen3_vl": GridNumbering(frames=True),
    "qwen3_vl_moe": GridNumbering(frames=True),
    "qwen4_exp": GridNumbering(frames=True),
}
"""By model_type. minicpmv4_7 (canvases) and the Omni models (sound) number more than grids, and are not described."""


@dataclass(frozen=True)
class ConfigGridNumbering:
    """How one config numbers its grids: the family's way with the config's own numbers."""

    family: GridNumbering
    axes: int
    merge: int
    seconds: float
    together: int


def grids_of(config: object) -> ConfigGridNumbering:
    """Return how a config numbers images and videos. Raises ConfigError where the family is not described."""
    data = read_config(config)
    kind = data.get("model_type")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        raise ConfigError("model_type", "one_of", kind, names=tuple(FAMILIES))
    vision = data.get("vision_config")
    given: Mapping[str, Any] = vision if isinstance(vision, Mapping) else {}

    def field(name: str, default: int) -> int:
        value = given.get(name)
        return config_int(f"vision_config.{name}", default if value is None else value, 1, 2**10)

    seconds = given.get("tokens_per_second")
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise ConfigError("vision_config.tokens_per_second", "finite_above", seconds, low=0)
    merge = 1 if family.merge == 1 else field("spatial_merge_size", family.merge)
    together = 1 if family.together == 1 else field("temporal_merge_size", family.together)
    return ConfigGridNumbering(
        family, _axes(data) if family.inside else 3, merge, float(seconds or family.seconds or 1), together
    )


def _axes(data: Mapping[str, Any]) -> int:
    """Return how many axes a config of numbers inside an image has: as many as its sections."""
    parts = [part for part in (data.get("text_config"), data) if isinstance(part, Mapping)]
    held = [part.get(name) for part in parts for name in ("rope_parameters", "rope_scaling")]
    sections = [each.get("mrope_section") or each.get("xdrope_section") for each in held if isinstance(each, Mapping)]
    named = next((each for each in sections if isinstance(each, list | tuple)), ())
    if not 3 <= len(named) <= 8:
        raise ConfigError("rope_parameters.mrope_section", "three to eight widths", named)
    return len(named)


def multimodal_positions(
    config: object,
    token_types: npt.ArrayLike,
    image_grid_thw: npt.ArrayLike | None = None,
    video_grid_thw: npt.ArrayLike | None = None,
    seconds_per_grid: npt.ArrayLike | None = None,
    *,
    after_largest: bool = False,
) -> PositionIds:
    """Return the position of every token of one text with images and videos, int64 (axes, seq).

    Args:
        config: a dict, a path or a transformers config object of a family in ``FAMILIES``.
        token_types: (seq,) 0 for a word, 1 for a patch of an image, 2 for one of a video (mm_token_type_ids).
        image_grid_thw: (images, 3) frames, rows and columns of patches, before they are merged.
        video_grid_thw: (videos, 3) the same of videos.
        seconds_per_grid: (videos,) seconds from one row of frames to the next (Qwen2.5-VL); 1 where left out.
        after_largest: whether words go on after a video's largest number, as the paper says, and not after its longer
            side, as transformers 5.24 does.

    Raises ConfigError on a family that is not described, ValueError where types and grids do not fit.

    >>> multimodal_positions({"model_type": "qwen2_vl"}, [0, 1, 1, 1, 1, 0], [[1, 4, 4]]).tolist()
    [[0, 1, 1, 1, 1, 3], [0, 1, 1, 2, 2, 3], [0, 1, 2, 1, 2, 3]]
    """
    how = grids_of(config)
    types = np.asarray(token_types)
    if types.ndim != 1 or not types.size or not np.isin(types, (TEXT, IMAGE, VIDEO)).all():
        raise argument_error("token_types", "numbers 0, 1 and 2 of shape (seq,)", token_types)
    images = as_grids("image_grid_thw", image_grid_thw)
    videos = as_grids("video_grid_thw", video_grid_thw)
    each_video = f"one number for each of {len(videos)} videos"
    try:
        given = np.ones(len(videos)) if seconds_per_grid is None else seconds_per_grid
        times = np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise argument_error("seconds_per_grid", each_video, seconds_per_grid) from None
    if len(times) != len(videos):
        raise argument_error("seconds_per_grid", each_video, seconds_per_grid)
    steps = how.seconds * times if how.family.seconds else np.ones(len(videos))
    if how.family.frames:
        # As a browser's Python counts, in 32 bits.
        frames = videos[:, 0].astype(np.intp)
        videos, steps = np.repeat(videos, frames, axis=0), np.repeat(steps, frames)
        videos[:, 0] = 1
    waiting = {IMAGE: iter([(grid, 1.0, 1) for grid in images.tolist()])}
    waiting[VIDEO] = iter([(grid, step, how.together) for grid, step in zip(videos.tolist(), steps, strict=True)])
    return np.concatenate(list(_spans(types.tolist(), waiting, how, after_largest)), axis=1)


def as_grids(name: str, values: npt.ArrayLike | None) -> PositionIds:
    """Return frames, rows and columns of each image or video as int64 (count, 3)."""
    if values is None:
        return np.zeros((0, 3), dtype=np.int64)
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu" or np.any(array < 1):
        raise argument_error(name, "whole numbers above 0 of shape (count, 3)", values)
    if np.prod(array.astype(np.float64), axis=1).max(initial=0) > MAX_LEN:
        raise argument_error(name, f"at most {MAX_LEN:,} patches", values)
    return array.astype(np.int64)


def _spans(
    types: list[int],
    waiting: Mapping[int, Iterator[tuple[list[int], float, int]]],
    how: ConfigGridNumbering,
    after_largest: bool,
) -> Iterator[PositionIds]:
    """Yield the positions of each run of words and of each grid."""
    at, place, pictures = 0, 0, 0
    for kind, group in groupby(types):
        length = len(list(group))
        words = np.broadcast_to(np.arange(length) + (place if how.family.inside else at), (how.axes, length))
        place += length
        if kind == TEXT:
            yield words
            at += length
            continue
        grid, step, together = next(waiting[kind], (None, 1.0, 1))
        if grid is None:
            raise argument_error("token_types", f"no more runs of kind {kind} than grids", types)
        if how.family.inside:
            yield _inside(words, grid, how.merge, pictures)
            pictures += 1
            continue
        frames, rows, columns = grid[0] // together, grid[1] // how.merge, grid[2] // how.merge
        if frames * rows * columns != length:
            raise argument_error(
                "token_types", f"{frames * rows * columns} tokens in a row for the grid {grid}", length
            )
        t, h, w = np.meshgrid(np.arange(frames), np.arange(rows), np.arange(columns), indexing="ij")
        patches = np.stack([(t * step).astype(np.int64).ravel(), h.ravel(), w.ravel()])
        yield patches + at
        at += int(patches.max()) + 1 if after_largest else max(grid[1], grid[2]) // how.merge


def _inside(words: PositionIds, grid: list[int], merge: int, picture: int) -> PositionIds:
    """Return an image's tokens with column, row and number of the image on the last axes; a row ends with one more."""
    rows, columns = grid[1] // merge, grid[2] // merge + 1
    ends = words.shape[1] - rows * columns
    if ends not in (0, 2):
        raise argument_error(
            "token_types", f"{rows * columns} tokens, or 2 more, in a row for the grid {grid}", words.shape[1]
        )
    out, own = words.copy(), slice(ends // 2, words.shape[1] - ends // 2)
    row, column = np.divmod(np.arange(rows * columns), columns)
    out[-3:, own] = np.stack([column, row, np.full_like(row, picture)])
    return out


__all__ = ["FAMILIES", "GridNumbering", "as_grids", "grids_of", "multimodal_positions"]
