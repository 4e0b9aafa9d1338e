"""Positions of words, images and videos against transformers' own get_rope_index, on drawn texts."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch
from transformers import CONFIG_MAPPING

from rope_core.errors import ConfigError
from rope_core.hf.places import FAMILIES, ConfigGridNumbering, grids_of, multimodal_positions

DRAWS = 12


def model_of(kind: str) -> Any:
    """Return a family's model without its weights: its config and its method for positions."""
    module = importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
    owner = next(
        each for name, each in vars(module).items() if name.endswith("Model") and "get_rope_index" in vars(each)
    )
    model = object.__new__(owner)
    torch.nn.Module.__init__(model)
    model.config = CONFIG_MAPPING[kind]()
    if FAMILIES[kind].inside:
        model.config.text_config.rope_parameters = {"rope_type": "default", "mrope_section": [16, 16, 16, 16]}
    return model


def drawn(
    rng: np.random.Generator, how: ConfigGridNumbering
) -> tuple[list[int], list[list[int]], list[list[int]], list[float]]:
    """Draw a text: the kinds of its tokens, its images and videos, seconds for each video."""
    types: list[int] = []
    images: list[list[int]] = []
    videos: list[list[int]] = []
    for _ in range(rng.integers(1, 5)):
        types += [0] * int(rng.integers(1, 6))
        kind = int(rng.integers(0, 2 if how.family.inside else 3))
        rows, columns = (int(n) for n in rng.integers(1, 5, 2))
        grid, count = [1, rows * how.merge, columns * how.merge], rows * (columns + how.family.inside)
        if kind == 1:
            images.append(grid)
            types += [1] * (count + 2 * int(how.family.inside and rng.integers(0, 2)))
        elif kind == 2:
            frames = int(rng.integers(1, 4))
            videos.append([frames * how.together, *grid[1:]])
            for _ in range(frames if how.family.frames else 1):
                types += [2] * (count if how.family.frames else count * frames) + [0] * bool(how.family.frames)
    return [*types, 0], images, videos, rng.choice([0.5, 0.7, 1.0, 2.0], len(videos)).tolist()


@pytest.mark.parametrize("kind", sorted(set(FAMILIES) - {"glm_image"}))
def test_positions_are_those_of_transformers(kind: str) -> None:
    model, rng = model_of(kind), np.random.default_rng(len(kind))
    for _ in range(DRAWS):
        types, images, videos, seconds = drawn(rng, grids_of(model.config))
        given = {"image_grid_thw": torch.tensor(images) if images else None}
        if not FAMILIES[kind].inside:
            given["video_grid_thw"] = torch.tensor(videos) if videos else None
        timed = seconds if FAMILIES[kind].seconds and seconds else None
        if timed:
            given["second_per_grid_ts"] = torch.tensor(timed)
        wanted, _ = model.get_rope_index(torch.ones(1, len(types), dtype=torch.long), torch.tensor([types]), **given)
        ids = multimodal_positions(model.config, types, images or None, videos or None, timed)
        assert np.array_equal(ids, wanted[:, 0].numpy()), (types, images, videos, timed)


def test_a_family_of_images_to_make_counts_its_sources_alike() -> None:
    """GLM-Image finds its images between tokens of its own: the ids before the one that is to be made."""
    module = importlib.import_module("transformers.models.glm_image.modeling_glm_image")
    model = object.__new__(module.GlmImageModel)
    torch.nn.Module.__init__(model)
    model.config = config = CONFIG_MAPPING["glm_image"]()
    rows, columns, words = 3, 5, 4
    inner = [config.image_start_token_id, *[7] * (rows * columns), config.image_end_token_id]
    tokens = torch.tensor([[9] * words + inner + [9] * words])
    wanted, _ = model.get_rope_index(tokens, torch.tensor([[1, rows, columns]]), images_per_sample=torch.tensor([1]))
    types = [0] * (words + 1) + [1] * (rows * columns) + [0] * (words + 1)
    assert np.array_equal(multimodal_positions(config, types, [[1, rows, columns]]), wanted[:, 0].numpy())


@pytest.mark.parametrize("size", [(5, 2, 3), (2, 5, 3), (2, 3, 5), (4, 4, 4)])
def test_the_paper_goes_on_after_the_largest_number_of_any_axis(size: tuple[int, int, int]) -> None:
    config = {"model_type": "qwen2_vl", "vision_config": {"spatial_merge_size": 1}}
    count = int(np.prod(size))
    ids = multimodal_positions(config, [0, *[2] * count, 0, 0], video_grid_thw=[size], after_largest=True)
    assert ids[:, 1:-2].min(axis=1).tolist() == [1] * 3 and ids[:, -3].tolist() == list(size)
    assert ids[:, -2:].tolist() == [[max(size) + 1, max(size) + 2]] * 3


@pytest.mark.parametrize(
    ("types", "grids", "rule"),
    [
        ([0, 1], None, "no more runs of kind 1 than grids"),
        ([0, 1, 1], [[1, 4, 4]], "4 tokens in a row"),
        ([0, 3], None, "numbers 0, 1 and 2"),
        ([[0]], None, "numbers 0, 1 and 2"),
        ([0], [[1, 0, 4]], "above 0"),
        ([0], [[1, 2**12, 2**30]], "patches"),
    ],
)
def test_what_does_not_fit_is_refused(types: Any, grids: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        multimodal_positions({"model_type": "qwen2_vl"}, types, grids)


@pytest.mark.parametrize("config", [{"model_type": "llama"}, {"model_type": "hunyuan_vl"}, {}])
def test_a_family_that_is_not_described_is_named(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"model_type|mrope_section"):
        multimodal_positions(config, [0])
