"""Folders in which other benchmarks read a model under each scheme: its config, links to its weights, the commands.

EleutherAI's harness runs transformers (``--model hf``); its group "ruler" is RULER's 13 tasks
(lm_eval/tasks/ruler/README.md). NVIDIA's own RULER runs a server (README.md there), and servers read configs
otherwise: ``rope_core.engines`` says whether vLLM turns the same.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.errors import ConfigError, argument_error
from rope_core.evaluate.loading import ModelSource, safetensors_files
from rope_core.evaluate.settings import EvaluationSettings, rope_variants
from rope_core.evaluate.variants import OWN, STALE, WINDOW, RopeVariant, rope_variant_at_load
from rope_core.evaluate.words import line_name, report_text
from rope_core.hf.hub import MODEL_FILES
from rope_core.hf.resolve import from_hf, resolve
from rope_core.hf.schemas import OLD, to_v4
from rope_core.hf.types import LENGTH
from rope_core.hf.write import llama_fields
from rope_core.lab.lines import get_line
from rope_core.lab.train import write_atomically
from rope_core.programs.engines import engines
from rope_core.rope import Rope

COMMANDS = "commands.sh"
SAME = 1e-6
TASKS = "lambada_openai,hellaswag,arc_easy"


def export_scheme_folders(
    source: ModelSource, settings: EvaluationSettings, folder: Path, dtype: str, lang: str
) -> list[Path]:
    """Write a folder for each scheme and length, and commands.sh beside them; returns what was written.

    Args:
        source: of the model, a folder.
        ask: whole, as ``EvaluationSettings.of`` made it.
        folder: new or empty.
        dtype: torch's name.
        lang: of the comments.

    Raises ValueError on weights of the lab, a folder that is not empty, and schemes that the model cannot take.
    """
    if source.folder is None:
        raise argument_error("model", "eval_stored", source.name)
    keys = tuple(key for key in settings.schemes if key not in (STALE, WINDOW))
    written, refused = rope_variants(source, replace(settings, schemes=keys))
    if folder.exists() and any(folder.iterdir()):
        raise argument_error("--lm-eval", "export_folder", str(folder))
    commands = ["#!/bin/sh", f"# {report_text('harness', lang)}", 'cd "$(dirname "$0")" || exit 1']
    commands += [
        f"# {line_name(key, lang)}: {report_text('harness_no_config', lang)}"
        for key in settings.schemes
        if key not in keys
    ]
    commands += [f"# {line_name(key, lang)}: {why[lang]}" for key, why in refused.items()]
    paths = []
    for (key, length), each in written.items():
        if key in refused:
            continue
        path = folder / f"{key}-{length}"
        config = config_of_variant(source, settings, key, length, each)
        link_model_files(source.folder, path)
        write_atomically(path / "config.json", (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode())
        commands += commands_of(path.name, config, length, dtype, lang)
        paths.append(path)
    script = folder / COMMANDS
    write_atomically(script, ("\n".join(commands) + "\n").encode())
    script.chmod(0o755)
    return [*paths, script]


def config_of_variant(
    source: ModelSource, ask: EvaluationSettings, key: str, length: int, variant: RopeVariant
) -> dict[str, Any]:
    """Return the config under which most programs turn as a scheme does.

    Its own type where one dict says all, which servers read too; else the type LongRoPE that holds any slow-downs. In
    the fields of transformers 4, which 5 reads as well, where they can say it.
    """
    old = rope_variant_at_load(source.config).ropes.get(None)
    wanted = variant.ropes.get(None)
    if key != OWN and old is not None and wanted is not None:
        plain = {name: value for name, value in source.config.items() if name not in (*OLD, LENGTH)}
        share = {} if old.rotary_dim == old.head_dim else {"partial_rotary_factor": old.rotary_dim / old.head_dim}
        trained = Rope(old.rotary_dim, old.request.rope.base, ask.trained or old.train_len)
        own = dict(old.params) if get_line(key).scheme == old.scheme else {}
        try:
            config = {
                **plain,
                **share,
                **llama_fields(get_line(key).request_for_rope(trained, length, ask.factor, own)),
            }
            rope = from_hf(config)
        except ValueError:
            pass
        else:
            same = rope.inv_freq.shape == wanted.inv_freq.shape and np.allclose(
                rope.inv_freq, wanted.inv_freq, rtol=1e-12, atol=0
            )
            if same and rope.attention_factor == wanted.attention_factor and rope.logit_scale == wanted.logit_scale:
                return config
    try:
        return to_v4(variant.config)
    except ConfigError:
        return variant.config


def link_model_files(source: Path, folder: Path) -> None:
    """Make a folder of links to a model's weights and tokenizer; its config and any code stay out."""
    safetensors_files(source)
    folder.mkdir(parents=True)
    for pattern in MODEL_FILES:
        for file in sorted(source.glob(pattern)):
            if file.name != "config.json" and not (folder / file.name).is_symlink():
                (folder / file.name).symlink_to(file.resolve())


def commands_of(name: str, config: dict[str, Any], length: int, dtype: str, lang: str) -> list[str]:
    """Return the lines of commands.sh about one folder."""
    model = f"pretrained={name},max_length={length},dtype={dtype}"
    harness = f"lm_eval --model hf --model_args {shlex.quote(model)} --output_path results/{name}"
    lengths = shlex.quote(json.dumps({"max_seq_lengths": [length]}))
    lines = ["", f"{harness} --tasks {TASKS}", f"{harness} --tasks ruler --metadata {lengths}"]
    differs = vllm_transformers_difference_text(config, length)
    if differs:
        return [*lines, f"# {report_text('harness_vllm', lang, gap=differs)}"]
    common = "--cluster=local --data_dir=$PWD/ruler"
    return [
        *lines,
        f"ns prepare_data ruler {common} --setup={name} --tokenizer_path=$PWD/{name} --max_seq_length={length}",
        f"ns eval {common} --benchmarks=ruler.{name} --model=$PWD/{name} --output_dir=$PWD/results/{name}"
        f" --server_type=vllm --server_gpus=1 --server_args='--max-model-len {length}' ++inference.temperature=0.0",
    ]


def vllm_transformers_difference_text(config: dict[str, Any], length: int) -> str:
    """Return how far vLLM is from transformers on a config, in words; "" where it turns the same."""
    resolved = resolve(config)
    for kind in resolved.text.layer_type_names:
        for each in engines(resolved, kind, length, length):
            if not each.name.startswith("vLLM"):
                continue
            if each.difference is None or each.refused:
                return "?"
            gap = max(each.difference, each.attention_difference or 0.0)
            if gap > SAME:
                return f"{100.0 * gap:.3g} %"
    return ""
