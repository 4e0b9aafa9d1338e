"""The formulas by which vLLM, SGLang, llama.cpp, mlx-lm and LitGPT turn, where they differ from transformers'.

Sources: vLLM 0.33.0 model_executor/layers/rotary_embedding; SGLang 0.5.23 srt/layers/rotary_embedding;
llama.cpp 0c1e5709 ggml/src/ggml-cpu/ops.cpp and src/llama-context.cpp; mlx-lm 0.32.2 models/rope_utils.py;
LitGPT 0.5.13 litgpt/model.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rope_core.errors import argument_error
from rope_core.findings import finite_float_or_none, max_relative_difference
from rope_core.hf.fields import ModelFields
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT, DYNAMIC, LENGTH, LINEAR, LLAMA3, LONGROPE, PROPORTIONAL, STATIC_NTK, TYPES, YARN
from rope_core.rope import Array, Rope
from rope_core.schemes import (
    SCHEMES,
    blended_slowdown,
    interpolation_ramp_by_pair,
    yarn_attention_factor,
    yarn_ramp_bounds,
)
from rope_core.spectrum import Request, spectrum

# The model types whose file in mlx-lm reads rope_parameters; all others read rope_theta and rope_scaling only.
MLX_READS_NEW = {
    "exaone_moe", "gemma4", "gemma4_text", "glm_moe_dsa", "granitemoehybrid", "laguna", "lfm2", "lfm2-vl",
    "lfm2_moe", "mellum", "minimax_m3_vl", "minimax_m3_vl_text", "ministral3", "mistral4", "muse_glimmer",
    "muse_glimmer_text", "muse_spark", "muse_spark_text", "olmo_hybrid", "qwen3", "qwen3_vl_text", "qwen3_5",
    "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text", "spark2_5",
}  # fmt: skip
TELECHAT, DEEPSEEK = "telechat3-yarn", "deepseek_yarn"


@dataclass(frozen=True)
class EngineInput:
    """One layer type: its geometry, its type as written, its dict, the context of a server, and the length read."""

    fields: ModelFields
    rope: HfRope
    kind: str
    values: Mapping[str, Any]
    context: int
    seq_len: int | None

    @property
    def unscaled_inv_freq(self) -> Array:
        return self.rope.unscaled

    def number(self, name: str, default: float) -> float:
        value = finite_float_or_none(self.values.get(name))
        return default if value is None else value


EngineOutput = tuple[Array, float, tuple[str, ...], dict[str, object]]


class UnsupportedConfig(Exception):
    """A program that does not run the config: the key of its sentence and what it names."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values


def transformers_formula(task: EngineInput, kind: str, seq_len: int | None = None, **given: Any) -> EngineOutput:
    """Compute transformers' formula of ``kind`` on this task's dict, with ``given`` in place of the dict's values."""
    scheme = TYPES[kind]
    request = task.rope.request
    if request.scheme == scheme:
        params = {**request.params, **given}
    else:
        names = [param.name for param in SCHEMES[scheme].params]
        params = {name: task.values[name] for name in names if name in task.values} | given
    rope = replace(request.rope, train_len=int(task.number(LENGTH, task.rope.train_len)))
    if kind not in (YARN, LLAMA3, LONGROPE):
        rope = request.rope
    answer = spectrum(Request(rope, scheme, params, seq_len))
    return answer.inv_freq, answer.attention_factor, (), {}


def yarn_by_hand(task: EngineInput, train: float | None = None, inverted: bool = False, truncate: bool = True) -> Array:
    """YaRN with a ramp rounded or not, from another trained length or the wrong way round."""
    rope = task.rope.request.rope
    rope = replace(rope, train_len=round(train or task.number(LENGTH, task.rope.train_len)))
    low, high = yarn_ramp_bounds(
        rope, task.number("beta_fast", 32.0) or 32.0, task.number("beta_slow", 1.0) or 1.0, truncate
    )
    if inverted:
        high = min(high, rope.pairs - 1)
    ramp = interpolation_ramp_by_pair(rope.pairs, low, high)
    factor = task.number("factor", 1.0)
    if factor < 1.0:
        raise argument_error("factor", "a number >= 1", factor)
    slowdown = blended_slowdown(1.0 - ramp if inverted else ramp, factor)
    return np.asarray(rope.theta / slowdown)


