"""Takes what a GPU can tell, in calls that each end in time: python -m benchmarks.device FOLDER [--minutes 9].

FOLDER keeps it: tests.txt, the Triton kernels' own tests run natively, and records.json, the sweep of ``rope bench
--suite gpu`` with every peer that is installed, each answer checked before it is timed. A later call with the same
folder, also on another machine of the kind, goes on where the last one ended. A record that holds is put under
rope_core/bench/records/.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.servers import ROOT
from rope_core.bench.cases import SUITES, BenchmarkCase
from rope_core.bench.contestants import Implementation, all_implementations
from rope_core.bench.environment import environment_record
from rope_core.bench.harness import measure_case
from rope_core.bench.records import BenchmarkDatabase, CaseResult
from rope_core.cli.bench import results_table

NATIVE = [f"tests/support/interpreted_{name}.py" for name in ("kernels", "lrpe")]
RECORDS, TESTS = "records.json", "tests.txt"


def tests(folder: Path, device: str) -> int:
    """Run the kernels' tests on a device, once; return pytest's exit code, 0 where they were run before."""
    if (folder / TESTS).exists():
        return 0
    command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider", *NATIVE]
    around = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        command, env=around | {"ROPE_LAB_DEVICE": device}, cwd=ROOT, text=True, capture_output=True, check=False
    )
    (folder / TESTS).write_text(done.stdout + done.stderr, "utf-8")
    print(done.stdout[-2000:])
    return done.returncode


def sweep(
    folder: Path,
    suite: str,
    seconds: float,
    rounds: int = 25,
    entrants: Callable[[], Sequence[Implementation]] = all_implementations,
) -> list[BenchmarkCase]:
    """Measure a suite's cases that no earlier call has, for at most ``seconds``; return those that are left."""
    end, store = time.monotonic() + seconds, BenchmarkDatabase(folder / "records.sqlite")
    kept = folder / RECORDS
    if kept.is_file():
        store.import_json(kept.read_text("utf-8"))
    known = {result.case.key for run in store.runs() for result in store.results(run.id)}
    left = [case for case in SUITES[suite]() if case.key not in known]
    run = ""
    while left and time.monotonic() < end:
        run = run or store.begin_run(suite, environment_record())
        try:
            results = measure_case(left[0], list(entrants()), rounds)
        except ValueError as error:  # the case is too large for the card
            results = [CaseResult(left[0], "copy", "error", str(error), {})]
        for result in results:
            store.add(run, result)
        kept.write_text(store.export_json(), "utf-8")
        print(results_table(results), flush=True)
        left.pop(0)
    return left


def main() -> None:
    """Run the tests, then as much of the sweep as the time allows; exit with 1 where a test fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--suite", choices=sorted(SUITES), default="gpu")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    begun = time.monotonic()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = tests(options.folder, options.device)
    left = sweep(options.folder, options.suite, 60 * options.minutes - (time.monotonic() - begun))
    print(f"{len(left)} cases left" if left else "the sweep is whole")
    sys.exit(failed)


if __name__ == "__main__":
    main()
