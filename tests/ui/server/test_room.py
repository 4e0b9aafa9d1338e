"""A room's page: phones are answered when what is shown changes, vote once, and see nothing that answers a question."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from tests.conftest import apart
from ui.present.tally import Tally
from ui.server import room as module
from ui.server.room import routes

QUESTION = {"lang": "en", "say": "", "id": "tour/4", "question": "Which?", "choices": ["<b>one</b>", "two"]}


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("ROPE_LAB_ROOMS", str(tmp_path / "rooms.sqlite3"))
    module.ROOMS.clear()
    monkeypatch.setattr(module, "HOLD", 3.0)
    with TestClient(Starlette(routes=routes())) as client:
        yield client


def show(**content: object) -> None:
    assert Tally().show("hall", "key", "lecturer", json.dumps(QUESTION | content))


def state(phone: TestClient, since: int = -1) -> dict[str, Any]:
    result: dict[str, Any] = phone.get(f"/room/hall/state?since={since}").json()
    return result


@pytest.mark.parametrize(
    ("lang", "word"), [("en", "The next question"), ("zh", "下一个问题"), ("<x>", "The next question")]
)
def test_the_page_has_its_words_and_no_question(phone: TestClient, lang: str, word: str) -> None:
    show()
    answer = phone.get("/room/Hall", params={"lang": lang})
    assert answer.status_code == 200 and word in answer.text and "Which?" not in answer.text
    assert len(phone.cookies["rope_place"]) == 32 and "httponly" in answer.headers["set-cookie"].lower()
    assert phone.get("/room-files/room.js").status_code == phone.get("/room-files/room.css").status_code == 200
    assert phone.get("/room/no%20room").status_code == 404


def test_a_phone_is_answered_when_what_is_shown_changes(phone: TestClient) -> None:
    assert state(phone)["number"] == 0, "nobody leads the room"
    show()
    first = state(phone, 0)
    assert first["question"] == "Which?" and "answer" not in first
    with ThreadPoolExecutor() as pool:
        begun = time.monotonic()
        waiting = [pool.submit(state, phone, first["number"]) for _ in range(5)]
        time.sleep(0.5)
        assert not any(each.done() for each in waiting)
        show(answer=1)
        assert all(each.result()["answer"] == 1 for each in waiting)
        assert time.monotonic() - begun < 1.5
    assert state(phone, first["number"])["number"] != first["number"]


def test_a_phone_votes_once_and_for_what_is_shown(phone: TestClient) -> None:
    show()
    body = {"question": "tour/4", "choice": 1}
    assert phone.post("/room/hall/vote", json=body).json() == {"counted": False, "reason": "late"}, "before its cookie"
    phone.get("/room/hall")
    for choice in (0, 1):
        assert phone.post("/room/hall/vote", json=body | {"choice": choice}).json()["counted"]
    assert Tally().count("hall", "tour/4", 2).votes == (0, 1)
    for wrong in ({"question": "tour/5"}, {"choice": 2}, {"choice": "1"}):
        assert not phone.post("/room/hall/vote", json=body | wrong).json()["counted"]
    Tally().reveal("hall", "tour/4", "key", "lecturer")
    assert phone.post("/room/hall/vote", json=body).json()["reason"] == "late"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"question=tour/4&choice=1", "application/x-www-form-urlencoded", 415),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b" " * 500, "application/json", 413),
    ],
)
def test_what_is_no_vote_is_refused(phone: TestClient, body: bytes, kind: str, status: int) -> None:
    show()
    phone.get("/room/hall")
    assert phone.post("/room/hall/vote", content=body, headers={"content-type": kind}).status_code == status


@pytest.mark.parametrize("sent", [b"", b"{"])
def test_a_vote_that_is_broken_off_is_answered_and_logs_nothing(sent: bytes) -> None:
    pieces = [{"type": "http.request", "body": sent, "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return pieces.pop(0)

    headers = [(b"content-type", b"application/json")]
    request = Request({"type": "http", "method": "POST", "headers": headers, "path_params": {"room": "a"}}, receive)
    assert apart(lambda: module.vote(request)).status_code == 400
