"""The file of rooms: votes that are neither lost nor doubled, ends that cost nothing, rooms that expire."""

import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT
from ui.hall import store as module
from ui.hall.store import DAY, SLACK, RoomStore, StoredRoom, StoreUnavailable, lecturer_keys

ROOM = StoredRoom("hall", "owner", 1, "{}")


class Clock:
    now = 1.8e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[RoomStore]:
    opened = RoomStore(tmp_path / "rooms.sqlite3", clock)
    yield opened
    opened.close()


def test_each_voter_counts_once_by_the_latest_choice(store: RoomStore) -> None:
    """Beside a dict of voters, over drawn votes of many voters and questions in two rooms."""
    draw, latest = random.Random(5), dict[tuple[str, str, str], int]()
    for name in ("a", "b"):
        store.store_content(StoredRoom(name, "owner", 1, "{}"))
    for _ in range(3000):
        key = (draw.choice("ab"), f"tour/{draw.randint(1, 3)}", f"voter {draw.randint(1, 200)}")
        latest[key] = draw.randint(0, 3)
        assert store.record_vote(*key, latest[key]) == ""
    for room in "ab":
        expected: dict[str, Counter[int]] = {}
        for (where, question, _), choice in latest.items():
            if where == room:
                expected.setdefault(question, Counter())[choice] += 1
        assert store.vote_counts(room) == expected
        assert all(store.voter_count(room, question) == sum(counts.values()) for question, counts in expected.items())


def test_no_vote_counts_once_the_answer_is_out(store: RoomStore) -> None:
    store.store_content(ROOM)
    assert store.record_vote("hall", "tour/4", "first", 1) == ""
    store.store_content(ROOM, "tour/4")
    assert store.record_vote("hall", "tour/4", "first", 0) == store.record_vote("hall", "tour/4", "second", 0) == "late"
    store.store_content(ROOM)
    assert store.record_vote("hall", "tour/4", "second", 0) == "late", "nor after another step was shown"
    assert store.vote_counts("hall") == {"tour/4": {1: 1}} and store.record_vote("hall", "tour/5", "second", 0) == ""


def test_bounds(store: RoomStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.store_content(ROOM)
    monkeypatch.setattr(module, "VOTERS", 3)
    monkeypatch.setattr(module, "QUESTIONS", 2)
    assert [store.record_vote("hall", "q/1", voter, 0) for voter in "abcda"] == ["", "", "", "crowded", ""]
    assert [store.record_vote("hall", f"q/{k}", "a", 0) for k in (2, 3, 2)] == ["", "crowded", ""]


def test_a_room_is_gone_a_day_after_its_lecturer_used_it(store: RoomStore, clock: Clock) -> None:
    store.store_content(ROOM, "tour/1")
    store.record_vote("hall", "tour/4", "first", 1)
    clock.now += DAY - 1
    assert [room.name for room in store.unexpired_rooms()] == ["hall"]
    store.store_content(StoredRoom("hall", "owner", 2, "{}"))
    clock.now += DAY - 1
    assert [room.number for room in store.unexpired_rooms()] == [2]
    clock.now += 1
    assert (
        store.unexpired_rooms() == []
        and store.vote_counts("hall") == {}
        and store.record_vote("hall", "tour/1", "x", 0) == ""
    )


def test_a_clock_that_was_ahead_keeps_no_room_for_ever(store: RoomStore, clock: Clock) -> None:
    clock.now += 40 * DAY
    store.store_content(ROOM)
    clock.now -= 40 * DAY - SLACK
    assert store.unexpired_rooms() == []


def test_a_removed_room_leaves_no_vote(store: RoomStore, tmp_path: Path) -> None:
    store.store_content(ROOM, "tour/1")
    store.record_vote("hall", "tour/4", "a-word-that-is-nowhere-else", 1)
    store.remove_room("hall")
    assert (
        store.unexpired_rooms() == [] and store.vote_counts("hall") == {} and store.voter_count("hall", "tour/4") == 0
    )
    store.close()
    assert b"a-word-that-is-nowhere-else" not in (tmp_path / "rooms.sqlite3").read_bytes()


def test_a_second_process_is_refused(store: RoomStore, tmp_path: Path) -> None:
    code = (
        f"from ui.hall.store import *; from pathlib import Path; RoomStore(Path({str(tmp_path / 'rooms.sqlite3')!r}))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode and "StoreUnavailable: the file of rooms is locked" in run.stderr


def test_what_is_written_outlives_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "rooms.sqlite3"
    code = f"""
import os, signal
from pathlib import Path
from ui.hall.store import StoredRoom, RoomStore
store = RoomStore(Path({str(path)!r}))
store.store_content(StoredRoom("hall", "owner", 7, "{{}}"))
for k in range(500):
    store.record_vote("hall", "tour/4", str(k), k % 2)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == -9
    again = RoomStore(path)
    assert [room.number for room in again.unexpired_rooms()] == [7] and again.vote_counts("hall") == {
        "tour/4": {0: 250, 1: 250}
    }
    again.close()


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_the_file_is_its_owners_alone_and_an_older_form_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "private" / "rooms.sqlite3"
    RoomStore(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=5")
        db.execute("CREATE TABLE shown (x)")
    db.close()
    store = RoomStore(path)
    assert store.unexpired_rooms() == []
    store.close()
    link = tmp_path / "link.sqlite3"
    link.symlink_to(path)
    with pytest.raises(StoreUnavailable, match="unwritable"):
        RoomStore(link)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "rooms.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreUnavailable, match="unreadable"):
        RoomStore(path)


def test_keys_are_drawn_once_and_kept_for_their_owner(tmp_path: Path) -> None:
    path = tmp_path / "data" / "lecturers.txt"
    (key,) = lecturer_keys(path)
    assert len(key) == 32 and lecturer_keys(path) == [key] and path.stat().st_mode & 0o777 == 0o600
    path.write_text(f"{key}\n{'b' * 16}\n")
    assert lecturer_keys(path) == [key, "b" * 16]
    path.write_text("short\n")
    with pytest.raises(ValueError, match="keys of at least 16 letters"):
        lecturer_keys(path)
