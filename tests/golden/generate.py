"""Write the golden vectors of every scheme without rope_core: transformers where it knows the scheme, mpmath elsewhere.

Run: ``python tests/golden/generate.py`` from the root of the repository.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import torch
import transformers
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

HERE = Path(__file__).parent
HF = f"transformers {transformers.__version__}, modeling_rope_utils.ROPE_INIT_FUNCTIONS[{{!r}}] on LlamaConfig, float32"
DIGITS = f"mpmath {mpmath.__version__} at 50 digits, "
Case = dict[str, Any]


def geometry(dim: int, base: float, train_len: int) -> Case:
    return {"dim": dim, "base": base, "train_len": train_len}


def of_transformers(kind: str, rope: Case, params: Case, seq_len: int, extra: Case | None = None) -> Case:
    parameters = {"rope_type": kind, "rope_theta": rope["base"], **params, **(extra or {})}
    config = LlamaConfig(
        head_dim=rope["dim"],
        hidden_size=4 * rope["dim"],
        num_attention_heads=4,
        max_position_embeddings=rope["train_len"],
        rope_parameters=parameters,
    )
    inv_freq, attention = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"), seq_len=seq_len)
    return {
        "rope": rope,
        "params": params,
        "seq_len": seq_len,
        "inv_freq": [float(value) for value in inv_freq],
        "attention_factor": float(attention),
    }


def by_digits(rope: Case, params: Case, formula: Callable[[Any, int], Any]) -> Case:
    """``formula(theta, i)`` is the pair's frequency in exact arithmetic."""
    with mpmath.workdps(50):
        base, dim = mpmath.mpf(rope["base"]), rope["dim"]
        values = [formula(base ** (mpmath.mpf(-2 * i) / dim), i) for i in range(dim // 2)]
        return {
            "rope": rope,
            "params": params,
            "seq_len": rope["train_len"],
            "inv_freq": [float(value) for value in values],
            "attention_factor": 1.0,
        }


def by_parts(rope: Case, factor: float, fast: float, slow: float) -> Case:
    """YaRN's definition 2: (1 - gamma) theta / s + gamma theta, gamma the ramp of turns in training."""

    def formula(theta: Any, _: int) -> Any:
        turns = rope["train_len"] * theta / (2 * mpmath.pi)
        gamma = min(max((turns - slow) / (mpmath.mpf(fast) - slow), 0), 1)
        return (1 - gamma) * theta / mpmath.mpf(factor) + gamma * theta

    return by_digits(rope, {"factor": factor, "beta_fast": fast, "beta_slow": slow}, formula)


def by_base(rope: Case, factor: float) -> Case:
    """NTK-aware as its author wrote it: a larger base, base * factor ** (dim / (dim - 2))."""
    with mpmath.workdps(50):
        base = mpmath.mpf(rope["base"]) * mpmath.mpf(factor) ** (mpmath.mpf(rope["dim"]) / (rope["dim"] - 2))
    return by_digits(rope, {"factor": factor}, lambda _, i: base ** (mpmath.mpf(-2 * i) / rope["dim"]))


def by_critical_pair(rope: Case, factor: float, critical: int | None) -> Case:
    """LongRoPE2: pairs from the critical one on take the factor; below it the base is the one that meets it there.

    theta'_c = 1 / (s base^(2c/d)) fixes base' = base s^(d/2c) (algorithm 1, lines 6 and 7).
    """
    with mpmath.workdps(50):
        base, dim, scale = mpmath.mpf(rope["base"]), rope["dim"], mpmath.mpf(factor)
        theory = int(
            mpmath.ceil(dim / mpmath.mpf(2) * mpmath.log(rope["train_len"] / (2 * mpmath.pi)) / mpmath.log(base))
        )
        pair = theory if critical is None else critical
        raised = base * scale ** (mpmath.mpf(dim) / (2 * pair))

    def formula(theta: Any, i: int) -> Any:
        return theta / scale if i >= pair else raised ** (mpmath.mpf(-2 * i) / dim)

    return by_digits(rope, {"factor": factor, "critical_pair": critical}, formula)


def by_radices(rope: Case, factor: float, progressive: bool) -> Case:
    """MrRoPE: theta_j over the product of the radices lambda_d before it, d_l <= d < d_h (section 3.3)."""
    with mpmath.workdps(50):
        base, dim, scale = mpmath.mpf(rope["base"]), rope["dim"], mpmath.mpf(factor)
        turns = [rope["train_len"] / (2 * mpmath.pi) * base ** (mpmath.mpf(-2 * i) / dim) for i in range(dim // 2)]
        first = max([i for i, each in enumerate(turns) if each > 32], default=0)
        last = min([i for i, each in enumerate(turns) if each < 1], default=dim // 2)
        width = last - first

        def formula(theta: Any, i: int) -> Any:
            for d in range(first, min(i, last)):
                rising = mpmath.mpf(2 * (1 + d - first)) / ((1 + width) * width)
                theta = theta / scale ** (rising if progressive else mpmath.mpf(1) / width)
            return theta

        case = by_digits(rope, {"factor": factor, "progressive": progressive}, formula)
        return case | {"attention_factor": float(1 + mpmath.log(scale) / 10)}


def write(scheme: str, source: str, cases: list[Case]) -> None:
    text = json.dumps({"scheme": scheme, "source": source, "cases": cases}, indent=1)
    (HERE / f"{scheme}.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    llama2, llama3 = geometry(128, 10_000.0, 4096), geometry(128, 500_000.0, 8192)
    small = geometry(16, 1234.5, 700)
    every = (llama2, llama3, small)
    # Even the slowest pair turns 212 times: YaRN's upper clamp, dim - 1, is at work.
    fast = geometry(32, 100.0, 100_000)
    original = {"original_max_position_embeddings": 8192}
    write("none", DIGITS + "base ** (-2i/dim)", [by_digits(rope, {}, lambda theta, _: theta) for rope in every])
    write(
        "ntk", DIGITS + "base * factor ** (dim/(dim-2))", [by_base(rope, f) for rope in every for f in (1.0, 2.5, 8.0)]
    )
    write(
        "ntk_by_parts",
        DIGITS + "YaRN (arXiv:2309.00071), definition 2",
        [by_parts(rope, 8.0, 32.0, 1.0) for rope in every] + [by_parts(small, 3.0, 9.5, 0.5)],
    )
    cases = [
        of_transformers("linear", rope, {"factor": f}, rope["train_len"]) for rope in every for f in (1.0, 2.5, 8.0)
    ]
    write("linear", HF.format("linear"), cases)
    cases = [
        of_transformers("dynamic", rope, {"factor": 2.0}, int(rope["train_len"] * stretch))
        for rope in every
        for stretch in (0.5, 1.0, 1.75, 4.0)
    ]
    write("dynamic", HF.format("dynamic"), cases)
    options: list[Case] = [
        {"factor": 8.0},
        {"factor": 2.5, "beta_fast": 20.0, "beta_slow": 2.0, "truncate": False},
        {"factor": 40.0, "mscale": 0.707, "mscale_all_dim": 1.0},
        {"factor": 4.0, "attention_factor": 1.25},
    ]
    cases = [
        of_transformers(
            "yarn", rope, params, rope["train_len"], {"original_max_position_embeddings": rope["train_len"]}
        )
        for rope in (*every, fast)
        for params in options
    ]
    write("yarn", HF.format("yarn"), cases)
    options = [
        {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        {"factor": 32.0, "low_freq_factor": 0.5, "high_freq_factor": 6.0},
    ]
    write("llama3", HF.format("llama3"), [of_transformers("llama3", llama3, p, 8192, original) for p in options])
    vectors = {
        "short_factor": [1.0 + 0.05 * i for i in range(8)],
        "long_factor": [0.98 + 0.7 * i for i in range(8)],
        "factor": 32.0,
    }
    trained = {"original_max_position_embeddings": 700}
    cases = [of_transformers("longrope", small, vectors, n, trained) for n in (300, 700, 701, 20_000)]
    write("longrope", HF.format("longrope"), cases)
    options = [{"partial_rotary_factor": 0.25, "factor": 1.0}, {"partial_rotary_factor": 0.6, "factor": 8.0}]
    cases = [of_transformers("proportional", rope, p, rope["train_len"]) for rope in every for p in options]
    write("proportional", HF.format("proportional"), cases)
    cases = [by_critical_pair(rope, 16.0, pair) for rope in every for pair in (None, 5)]
    # The paper's own examples: Phi3-mini's critical pair is 31, LLaMA3-8B's 35, and 25 and 30 once searched for.
    phi3 = geometry(96, 10_000.0, 2048)
    cases += [by_critical_pair(phi3, 64.0, pair) for pair in (None, 25)]
    write("longrope2", DIGITS + "LongRoPE2 (arXiv:2502.20082), equations 7 and 10, algorithm 1", cases)
    cases = [by_radices(rope, 16.0, progressive) for rope in every for progressive in (True, False)]
    write("mrrope", DIGITS + "MrRoPE (arXiv:2601.22181), section 3.3", cases)


if __name__ == "__main__":
    main()
