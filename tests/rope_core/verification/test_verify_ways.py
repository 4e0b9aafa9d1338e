"""verify: a fault that only some of the ways to read a text have is found, and no healthy model raises an alarm."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import rope_core as rc
from tests.rope_core.verification.test_verify_models import trained
from tests.support import tiny_models

FAMILIES = ("llama", "qwen3", "gemma3_text", "glm4", "gpt_oss")
APPLY = "apply_rotary_pos_emb"
Forward = Callable[..., Any]


def turning(model: Any, patch: pytest.MonkeyPatch, spoil: Callable[[Any, Any, Any], Any]) -> None:
    """Have the family's own function hand on other keys; ``spoil`` gets what was, what is, and how many tokens."""
    module = sys.modules[type(model).__module__]
    right = getattr(module, APPLY)

    def wrong(q: Any, k: Any, *rest: Any, **more: Any) -> Any:
        turned_q, turned_k = right(q, k, *rest, **more)
        return turned_q, spoil(k, turned_k, k.shape[2])

    patch.setattr(module, APPLY, wrong)


def placed(model: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Have the text model's forward change what it is given."""
    right: Forward = model.forward

    def changed(
        input_ids: Any = None,
        attention_mask: Any = None,
        position_ids: Any = None,
        past_key_values: Any = None,
        use_cache: Any = None,
        return_dict: Any = None,
    ) -> Any:
        given = {"attention_mask": attention_mask, "position_ids": position_ids, "past_key_values": past_key_values}
        given |= {"length": input_ids.shape[1]}
        change(given)
        del given["length"]
        return right(input_ids=input_ids, use_cache=use_cache, **given)

    model.forward = changed


def unturned_in_prefill(model: Any, patch: pytest.MonkeyPatch) -> None:
    turning(model, patch, lambda k, turned, length: k if length > 1 else turned)


def unturned_after_eight(model: Any, patch: pytest.MonkeyPatch) -> None:
    turning(model, patch, lambda k, turned, length: torch.cat([turned[:, :, :8], k[:, :, 8:]], dim=2))


def restarted_in_decode(model: Any, patch: pytest.MonkeyPatch) -> None:
    def change(given: dict[str, Any]) -> None:
        if given["past_key_values"] is not None and given["length"] == 1 and given["position_ids"] is None:
            given["position_ids"] = torch.zeros(1, 1, dtype=torch.long)

    placed(model, change)


def restarted_in_pieces(model: Any, patch: pytest.MonkeyPatch) -> None:
    def change(given: dict[str, Any]) -> None:
        if given["past_key_values"] is not None and given["length"] > 1:
            given["position_ids"] = torch.arange(given["length"])[None]

    placed(model, change)


def padding_counted(model: Any, patch: pytest.MonkeyPatch) -> None:
    def change(given: dict[str, Any]) -> None:
        if given["attention_mask"] is not None:
            given["position_ids"] = torch.arange(given["length"])[None].expand(len(given["attention_mask"]), -1)

    placed(model, change)


def counted_in_each_call(model: Any, patch: pytest.MonkeyPatch) -> None:
    placed(model, lambda given: given.update(position_ids=torch.arange(given["length"])[None]))


def ids_dropped(model: Any, patch: pytest.MonkeyPatch) -> None:
    placed(model, lambda given: given.update(position_ids=None))


def first_row_for_all(model: Any, patch: pytest.MonkeyPatch) -> None:
    def change(given: dict[str, Any]) -> None:
        if given["position_ids"] is not None:
            given["position_ids"] = given["position_ids"][:1].expand_as(given["position_ids"])

    placed(model, change)


def single_tokens_at_0(model: Any, patch: pytest.MonkeyPatch) -> None:
    def change(given: dict[str, Any]) -> None:
        if given["length"] == 1:
            given["position_ids"] = torch.zeros(1, 1, dtype=torch.long)

    placed(model, change)


def runs_on_over_packed_texts(model: Any, patch: pytest.MonkeyPatch) -> None:
    def change(given: dict[str, Any]) -> None:
        where = given["position_ids"]
        if where is not None and where.shape[1] > 1 and int(where[0, 1]) == 1:
            given["position_ids"] = torch.arange(where.shape[1])[None].expand_as(where)

    placed(model, change)


IGNORED = "rotation_ignores_positions"
FAULTS: dict[Callable[[Any, pytest.MonkeyPatch], None], set[str]] = {
    unturned_in_prefill: {"ways_decode", "ways_pieces", "ways_padding"},
    unturned_after_eight: {"ways_decode", "ways_pieces", "ways_padding", "ways_packed"},
    restarted_in_decode: {"ways_decode"},
    restarted_in_pieces: {"ways_pieces"},
    padding_counted: {"ways_padding"},
    counted_in_each_call: {IGNORED, "ways_decode", "ways_pieces", "ways_padding", "ways_packed"},
    ids_dropped: {IGNORED, "ways_padding", "ways_packed"},
    first_row_for_all: {IGNORED, "ways_padding"},
    single_tokens_at_0: {IGNORED, "ways_decode"},
    runs_on_over_packed_texts: {"ways_packed"},
}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_fault_of_one_way_is_found(name: str, plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, config = tiny_models.model(name, num_hidden_layers=2)
    assert rc.verify(copy.deepcopy(model), config) == []
    plant(model, monkeypatch)
    named = {(each.key, each.severity) for each in rc.verify(model, config)}
    assert named and named <= {(key, "error") for key in FAULTS[plant]}
    assert (IGNORED in FAULTS[plant]) == ((IGNORED, "error") in named)


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("name", ["llama", "kolibri1"])
def test_in_half_precision_a_fault_is_found_and_a_choice_of_another_expert_is_none(
    name: str, plant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, config = tiny_models.model(name, torch.bfloat16, pad_token_id=2)
    model = trained(model)
    assert rc.verify(copy.deepcopy(model), config) == []
    plant(model, monkeypatch)
    assert {each.key for each in rc.verify(model, config) if each.severity == "error"} & FAULTS[plant]


def test_a_cache_by_the_name_that_it_has_since_transformers_5_24(monkeypatch: pytest.MonkeyPatch) -> None:
    model, config = tiny_models.model("llama", num_hidden_layers=2)
    original = type(model).forward

    def forward(
        self: Any,
        input_ids: Any = None,
        attention_mask: Any = None,
        position_ids: Any = None,
        cache: Any = None,
        use_cache: bool | None = None,
    ) -> Any:
        answer = original(self, input_ids, attention_mask, position_ids, cache, use_cache=use_cache)
        return SimpleNamespace(last_hidden_state=answer.last_hidden_state, cache=answer.past_key_values)

    monkeypatch.setattr(type(model), "forward", forward)
    result = rc.verify(model, config)
    assert result == [] and result.ways == ("decode", "pieces", "padding", "packed")
