"""`rope pairs`: how large each pair of dimensions is in a model's W_q and W_k, without loading the model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rope_core.cli.source import load_config
from rope_core.cli.terminal import print_json, print_lines
from rope_core.errors import argument_error
from rope_core.lab.pairs import shipped_weights_and_config
from rope_core.languages import words
from rope_core.rope import MAX_LEN
from rope_core.verification.pairs import MASSIVE, PairSummary, layer_pair_norms, pair_changes_by_scheme, pair_summaries


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "model", help="folder of a model, a safetensors file beside its config.json, or weights of the lab"
    )
    parser.add_argument("--config", help="config.json where it is not beside the weights")
    parser.add_argument("--length", type=int, help="tokens to reach; four trained lengths by default")
    parser.add_argument("--layer", type=int, help="one layer alone")
    parser.add_argument("--json", action="store_true", help="every number, every layer")


def run(options: argparse.Namespace) -> int:
    """Print the norm of each pair of W_q and W_k by wavelength, and what schemes change in the pairs that matter."""
    source, config = _found(options.model, options.config)
    by_layer = layer_pair_norms(source, config)
    if options.layer is not None:
        by_layer = [each for each in by_layer if each.index == options.layer]
        if not by_layer:
            raise argument_error("--layer", "pair_layer", options.layer)
    by_type = pair_summaries(by_layer)
    if options.length is not None and not 1 <= options.length <= MAX_LEN:
        raise argument_error("--length", "int_range", options.length, low=1, high=MAX_LEN)
    if options.json:
        rows = [
            {"layer": each.index, "type": each.rope.layer_type, "q": each.q.tolist(), "k": each.k.tolist()}
            for each in by_layer
        ]
        print_json({"layers": rows, "types": [_record(each, options.length) for each in by_type.values()]})
        return 0
    for kind, each in by_type.items():
        _show(kind, each, options.length, options.lang)
    return 0


def _found(model: str, config: str | None) -> tuple[Path, Mapping[str, Any]]:
    """Return where the weights are, and their config."""
    path = Path(model)
    if path.is_dir():
        return path, load_config(config or model)
    if path.is_file():
        return path, load_config(config or str(path.with_name("config.json")))
    return shipped_weights_and_config(model)


def _record(each: PairSummary, length: int | None) -> dict[str, Any]:
    """Return a layer type as JSON values."""
    return {
        "type": each.rope.layer_type,
        "trained": each.rope.train_len,
        "wavelength": each.wavelength.tolist(),
        "turns": each.trained_turns.tolist(),
        "q": each.q.tolist(),
        "k": each.k.tolist(),
        "massive": each.massive.tolist(),
        "heads": each.heads,
        "schemes": {
            name: {"slowdown": change.slowdown.tolist(), "kept": change.kept, "unseen": change.unseen}
            for name, change in pair_changes_by_scheme(each, length).items()
        },
    }


def _show(kind: str | None, each: PairSummary, length: int | None, lang: str) -> None:
    """Print a layer type as a table, and a sentence for each scheme."""
    t = words(lang, "commands")["pairs"]
    changed = pair_changes_by_scheme(each, length)
    reached = length or 4 * each.rope.train_len
    print_lines(t["head"].format(kind=kind or t["all"], heads=each.heads, trained=each.rope.train_len))
    columns = ("pair", "wavelength", "turns", "|W_q|", "|W_k|", "massive", *changed)
    print_lines("  ".join(f"{name:>10}" for name in columns))
    for pair in range(each.q.size):
        values = (each.wavelength[pair], each.trained_turns[pair], each.q[pair], each.k[pair])
        row = [f"{pair:>10}", *(f"{value:>10.4g}" for value in values), f"{each.massive[pair]:>10}"]
        print_lines("  ".join([*row, *(f"{change.slowdown[pair]:>10.4g}" for change in changed.values())]))
    still = each.trained_turns < 1.0
    print_lines(t["still"].format(count=int(still.sum()), pairs=still.size, share=100 * each.score_share(still)))
    print_lines(
        t["massive"].format(
            times=MASSIVE, count=int((each.massive > 0).sum()), slow=int((each.massive[still] > 0).sum())
        )
    )
    for name, change in changed.items():
        print_lines(t["scheme"].format(name=name, length=reached, kept=100 * change.kept, unseen=100 * change.unseen))
