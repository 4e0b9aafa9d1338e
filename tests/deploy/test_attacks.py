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
NEIGHBOURS = 20


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
        async with sessions(Visit(url, "rotation", "query position m"), NEIGHBOURS) as group:
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
    # Who does not read what the server answers is disconnected by Streamlit itself, without a code.
    assert code in {"key": (None,), "git": (1008,), "rerun": (1006, 1008), "files": (1009,)}[kind]
