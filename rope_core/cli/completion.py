"""`rope completion`: a script that completes subcommands, options and files in a shell."""

from __future__ import annotations

import argparse
import importlib
import re

from rope_core.cli import COMMANDS
from rope_core.cli.command import parser_of

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=SHELLS)


def run(options: argparse.Namespace) -> int:
    """Print a completion script: eval "$(rope completion bash)", the same with zsh; rope completion fish | source."""
    print(script(options.shell), end="")
    return 0


def script(shell: str) -> str:
    """Return the script for one of SHELLS, from the subcommands' own parsers.

    >>> "complete -o default -F _rope rope" in script("bash")
    True
    """
    known = options()
    if shell == "fish":
        return _fish(known)
    cases = "\n".join(f'    {name}) words="{" ".join(words)}" ;;' for name, words in known.items())
    head = "autoload -U bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return (
        f"{head}_rope() {{\n"
        '  local words="" cur="${COMP_WORDS[COMP_CWORD]}"\n'
        '  if [ "$COMP_CWORD" -eq 1 ]; then\n'
        f'    COMPREPLY=($(compgen -W "{" ".join(known)} --version --help" -- "$cur"))\n'
        "    return\n"
        "  fi\n"
        f'  case "${{COMP_WORDS[1]}}" in\n{cases}\n  esac\n'
        '  case "$cur" in -*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;; *) COMPREPLY=() ;; esac\n'
        "}\n"
        "complete -o default -F _rope rope\n"
    )


def _fish(known: dict[str, list[str]]) -> str:
    """Return the script in fish's own form: a line for each word."""
    lines = [f"complete -c rope -n __fish_use_subcommand -a {name}" for name in known]
    for name, words in known.items():
        lines += [
            f"complete -c rope -n '__fish_seen_subcommand_from {name}' -l {word.removeprefix('--')}"
            for word in words
            if word.startswith("--")
        ]
    return "\n".join(lines) + "\n"


def options() -> dict[str, list[str]]:
    """Return each subcommand's long options, from its parser's usage line; none where a package is missing."""
    words: dict[str, list[str]] = {"help": []}
    for name, (module, _) in COMMANDS.items():
        try:
            usage = parser_of(name, importlib.import_module(module)).format_usage()
        except ModuleNotFoundError:
            usage = ""
        words[name] = list(dict.fromkeys(re.findall(r"--[a-z][a-z-]*", usage)))
    return words
