"""Other forms of configs, switches, parts and learned offsets, beside transformers' own classes and modules."""

import importlib
import inspect
import random
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import rope_core as rc
from rope_core.hf.resolve import rotary_part_names
from tests.support import hf_live
from tests.support import rotary_modules as live


def step(rng: random.Random, extra: int) -> dict[str, Any]:
    """Return a Step config as the hub has it: one base and one partial factor for each layer, MTP layers included."""
    kinds = [rng.choice(["full_attention", "sliding_attention"]) for _ in range(6)]
    kinds[0], kinds[1] = "sliding_attention", "full_attention"
    kinds += ["full_attention"] * extra
    base = {"full_attention": 5e6, "sliding_attention": 1e4}
    share = {"full_attention": 0.5, "sliding_attention": 1.0}
    return {
        "num_hidden_layers": 6,
        "num_nextn_predict_layers": extra,
        "layer_types": kinds,
        "rope_theta": [base[kind] for kind in kinds],
        "partial_rotary_factors": [share[kind] for kind in kinds],
        "head_dim": 128,
        "max_position_embeddings": 262144,
        "yarn_only_types": ["full_attention"],
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": rng.choice([2.0, 8.0]),
            "original_max_position_embeddings": 8192,
        },
    }


@pytest.mark.parametrize("extra", [0, 3])
def test_steps_lists_of_bases_as_its_class_reads_them(extra: int) -> None:
    rng = random.Random(extra)
    for _ in range(5):
        given = step(rng, extra)
        config = hf_live.config_of("step3p5", given)
        module = hf_live.rotary_class("step3p5")(config)
        raw = {"model_type": "step3p7", "text_config": given}
        assert set(rc.layer_types(raw)) == {"full_attention", "sliding_attention"}
        for kind in rc.layer_types(raw):
            rope = rc.from_hf(raw, kind)
            held = live.buffers(module, kind)
            np.testing.assert_allclose(rope.inv_freq, held, rtol=1e-5)
            assert rope.attention_factor == pytest.approx(getattr(module, f"{kind}_attention_scaling"))
            first = given["layer_types"].index(kind)
            assert rope.provenance["base"].path == f"text_config.rope_theta[{first}]"


@pytest.mark.parametrize(
    ("model_type", "field", "on", "off"),
    [
        ("granitemoehybrid", "position_embedding_type", "rope", ("nope", None)),
        ("zamba2", "use_mem_rope", True, (False,)),
        ("falcon", "alibi", False, (True,)),
        ("esm", "position_embedding_type", "rotary", ("absolute",)),
        ("wav2vec2-conformer", "position_embeddings_type", "rotary", ("relative", None)),
    ],
)
def test_a_model_whose_rotation_is_switched_off_is_shown_without_one(
    model_type: str, field: str, on: object, off: tuple[object, ...]
) -> None:
    turning = rc.from_hf({"model_type": model_type, field: on})
    assert not turning.nope and turning.inv_freq[0] == 1.0
    for value in off:
        rope = rc.from_hf({"model_type": model_type, field: value, "num_hidden_layers": 4})
        assert rope.nope and not rope.inv_freq.any() and rope.nope_layers == (0, 1, 2, 3)
        assert rope.provenance["scheme"].path == field
        findings = rc.check({"model_type": model_type, field: value})
        assert [each.key for each in findings if each.key == "switched_off"]
        assert not [each for each in findings if each.severity == "error"]


def test_granites_model_builds_no_rotation_without_its_switch() -> None:
    """The switch is the model's own: transformers' tiny models have a rotary module or None as from_hf says."""
    sizes = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 1}
    for value in ("rope", "nope", None):
        config = hf_live.config_of(
            "granitemoehybrid",
            {**sizes, "intermediate_size": 32, "shared_intermediate_size": 32, "num_local_experts": 2, "vocab_size": 64}
            | {"mamba_n_heads": 2, "mamba_d_head": 32}
            | {"position_embedding_type": value, "layer_types": ["attention"]},
        )
        with torch.device("meta"):
            model = transformers.GraniteMoeHybridModel(config)
        assert (model.rotary_emb is None) == rc.from_hf(config).nope


def test_mistrals_own_params_file() -> None:
    """The values of Mistral-7B-v0.2's params.json, and the yarn object of the later ones as vLLM remaps it."""
    base = {"dim": 4096, "n_layers": 32, "head_dim": 128, "n_heads": 32, "n_kv_heads": 8, "rope_theta": 1e6}
    rope = rc.from_hf(base)
    assert (rope.base, rope.rotary_dim, rope.layout) == (1e6, 128, "interleaved")
    yarn = {"original_max_position_embeddings": 16384, "factor": 16.0, "beta": 32.0, "alpha": 1.0, "apply_scale": False}
    scaled = rc.from_hf({**base, "max_seq_len": 262144, "yarn": yarn})
    hf = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 16.0, "original_max_position_embeddings": 16384}
    other = rc.from_hf(
        {"model_type": "mistral", "head_dim": 128, "hidden_size": 4096, "num_attention_heads": 32}
        | {"max_position_embeddings": 262144, "rope_parameters": {**hf, "attention_factor": 1.0}}
    )
    np.testing.assert_array_equal(scaled.inv_freq, other.inv_freq)
    assert (scaled.attention_factor, scaled.max_len, scaled.params["beta_fast"]) == (1.0, 262144, 32.0)
    assert scaled.provenance["beta_fast"].path == "yarn.beta"
    assert rc.from_hf({**base, "yarn": {**yarn, "apply_scale": True}}).attention_factor > 1.2


