"""The hall under a lecture: phones that follow, readers who load the book, votes, a kill and a restart, attackers.

Run: python -m benchmarks.hall BOOK [--phones 300] [--readers 300] [--votes 10000] [--rooms 1000] [--json FILE]

The clients run on the same machine, beside whatever else it does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.servers import ROOT, HallProcess

QUESTION = {"lang": "en", "say": "", "id": "bench/1", "question": "Which?", "choices": ["one", "two"]}
PAGE = "clock/"
CLIENTS = 400
"""Connections that this process has open at once for readers and votes."""


class HttpConnection:
    """A connection that stays open: one request after another."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, bytes, str]:
        """Return an answer's status, body, and the cookie that it sets."""
        text = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Accept-Encoding: gzip"]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(text)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        sent = "\r\n".join([*lines, "", ""]).encode() + text
        for attempt in range(2):
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                self.writer.write(sent)
                return await self._answer()
            except (OSError, asyncio.IncompleteReadError):
                # A connection that was kept may be closed meanwhile; a second one is not.
                self.close()
                if attempt:
                    raise
        raise AssertionError

    async def _answer(self) -> tuple[int, bytes, str]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length:")[2].split("\r")[0] or 0)
        cookie = head.partition("set-cookie: ")[2].split(";")[0]
        return int(head.split()[1]), await self.reader.readexactly(length), cookie

    def close(self) -> None:
        """Close the connection."""
        if self.writer:
            self.writer.close()
        self.writer = None


class MeasuredHall(HallProcess):
    """A hall's process, and a lecturer who shows steps in its rooms."""

    @property
    def lecturer(self) -> dict[str, str]:
        """The header by which a request is a lecturer's."""
        return {"Authorization": f"Bearer {self.key}"}

    async def show(self, room: str, **content: object) -> float:
        """Show a step; return the seconds until the lecturer has the answer."""
        begun, line = time.monotonic(), HttpConnection(self.port)
        status, body, _ = await line.ask("PUT", f"/room/{room}", QUESTION | content, **self.lecturer)
        line.close()
        if status != 200:
            raise RuntimeError(f"a step was refused with {status}: {body!r}")
        return time.monotonic() - begun


async def together(calls: list[Callable[[], Awaitable[None]]], most: int = CLIENTS) -> None:
    """Make calls, some at once."""
    gate = asyncio.Semaphore(most)

    async def run(call: Callable[[], Awaitable[None]]) -> None:
        async with gate:
            await call()

    await asyncio.gather(*map(run, calls))


async def lecture(hall: MeasuredHall, phones: int, readers: int, steps: int = 8) -> dict[str, object]:
    """Have phones follow steps while readers load the book; return what each waited for."""
    arrived: dict[str, list[float]] = {}
    shown: dict[str, float] = {}

    async def phone() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", hall.port, limit=1 << 20)
        writer.write(b"GET /room/lecture/steps HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while text := await reader.readline():
            if text.startswith(b"data: "):
                say = json.loads(text[6:])["say"]
                if say in shown:
                    arrived.setdefault(say, []).append(time.monotonic() - shown[say])

    await hall.show("lecture", say="before")
    following = [asyncio.create_task(phone()) for _ in range(phones)]
    await asyncio.sleep(2)
    work = hall.work
    quiet = asyncio.get_running_loop().time()
    await asyncio.sleep(3)
    idle = (hall.work - work) / (asyncio.get_running_loop().time() - quiet)
    results: dict[str, object] = {"phones": phones, "idle_core": round(idle, 3)}
    for kind in ("alone", "beside_readers"):
        arrived.clear()
        command = [sys.executable, "-m", "benchmarks.hall", str(hall.book), "--read", str(hall.port), str(readers)]
        load = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) if kind != "alone" else None
        await asyncio.sleep(1 if load else 0)
        work = hall.work
        for step in range(steps):
            text = f"{kind} {step}"
            shown[text] = time.monotonic()
            await hall.show("lecture", say=text)
            await asyncio.sleep(1.5)
        delays = sorted(each for group in arrived.values() for each in group)
        results[kind] = {
            "steps_seen": len(delays) / (phones * steps),
            "median_s": round(statistics.median(delays), 3),
            "p99_s": round(delays[int(0.99 * len(delays))], 3),
            "most_s": round(delays[-1], 3),
            "processor_s": round((hall.work - work) / steps, 3),
        }
        if load:
            out, _ = await asyncio.to_thread(load.communicate)
            results["readers"] = json.loads(out)
    for task in following:
        task.cancel()
    return results | {"memory_MB": round(hall.memory)}


async def read(book: Path, port: int, readers: int) -> dict[str, object]:
    """Have readers load a page's files at once, each one after another; return what they waited for."""
    failed, waited, length = 0, list[float](), 0
    assets = [path.relative_to(book).as_posix() for path in sorted(book.glob("assets-*/*.js"))][:20]

    async def reader() -> None:
        nonlocal failed, length
        line = HttpConnection(port)
        try:
            for name in (PAGE, *assets):
                begun = time.monotonic()
                status, body, _ = await line.ask("GET", f"/{name}")
                waited.append(time.monotonic() - begun)
                failed, length = failed + (status != 200), length + len(body)
        except (OSError, asyncio.IncompleteReadError):
            failed += 1
        line.close()

    begun = time.monotonic()
    await together([reader] * readers)
    seconds = round(time.monotonic() - begun, 1)
    waits = {"seconds": seconds, "median_s": round(statistics.median(waited), 4)}
    return {"requests": len(waited), "failed": failed, "MB": round(length / 1e6, 1), **waits}


