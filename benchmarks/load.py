"""How many sessions one process holds, one slider move a second each, beside the least Streamlit page with one figure.

Run: python -m benchmarks.load [--part held|cost|memory|churn] [--pages home frequencies] [--json FILE]
     python -m benchmarks.load --url http://localhost:8080 --pages home --from 40
Sessions follow Streamlit's own protocol over websockets (benchmarks/sessions.py). The floor is served twice: as
`streamlit run` serves it, and, as ``frozen``, with its imports taken out of the garbage collector's sight like the
app's; the bars are to the frozen one. Subjects take turns within every step, so that all meet the same machine. Rows
in FILE are kept from run to run, so that several short runs make one table; a session's latency is that of its moves
until the script has finished, and a move that finds its predecessor unanswered waits for it.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.app import PAGES
from benchmarks.servers import ROOT, running
from benchmarks.sessions import Broken, Session, Visit, open_all, sessions

Row = dict[str, Any]
PARTS = ("cost", "memory", "held", "churn")
LIMIT = 1.0
FLOORS = {"floor": "floor.py", "frozen": "floor_frozen.py"}


@dataclass
class Subject:
    """A page under load, and the process that serves it where that is known."""

    name: str
    visit: Visit
    pid: int | None

    def cpu(self) -> float:
        """Processor seconds that the process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Return the process's proportional memory in MB."""
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1000
        raise OSError("smaps_rollup must hold Pss")


async def moves(group: list[Session], seconds: float) -> tuple[list[float], int]:
    """Move every session's slider once a second, each from a moment of its own; latencies in s, and errors."""
    latencies: list[float] = []
    errors = 0
    end = time.monotonic() + seconds

    async def one(session: Session) -> None:
        nonlocal errors
        due = time.monotonic() + random.random()
        while due < end:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            try:
                latencies.append(await session.move())
            except Broken as broken:
                errors += 1
                print(broken, file=sys.stderr)
                return
            due = max(due + 1, time.monotonic())

    await asyncio.gather(*(one(session) for session in group))
    return latencies, errors


