"""The lab's work as a child process: ``python -m rope_core.lab.job KIND JSON`` measures and reports as it goes.

With ``-`` in JSON's place the request is in the environment, which other users of the machine cannot read.

A kind is a module: its settings take the request's values by name, its function yields (share done, result) one after
another, and results are JSON values. Shipped records hold the same results, so a page draws both alike.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rope_core.errors import argument_error
from rope_core.jobs.child import report_progress

REQUEST_ENV = "ROPE_LAB_REQUEST"
ProgressAndResult = tuple[float, dict[str, Any]]
# kind: a module, its class of settings, and its function from settings to Iterator[ProgressAndResult]
KINDS = {
    "sweep": ("rope_core.lab.sweep", "SweepSettings", "run_sweep"),
    "generate": ("rope_core.lab.generate", "GenerationSettings", "generate_texts"),
    "stale": ("rope_core.lab.stale", "StaleKeySettings", "measure_stale_keys"),
    "retrieval": ("rope_core.lab.retrieval", "RetrievalSettings", "measure_retrieval"),
    "recall": ("rope_core.lab.recall", "RecallSettings", "measure_recall"),
    "bytes": ("rope_core.lab.bytewise", "BytewiseSettings", "measure_byte_losses"),
}


def run_measurement(kind: str, arguments: Mapping[str, Any]) -> Iterator[ProgressAndResult]:
    """Run a kind of work, result by result.

    Args:
        kind: a name in KINDS.
        arguments: by name, JSON values; ``text`` is base64.

    Raises ValueError on an unknown kind, or arguments that it does not take.
    """
    if kind not in KINDS:
        raise argument_error("kind", "one_of", kind, names=KINDS)
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}
    if "text" in arguments:
        given["text"] = base64.b64decode(arguments["text"], validate=True)
    name, settings_class, measure = KINDS[kind]
    module = importlib.import_module(name)
    try:
        settings = getattr(module, settings_class)(**given)
    except TypeError as error:
        raise argument_error("arguments", "kind_arguments", f"{sorted(given)} ({error})", kind=kind) from error
    work: Iterator[ProgressAndResult] = getattr(module, measure)(settings)
    return work


def main(arguments: Sequence[str]) -> int:
    """Do one piece of work and report it; 2 for bad arguments."""
    try:
        kind, text = arguments
        text = os.environ.pop(REQUEST_ENV, "") if text == "-" else text
        begun = time.monotonic()
        for done, result in run_measurement(kind, json.loads(text)):
            passed = time.monotonic() - begun
            report_progress(progress=min(1.0, done), eta=passed * (1.0 / max(done, 1e-9) - 1.0), result=result)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
