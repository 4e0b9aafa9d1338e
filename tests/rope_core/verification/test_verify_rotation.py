"""verify: lengths, precision, layers without rotation, modules of one's own; and the module stays as it was."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rope_core as rc
from tests.support import tiny_models
from tests.support.configs import keys

DYNAMIC = {"rope_type": "dynamic", "factor": 2.0}
LONG = {"rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [3.0] * 8}


def test_a_model_that_read_past_its_trained_length_is_clean_and_stays_as_it_was() -> None:
    for scaling, changes in (
        (DYNAMIC, {"max_position_embeddings": 512}),
        (LONG, {"original_max_position_embeddings": 512}),
    ):
        kind = "llama" if scaling is DYNAMIC else "phi3"
        model, config = tiny_models.model(kind, None, rope_scaling=scaling, **changes)
        short = model.rotary_emb.inv_freq.clone()
        model.train()
        model(torch.ones(1, 1024, dtype=torch.long))
        held = model.rotary_emb.inv_freq.clone()
        assert not torch.equal(short, held)
        before = {name: {**vars(part)} for name, part in model.named_modules()}
        assert rc.verify(model, config) == []
        assert torch.equal(model.rotary_emb.inv_freq, held)
        assert all(part.training and not part._forward_hooks for part in model.modules())
        after = {name: {**vars(part)} for name, part in model.named_modules()}
        assert {name: values.keys() for name, values in after.items()} == {
            name: values.keys() for name, values in before.items()
        }


@pytest.mark.parametrize(
    ("scaling", "expected"),
    [
        ({"rope_type": "linear", "factor": 4.0}, "buffer_unscaled"),
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}, "buffer_unscaled"),
        ({"rope_type": "dynamic", "factor": 4.0}, "rotation_ignores_length"),
        ({**LONG, "factor": 1.0, "original_max_position_embeddings": 2048}, "rotation_ignores_length"),
    ],
)
def test_a_scaling_set_after_loading_changes_nothing_and_is_found(scaling: dict[str, Any], expected: str) -> None:
    model, _ = tiny_models.model("llama")
    model.config.rope_parameters = {**model.config.rope_parameters, **scaling}
    result = rc.verify(model, model.config)
    assert expected in keys(result) and result[0].severity == "error"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("model_type", ["llama", "qwen2", "gemma3_text", "glm4", "deepseek_v3", "llama4_text"])
def test_half_precision_is_clean_and_hides_no_fault(
    model_type: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, config = tiny_models.model(model_type, dtype=dtype, num_hidden_layers=2)
    assert rc.verify(model, config) == []
    if model_type in ("llama", "qwen2", "gemma3_text"):
        code = sys.modules[type(model).__module__]
        turn = code.apply_rotary_pos_emb
        monkeypatch.setattr(
            code, "apply_rotary_pos_emb", lambda q, k, cos, sin, *a, **b: turn(q, k, cos, -sin, *a, **b)
        )
        assert set(keys(rc.verify(model, config))) == {"rotation_backwards"}
        monkeypatch.setattr(
            code, "apply_rotary_pos_emb", lambda q, k, cos, sin, *a, **b: turn(q, k, 1.2 * cos, 1.2 * sin, *a, **b)
        )
        assert set(keys(rc.verify(model, config))) == {"rotation_scaled"}


def test_layers_without_rotation_must_not_turn() -> None:
    model, config = tiny_models.model("smollm3", no_rope_layers=[1, 0, 1, 0])
    assert rc.verify(model, config) == []
    model.layers[1].self_attn.use_rope = True
    result = rc.verify(model, config)
    assert keys(result) == ["rotation_not_wanted"]
    assert result[0].values == {"part": "q, k", "layers": (1,)} and result[0].field == "layers.1.self_attn"
    model.layers[1].self_attn.use_rope = model.layers[2].self_attn.use_rope = False
    assert [(each.key, each.values["layers"]) for each in rc.verify(model, config)] == [("rotation_missing", (2,))]


def test_layer_types_must_not_be_mixed_up() -> None:
    types = ["sliding_attention", "full_attention"]
    model, config = tiny_models.model("gemma3_text", layer_types=types, num_hidden_layers=2)
    assert rc.verify(model, config) == []

    def swap(_: Any, args: Any, kwargs: Any) -> Any:
        names = dict(zip(types, reversed(types), strict=True))
        return tuple(names.get(each, each) if isinstance(each, str) else each for each in args), {
            key: names.get(each, each) if isinstance(each, str) else each for key, each in kwargs.items()
        }

    model.rotary_emb.register_forward_pre_hook(swap, with_kwargs=True)
    result = rc.verify(model, config)
    assert {(each.key, each.layer_type, each.values["other"]) for each in result} == {
        ("rotation_of_other_layers", *types),
        ("rotation_of_other_layers", *reversed(types)),
    }


def test_an_indexer_is_observed_beside_its_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    model, config = tiny_models.model("deepseek_v32", num_hidden_layers=2)
    assert rc.verify(model, config) == []
    code = sys.modules[type(model).__module__]
    turn = code.apply_rotary_pos_emb
    monkeypatch.setattr(code, "apply_rotary_pos_emb", lambda q, k, *a, **b: (turn(q, k, *a, **b)[0], k))
    result = rc.verify(model, config)
    assert (
        keys(result) == ["rotation_missing"] and result[0].field.endswith("indexer") and result[0].values["part"] == "k"
    )


INDEXERS = {
    "deepseek_v32": ("apply_rotary_pos_emb", "apply_rotary_pos_emb_interleave", "half", "interleaved"),
    "glm_moe_dsa": ("apply_rotary_pos_emb_interleave", "apply_rotary_pos_emb", "interleaved", "half"),
}


@pytest.mark.parametrize("model_type", INDEXERS)
def test_an_indexer_in_the_layout_of_another_family_is_found(model_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong, wanted, got = INDEXERS[model_type]
    model, config = tiny_models.model(model_type, num_hidden_layers=2, index_head_dim=24, qk_rope_head_dim=8)
    assert rc.verify(model, config) == []
    v32 = importlib.import_module("transformers.models.deepseek_v32.modeling_deepseek_v32")
    code = sys.modules[type(model).__module__]
    turn, other = getattr(code, right), getattr(v32, wrong)

    def apply(q: Any, *args: Any, **options: Any) -> Any:
        indexer = options.get("unsqueeze_dim") == 2
        return (other if indexer else turn)(q, *args, **options)

    monkeypatch.setattr(code, right, apply)
    (first,) = rc.verify(model, config)
    assert first.key == "layout_differs" and first.field.endswith("indexer") and first.severity == "error"
    assert (first.values["found"], first.values["wanted"]) == (got, wanted)
    assert rc.from_hf(config, part="indexer").layout == wanted


def test_the_last_lanes_of_a_head_turn_where_the_family_says_so() -> None:
    model, config = tiny_models.model("deepseek_v4", partial_rotary_factor=0.5)
    assert rc.from_hf(config, rc.layer_types(config)[0]).start == 8
    assert keys(rc.verify(model, config)) == ["part_not_observed"]
    code = sys.modules[type(model).__module__]
    turn = code.apply_rotary_pos_emb
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "apply_rotary_pos_emb", lambda x, *a, **b: turn(x.flip(-1), *a, **b).flip(-1))
        result = rc.verify(model, config)
    assert result[0].severity == "error" and result[0].key in ("rotation_lanes", "rotation_other_lanes")


class OwnAttention(nn.Module):
    """Somebody's own attention over halves, positions counted inside; ``wrong`` plants a fault."""

    def __init__(self, wrong: str) -> None:
        super().__init__()
        self.wrong = wrong
        self.projection = nn.Linear(64, 192)
        angle = torch.arange(128)[:, None] * torch.tensor(rc.from_hf(OWN).inv_freq, dtype=torch.float32)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = self.projection(x).reshape(batch, length, 3, 4, 16).permute(2, 0, 3, 1, 4)
        turned = [q if self.wrong == "q" else self.turn(q, length), k if self.wrong == "k" else self.turn(k, length)]
        scores = turned[0] @ turned[1].transpose(-1, -2) / 4.0
        mask = torch.full((length, length), float("-inf")).triu(1)
        out: torch.Tensor = (scores + mask).softmax(-1) @ v
        return out.transpose(1, 2).reshape(batch, length, 64)

    def turn(self, x: torch.Tensor, length: int) -> torch.Tensor:
        cos, sin = self.get_buffer("cos")[:length], self.get_buffer("sin")[:length]
        sin = -sin if self.wrong == "sign" else sin
        if self.wrong == "layout":
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class OwnModel(nn.Module):
    def __init__(self, wrong: str = "") -> None:
        super().__init__()
        torch.manual_seed(2)
        self.tokens = nn.Embedding(8, 64)
        self.layers = nn.ModuleList(OwnAttention(wrong) for _ in range(2))

    def forward(self, idx: torch.Tensor) -> torch.Tensor:
        x: torch.Tensor = self.tokens(idx)
        for layer in self.layers:
            x = x + layer(x)
        return x


