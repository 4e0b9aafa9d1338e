"""LitGPT: GPT.rope_cache and apply_rope of a model whose Config holds the numbers of a config in LitGPT's own keys."""

import importlib
from types import SimpleNamespace
from typing import Any

import torch

import rope_core as rc
from rope_core.hf.resolve import resolve
from rope_core.programs.engines import engine_records
from tools.engines.measure import NotSupported, RotateVector, Vector, measure_tasks, without_lane_reordering
from tools.engines.stubs import stub_package

stub_package("litgpt", ["litgpt.model", "litgpt.config"])
Config = importlib.import_module("litgpt.config").Config
model = importlib.import_module("litgpt.model")

KEYS = ("factor", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim")


# Those of the checkpoints in litgpt.config.configs, by their organisation and name.
FAMILIES = set(engine_records()["engine"]["LitGPT 0.5.13"]["knows"].split())


def run(task: dict[str, Any]) -> tuple[RotateVector, int]:
    """Build the rotation of a config; LongRoPE has no key, and a checkpoint of it is listed without scaling."""
    if task["config"]["model_type"] not in FAMILIES:
        raise NotSupported(task["config"]["model_type"])
    rope = rc.from_hf(task["config"], task["layer"])
    stated = resolve(task["config"]).text.layer(task["layer"]).entry.values()
    # The ends of YaRN's ramp decide which branch it takes, so only a config that states them has them.
    left_out = [key for key in ("beta_fast", "beta_slow") if stated.get(key) is None]
    values = {key: rope.params[key] for key in KEYS if rope.params.get(key) is not None and key not in left_out}
    kind = rope.rope_type
    if kind not in ("default", "linear", "llama3", "yarn", "longrope"):
        raise NotSupported(kind)
    if rope.provenance and "mrope_section" in str(task["config"].get("rope_scaling")):
        raise NotSupported("mrope")
    original = {"original_max_seq_len": rope.train_len} if kind in ("llama3", "yarn") else {}
    share = rope.rotary_dim / rope.head_dim
    if kind == "default":
        share = float(task["config"].get("partial_rotary_factor") or share)
    config = Config(
        n_head=2,
        n_embd=2 * rope.head_dim,
        head_size=rope.head_dim,
        rotary_percentage=share,
        rope_base=rope.base,
        rope_adjustments={**values, **original} if kind in ("linear", "llama3", "yarn") else None,
        rope_interleave=rope.layout == "interleaved",
        padded_vocab_size=64,
    )
    cos, sin = model.GPT.rope_cache(SimpleNamespace(config=config, max_seq_length=task["length"]))
    width = config.rope_n_elem
    turn = model.apply_rope_interleave if config.rope_interleave else model.apply_rope

    def rotate(x: Vector, position: int) -> Vector:
        q = torch.tensor(x, dtype=torch.float32)[None, None, None]
        row = slice(position, position + 1)
        out = turn(q[..., :width], cos[None, row, :width], sin[None, row, :width])
        return torch.cat([out, q[..., width:]], dim=-1)[0, 0, 0].double().numpy()

    return without_lane_reordering(rotate, rope.head_dim), rope.head_dim


if __name__ == "__main__":
    raise SystemExit(measure_tasks(run))
