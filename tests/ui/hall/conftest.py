"""A hall in this process: rooms over a file of their own, a small book beside them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ui.hall import rooms as module
from ui.hall.rooms import RoomService
from ui.hall.store import RoomStore

KEYS = ["a" * 32, "b" * 32]
Client = Callable[..., TestClient]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RoomStore]:
    opened = RoomStore(tmp_path / "rooms.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def rooms(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> RoomService:
    monkeypatch.setattr(module, "HOLD", 2.0)
    return RoomService(store, KEYS)


@pytest.fixture
def client(rooms: RoomService) -> Iterator[Client]:
    """Return a function that gives a browser, which holds a lecturer's key or none."""
    app = Starlette(routes=rooms.routes())
    with TestClient(app) as first:

        def browser(key: str = "") -> TestClient:
            other = TestClient(app, headers={"authorization": f"Bearer {key}"} if key else {}, follow_redirects=False)
            other.portal = first.portal  # one event loop for all of them
            return other

        yield browser