async def ballot(hall: MeasuredHall, votes: int, rooms: int) -> dict[str, object]:
    """Vote in one room while the process is killed and started again; return what was counted."""
    for number in range(rooms):
        await hall.show(f"room-{number}")
    await hall.show("ballot")
    cookies: list[str] = []

    async def join() -> None:
        line = HttpConnection(hall.port)
        cookies.append((await line.ask("GET", "/room/ballot"))[2])
        line.close()

    begun = time.monotonic()
    await together([join] * votes)
    joined = time.monotonic() - begun
    counted: set[str] = set()
    lines = [HttpConnection(hall.port) for _ in range(50)]

    async def vote(line: HttpConnection, own: list[str]) -> None:
        for cookie in own:
            while cookie not in counted:
                try:
                    body = {"question": QUESTION["id"], "choice": secrets.randbelow(2)}
                    _, answer, _ = await line.ask("POST", "/room/ballot/vote", body, Cookie=cookie)
                except (OSError, asyncio.IncompleteReadError):
                    await asyncio.sleep(0.2)
                    continue
                if json.loads(answer)["counted"]:
                    counted.add(cookie)

    async def restart() -> None:
        while len(counted) < votes // 2:
            await asyncio.sleep(0.01)
        hall.stop(signal.SIGKILL)
        await asyncio.to_thread(hall.start)

    begun = time.monotonic()
    shares = [cookies[k :: len(lines)] for k in range(len(lines))]
    await asyncio.gather(restart(), *(vote(line, own) for line, own in zip(lines, shares, strict=True)))
    seconds = time.monotonic() - begun
    line = HttpConnection(hall.port)
    _, answer, _ = await line.ask("GET", "/room/ballot/votes", **hall.lecturer)
    results = {"votes": votes, "counted": json.loads(answer)["voters"], "rooms": rooms, "joined_s": round(joined, 1)}
    return results | {"seconds": round(seconds, 1), "memory_MB": round(hall.memory), "processor_s": round(hall.work, 1)}


async def attack(hall: MeasuredHall, idle: int, seconds: int = 15) -> dict[str, object]:
    """Hold idle connections and halves of headers and bodies, connect without end; return what a lecturer waits."""
    await hall.show("lecture", say="before the attack")
    alone = [await hall.show("lecture", say=f"alone {k}") for k in range(10)]
    before, held, connected = hall.memory, list[asyncio.StreamWriter](), 0
    halves = (
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: ",
        b"POST /room/lecture/vote HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n",
    )
    end = time.monotonic() + seconds

    async def hold(number: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", hall.port)
        writer.write(halves[number % 3])
        held.append(writer)

    async def handshakes() -> None:
        nonlocal connected
        while time.monotonic() < end:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", hall.port)
                writer.close()
                connected += 1

    async def polls() -> None:
        while time.monotonic() < end:
            line = HttpConnection(hall.port)
            with suppress(OSError, asyncio.IncompleteReadError):
                await line.ask("GET", f"/room/made-up-{secrets.token_hex(4)}/state?since=0", Cookie="rope_phone=x")
            line.close()

    await together([lambda number=number: hold(number) for number in range(idle)])  # type: ignore[misc]
    tasks = [asyncio.create_task(handshakes()) for _ in range(30)] + [asyncio.create_task(polls()) for _ in range(10)]
    waits: list[float] = []
    while time.monotonic() < end:
        waits.append(await hall.show("lecture", say=f"{len(waits)}"))
        await asyncio.sleep(0.2)
    most = hall.memory
    await asyncio.gather(*tasks)
    for writer in held:
        writer.close()
    return {
        "idle": idle,
        "handshakes_a_second": round(connected / seconds),
        "step_alone_most_s": round(max(alone), 3),
        "step_median_s": round(statistics.median(waits), 3),
        "step_most_s": round(max(waits), 3),
        "memory_MB": [round(before), round(most)],
    }


def main() -> int:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("book", type=Path)
    parser.add_argument("--phones", type=int, default=300)
    parser.add_argument("--readers", type=int, default=300)
    parser.add_argument("--votes", type=int, default=10_000)
    parser.add_argument("--rooms", type=int, default=1000)
    parser.add_argument("--idle", type=int, default=5000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--read", nargs=2, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(asyncio.run(read(given.book, *given.read))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        hall = MeasuredHall(given.book.resolve(), Path(folder))
        hall.start()
        try:
            results: dict[str, object] = {"load": os.getloadavg()[0]}
            results["lecture"] = asyncio.run(lecture(hall, given.phones, given.readers))
            print(json.dumps(results, indent=1), flush=True)
            results["attack"] = asyncio.run(attack(hall, given.idle))
            print(json.dumps(results["attack"], indent=1), flush=True)
            results["ballot"] = asyncio.run(ballot(hall, given.votes, given.rooms))
            print(json.dumps(results["ballot"], indent=1), flush=True)
        finally:
            hall.stop(signal.SIGKILL)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
