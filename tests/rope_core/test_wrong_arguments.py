"""Every public function of kernels and hf, one argument wrong by type, size or order: an answer or one sentence."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core import kernels

TOKENS, PAIRS = 3, 2
Call = tuple[Callable[..., Any], Mapping[str, Callable[[], Any]]]


def tensor(*shape: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.ones(shape)


PACKED = {"q": tensor(TOKENS, 2, 4), "k": tensor(TOKENS, 1, 4)}
TABLES = {"cos": tensor(8, PAIRS), "sin": tensor(8, PAIRS), "layout": lambda: "half"}
WEIGHTS = {"q_weight": tensor(4), "k_weight": tensor(4)}
CONFIG = {"model_type": "qwen2_vl", "vision_config": {"embed_dim": 1280, "num_heads": 16}}
CALLS: dict[str, Call] = {
    "apply": (
        kernels.apply,
        {**PACKED, **TABLES, "positions": lambda: torch.arange(TOKENS), "cu_seqlens": lambda: None},
    ),
    "apply, texts": (
        kernels.apply,
        {**PACKED, **TABLES, "cu_seqlens": lambda: torch.tensor([0, 1, 3]), "offsets": lambda: torch.tensor([0, 2])},
    ),
    "apply, in the kernel": (
        kernels.apply,
        {**PACKED, "cos": lambda: None, "sin": lambda: None, "layout": lambda: "half", "attention_factor": lambda: 1.0}
        | {"phase_step": lambda: torch.ones(PAIRS, dtype=torch.int64)},
    ),
    "bind": (kernels.bind, {**PACKED, **TABLES}),
    "apply_normed": (kernels.apply_normed, {**PACKED, **WEIGHTS, **TABLES, "eps": lambda: 1e-6}),
    "apply_normed_cached": (
        kernels.apply_normed_cached,
        {**PACKED, "v": tensor(TOKENS, 1, 4), **WEIGHTS, **TABLES, "slots": lambda: torch.arange(TOKENS)}
        | {"k_cache": tensor(8, 1, 4), "v_cache": tensor(8, 1, 4)},
    ),
    "from_hf": (
        rc.from_hf,
        {"config": lambda: {"model_type": "llama"}, "layer_type": lambda: None, "seq_len": lambda: 8},
    ),
    "layer_types": (rc.layer_types, {"config": lambda: {"model_type": "gemma3_text"}}),
    "parts": (rc.parts, {"config": lambda: CONFIG}),
    "axial": (rc.axial, {"config": lambda: CONFIG}),
    "model": (rc.model, {"id": lambda: "llama-2-7b"}),
    "multimodal_positions": (
        rc.multimodal_positions,
        {
            "config": lambda: {"model_type": "qwen2_vl"},
            "token_types": lambda: [0, 1, 1, 1, 1, 0],
            "image_grid_thw": lambda: [[1, 4, 4]],
            "video_grid_thw": lambda: None,
            "seconds_per_grid": lambda: None,
        },
    ),
}
WRONG: list[Callable[[Any], Any]] = [
    *(lambda given, each=each: each for each in (None, "x", -1, 2**40, 1.5, True, [], {}, [["a"]], object(), b"\xff")),
    lambda given: np.ones((2, 3, 5), dtype=np.complex128),
    lambda given: torch.ones(0),
    lambda given: torch.tensor(1.0),
    lambda given: torch.ones(TOKENS, 2, 4, dtype=torch.complex64),
    lambda given: torch.ones(1, 2, 3, 4, 5),
    lambda given: torch.full((TOKENS,), 2**40),
    lambda given: given.to(torch.int32) if isinstance(given, torch.Tensor) else given,
    lambda given: given.to(torch.bool) if isinstance(given, torch.Tensor) else given,
    lambda given: given.to(torch.float64) if isinstance(given, torch.Tensor) else given,
    lambda given: given.transpose(0, -1) if isinstance(given, torch.Tensor) else given,
    lambda given: given[..., :1] if isinstance(given, torch.Tensor) and given.ndim else given,
    lambda given: given[:1] if isinstance(given, torch.Tensor) and given.ndim else given,
    lambda given: given.to("meta") if isinstance(given, torch.Tensor) else given,
    lambda given: given.numpy() if isinstance(given, torch.Tensor) else given,
]


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_answered_or_refused_in_one_sentence(name: str) -> None:
    function, arguments = CALLS[name]
    function(**{key: make() for key, make in arguments.items()})
    wrong, refused = [], 0
    for spoiled in arguments:
        for k, change in enumerate(WRONG):
            given = {key: make() for key, make in arguments.items()}
            given[spoiled] = change(given[spoiled])
            try:
                function(**given)
            except ValueError as error:
                refused += 1
                if not isinstance(error, rc.ArgumentError | rc.ConfigError) or "\n" in str(error):
                    wrong.append((spoiled, k, type(error).__name__, str(error)[:90]))
            except Exception as error:
                wrong.append((spoiled, k, type(error).__name__, str(error)[:90]))
    assert not wrong
    assert refused >= 3