def percentile(values: list[float], share: float) -> float:
    """Return the value below which ``share`` of the values lie.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return ordered[max(0, round(len(ordered) * share) - 1)]


async def held(subjects: list[Subject], start: int, grow: float, seconds: float) -> list[Row]:
    """Add sessions step by step to every subject until its 95th percentile passes 1 s."""
    rows: list[Row] = []
    groups: dict[str, list[Session]] = {subject.name: [] for subject in subjects}
    left = list(subjects)
    count = start
    try:
        while left:
            for subject in list(left):
                group = groups[subject.name]
                fresh = [Session(subject.visit) for _ in range(count - len(group))]
                await open_all(fresh)
                group += fresh
                await moves(group, 1.5)
                before = sum(session.received for session in group)
                latencies, errors = await moves(group, seconds)
                p95 = percentile(latencies, 0.95)
                rows.append(
                    {
                        "part": "held",
                        "page": subject.name,
                        "sessions": count,
                        "p50_ms": round(percentile(latencies, 0.5) * 1000),
                        "p95_ms": round(p95 * 1000),
                        "moves": len(latencies),
                        "bytes": round((sum(session.received for session in group) - before) / len(latencies)),
                        "errors": errors,
                    }
                )
                print(rows[-1], file=sys.stderr)
                if p95 > LIMIT:
                    left.remove(subject)
                    await asyncio.gather(*(session.close() for session in group))
            count = max(count + 1, round(count * grow))
    finally:
        await asyncio.gather(*(each.close() for group in groups.values() for each in group), return_exceptions=True)
    return rows


async def cost(subjects: list[Subject], rounds: int) -> list[Row]:
    """Processor time and bytes of one move, one session alone, subjects in turn."""
    used: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    sizes: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    each = 8
    for subject in subjects:
        async with sessions(subject.visit, 1) as (session,):
            for number in range(rounds + 1):
                before, received = subject.cpu(), session.received
                for _ in range(each):
                    await session.move()
                if number:
                    used[subject.name].append((subject.cpu() - before) / each * 1000)
                    sizes[subject.name].append((session.received - received) / each)
    return [
        {
            "part": "cost",
            "page": subject.name,
            "cpu_ms": round(statistics.mean(used[subject.name]), 1),
            "bytes": round(statistics.mean(sizes[subject.name])),
        }
        for subject in subjects
    ]


async def memory(subjects: list[Subject], count: int) -> list[Row]:
    """Return what a session adds to the process: ``count`` sessions beyond the first ten, each with three moves."""
    rows = []
    for subject in subjects:
        async with sessions(subject.visit, 10, 1) as warm:
            for session in warm:
                await session.move()
            before = subject.memory()
            async with sessions(subject.visit, count, 1) as opened:
                for session in opened * 3:
                    await session.move()
                grown = subject.memory() - before
        rows.append({"part": "memory", "page": subject.name, "sessions": count, "mb_each": round(grown / count, 3)})
        print(rows[-1], file=sys.stderr)
    return rows


async def churn(subjects: list[Subject], total: int) -> list[Row]:
    """Open and close ``total`` sessions, four at a time; the process's memory after each hundred."""
    rows = []
    for subject in subjects:
        marks = []
        for _ in range(total // 100):
            for _ in range(25):
                async with sessions(subject.visit, 4):
                    pass
            marks.append(round(subject.memory(), 1))
            print(subject.name, marks[-1], file=sys.stderr)
        row = {"part": "churn", "page": subject.name, "sessions": total, "mb_after_100": marks[0]}
        rows.append(row | {"mb_at_end": marks[-1], "mb_each_100": marks})
    return rows


@contextmanager
def subjects(pages: list[str], floors: list[str], url: str | None, together: bool) -> Iterator[list[Subject]]:
    """Return the floors and the app's pages, each in its own process or all ``together``; or those of ``url``."""

    def of_app(base: str, pid: int | None) -> list[Subject]:
        return [Subject(name, Visit(base, "" if name == "home" else name, ""), pid) for name in pages]

    if url:
        yield of_app(url.rstrip("/"), None)
        return
    with ExitStack() as stack:
        empty = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = []
        for name in floors:
            base, process = stack.enter_context(running(ROOT / "benchmarks" / FLOORS[name], cwd=empty))
            served.append(Subject(name, Visit(base), process.pid))
        for group in [pages] if together else [[name] for name in pages]:
            base, process = stack.enter_context(running(ROOT / "app.py"))
            served += [subject for subject in of_app(base, process.pid) if subject.name in group]
        yield served


def crossing(rows: list[Row]) -> float:
    """How many sessions a page holds with a 95th percentile of 1 s, between the steps on both sides of it.

    >>> crossing([{"sessions": 10, "p95_ms": 200}, {"sessions": 20, "p95_ms": 1400}])
    16.666666666666664
    """
    ordered = sorted(rows, key=lambda row: row["sessions"])
    for low, high in pairwise(ordered):
        if low["p95_ms"] <= LIMIT * 1000 < high["p95_ms"]:
            share = (LIMIT * 1000 - low["p95_ms"]) / (high["p95_ms"] - low["p95_ms"])
            return float(low["sessions"] + share * (high["sessions"] - low["sessions"]))
    return float(ordered[-1]["sessions"] if ordered[-1]["p95_ms"] <= LIMIT * 1000 else 0)


def summary(rows: list[Row]) -> list[Row]:
    """One row a page: medians over the runs, and ratios to the floor as it is served and frozen; above 1 is better.

    What a process holds is what a move costs it: ``held_of_`` and ``cost_of_`` are two ways to the same number.
    """
    pages = list(dict.fromkeys(row["page"] for row in rows))
    table: list[Row] = []
    for page in sorted(pages, key=lambda name: (name not in FLOORS, list(FLOORS).index(name) if name in FLOORS else 0)):
        own = [row for row in rows if row["page"] == page]
        row: Row = {"page": page}
        for part, key in (("cost", "cpu_ms"), ("cost", "bytes"), ("memory", "mb_each")):
            values = [row[key] for row in own if row["part"] == part]
            row[key] = statistics.median(values) if values else None
        runs = sorted({row["run"] for row in own if row["part"] == "held"})
        held_by_run = [crossing([row for row in own if row["part"] == "held" and row["run"] == run]) for run in runs]
        row["held"] = round(statistics.median(held_by_run)) if held_by_run else None
        row["errors"] = sum(row["errors"] for row in own if row["part"] == "held") if runs else None
        ends = [(row["mb_after_100"], row["mb_at_end"]) for row in own if row["part"] == "churn"]
        row["churn_mb"] = round(statistics.median(end - first for first, end in ends), 1) if ends else None
        table.append(row)
    floors = {row["page"]: row for row in table if row["page"] in FLOORS}
    for row in table:
        for name in FLOORS:
            row[f"held_of_{name}"] = quotient(row["held"], floors.get(name, {}).get("held"))
            row[f"cost_of_{name}"] = quotient(floors.get(name, {}).get("cpu_ms"), row["cpu_ms"])
        row["mb_of_frozen"] = quotient(row["mb_each"], floors.get("frozen", {}).get("mb_each"))
    return table


def quotient(value: float | None, other: float | None) -> float | None:
    """Return the ratio, or None where one of the two was not measured.

    >>> quotient(3.0, 2.0), quotient(None, 2.0), quotient(3.0, 0.0)
    (1.5, None, None)
    """
    return None if value is None or not other else round(value / other, 2)


def table(rows: list[Row]) -> str:
    """Return the summary as a Markdown table."""
    head = ["page", "held", "held_of_floor", "held_of_frozen", "cpu_ms", "cost_of_floor", "cost_of_frozen", "bytes"]
    head += ["mb_each", "mb_of_frozen", "churn_mb", "errors"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = ["" if row[key] is None else f"{row[key]:,}" if key != "page" else row[key] for key in head]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


async def measured(options: argparse.Namespace, subjects: list[Subject]) -> list[Row]:
    """Return the rows of one part."""
    if options.part == "held":
        return await held(subjects, options.start, options.grow, options.seconds)
    if options.part == "cost":
        return await cost(subjects, options.rounds)
    if options.part == "memory":
        return await memory(subjects, options.sessions)
    return await churn(subjects, options.sessions)


def main() -> int:
    """Measure one part, add its rows to the file, and print what the file holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default="held")
    parser.add_argument("--pages", nargs="*", default=["home"], choices=PAGES.split(","))
    parser.add_argument("--floors", nargs="*", default=list(FLOORS), choices=list(FLOORS))
    parser.add_argument("--url", help="a server that runs, instead of one's own")
    parser.add_argument("--from", dest="start", type=int, default=10, help="sessions in the first step of `held`")
    parser.add_argument("--grow", type=float, default=1.25, help="how much a step of `held` adds")
    parser.add_argument("--seconds", type=float, default=5, help="length of a step of `held`")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of eight moves of `cost`")
    parser.add_argument("--sessions", type=int, default=50, help="sessions of `memory` and `churn`")
    parser.add_argument("--json", type=Path, help="where rows are kept and added")
    options = parser.parse_args()
    rows = json.loads(options.json.read_text("utf-8")) if options.json and options.json.exists() else []
    run = 1 + max((row["run"] for row in rows), default=0)
    with subjects(options.pages, options.floors, options.url, options.part == "cost") as served:
        rows += [row | {"run": run} for row in asyncio.run(measured(options, served))]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), "utf-8")
    print(table(summary(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
