"""How many sessions one process holds, one slider move a second each, and what a move costs it, beside the floor page.

Run: python -m benchmarks.load [--part held|cost] [--pages home frequencies] [--json FILE]
     python -m benchmarks.load --url http://localhost:8080 --pages home --from 40
Sessions follow Streamlit's own protocol over websockets (benchmarks/sessions.py). The floor is served twice: as
`streamlit run` serves it, and, as ``frozen``, with its imports taken out of the garbage collector's sight like the
app's; the bars are to the frozen one. Subjects take turns within every step, so that all meet the same machine. A
session's latency is that of its moves until the script has finished, and a move that finds its predecessor unanswered
waits for it.
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
from pathlib import Path
from typing import Any

from benchmarks.app import PAGES, table
from benchmarks.servers import ROOT, running
from benchmarks.sessions import Broken, Session, Visit, open_all, sessions

Row = dict[str, Any]
LIMIT = 1.0
FLOORS = {"floor": "floor.py", "frozen": "floor_frozen.py"}
EACH = 8


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
    """Processor time and bytes of one move, one session alone; and how many times a floor's cost it fits into."""
    rows: list[Row] = []
    for subject in subjects:
        used, sizes = [], []
        async with sessions(subject.visit, 1) as (session,):
            for number in range(rounds + 1):
                before, received = subject.cpu(), session.received
                for _ in range(EACH):
                    await session.move()
                if number:
                    used.append((subject.cpu() - before) / EACH * 1000)
                    sizes.append((session.received - received) / EACH)
        row = {"page": subject.name, "cpu_ms": round(statistics.mean(used), 1), "bytes": round(statistics.mean(sizes))}
        rows.append(row)
    floors = {row["page"]: row["cpu_ms"] for row in rows if row["page"] in FLOORS}
    return [row | {f"of_{name}": round(own / row["cpu_ms"], 2) for name, own in floors.items()} for row in rows]


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


def main() -> int:
    """Measure one part and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("held", "cost"), default="held")
    parser.add_argument("--pages", nargs="*", default=["home"], choices=PAGES.split(","))
    parser.add_argument("--floors", nargs="*", default=list(FLOORS), choices=list(FLOORS))
    parser.add_argument("--url", help="a server that runs, instead of one's own")
    parser.add_argument("--from", dest="start", type=int, default=10, help="sessions in the first step of `held`")
    parser.add_argument("--grow", type=float, default=1.25, help="how much a step of `held` adds")
    parser.add_argument("--seconds", type=float, default=5, help="length of a step of `held`")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of eight moves of `cost`")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    alone = options.part == "cost"
    with subjects(options.pages, options.floors, options.url, alone) as served:
        work = cost(served, options.rounds) if alone else held(served, options.start, options.grow, options.seconds)
        rows = asyncio.run(work)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), "utf-8")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
