"""What a bad neighbour sends, and what ordinary visitors notice of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.sessions import Session

KINDS = ("git", "rerun", "files")


def message(fill: Callable[[Any], object]) -> bytes:
    """Return a browser's message with what ``fill`` puts into it."""
    built = BackMsg()
    fill(built)
    return bytes(built.SerializeToString())


def flood(kind: str, count: int = 2500) -> list[bytes]:
    """Return the messages of one attack; of the file names, one message that is 6 MB long where ``count`` is 2,500."""
    if kind == "git":
        return [message(lambda built: setattr(built, "load_git_info", True))] * count
    if kind == "rerun":
        return [message(lambda built: setattr(built.rerun_script, "page_name", ""))] * count
    return [message(lambda built: built.file_urls_request.file_names.extend(["x" * 10] * (200 * count)))]


async def pour(single: Session, messages: Sequence[bytes]) -> int | None:
    """Send messages as fast as the server takes them; the code of the close that ends it, None where it does not."""
    try:
        for each in messages:
            await single.send(each)
        while True:
            await asyncio.wait_for(single.listen(), 90)
    except websockets.ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006
    except TimeoutError:
        return None


async def waits(group: Sequence[Session], attack: Awaitable[Any], after: float = 2.0) -> tuple[list[float], Any]:
    """Return the seconds of each move of visitors who move once a second, during an attack and for a while after it."""
    done = asyncio.Event()
    seconds: list[float] = []

    async def visit(single: Session, delay: float) -> None:
        await asyncio.sleep(delay)
        while not done.is_set():
            took = await single.move()
            seconds.append(took)
            await asyncio.sleep(max(0.0, 1 - took))

    visits = [asyncio.create_task(visit(single, at / len(group))) for at, single in enumerate(group)]
    try:
        await asyncio.sleep(after)
        answer = await attack
        await asyncio.sleep(after)
    finally:
        done.set()
        await asyncio.gather(*visits)
    return seconds, answer


def memory(pid: int) -> float:
    """Return the megabytes that a process holds (Linux)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def peak_of(seconds: Sequence[float]) -> str:
    """Return the moves in words: how many, the middle one and the longest."""
    ordered = sorted(seconds)
    return f"{len(ordered)} moves, median {ordered[len(ordered) // 2]:.3f} s, longest {ordered[-1]:.3f} s"