def test_remote_codes_of_internvl_and_minimax() -> None:
    inner = {"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, "rope_theta": 1e6}
    vl = rc.from_hf({"model_type": "internvl_chat", "llm_config": inner})
    assert (vl.base, vl.rotary_dim, vl.provenance["base"].path) == (1e6, 128, "llm_config.rope_theta")
    minimax = rc.from_hf(
        {"model_type": "minimax_text_01", "hidden_size": 6144, "num_attention_heads": 64, "head_dim": 128}
        | {"rotary_dim": 64, "rope_theta": 1e7, "num_hidden_layers": 4, "attn_type_list": [0, 0, 0, 1]}
    )
    assert (minimax.rotary_dim, minimax.head_dim, minimax.base, minimax.nope_layers) == (64, 128, 1e7, (0, 1, 2))
    assert minimax.inv_freq[1] == pytest.approx(1e7 ** (-2 / 64))


def test_hunyuans_older_sections() -> None:
    given: dict[str, Any] = {
        "head_dim": 128,
        "rope_scaling": {"type": "xdrope", "alpha": 1000.0, "factor": 1.0, "xdrope_section": [16, 16, 16, 16]},
    }
    live_config = hf_live.config_of("hunyuan_vl_text", given)
    rope = rc.from_hf({"model_type": "hunyuan_vl_text", **given})
    assert list(rope.mrope_section or ()) == live_config.rope_parameters["mrope_section"]
    inv_freq, scaling = hf_live.frequencies("hunyuan_vl_text", live_config, None, None)
    np.testing.assert_allclose(rope.inv_freq, inv_freq, rtol=1e-5)
    assert rope.attention_factor == scaling


def test_learned_offsets_of_mistral_large_4() -> None:
    config = hf_live.config_of("mistral_large4_text", {})
    module = hf_live.rotary_class("mistral_large4_text")(config)
    alpha = torch.linspace(-0.4, 0.3, 32)
    module.alpha.data.copy_(alpha)
    _, sin = module(torch.zeros(1), torch.tensor([[1, 5]]))
    rope = rc.from_hf(config)
    assert (rope.params["factor"], rope.train_len) == (2048.0, 512) and "learned_offsets" in rope.traps
    learned = rope.with_offsets(alpha.numpy())
    np.testing.assert_allclose(np.sin(5 * learned.inv_freq), sin[0, 1, :32].detach().numpy(), rtol=2e-5, atol=1e-7)
    for bad in ([0.0], [float("nan")] * 32):
        with pytest.raises(ValueError, match="alpha must be"):
            rope.with_offsets(bad)


INDEXERS = (
    "deepseek_v32",
    "axk2",
    "glm_moe_dsa",
    "mistral_large4_text",
    "dots3_note_text",
    "hy_v4",
    "minimax_m3_vl_text",
)


@pytest.mark.parametrize("model_type", INDEXERS)
def test_an_indexers_layout_is_that_of_the_function_which_it_calls(
    model_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The indexer of transformers runs with its rotation recorded; what it called turns heads as rc.rotate does."""
    kind = next(iter(rc.layer_types({"model_type": model_type})), None)
    rope = rc.from_hf({"model_type": model_type}, kind, part="indexer")
    config = hf_live.config_of(model_type, {})
    file = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    name = next(name for name in vars(file) if name.endswith("Indexer"))
    called: list[Any] = []
    for function in ("apply_rotary_pos_emb", "apply_rotary_pos_emb_interleave"):
        if (own := getattr(file, function, None)) is not None:

            def record(q: Any, *rest: Any, own: Any = own, **named: Any) -> Any:
                called.append((own, q.shape[-1]))
                raise InterruptedError

            monkeypatch.setattr(file, function, record)
    with torch.device("meta"):
        indexer = getattr(file, name)(config, 0)
    cos = torch.zeros(1, 4, rope.rotary_dim, device="meta")
    states = {"hidden_states": torch.zeros(1, 4, config.hidden_size, device="meta"), "position_embeddings": (cos, cos)}
    if getattr(config, "q_lora_rank", None):
        states["q_resid"] = torch.zeros(1, 4, config.q_lora_rank, device="meta")
    wanted = inspect.signature(indexer.forward).parameters
    rest: dict[str, Any] = {key: None for key in wanted if key not in states and key not in ("args", "kwargs")}
    rest |= {"position_ids": torch.arange(4, device="meta")[None]} if "position_ids" in wanted else {}
    with pytest.raises(InterruptedError):
        indexer.forward(**{key: value for key, value in states.items() if key in wanted}, **rest)
    function, _ = called[0]
    rng = np.random.default_rng(3)
    q, k = rng.standard_normal((2, 1, 3, 4, rope.rotary_dim))
    positions = np.array([1, 4, 9, 60])
    tables = rc.cos_sin(rc.Spectrum.from_inv_freq(rope.inv_freq), positions, dtype="float64")
    theirs = function(*map(torch.from_numpy, (q, k)), *(torch.from_numpy(np.tile(t, 2))[None] for t in tables))
    mine = [rc.rotate(np.ascontiguousarray(x.swapaxes(1, 2)), *tables, rope.layout).swapaxes(1, 2) for x in (q, k)]
    np.testing.assert_allclose(mine[0] @ mine[1].swapaxes(-1, -2), (theirs[0] @ theirs[1].mT).numpy(), atol=1e-9)


def test_parts_of_a_model_are_named_and_read() -> None:
    assert rotary_part_names({"model_type": "csm"}) == ["codec_config", "depth_decoder_config"]
    depth = {"model_type": "csm_depth_decoder_model", "rope_theta": 12345.0, "head_dim": 64}
    rope = rc.from_hf({"model_type": "csm", "depth_decoder_config": depth}, part="depth_decoder_config")
    assert (rope.base, rope.provenance["base"].path) == (12345.0, "depth_decoder_config.rope_theta")
    assert rc.from_hf({"model_type": "qwen2_5_omni"}, part="talker_config").mrope_section is not None
    omni = {"model_type": "qwen3_omni_moe", "talker_config": {"code_predictor_config": {"rope_theta": 4321.0}}}
    assert rotary_part_names(omni) == ["talker_config.text_config", "talker_config.code_predictor_config"]
    place = "talker_config.code_predictor_config"
    rope = rc.from_hf(omni, part=place)
    assert (rope.base, rope.provenance["base"].path) == (4321.0, f"{place}.rope_theta")
    assert rope.model_type == "qwen3_omni_moe_talker_code_predictor"


def test_parts_beside_the_language_model_are_checked() -> None:
    short = {"rope_type": "yarn", "factor": 0.5}
    broken = {"model_type": "csm", "depth_decoder_config": {"rope_scaling": short}}
    (result,) = [each for each in rc.check(broken) if each.severity == "error"]
    assert result.field.startswith("depth_decoder_config.rope_scaling")
    assert rc.check({"model_type": "csm", "depth_decoder_config": 3})[0].field == "depth_decoder_config"
    with pytest.raises(rc.ConfigError, match="part must be"):
        rc.from_hf({"model_type": "llama"}, part="indexer")
    with pytest.raises(rc.ConfigError, match="part must be one of indexer"):
        rc.from_hf({"model_type": "deepseek_v32"}, part="mtp")


def test_an_indexers_flag_that_nothing_reads_is_reported() -> None:
    """transformers fixes the indexer's layout in its code; indexer_rope_interleave is a key of other programs."""
    keys = [each.key for each in rc.check({"model_type": "deepseek_v32"})]
    assert "indexer_layout_differs" in keys and "indexer_flag_not_read" not in keys
    wrong = rc.check({"model_type": "deepseek_v32", "indexer_rope_interleave": True})
    (result,) = [each for each in wrong if each.key == "indexer_flag_not_read"]
    assert (result.severity, result.field) == ("warning", "indexer_rope_interleave")
    assert (result.values["given"], result.values["used"]) == ("interleaved", "half")
    for config in ({"model_type": "deepseek_v32", "indexer_rope_interleave": False}, {"model_type": "glm_moe_dsa"}):
        assert "indexer_flag_not_read" not in [each.key for each in rc.check(config)]
    assert "indexer_layout_differs" not in [each.key for each in rc.check({"model_type": "glm_moe_dsa"})]


def test_rotations_of_images_are_named_with_their_axes() -> None:
    composite = hf_live.config_of("qwen2_5_vl", {}).to_dict()
    (result,) = [each for each in rc.check(composite) if each.key == "axial_rope"]
    assert (result.severity, result.field, result.values["widths"]) == ("note", "vision_config", ["h 112", "w 112"])
    assert "axial_rope" not in [each.key for each in rc.check({"model_type": "qwen2_vl"})]
    flux = {"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 56], "attention_head_dim": 128}
    for alone in ({"model_type": "qwen2_vl_vision"}, {"model_type": "pixtral"}, flux):
        assert [(each.key, each.severity) for each in rc.check(alone)] == [("axial_rope", "note")]
    for other in ({"model_type": "vjepa2"}, {"_class_name": "LTXVideoTransformer3DModel", "rope_theta": 1.0}):
        assert [(each.key, each.severity) for each in rc.check(other)] == [("axial_not_read", "note")]
    broken = {**composite, "vision_config": {**composite["vision_config"], "num_heads": 0}}
    assert ("value_refused", "vision_config.num_heads") in [(each.key, each.field) for each in rc.check(broken)]
