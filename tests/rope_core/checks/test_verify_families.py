"""verify: no healthy model of any family that transformers can build small is accused."""

import random
import signal
from typing import Any

import pytest
import torch
import transformers

import rope_core as rc
from rope_core.hf.read import read_config
from rope_core.hf.ropes import ropes_of
from tests.rope_core.checks.test_verify_models import trained
from tests.support import tiny_models

# Seconds of processor time for building one model.
LIMIT = 20
# Fields, dtype, weights as training leaves them, and whether the model is in training mode with eager attention.
VARIANTS: dict[str, tuple[dict[str, Any], torch.dtype | None, bool, bool]] = {
    "fresh": ({}, None, False, False),
    "one KV head": ({"num_key_value_heads": 1, "pad_token_id": 1}, None, True, True),
    "bfloat16": ({"pad_token_id": 2}, torch.bfloat16, True, False),
    "padding id 1": ({"pad_token_id": 1}, None, False, True),
}
# Families whose small model says nothing about the large one, or cannot be built.
NOT_SMALL = {
    "blt": "its parts have rotations of their own, with other bases than the whole config's",
    "clvp": "turns at least 32 dimensions, more than a small head has",
    "dots3_note_text": "widths by layer that a small head_dim does not reach",
}
# What transformers does: these compute frequencies in the default dtype, bfloat16 where the model is built in it.
TRUE = {(name, "rotation_frequencies_rounded") for name in ("codegen", "gptj")}


def turns(model_type: str) -> bool:
    """Whether a family has a rotation that follows token positions."""
    try:
        return bool(ropes_of(read_config(transformers.CONFIG_MAPPING[model_type]())))
    except Exception:  # no rotary embedding, or a class default that cannot stand
        return False


def _too_long(*_: object) -> None:
    raise TimeoutError


def accused(model_type: str, variant: str) -> list[str] | None:
    """Return the errors and warnings of a family's healthy small model; None where none can be built."""
    changes, dtype, trains, eager = VARIANTS[variant]
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        model, config = tiny_models.model(model_type, dtype, **changes)
        if eager:
            config._attn_implementation = "eager"
            model.train()
    except Exception:  # sizes that do not fit each other, a package that is absent
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    result = rc.verify(trained(model) if trains else model, config)
    wrong = [each for each in result if each.severity != "note" and (model_type, each.key) not in TRUE]
    return [f"{model_type}, {variant}: {each.key} {dict(each.values)}" for each in wrong]


def test_a_drawn_sample_of_healthy_models_is_not_accused() -> None:
    draw = random.Random(0)
    names = [name for name in draw.sample(sorted(transformers.CONFIG_MAPPING), 40) if name not in NOT_SMALL]
    answers = [accused(name, draw.choice([*VARIANTS])) for name in names if turns(name)]
    assert [line for answer in answers for line in answer or []] == []
    assert sum(answer is not None for answer in answers) >= 5


@pytest.mark.long
def test_no_healthy_model_of_any_family_is_accused() -> None:
    names = [name for name in transformers.CONFIG_MAPPING if name not in NOT_SMALL and turns(name)]
    others = [*VARIANTS][1:]
    pairs = [(name, variant) for i, name in enumerate(names) for variant in ("fresh", others[i % 3])]
    answers = {pair: accused(*pair) for pair in pairs}
    assert [line for answer in answers.values() for line in answer or []] == []
    assert sum(answers[name, "fresh"] is not None for name in names) >= 200
