"""`rope completion`: a script that completes subcommands, options and files in a shell."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Sequence

SHELLS = ("bash", "zsh", "fish")


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments."""
    made = argparse.ArgumentParser(prog="rope completion", description=main_completion.__doc__)
    made.add_argument("shell", choices=SHELLS)
    return made


def main_completion(argv: Sequence[str]) -> int:
    """Print a completion script: eval "$(rope completion bash)", the same with zsh; rope completion fish | source."""
    print(script(parser().parse_args(argv).shell), end="")
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
    """Fish's own form: a line for each word."""
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
    from rope_core.__main__ import COMMANDS

    made: dict[str, list[str]] = {"help": []}
    for name, (module, _, _) in COMMANDS.items():
        try:
            build = getattr(importlib.import_module(module), "parser", None)
        except ModuleNotFoundError:
            build = None
        usage = build().format_usage() if build is not None else ""
        made[name] = list(dict.fromkeys(re.findall(r"--[a-z][a-z-]*", usage)))
    return made