def vllm(task: EngineInput) -> EngineOutput:
    """vLLM 0.33.0."""
    kind, old = task.kind, task.values.get("type")
    synonyms = ({"su", LONGROPE}, {"mrope", DEFAULT})
    if old is not None and old != task.values.get("rope_type") and {old, task.values.get("rope_type")} not in synonyms:
        raise UnsupportedConfig("type_conflict", type=old, rope_type=task.values.get("rope_type"))
    kind = {"su": LONGROPE, "mrope": DEFAULT}.get(kind, kind)
    factor = task.values.get("factor")
    if kind == LINEAR and isinstance(factor, int):
        raise UnsupportedConfig("integer_factor", factor=factor)
    if kind == STATIC_NTK:
        k, i = task.number("factor", 1.0), np.arange(task.rope.rotary_dim // 2)
        return (
            task.unscaled_inv_freq * k ** (-2.0 * (i + 1) / task.rope.rotary_dim),
            1.0,
            ("other_type",),
            {"kind": kind},
        )
    if kind == DYNAMIC and task.values.get("alpha") is not None:
        alpha = task.number("alpha", 1.0)
        base = task.rope.base * alpha ** (task.rope.rotary_dim / (task.rope.rotary_dim - 2))
        return Rope(task.rope.rotary_dim, base).theta, 1.0, ("alpha",), {"alpha": alpha}
    if kind == DYNAMIC:
        return task.unscaled_inv_freq, 1.0, ("static",), {}
    if kind in (YARN, DEEPSEEK, TELECHAT):
        return vllm_yarn(task, kind)
    if kind == LONGROPE:
        return longrope_by_context(task, own_mscale=True)
    if kind == PROPORTIONAL:
        notes = ("factor_not_read",) if task.number("factor", 1.0) != 1 else ()
        return *transformers_formula(task, kind, factor=1.0)[:2], notes, {}
    if kind == DEFAULT:
        in_blocks = task.fields.family.get("mrope_interleaved") and not task.values.get("mrope_interleaved")
        inv_freq, attention, names, values = default_with_partial_width(task)
        axes = in_blocks and task.rope.mrope_section is not None
        return inv_freq, attention, (*names, "axes_in_blocks") if axes else names, values
    if kind not in TYPES:
        raise UnsupportedConfig("unknown_type", kind=kind)
    return transformers_formula(task, kind, task.seq_len)


def with_mscale(task: EngineInput, factor: float) -> float:
    """Return the attention factor of YaRN with mscale and mscale_all_dim, where the dict has both."""
    upper, lower = (finite_float_or_none(task.values.get(name)) for name in ("mscale", "mscale_all_dim"))
    return (
        yarn_attention_factor(factor, upper) / yarn_attention_factor(factor, lower)
        if upper and lower
        else yarn_attention_factor(factor)
    )


def vllm_yarn(task: EngineInput, kind: str) -> EngineOutput:
    """YaRN in vLLM: DeepSeek's own class, TeleChat's attention factor, and four times the length beside mrope."""
    factor = task.number("factor", 1.0)
    if kind == DEEPSEEK or task.fields.family.get("logit_scale"):
        weights = task.number("mscale", 1.0), task.number("mscale_all_dim", 0.0)
        attention = yarn_attention_factor(factor, weights[0]) / yarn_attention_factor(factor, weights[1])
        return yarn_by_hand(task), attention, ("rounds",), {}
    given = task.values.get("attention_factor")
    attention = float(given) if isinstance(given, int | float) else with_mscale(task, factor)
    if kind == TELECHAT:
        attention = 0.07 * math.log(factor) + 1.0
        return yarn_by_hand(task), attention, ("other_type",), {"kind": YARN}
    if task.values.get("mrope_section") is not None and not (task.fields.model_type or "").startswith("qwen3_vl"):
        length = 4 * task.rope.train_len
        return yarn_by_hand(task, length), attention, ("four_times",), {"length": length}
    truncate = task.values.get("truncate", True)
    return transformers_formula(task, YARN, truncate=bool(truncate), attention_factor=attention)


def sglang(task: EngineInput) -> EngineOutput:
    """SGLang 0.5.23: vLLM's layers, of which some differ."""
    kind = {"mrope": DEFAULT}.get(task.kind, task.kind)
    factor = task.number("factor", 1.0)
    if kind == LINEAR and isinstance(task.values.get("factor"), int):
        raise UnsupportedConfig("integer_factor", factor=task.values["factor"])
    if kind == YARN and not task.fields.family.get("logit_scale"):
        attention = with_mscale(task, factor)
        given = task.values.get("attention_factor")
        ignored = isinstance(given, int | float) and not math.isclose(given, attention)
        notes = ("attention_ignored",) if ignored else ()
        truncate = bool(task.values.get("truncate", True))
        return transformers_formula(task, YARN, truncate=truncate, attention_factor=attention)[0], attention, notes, {}
    if kind == LONGROPE:
        train = int(task.number(LENGTH, task.rope.train_len))
        long = task.seq_len is not None and task.seq_len - 1 > train
        inv_freq, attention, _, _ = longrope_by_context(replace(task, context=train + long), own_mscale=True)
        return inv_freq, attention, (), {}
    if kind == DYNAMIC and task.values.get("alpha") is None:
        longest = round(factor * task.rope.train_len)
        return transformers_formula(task, DYNAMIC, longest)[0], 1.0, ("static_at",), {"length": longest}
    if kind in (TELECHAT, DEEPSEEK, STATIC_NTK, "su"):
        raise UnsupportedConfig("unknown_type", kind=kind)
    return vllm(replace(task, values={key: value for key, value in task.values.items() if key != "type"}))


def longrope_by_context(task: EngineInput, own_mscale: bool) -> EngineOutput:
    """LongRoPE as servers run it: the list by their context, not by the length; attention factor from two lengths."""
    train = int(task.number(LENGTH, task.rope.train_len))
    long = task.context > train
    longest = task.rope.max_len or train
    ratio = longest / train
    attention = 1.0 if ratio <= 1 else math.sqrt(1.0 + math.log(ratio) / math.log(train))
    if own_mscale:
        attention = task.number("long_mscale" if long else "short_mscale", attention)
    name = "long_factor" if long else "short_factor"
    factors = np.asarray(task.values[name], dtype=np.float64)
    return task.unscaled_inv_freq / factors, attention, ("whole_context",), {"list": name, "context": task.context}


def default_with_partial_width(task: EngineInput) -> EngineOutput:
    """Return the default type of programs that read partial_rotary_factor whatever the model."""
    share = task.values.get("partial_rotary_factor")
    ignored = "default_ignores_partial" in task.rope.provenance["rotary_dim"].traps
    if ignored and isinstance(share, int | float):
        theta = Rope(int(task.rope.head_dim * share), task.rope.base).theta
        return theta, 1.0, ("partial_honoured",), {"pairs": theta.size}
    return task.unscaled_inv_freq, 1.0, (), {}


def llama_cpp(task: EngineInput) -> EngineOutput:
    """llama.cpp 0c1e5709."""
    kind = task.kind
    if kind == DYNAMIC and task.rope.scheme != STATIC_NTK:
        return task.unscaled_inv_freq, 1.0, ("plain",), {}
    if kind == YARN:
        factor = task.number("factor", 1.0)
        weight = task.number("mscale_all_dim", 0.0) if task.fields.family.get("logit_scale") else 0.0
        # The DEEPSEEK2 graph takes mscale for mscale_all_dim where that is not 1, and for 1 otherwise.
        attention = 1.0 if weight else yarn_attention_factor(factor)
        given = task.values.get("attention_factor")
        overwritten = given is not None and not math.isclose(float(given), attention)
        notes = ("rounds", "attention_overwritten") if overwritten else ("rounds",)
        return yarn_by_hand(task), attention, notes, {}
    if kind in ("su", LONGROPE):
        return longrope_by_context(task, own_mscale=False)
    if kind in (LLAMA3, PROPORTIONAL):
        inv_freq, attention, _, _ = transformers_formula(task, kind)
        return inv_freq, attention, ("tensor",), {}
    if kind not in TYPES and kind != "mrope":
        raise UnsupportedConfig("unknown_type", kind=kind)
    if task.rope.scheme == STATIC_NTK:
        return task.rope.inv_freq, 1.0, ("alpha",), {"alpha": task.number("alpha", 1.0)}
    permuted = ("permuted",) if task.fields.model_type == "llama" else ()
    if kind == LINEAR:
        return *transformers_formula(task, kind)[:2], permuted, {}
    return task.unscaled_inv_freq, 1.0, permuted, {}


def mlx(task: EngineInput) -> EngineOutput:
    """mlx-lm 0.32.2."""
    old = task.values.get("type")
    kind = str(old or task.kind)
    notes: tuple[str, ...] = ("old_type_wins",) if old is not None and old != task.kind else ()
    values: dict[str, object] = {"type": str(old)}
    model_type = task.fields.model_type or ""
    data = task.fields.stated
    # Step-3.5's lists of a base for each layer stand under transformers' name here; its file in mlx-lm reads the lists.
    listed = f"rope_parameters.{task.rope.layer_type}.rope_theta" in task.fields.places
    new = data.get("rope_parameters") and not data.get("rope_scaling") and not listed
    if new and model_type not in MLX_READS_NEW:
        base = finite_float_or_none(data.get("rope_theta"))
        if base is None:
            raise UnsupportedConfig("old_fields_only", model_type=model_type)
        return Rope(task.rope.rotary_dim, base).theta, 1.0, ("old_fields",), {"base": base}
    if model_type == "glm" and task.rope.rotary_dim < task.rope.head_dim:
        theta = Rope(task.rope.head_dim, task.rope.base).theta
        return theta, 1.0, ("whole_width",), {"pairs": theta.size}
    if model_type.startswith("hunyuan") and task.rope.scheme == STATIC_NTK:
        return task.rope.inv_freq, 1.0, ("alpha",), {"alpha": task.number("alpha", 1.0)}
    if kind == "su" and model_type == "phi3":
        kind = LONGROPE
    if kind in (YARN, DEEPSEEK, TELECHAT):
        factor = task.number("factor", 1.0)
        upper, lower = task.number("mscale", 1.0), task.number("mscale_all_dim", 0.0)
        attention = yarn_attention_factor(factor, upper) / yarn_attention_factor(factor, lower)
        if task.values.get("attention_factor") is not None:
            notes = (*notes, "attention_ignored")
        return yarn_by_hand(task), attention, (*notes, "rounds"), values
    if kind == LONGROPE:
        inv_freq, attention, _, _ = longrope_by_context(replace(task, context=2**31 - 1), own_mscale=False)
        attention = task.number("long_mscale", attention)
        return inv_freq, attention, (*notes, "always_long"), values
    if kind == "mrope":
        return task.unscaled_inv_freq, 1.0, (*notes, "half_of_positions"), values
    if kind == DEFAULT:
        return task.unscaled_inv_freq, 1.0, notes, values
    if kind not in TYPES:
        raise UnsupportedConfig("unknown_type", kind=kind)
    return *transformers_formula(task, kind, task.seq_len)[:2], notes, values


def litgpt(task: EngineInput) -> EngineOutput:
    """LitGPT 0.5.13, given the numbers that a config states in its own keys.

    It takes YaRN for what names both ends of the ramp; with the factor alone it divides every pair. Its
    build_rope_cache reads truncate, but GPT.rope_cache, which models call, passes on factor, beta_fast, beta_slow,
    original_max_seq_len, mscale and mscale_all_dim only: a model rounds the ramp.
    """
    kind = task.kind
    if kind == YARN:
        factor = task.number("factor", 1.0)
        missing = [name for name in ("beta_fast", "beta_slow") if task.values.get(name) is None]
        if len(missing) == 1:
            raise UnsupportedConfig("missing_end", name=missing[0])
        if missing:
            return task.unscaled_inv_freq / factor, 1.0, ("linear_alone",), {}
        upper, lower = task.number("mscale", 0.0), task.number("mscale_all_dim", 0.0)
        attention = 1.0
        if upper and lower:
            attention = yarn_attention_factor(factor, upper) / yarn_attention_factor(factor, lower)
        elif upper or lower:
            attention = yarn_attention_factor(factor, upper or lower)
        inv_freq = yarn_by_hand(task, inverted=True)
        if task.values.get("truncate", True):
            return inv_freq, attention, ("inverted",), {}
        by_hand = yarn_by_hand(task, inverted=True, truncate=False)
        percent = f"{100.0 * max_relative_difference(by_hand, inv_freq):.2g}"
        return inv_freq, attention, ("inverted", "truncate_dropped"), {"percent": percent}
    if kind in ("su", LONGROPE):
        return task.unscaled_inv_freq, 1.0, ("plain",), {}
    if kind in (LLAMA3, LINEAR):
        return transformers_formula(task, kind)
    if kind == DEFAULT and task.values.get("mrope_section") is None:
        return default_with_partial_width(task)
    raise UnsupportedConfig("not_supported", kind="mrope" if kind == DEFAULT else kind)


ENGINES: dict[str, Callable[[EngineInput], EngineOutput]] = {
    "vLLM 0.33": vllm,
    "SGLang 0.5.23": sglang,
    "llama.cpp 0c1e5709": llama_cpp,
    "mlx-lm 0.32.2": mlx,
    "LitGPT 0.5.13": litgpt,
}
