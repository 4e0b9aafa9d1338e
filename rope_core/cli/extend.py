"""`rope extend`: the blocks that reach a length, what each changes, and the line for each engine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rope_core.checks.commands import commands
from rope_core.checks.extend import Way, extend, fixes, present, reached
from rope_core.cli.source import HELP, load, print_json, tokens
from rope_core.cli.words import words
from rope_core.errors import reject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("config", help=HELP)
    parser.add_argument("--length", required=True, help="the length to reach, tokens")
    parser.add_argument("--way", metavar="NAME", help="only this way, by its name")
    parser.add_argument("--model", help="the model's name or folder in the engines' lines")
    parser.add_argument("--json", action="store_true", help="a list of ways instead of text")


def run(options: argparse.Namespace) -> int:
    """Print the config blocks that reach a length, what they change and cost, and the line for each engine."""
    options.length = tokens("--length", options.length)
    config = load(options.config)
    ways = extend(config, options.length)
    if options.way is not None:
        names = [way.name for way in ways]
        if options.way not in names:
            raise reject("way", "one_of", options.way, names=names)
        ways = [way for way in ways if way.name == options.way]
    model = options.model or _model(options.config)
    if options.json:
        print_json([as_record(way, model, options.lang) for way in ways])
        return 0
    t = words("extend", options.lang)
    already = present(config, options.lang)
    print(already or f"{options.config}{t['colon']}{t['reaches'].format(reach=f'{reached(config):,}')}")
    if not ways:
        print(t["none"])
    for number, way in enumerate(ways, 1):
        print(f"\n{number}. {way.name}{t['colon']}{way.title(options.lang)}")
        print(_text(way, model, options.lang, t))
    print(f"\n{fixes()['searched'][options.lang]}")
    return 0


def _model(source: str) -> str:
    """Return the name for the engines' lines: a hub id as it is, the folder of a file, else MODEL."""
    path = Path(source)
    if source == "-":
        return "MODEL"
    if path.exists():
        return str(path if path.is_dir() else path.parent)
    return source.partition("@")[0]


def _text(way: Way, model: str, lang: str, t: Mapping[str, str]) -> str:
    """Return a way as text."""
    lines = [way.cost(lang)]
    lines += [f"{t['source']}{t['colon']}{way.source}"] if way.source else []
    if way.changed:
        lines += [(t["changed"] + t["colon"]).rstrip(), *(f"  {change.sentence(lang)}" for change in way.changed)]
    lines += [(t["block"] + t["colon"]).rstrip(), _indented(way.block)]
    lines += [(t["old"] + t["colon"]).rstrip(), _indented(way.old_block) if way.old_block else f"  {t['no_old']}"]
    for command in commands(way, model, lang):
        lines.append(f"{command.engine}{t['colon']}{command.note or ''}".rstrip())
        lines += [f"  {command.line}"] if command.line else [f"  ({t['no_line']})"]
    return "\n".join(f"   {line}" for text in lines for line in text.splitlines())


def _indented(block: Mapping[str, Any]) -> str:
    return "\n".join(f"  {line}" for line in json.dumps(block, indent=2).splitlines())


def as_record(way: Way, model: str, lang: str = "en") -> dict[str, Any]:
    """Return a way for programs: the whole config, its block, what moved and the lines by engine.

    An engine that cannot run the way has None under "commands" and its sentence under "notes".
    """
    lines = commands(way, model, lang)
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
