"""`rope engines`: what several programs compute from one config."""

from __future__ import annotations

import argparse
import math
from typing import Any

from rope_core.cli.source import HELP, load, tokens
from rope_core.cli.terminal import show, show_json
from rope_core.cli.words import words
from rope_core.hf.resolve import resolve
from rope_core.programs.engines import EngineResult, basis, engines, sentences, without_column


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument("--layer-type", help="only this layer type")
    parser.add_argument("--seq-len", help="the length in use, tokens")
    parser.add_argument("--context", help="the context of a server, tokens; else the model's maximum")
    parser.add_argument("--json", action="store_true", help="a list instead of lines")


def run(options: argparse.Namespace) -> int:
    """Compare what several programs compute from a config with transformers 5.23: largest gap of the frequencies."""
    options.seq_len = tokens("--seq-len", options.seq_len)
    options.context = tokens("--context", options.context)
    config = resolve(load(options.config))
    kinds = [options.layer_type] if options.layer_type else config.text.kinds
    rows = [(kind, engine) for kind in kinds for engine in engines(config, kind, options.seq_len, options.context)]
    if options.json:
        show_json([_record(kind, engine, options.lang) for kind, engine in rows])
        return 0
    for kind, engine in rows:
        where = f"{kind}  " if kind else ""
        show(f"{where}{engine.name:<22}{_gap(engine, options.lang):<16}{'; '.join(sentences(engine, options.lang))}")
    for name, why in without_column(options.lang):
        show(f"{name:<38}{why}")
    return 0


def _gap(engine: EngineResult, lang: str) -> str:
    """Return how far an engine is from transformers, or why there is no number."""
    t = words("engines", lang)
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
        "basis": basis(engine.name, lang),
        "notes": list(engine.notes),
        "sentences": sentences(engine, lang),
        "inv_freq": None if engine.inv_freq is None else engine.inv_freq.tolist(),
    }
