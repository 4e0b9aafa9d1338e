"""`rope engines`: what several programs compute from one config."""

from __future__ import annotations

import argparse
import math
from typing import Any

from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.cli.terminal import print_json, print_lines
from rope_core.hf.resolve import resolve
from rope_core.languages import words
from rope_core.programs.engines import (
    EngineResult,
    engine_evidence_sentence,
    engine_sentences,
    engines,
    engines_left_out,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument("--layer-type", help="only this layer type")
    parser.add_argument("--seq-len", help="the length in use, tokens")
    parser.add_argument("--context", help="the context of a server, tokens; else the model's maximum")
    parser.add_argument("--json", action="store_true", help="a list instead of lines")


def run(options: argparse.Namespace) -> int:
    """Compare what several programs compute from a config with transformers 5.24: largest gap of the frequencies."""
    options.seq_len = parse_token_count("--seq-len", options.seq_len)
    options.context = parse_token_count("--context", options.context)
    config = resolve(load_config(options.config))
    kinds = [options.layer_type] if options.layer_type else config.text.layer_type_names
    rows = [(kind, engine) for kind in kinds for engine in engines(config, kind, options.seq_len, options.context)]
    if options.json:
        print_json([_record(kind, engine, options.lang) for kind, engine in rows])
        return 0
    for kind, engine in rows:
        where = f"{kind}  " if kind else ""
        print_lines(
            f"{where}{engine.name:<22}{_gap(engine, options.lang):<16}"
            f"{'; '.join(engine_sentences(engine, options.lang))}"
        )
    for name, why in engines_left_out(options.lang):
        print_lines(f"{name:<38}{why}")
    return 0


def _gap(engine: EngineResult, lang: str) -> str:
    """Return how far an engine is from transformers, or why there is no number."""
    t: dict[str, str] = words(lang, "commands")["engines"]
    if engine.refused:
        return t[engine.status]
    if engine.difference is None:
        return "-"
    return t["width"] if math.isinf(engine.difference) else f"{100.0 * engine.difference:.3g} %"


def _record(kind: str | None, engine: EngineResult, lang: str) -> dict[str, Any]:
    return {
        "layer_type": kind,
        "name": engine.name,
        "difference": engine.difference,
        "attention_difference": engine.attention_difference,
        "attention_factor": engine.attention_factor,
        "logit_scale": engine.logit_scale,
        "layout": engine.layout,
        "refused": engine.refused is not None,
        "status": engine.status,
        "basis": engine_evidence_sentence(engine.name, lang),
        "notes": list(engine.notes),
        "sentences": engine_sentences(engine, lang),
        "inv_freq": None if engine.inv_freq is None else engine.inv_freq.tolist(),
    }
