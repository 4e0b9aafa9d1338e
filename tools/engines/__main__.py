"""Run engines' own rotary code on the engine table's configs, and hold the table to what it gives.

Each engine's package goes, without what it depends on, into a folder of its own (build/engines), which a child process
puts before this environment's packages: torch, NumPy and transformers 5 are shared. What a package imports and this
run does not use is replaced by empty modules. TensorRT-LLM's package on the index is only a stub for another index.

Run: python -m tools.engines                  every engine: install, measure, compare
     python -m tools.engines "mlx-lm 0.32.2"  one
     python -m tools.engines --write          and write tests/golden/engines.json
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from tools.engines.compare import verdict_counts_and_differences
from tools.engines.tasks import measurement_tasks

ROOT = Path(__file__).resolve().parents[2]
FOLDER, RECORD = ROOT / "build" / "engines", ROOT / "tests" / "golden" / "engines.json"


@dataclass(frozen=True)
class EngineSource:
    """Where an engine's code comes from: packages without their dependencies, and the child that runs it.

    ``only`` takes no more of a wheel than the files below these folders.
    """

    packages: tuple[str, ...]
    child: tuple[str, ...]
    only: tuple[str, ...] = ()


SOURCES = {
    "transformers 5.24": EngineSource((), ("transformers",)),
    "transformers 4.57": EngineSource(
        ("transformers==4.57.6", "tokenizers>=0.22,<0.23", "huggingface_hub<1.0"), ("transformers",)
    ),
    "vLLM 0.33": EngineSource(("vllm==0.33.0",), ("servers", "vllm"), ("vllm/",)),
    "SGLang 0.5.23": EngineSource(("sglang==0.5.23", "msgspec"), ("servers", "sglang"), ("sglang/",)),
    "mlx-lm 0.32.2": EngineSource(("mlx-lm==0.32.2", "mlx", "mlx-cpu"), ("mlx", "mlx_lm")),
    "LitGPT 0.5.13": EngineSource(("litgpt==0.5.13",), ("litgpt",)),
}


def installed(name: str, source: EngineSource) -> Path:
    """Return the folder with an engine's packages, installing them where it is not there yet.

    Raises:
        subprocess.CalledProcessError: where the index or this machine's platform does not have them.
    """
    place = FOLDER / name.replace(" ", "-")
    if source.packages and not place.exists():
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
        part = place.with_suffix(".part")
        if source.only:
            wheels = [*pip, "download", "--no-deps", "--only-binary", ":all:", "-d", str(part)]
            subprocess.run([*wheels, *source.packages], check=True)
            for wheel in part.glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    names = [each for each in archive.namelist() if each.startswith(source.only)]
                    # A wheel beside the engine's, such as msgspec's, is small and has compiled parts.
                    archive.extractall(part, [each for each in names if each.endswith(".py")] or archive.namelist())
                wheel.unlink()
        else:
            subprocess.run([*pip, "install", "--no-deps", "--target", str(part), *source.packages], check=True)
        part.rename(place)
    return place


def versions(name: str) -> list[str]:
    """Return an engine's packages with their versions."""
    source = SOURCES[name]
    if not source.packages:
        return [f"transformers=={metadata.version('transformers')}"]
    packages = metadata.distributions(path=[str(FOLDER / name.replace(" ", "-"))])
    return sorted({f"{each.name}=={each.version}" for each in packages}) or list(source.packages)


def measure(name: str) -> dict[str, dict[str, Any]]:
    """Return the rows of an engine: task id to inv_freq, factor, layout and logits, or why there are none."""
    source = SOURCES[name]
    path = os.pathsep.join([*([str(installed(name, source))] if source.packages else []), str(ROOT)])
    command = [sys.executable, "-m", f"tools.engines.{source.child[0]}", *source.child[1:]]
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    text = json.dumps(measurement_tasks())
    out = subprocess.run(command, input=text, env=environment, check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT)
    rows: dict[str, dict[str, Any]] = json.loads(out.stdout.splitlines()[-1])
    return rows


def load() -> dict[str, Any]:
    """Return the record: engine to packages, day and rows."""
    record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    for engine in record.values():
        for row in engine["rows"].values():
            if isinstance(row.get("inv_freq"), str):
                row["inv_freq"] = engine["rows"][row["inv_freq"]]["inv_freq"]
    return record


def write(record: dict[str, Any]) -> None:
    """Write the record, a line for each row; frequencies that an earlier row of the engine has are named by its id."""
    parts = []
    for name in sorted(record):
        engine, lines = record[name], []
        known: dict[str, str] = {}
        for task_id, row in engine["rows"].items():
            key = json.dumps(row.get("inv_freq"))
            first = known.setdefault(key, task_id)
            row = {**row, "inv_freq": first} if "inv_freq" in row and first != task_id else row
            lines.append(f"   {json.dumps(task_id)}: {json.dumps(row)}")
        head = f'  "packages": {json.dumps(engine["packages"])},\n  "date": {json.dumps(engine["date"])},'
        parts.append(f' {json.dumps(name)}: {{\n{head}\n  "rows": {{\n' + ",\n".join(lines) + "\n  }\n }")
    RECORD.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    """Measure the named engines, print how many configs agree, and exit with 1 where one differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.engines", description=main.__doc__)
    parser.add_argument("engines", nargs="*", help=f"of {', '.join(SOURCES)}; all by default")
    parser.add_argument("--write", action="store_true", help=f"write {RECORD.relative_to(ROOT)}")
    given = parser.parse_args(argv)
    record = load() if RECORD.exists() else {}
    failed = False
    for name in given.engines or SOURCES:
        rows = measure(name)
        counts, apart = verdict_counts_and_differences(name, rows)
        print(f"{name}: {', '.join(f'{count} {key}' for key, count in counts.most_common())}", flush=True)
        for task_id, how in apart.items():
            print(f"  {task_id}: {how}")
        failed = failed or bool(apart)
        record[name] = {"packages": versions(name), "date": datetime.date.today().isoformat(), "rows": rows}
    if given.write:
        write(record)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
