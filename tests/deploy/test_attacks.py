"""One bad neighbour in a hall: floods over a websocket, uploads and half-open requests, beside ordinary sessions."""

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.sessions import Session, Visit, sessions
from deploy.hall import Hall
from tests.conftest import apart
from tests.support.attacks import KINDS, flood, memory, peak_of, pour, waits
from tests.support.nginx import needs_nginx, served_hall

pytestmark = [pytest.mark.long, needs_nginx]
NEIGHBOURS, ATTACKERS = 20, 16


@pytest.fixture(scope="module")
def hall() -> Iterator[tuple[Hall, str]]:
    with served_hall(2, "app:app") as result:
        yield result


def processes(hall: Hall) -> list[int]:
    """Return the processes that serve."""
    return [replica.serving.pid for replica in hall.replicas if replica.serving]


@pytest.mark.parametrize("kind", ["key", *KINDS])
def test_twenty_neighbours_of_a_flood_wait_less_than_a_second(kind: str, hall: tuple[Hall, str]) -> None:
    """On a machine that other work keeps busy: less than twice as long as in the quiet before the flood."""
    result, url = hall
    before, held = processes(result), sum(memory(pid) for pid in processes(result))

    async def attack(bad: Session) -> int | None:
        if kind != "key":
            return await pour(bad, flood(kind))
        for each in flood("rerun", 300):
            await bad.send(each)
            await asyncio.sleep(1 / 30)
        return None

    async def lecture() -> tuple[list[float], list[float], int | None]:
        async with sessions(Visit(url, "rotation", "position of mat"), NEIGHBOURS) as group:
            bad = Session(Visit(url))
            await bad.open()
            try:
                quiet, _ = await waits(group, asyncio.sleep(5))
                return quiet, *await waits(group, attack(bad))
            finally:
                await bad.close()

    quiet, seconds, code = apart(lecture)
    grown = sum(memory(pid) for pid in processes(result)) - held
    print(f"quiet: {peak_of(quiet)}; {kind}: {peak_of(seconds)}; closed with {code}; {grown:+.0f} MB")
    assert processes(result) == before, "no replica dies"
    assert max(seconds) < max(1, 2 * max(quiet))
    # Who does not read what the server answers is disconnected by Streamlit itself, without a code; so may be who still
    # sends when the line is closed.
    assert code in {"key": (None,), "git": (1008,), "rerun": (1006, 1008), "files": (1006, 1009)}[kind]


def test_neighbours_of_sixteen_who_rerun_a_heavy_page_are_answered(hall: tuple[Hall, str]) -> None:
    """Each eleven times a second, within what one socket may send."""
    result, url = hall
    before = processes(result)

    async def rerun(bad: Session) -> None:
        reading = asyncio.create_task(pour(bad, ()))
        for _ in range(11 * 12):
            await bad.send(bad.message().SerializeToString())
            await asyncio.sleep(1 / 11)
        reading.cancel()

    async def lecture() -> tuple[list[float], list[float]]:
        visit = Visit(url, "rotation", "position of mat")
        async with sessions(visit, 4) as group, sessions(Visit(url, "inside"), ATTACKERS) as bad:
            quiet, _ = await waits(group, asyncio.sleep(5))
            busy, _ = await waits(group, asyncio.gather(*map(rerun, bad)))
            return quiet, busy

    quiet, busy = apart(lecture)
    print(f"quiet: {peak_of(quiet)}; sixteen: {peak_of(busy)}")
    assert processes(result) == before, "no replica is replaced"
    assert max(busy) < max(3, 4 * max(quiet))
