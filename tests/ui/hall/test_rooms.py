"""Rooms: who leads, what phones get and when, one vote a browser, nothing for who has no key."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.ui.hall.conftest import KEYS, Client
from ui.hall import rooms as module
from ui.hall.rooms import PHONE, RoomService
from ui.hall.server import hall_application
from ui.hall.store import RoomStore

QUESTION = {"lang": "en", "say": "", "id": "tour/4", "question": "Which?", "choices": ["<b>one</b>", "two"]}
BODY = {"question": "tour/4", "choice": 1}


def show(lecturer: TestClient, room: str = "hall", **content: object) -> dict[str, Any]:
    answer = lecturer.put(f"/room/{room}", json=QUESTION | content)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def state(phone: TestClient) -> dict[str, Any]:
    result: dict[str, Any] = phone.get("/room/hall/state").json()
    return result


@pytest.mark.parametrize(
    ("lang", "word"), [("en", "The next question"), ("zh", "下一个问题"), ("<x>", "The next question")]
)
def test_the_page_has_its_words_and_no_question(client: Client, lang: str, word: str) -> None:
    show(client(KEYS[0]))
    phone = client()
    answer = phone.get("/room/Hall", params={"lang": lang})
    assert answer.status_code == 200 and word in answer.text and "Which?" not in answer.text
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert phone.get("/room/room.js").status_code == phone.get("/room/room.css").status_code == 200
    assert "set-cookie" not in phone.get("/room/Hall").headers, "it has one"
    for name in ("no%20room", "page.html", "..%2fstore.py", "a" * 41):
        assert phone.get(f"/room/{name}").status_code == 404


def test_a_phone_gets_what_is_shown_and_no_more(client: Client) -> None:
    lecturer, phone = client(KEYS[0]), client()
    show(lecturer)
    first = state(phone)
    assert first["question"] == "Which?" and "answer" not in first and "votes" not in first
    show(lecturer)
    assert state(phone) == first, "the same step is no other"
    show(lecturer, answer=1)
    assert state(phone)["answer"] == 1 and state(phone)["number"] > first["number"]


def test_nothing_that_is_not_there_is_held(client: Client) -> None:
    begun = time.monotonic()
    for name in ("nowhere", "no%20room"):
        assert client().get(f"/room/{name}/state").status_code == 404
        assert client().get(f"/room/{name}/steps").status_code == 404
        assert client().post(f"/room/{name}/vote", json=BODY).status_code == 404
    assert client(KEYS[0]).get("/room/nowhere/votes?since=0.0").status_code == 404
    assert time.monotonic() - begun < 1


def test_reading_writes_nothing(client: Client, store: RoomStore) -> None:
    lecturer = client(KEYS[0])
    show(lecturer)
    before = store._db.total_changes
    state(client())
    client().get("/room/hall")
    lecturer.get("/room/hall/votes")
    assert store._db.total_changes == before


def test_a_phone_votes_once_and_for_what_is_shown(client: Client, store: RoomStore) -> None:
    lecturer, phone = client(KEYS[0]), client()
    show(lecturer)
    late = {"counted": False, "reason": "late"}
    assert phone.post("/room/hall/vote", json=BODY).json() == late, "before its cookie"
    for made_up in ("f" * 32, f"{'f' * 32}.{'0' * 32}", "é.é"):
        forged = {b"cookie": f"{PHONE}={made_up}".encode()}
        assert phone.post("/room/hall/vote", json=BODY, headers=forged).json() == late
    phone.get("/room/hall")
    for choice in (0, 1):
        assert phone.post("/room/hall/vote", json=BODY | {"choice": choice}).json()["counted"]
    assert store.vote_counts("hall") == {"tour/4": {1: 1}}
    for wrong in ({"question": "tour/5"}, {"choice": 2}, {"choice": -1}, {"choice": "1"}, {"choice": True}):
        assert phone.post("/room/hall/vote", json=BODY | wrong).json() == late
    show(lecturer, answer=0)
    assert phone.post("/room/hall/vote", json=BODY).json() == late


def test_a_lecturer_sees_how_many_and_only_after_the_answer_how(client: Client) -> None:
    lecturer, phones = client(KEYS[0]), [client() for _ in range(3)]
    before = show(lecturer)
    assert before["voters"] == 0 and "votes" not in before
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(lambda: lecturer.get(f"/room/hall/votes?since={before['mark']}").json())
        for k, phone in enumerate(phones):
            phone.get("/room/hall")
            phone.post("/room/hall/vote", json=BODY | {"choice": min(k, 1)})
        counted = waiting.result()
    assert counted["voters"] >= 1 and "votes" not in counted
    after = show(lecturer, answer=1)
    assert after["votes"] == [1, 2] and after["voters"] == 3
    assert "votes" not in state(phones[0]), "phones get the answer, not the count"
    rows = lecturer.get("/room/hall/votes.csv")
    assert rows.text == "room,question,choice,votes\r\nhall,tour/4,1,1\r\nhall,tour/4,2,2\r\n"


@pytest.mark.parametrize("key", ["", "c" * 32, KEYS[1]])
def test_who_has_not_the_rooms_key_neither_leads_nor_sees_nor_closes(client: Client, key: str) -> None:
    show(client(KEYS[0]), answer=1)
    stranger = client(key)
    answers = [
        stranger.put("/room/hall", json=QUESTION),
        stranger.get("/room/hall/votes"),
        stranger.get("/room/hall/votes.csv"),
        stranger.delete("/room/hall"),
    ]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert "answer" in state(client())
    if key != KEYS[1]:
        assert stranger.put("/room/other", json=QUESTION).status_code == 403, "nor opens one"


def test_a_page_of_another_site_does_nothing_in_the_name_of_a_phone(client: Client) -> None:
    show(client(KEYS[0]))
    phone = client()
    phone.get("/room/hall")
    assert phone.post("/room/hall/vote", json=BODY, headers={"origin": "https://elsewhere.example"}).status_code == 403
    assert phone.post("/room/hall/vote", json=BODY, headers={"origin": "http://testserver"}).json()["counted"]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", f"Basic {KEYS[0]}", KEYS[0], f"Bearer {KEYS[0]} x"])
def test_a_key_is_borne_in_one_form(client: Client, header: str) -> None:
    assert client().put("/room/hall", json=QUESTION, headers={"authorization": header}).status_code == 403


def test_a_book_on_the_named_site_may_ask_and_no_other(store: RoomStore, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<html>")
    site, other = "https://course.example.edu", "https://elsewhere.example"
    preflight = {"access-control-request-method": "PUT", "access-control-request-headers": "authorization,content-type"}
    for origin, named, allowed in ((site, site, True), (other, site, False), (site, "", False)):
        browser = TestClient(hall_application(tmp_path, store, KEYS, [], named))
        before = browser.options("/room/hall", headers=preflight | {"origin": origin})
        assert (before.headers.get("access-control-allow-origin") == origin) is allowed
        key = {"authorization": f"Bearer {KEYS[0]}", "origin": origin}
        shown = browser.put("/room/hall", json=QUESTION, headers=key)
        assert (shown.headers.get("access-control-allow-origin") == origin) is allowed


def test_a_closed_room_is_gone_for_its_phones_and_from_the_file(client: Client, rooms: RoomService) -> None:
    lecturer, phone = client(KEYS[0]), client()
    show(lecturer)
    assert lecturer.delete("/room/hall").status_code == 200
    assert phone.get("/room/hall/state").status_code == 404
    assert rooms.live == {} and rooms.store.unexpired_rooms() == []


def test_rooms_are_found_again_after_a_restart(client: Client, store: RoomStore) -> None:
    phone = client()
    show(client(KEYS[0]))
    phone.get("/room/hall")
    phone.post("/room/hall/vote", json=BODY)
    again = RoomService(store, KEYS)
    assert again.live["hall"].content["question"] == "Which?" and store.voter_count("hall", "tour/4") == 1
    assert again.signed_voter_cookie("x") == RoomService(store, KEYS).signed_voter_cookie("x"), "phones are known again"


def test_a_full_hall_opens_no_further_room_and_pushes_none_out(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    lecturer = client(KEYS[0])
    monkeypatch.setattr(module, "MOST_ROOMS", 2)
    show(lecturer, "a")
    show(lecturer, "b")
    assert lecturer.put("/room/c", json=QUESTION).json()["reason"] == "rooms"
    show(lecturer, "a", say="and those that are open go on")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"question=tour/4&choice=1", "application/x-www-form-urlencoded", 415),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"[" * 300, "application/json", 400),
        (b" " * 500, "application/json", 413),
    ],
)
def test_what_is_no_vote_is_refused(client: Client, body: bytes, kind: str, status: int) -> None:
    show(client(KEYS[0]))
    phone = client()
    assert phone.post("/room/hall/vote", content=body, headers={"content-type": kind}).status_code == status


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 4},
        {"id": "=1+1/2"},
        {"question": None},
        {"choices": "two"},
        {"choices": [1]},
        {"answer": 2},
        {"answer": "1"},
        {"say": 3},
    ],
)
def test_what_is_no_step_is_refused(client: Client, wrong: dict[str, object]) -> None:
    lecturer = client(KEYS[0])
    assert lecturer.put("/room/hall", json=QUESTION | wrong).status_code == 400
    assert lecturer.get("/room/hall/state").status_code == 404


def test_what_is_not_of_a_step_is_not_kept(client: Client) -> None:
    show(client(KEYS[0]), notes="for the lecturer alone", over=1)
    assert set(state(client())) == {"number", *QUESTION}


def test_a_file_that_takes_nothing_is_logged_once_and_phones_go_on(
    client: Client, store: RoomStore, caplog: pytest.LogCaptureFixture
) -> None:
    phone = client()
    show(client(KEYS[0]))
    phone.get("/room/hall")
    store._db.execute("PRAGMA query_only=ON")
    for _ in range(3):
        answer = phone.post("/room/hall/vote", json=BODY)
        assert answer.status_code == 503 and answer.json() == {"counted": False, "reason": "unwritable"}
    assert len(caplog.records) == 1 and "the file of rooms is unwritable" in caplog.text
    assert json.loads(json.dumps(state(phone)))["question"] == "Which?", "and what is shown is still there"
