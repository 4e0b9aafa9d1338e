"""`rope extend`: the config blocks that reach a length, what each changes, and the command for each program."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.cli.terminal import print_json, print_lines
from rope_core.errors import argument_error
from rope_core.extension.extend import (
    ContextExtension,
    config_reached_length,
    existing_scaling_sentence,
    extend,
)
from rope_core.languages import words
from rope_core.programs.commands import ENGINES, launch_commands


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument("--length", required=True, help="the length to reach, tokens")
    parser.add_argument("--way", metavar="METHOD", help="this method in place of the recommended one, such as linear")
    parser.add_argument(
        "--engine", choices=ENGINES, default=ENGINES[0], help=f"the program to start; {ENGINES[0]} by default"
    )
    parser.add_argument("--all", action="store_true", help="every method, in both schemas, for every program")
    parser.add_argument("--model", help="the model's name or folder in the programs' commands")
    parser.add_argument("--json", action="store_true", help="a list of all methods instead of text")


def run(options: argparse.Namespace) -> int:
    """Print the recommended config block that reaches a length, what it changes, and the command that runs it."""
    options.length = parse_token_count("--length", options.length)
    config = load_config(options.config)
    ways = extend(config, options.length)
    names = [way.name for way in ways]
    if options.way is not None:
        if options.way not in names:
            raise argument_error("--way", "one_of", options.way, names=names)
        ways = [way for way in ways if way.name == options.way]
    model = options.model or _model(options.config)
    if options.json:
        print_json([as_record(way, model, options.lang) for way in ways])
        return 0
    t = words(options.lang, "commands")["extend"]
    already = existing_scaling_sentence(config, options.lang)
    print_lines(
        already or f"{options.config}{t['colon']}{t['reaches'].format(reach=f'{config_reached_length(config):,}')}"
    )
    if not ways:
        print_lines(t["none"])
        return 0
    for way in ways if options.all else ways[:1]:
        print_lines("", f"{way.name}{t['colon']}{way.title(options.lang)}")
        print_lines(*_lines(way, model, ENGINES if options.all else (options.engine,), options.all, options.lang, t))
    if options.all:
        print_lines("", words(options.lang, "extension")["searched"]["cost"])
    else:
        others = ", ".join(name for name in names if name != ways[0].name) or "-"
        print_lines("", t["more"].format(others=others, engines=", ".join(e for e in ENGINES if e != options.engine)))
    return 0


def _model(source: str) -> str:
    """Return the name for the engines' lines: a hub id as it is, the folder of a file, else MODEL."""
    path = Path(source)
    if source == "-":
        return "MODEL"
    if path.exists():
        return str(path if path.is_dir() else path.parent)
    return source.partition("@")[0]


def _lines(
    way: ContextExtension, model: str, engines: Sequence[str], old: bool, lang: str, t: Mapping[str, str]
) -> Iterator[str]:
    """Yield a method's lines: cost, changes, block (the old schema's too where ``old``), commands of ``engines``."""
    yield f"  {way.cost(lang)}"
    if way.source:
        yield f"  {t['source']}{t['colon']}{way.source}"
    if way.changed:
        yield f"  {t['changed']}{t['colon']}".rstrip()
        yield from (f"    {change.sentence(lang)}" for change in way.changed)
    yield f"  {t['block']}{t['colon']}".rstrip()
    yield from _indented(way.block)
    if old:
        yield f"  {t['old']}{t['colon']}".rstrip()
        yield from _indented(way.old_block) if way.old_block else [f"    {t['no_old']}"]
    for command in launch_commands(way, model, lang, engines):
        yield f"  {command.engine}{t['colon']}{command.note}".rstrip()
        yield f"    {command.line or t['no_line']}"


def _indented(block: Mapping[str, Any]) -> list[str]:
    return [f"    {line}" for line in json.dumps(block, indent=2).splitlines()]


def as_record(way: ContextExtension, model: str, lang: str = "en") -> dict[str, Any]:
    """Return a way for programs: the whole config, its block, what moved and the lines by engine.

    An engine that cannot run the way has None under "commands" and its sentence under "notes".
    """
    lines = launch_commands(way, model, lang)
    return {
        "name": way.name,
        "title": way.title(lang),
        "cost": way.cost(lang),
        "length": way.length,
        "config": way.config,
        "block": way.block,
        "old_block": way.old_block,
        "changed": [asdict(change) for change in way.changed],
        "commands": {command.engine: command.line for command in lines},
        "notes": {command.engine: command.note for command in lines if command.note},
        "kept": way.kept,
        "pairs": way.pairs,
        "unseen": way.unseen,
        "source": way.source,
    }