OWN = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 700.0}


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ("", []),
        ("q", ["rotation_missing"]),
        ("k", ["rotation_missing"]),
        ("sign", ["rotation_backwards"]),
        ("layout", ["layout_differs"]),
    ],
)
def test_a_model_of_ones_own_that_counts_its_positions_is_run(wrong: str, expected: list[str]) -> None:
    assert keys(rc.verify(OwnModel(wrong), OWN)) == expected


def test_what_cannot_be_seen_is_named() -> None:
    model, config = tiny_models.model("idefics")
    assert keys(rc.verify(model, config)) == ["attention_not_observed"]
    model, config = tiny_models.model("recurrent_gemma")
    result = rc.verify(model, config)
    assert keys(result) == ["rotation_not_observed"] and result[0].values["layers"] == (2,)


def test_every_finding_of_a_model_has_its_sentences() -> None:
    model, config = tiny_models.model("llama", num_hidden_layers=2)
    model.rotary_emb.register_forward_hook(lambda _, __, out: (out[0], -out[1]))
    (single,) = rc.verify(model, config)
    assert single.title() == "q, k rotates the other way"
    assert "layers.0.self_attn" in single.why() and "0, 1" in single.why("zh")


def test_a_softmax_scale_without_deepseek_s_factor_is_found() -> None:
    scaling = {"rope_type": "yarn", "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0}
    scaling |= {"original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1, "rope_theta": 10_000.0}
    model, config = tiny_models.model("deepseek_v3", num_hidden_layers=2, rope_scaling=scaling)
    assert rc.verify(model, config) == []
    attention = next(part for part in model.modules() if hasattr(part, "qk_head_dim"))
    attention.scaling = attention.qk_head_dim**-0.5
    (single,) = rc.verify(model, config)
    assert (single.key, single.values["layers"]) == ("softmax_scale_differs", (0,))
    assert single.values["wanted"] == pytest.approx((0.1 * np.log(40) + 1) ** 2)
