"""Rotations by rows, columns and frames: vision towers beside transformers' modules, transformers of diffusers."""

import importlib
import inspect
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

import rope_core as rc
from rope_core.hf.axial import AxialRope, axial_ropes, undescribed_axial_parts
from rope_core.hf.families import load_packaged_toml, recorded_class_defaults
from tests.support import hf_live
from tests.support.rotary_modules import OF_IMAGES, ROTARY

ROWS = load_packaged_toml("axial.toml")["transformers"]
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "diffusers_axes.json").read_text())
# Parts whose rotary module takes the image itself, and draws the positions from its size.
TAKE_IMAGES = ("dinov3_vit", "eomt_dinov3", "sapiens2")
# Columns of position_ids where they are not (row, column): read in the models' forward and precompute_positions.
COLUMNS = {
    **dict.fromkeys(("edgetam_video", "sam2_video", "sam3_tracker_video", "sam3_vit_model", "gemma4_vision"), "wh"),
    **dict.fromkeys(("muse_glimmer_vision", "muse_spark_vision"), "wh"),
    "minimax_m3_vl_vision": "thw",
}
DRAWS = 3


def drawn(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """Fields of a tower that differ from its class's: a width, heads, a base that is no power of ten."""
    row = ROWS[kind]
    heads, head = int(rng.integers(1, 5)), 8 * int(rng.integers(2, 12))
    base = float(np.round(10 ** rng.uniform(1.5, 6), 3))
    fields: dict[str, Any] = {row["width"][0]: heads * head, row["heads"][0]: heads}
    if "divisor" in row:
        fields |= {row["width"][0]: 2 * heads * head, row["divisor"][0]: 2}
    if "head_dim" in row:
        fields["head_dim"] = head
    if kind == "dots3_note_vision_encoder":
        fields["adapter_in_dim"] = heads * head
    return fields | ({"rope_theta": base} if row.get("top") else {"rope_parameters": {"rope_theta": base}})


def module_of(kind: str, config: Any) -> Any:
    """Return the tower's own rotary module, built from a config object."""
    file = modelling(config)
    names = [name for name in vars(file) if ROTARY.search(name) and OF_IMAGES.search(name) and "Attention" not in name]
    (name,) = [name for name in names if inspect.isclass(vars(file)[name]) and "Text" not in name]
    return getattr(file, name)(config).eval()


def modelling(config: Any) -> Any:
    return importlib.import_module(type(config).__module__.replace(".configuration_", ".modeling_"))


def rotate(rope: AxialRope, x: npt.NDArray[np.float64], positions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Turn x (n, head_dim) by the rope's angles, dimension by dimension."""
    turned, angle = x.copy(), rope.angles(positions)
    for pair, (a, b) in enumerate(rope.dims.tolist()):
        cos, sin = np.cos(angle[:, pair]), np.sin(angle[:, pair])
        turned[:, a], turned[:, b] = x[:, a] * cos - x[:, b] * sin, x[:, a] * sin + x[:, b] * cos
    return turned


def theirs(kind: str, config: Any, module: Any, x: Any, positions: dict[str, Any]) -> Any:
    """x (n, head_dim) turned by the model's own functions at positions by axis."""
    file = modelling(config)
    if kind in TAKE_IMAGES:
        rows, columns = (int(positions[axis].max()) + 1 for axis in "hw")
        table = module(torch.zeros(1, 3, rows * config.patch_size, columns * config.patch_size))
        return file.apply_rotary_pos_emb(x[None, None], x[None, None], *table)[0][0, 0]
    where = torch.stack([positions[axis] for axis in COLUMNS.get(kind, "hw")], dim=-1)
    q = x[:, None]
    if kind == "pixtral":
        cos, sin = module(x, where)
        return file.apply_rotary_pos_emb(x[None, None], x[None, None], cos[None], sin[None])[0][0, 0]
    if kind == "gemma4_vision":
        cos, sin = module(x, where[None])
        return file.apply_multidimensional_rope(q[None], cos, sin, where[None])[0][:, 0]
    for name in ("apply_rotary_pos_emb_2d", "apply_rotary_pos_emb_2d_self_attn"):
        if hasattr(file, name):
            return getattr(file, name)(x[None], x[None], *module(x, where))[0][0]
    return file.apply_rotary_pos_emb_vision(q, q, *module(x, where))[0][:, 0]


def grid(axes: str) -> dict[str, Any]:
    """Return the positions of 5 rows and 7 columns (and 3 frames) in reading order, by axis."""
    sizes = {"t": 3, "h": 5, "w": 7}
    order = sorted(axes, key=lambda axis: "thw".index(axis))
    built = torch.meshgrid(*(torch.arange(sizes[axis]) for axis in order), indexing="ij")
    return {axis: part.flatten() for axis, part in zip(order, built, strict=True)}


def in_units(rope: AxialRope, index: dict[str, Any]) -> npt.NDArray[np.float64]:
    """Return indices from zero as positions in the rope's units, by its own formula."""
    columns = []
    for axis in rope.axis_widths:
        i, n = index[axis].numpy(), int(index[axis].max()) + 1
        formula = {
            "i": i,
            "i + 1": i + 1,
            "2π(2i + 1 - n)/n": 2 * math.pi * (2 * i + 1 - n) / n,
            "i - ⌈n/2⌉": i - math.ceil(n / 2),
        }
        columns.append(formula[rope.position.split(",")[0]])
    return np.stack(columns, axis=-1).astype(np.float64)


def test_every_axial_type_of_the_wheel_is_described_or_named() -> None:
    left_out = set(load_packaged_toml("axial.toml")["not_read"])
    assert set(ROWS) | left_out == set(recorded_class_defaults()["axial"]) and not set(ROWS) & left_out
    assert (
        undescribed_axial_parts({"model_type": "vjepa2"}) == {"": "vjepa2"}
        and axial_ropes({"model_type": "vjepa2"}) == {}
    )


@pytest.mark.parametrize("kind", [kind for kind in ROWS if kind != "llama4_vision_model"])
def test_a_towers_rotation_is_its_modules(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for fields in [{}, *(drawn(kind, rng) for _ in range(DRAWS))]:
        config = hf_live.config_of(kind, fields)
        (rope,) = axial_ropes({"model_type": kind, **fields}).values()
        module = module_of(kind, config)
        held = np.sort(np.asarray(module.inv_freq.to(torch.float64)))
        mine = np.sort(rope.inv_freq)
        np.testing.assert_allclose(mine if kind == "pixtral" else mine[:: len(rope.axis_widths)], held, rtol=1e-5)
        index = grid("".join(rope.axis_widths))
        first = {axis: where + 1 for axis, where in index.items()} if rope.position == "i + 1" else index
        x = rng.standard_normal((len(index["h"]), rope.head_dim))
        turned = rotate(rope, x, in_units(rope, index))
        np.testing.assert_allclose(turned, theirs(kind, config, module, torch.from_numpy(x), first).numpy(), atol=2e-4)
        assert np.abs(turned - x).max() > 0.1


@pytest.mark.parametrize("seed", range(DRAWS))
def test_llama_4_turns_columns_before_rows_from_one(seed: int) -> None:
    """Its table is made of whole images: one row for each patch, and one of zeros for the class token."""
    rng = np.random.default_rng(seed)
    fields = drawn("llama4_vision_model", rng) | {"image_size": 6 * 14, "patch_size": 14}
    config = hf_live.config_of("llama4_vision_model", fields)
    (rope,) = axial_ropes({"model_type": "llama4_vision_model", **fields}).values()
    file = modelling(config)
    table = file.Llama4VisionRotaryEmbedding(config)(torch.zeros(1))
    x = rng.standard_normal((37, rope.head_dim))
    both = torch.from_numpy(x).float()[None, :, None]
    turned = file.vision_apply_rotary_emb(both, both, table)[0][0, :, 0].numpy()
    rows, columns = np.divmod(np.arange(36), 6)
    mine = rotate(rope, x[:36], np.stack([columns, rows], axis=-1) + 1.0)
    np.testing.assert_allclose(mine, turned[:36], atol=1e-4)
    np.testing.assert_allclose(x[36], turned[36], atol=1e-6)
    assert (rope.position, list(rope.axis_widths)) == ("i + 1", ["w", "h"])


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["config"]["_class_name"])
def test_a_diffusion_transformer_turns_as_diffusers_does(case: dict[str, Any]) -> None:
    (rope,) = axial_ropes(case["config"]).values()
    # Columns of the record: frame, row, column, text token.
    x = np.array(case["x"])
    positions = np.array(case["positions"], dtype=np.float64)[:, ["thwn".index(axis) for axis in rope.axis_widths]]
    np.testing.assert_allclose(rotate(rope, x, positions), case["rotated"], atol=2e-5)
    assert len({tuple(row) for row in case["positions"]}) > 3


def test_diffusers_classes_all_have_numbers_of_their_own() -> None:
    assert {case["config"]["_class_name"] for case in GOLDEN["cases"]} == set(
        load_packaged_toml("axial.toml")["diffusers"]
    )
    assert GOLDEN["diffusers"].startswith("0.42")


def test_qwen_image_counts_from_the_middle() -> None:
    (rope,) = axial_ropes({"_class_name": "QwenImageTransformer2DModel"}).values()
    assert rope.position == "i - ⌈n/2⌉"


def test_sam_3_counts_columns_before_rows_and_shrinks_the_global_grid() -> None:
    config = hf_live.config_of("sam3_vit_model", {"image_size": 28 * 14, "window_size": 7})
    (rope,) = axial_ropes({"model_type": "sam3_vit_model", "image_size": 28 * 14, "window_size": 7}).values()
    layer = modelling(config).Sam3ViTLayer
    for window, step in ((7, 1.0), (0, 0.25)):
        held = layer.precompute_positions(config, window)
        side = math.isqrt(len(held))
        assert held[1].tolist() == [step, 0.0] and held[side].tolist() == [0.0, step]
    assert (rope.position, list(rope.axis_widths)) == ("i, 0.25 i", ["w", "h"])


def test_released_towers_without_a_type_of_their_own() -> None:
    """A sub-config named by its parent: {model}_vision, and parts two levels down."""
    released = {"model_type": "qwen2_5_vl", "vision_config": {"hidden_size": 1280, "num_heads": 16, "patch_size": 14}}
    rope = axial_ropes(released)["vision_config"]
    assert (rope.head_dim, rope.patch, rope.axis_widths) == (80, 14, {"h": 40, "w": 40})
    deep = {
        "model_type": "sam3_video",
        "detector_config": {"vision_config": {"backbone_config": {"model_type": "sam3_vit_model"}}},
    }
    rope = axial_ropes(deep)["detector_config.vision_config.backbone_config"]
    assert rope.position == "i, 0.3333 i"
    assert axial_ropes({"model_type": "llama", "hidden_size": 64}) == {}


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"model_type": "pixtral", "rope_theta": 0.5}, "rope_theta"),
        ({"vision": {f"vit{i}": {"model_type": "pixtral"} for i in range(65)}}, "config"),
        ({"model_type": "pixtral", "rope_parameters": {"rope_theta": "x"}}, "rope_parameters.rope_theta"),
        ({"model_type": "qwen2_vl", "vision_config": {"embed_dim": 10**9}}, "vision_config.embed_dim"),
        ({"model_type": "qwen2_vl", "vision_config": {"embed_dim": 16}}, "vision_config.embed_dim"),
        ({"model_type": "qwen2_vl", "vision_config": {"patch_size": [0, 1]}}, "vision_config.patch_size"),
        ({"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56]}, "axes_dims_rope"),
        ({"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 55, 57]}, "axes_dims_rope"),
        ({"_class_name": "WanTransformer3DModel", "attention_head_dim": None}, "attention_head_dim"),
    ],
)
def test_a_value_that_no_rotation_can_have_is_refused(config: dict[str, Any], field: str) -> None:
    with pytest.raises(rc.ConfigError, match=rf"^{field} must be"):
        axial_ropes(config)


def test_angles_ask_for_a_column_for_each_axis() -> None:
    (rope,) = axial_ropes({"model_type": "pixtral"}).values()
    with pytest.raises(ValueError, match="positions must be"):
        rope.angles([[1.0, 2.0, 3.0]])


def test_only_an_unknown_class_with_a_rotation_is_named() -> None:
    assert undescribed_axial_parts({"_class_name": "NewTransformer", "axes_dims_rope": [8, 8]}) == {
        "": "NewTransformer"
    }
    silent: list[dict[str, Any]] = [
        {"_class_name": "NewTransformer", "axes": [8, 8]},
        {"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 56]},
        {"_class_name": 3, "axes_dims_rope": [8, 8]},
        {"axes_dims_rope": [8, 8]},
    ]
    assert [undescribed_axial_parts(each) for each in silent] == [{}] * len(silent)
