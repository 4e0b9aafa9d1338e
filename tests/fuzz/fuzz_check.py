"""Fuzz the config check with atheris: `make fuzz`. Nothing but ConfigError may come out, whatever goes in.

Half of the inputs are raw bytes read as JSON, half are real configs of the catalogue with fields replaced.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import atheris

with atheris.instrument_imports(include=["rope_core"]):
    from rope_core.checks.check import check, check_text
    from rope_core.errors import ConfigError
    from rope_core.hf.catalogue import released_models
    from rope_core.hf.resolve import layer_types
    from rope_core.hf.schemas import to_v4, to_v5
    from rope_core.programs.engines import engine_sentences, engines

CONFIGS = [json.dumps(model.hf_config()) for model in released_models()]
TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "su", "mrope", "ntk", "foo", "")
KEYS = (
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "partial_rotary_factor",
    "head_dim",
    "hidden_size",
    "num_attention_heads",
    "max_position_embeddings",
    "original_max_position_embeddings",
    "layer_types",
    "no_rope_layers",
    "model_type",
    "text_config",
    "rope_type",
    "type",
    "factor",
    "beta_fast",
    "beta_slow",
    "short_factor",
    "long_factor",
    "low_freq_factor",
    "high_freq_factor",
    "attention_factor",
    "mscale",
    "mscale_all_dim",
    "truncate",
    "mrope_section",
    "alpha",
    "sliding_window",
    "num_hidden_layers",
    "rope_interleave",
    "dtype",
)


def value(data: Any, depth: int = 0) -> Any:
    """Any JSON value, the awkward ones first."""
    kind = data.ConsumeIntInRange(0, 13 if depth < 3 else 9)
    if kind == 10:
        return [value(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 6))]
    if kind == 11:
        return [data.ConsumeFloat()] * data.ConsumeIntInRange(0, 70)
    if kind >= 12:
        return {data.PickValueInList(list(KEYS)): value(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 6))}
    plain: tuple[Any, ...] = (
        None,
        True,
        0,
        -1,
        data.ConsumeInt(8),
        data.ConsumeIntInRange(0, 2**20),
        data.ConsumeFloat(),
        data.ConsumeRegularFloat(),
        data.PickValueInList(list(TYPES)),
        data.ConsumeUnicode(12),
    )
    return plain[kind]


def config(data: Any) -> dict[str, Any]:
    """Return a real config with a few fields replaced, at the top, in the text part or in the rope dict."""
    built: dict[str, Any] = json.loads(data.PickValueInList(CONFIGS))
    for _ in range(data.ConsumeIntInRange(1, 6)):
        inner = [built] + [each for each in built.values() if isinstance(each, dict)]
        data.PickValueInList(inner)[data.PickValueInList(list(KEYS))] = value(data)
    return built


def one_input(raw: bytes) -> None:
    """One execution: every door of the check, in both languages."""
    if raw[:1] and raw[0] < 128:
        try:
            check_text(raw[1:])
        except ConfigError as error:
            assert "\n" not in str(error)
        return
    built = config(atheris.FuzzedDataProvider(raw[1:]))
    for version in ("4.57", "5.24"):
        try:
            for result in check(built, version, seq_len=8192):
                assert all("{" not in result.title(lang) or "{" in str(result.values) for lang in ("en", "zh"))
        except ConfigError:
            continue
    for convert in (to_v5, to_v4):
        try:
            convert(built)
        except ConfigError:
            continue
    try:
        for kind in layer_types(built) or [None]:  # type: ignore[list-item]
            for engine in engines(built, kind):
                engine_sentences(engine, "zh")
    except ConfigError:
        return


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
