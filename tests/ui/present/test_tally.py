"""The class tally: one vote a session, gone after a day, one word for everything that can go wrong with its file."""

import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import ROOT
from ui.present import tally
from ui.present.tally import DAY, SLACK, Tally, Unavailable

INJECTIONS = (
    "x'; DROP TABLE answers; --",
    '" OR 1=1',
    "../../etc/passwd",
    "a/b",
    "<script>alert(1)</script>",
    "$x^2$",
    "**bold**",
    "a b",
    "a\x00b",
    "a\nb",
    "%",
    "_",
    "٪",
    "‮abc",
    "\ud800",
)


class Clock:
    """A wall clock that the test sets."""

    def __init__(self) -> None:
        self.time = 1_000_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Rooms(Tally):
    """A tally whose rooms a lecturer opens before the first vote."""

    def answer(self, room: str, question: str, token: str, choice: int) -> bool:
        try:
            return super().answer(room, question, token, choice)
        except Unavailable as error:
            if error.reason != "closed":
                raise
            self.host(room, "lecturer", f"opener of {room}")
            return super().answer(room, question, token, choice)


@pytest.fixture
def file(tmp_path: Path, clock: Clock) -> Tally:
    return Rooms(tmp_path / "rooms.sqlite3", clock)


def rows(file: Tally) -> int:
    with closing(sqlite3.connect(file.path)) as db:
        return sum(
            db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("rooms", "answers", "revealed")
        )


def test_one_session_counts_once_and_may_change_its_answer(file: Tally) -> None:
    for token, choice in (("a", 0), ("b", 2), ("a", 1), ("a", 2)):
        assert file.answer("room", "q", token, choice)
    assert file.count("room", "q", 3).votes == (0, 0, 2)


def test_rooms_and_questions_are_apart(file: Tally) -> None:
    file.answer("one", "q", "a", 0)
    file.answer("two", "q", "a", 1)
    file.answer("one", "r", "a", 1)
    assert file.count("one", "q", 2).votes == (1, 0)
    assert file.count("two", "q", 2).votes == (0, 1)
    assert file.count("one", "r", 2).votes == (0, 1)


def test_after_the_reveal_no_answer_counts_or_changes(file: Tally) -> None:
    file.answer("room", "q", "a", 0)
    assert not file.count("room", "q", 2).revealed
    assert file.reveal("room", "q", "lecturer")
    assert not file.answer("room", "q", "a", 1)
    assert not file.answer("room", "q", "b", 1)
    count = file.count("room", "q", 2)
    assert count.votes == (1, 0) and count.revealed
    assert not file.count("room", "r", 2).revealed


def test_a_room_belongs_to_its_key_whoever_is_there(file: Tally, clock: Clock) -> None:
    assert file.host("room", "lecturer", "browser")
    for _ in range(2):
        assert not file.host("room", "student") and not file.reveal("room", "q", "student")
        assert not file.show("room", "student", "another", "mine") and file.shown("room") == (0, "")
        assert not file.count("room", "q", 2).revealed
        clock.time += 60
    assert file.host("room", "lecturer"), "after a reload, and on another device"
    assert file.reveal("room", "q", "lecturer") and file.count("room", "q", 2).revealed
    with closing(sqlite3.connect(file.path)) as db:
        assert "lecturer" not in str(db.execute("SELECT * FROM rooms").fetchall()), "who reads the file leads nothing"


def test_what_a_room_shows_has_a_number_of_its_own(file: Tally, clock: Clock) -> None:
    assert file.show("room", "key", "browser", "one")
    first = file.shown("room")
    clock.time += 1
    assert file.show("room", "key", "browser", "one") and file.shown("room") == first, "unchanged"
    assert file.show("room", "key", "browser", "two") and file.shown("room")[0] > first[0]
    assert file.shown("room")[1] == "two"
    clock.time += 1
    file.close("room")
    assert file.shown("room") == (0, "") and not file.show("room", "key", "browser", "one"), "closed by the operator"
    file.clear()
    assert file.show("room", "other", "", "one") and file.shown("room")[0] > first[0], "no number comes again"
    with pytest.raises(ValueError, match="content must be at most"):
        file.show("room", "other", "", "x" * 8001)


def test_who_lost_the_key_leads_with_the_browser_that_opened_the_room(file: Tally) -> None:
    assert file.host("room", "first", "browser") and file.host("room", "second", "browser")
    assert not file.host("room", "first", "another") and not file.host("room", "third", "")
    assert file.host("plain", "first") and not file.host("plain", "second", "")


def test_an_empty_room_is_free_after_an_hour_and_one_with_votes_after_a_day(file: Tally, clock: Clock) -> None:
    assert file.host("empty", "first") and file.host("voted", "first") and file.reveal("empty", "q", "first")
    file.answer("voted", "q", "a", 0)
    clock.time += tally.HOUR + 1
    assert file.host("empty", "second") and not file.host("voted", "second")
    assert not file.count("empty", "q", 2).revealed, "nothing of the room before"
    clock.time += DAY
    assert file.host("voted", "second")


def test_a_vote_opens_no_room_and_a_lecturer_some(file: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "ROOMS_EACH", 3)
    with pytest.raises(Unavailable, match="closed"):
        Tally.answer(file, "made-up", "q", "t", 0)
    assert file.rooms() == []
    for k in range(tally.ROOMS_EACH):
        assert file.host(f"a{k}", "t", "browser")
    with pytest.raises(Unavailable, match="rooms"):
        file.host("more", "t", "browser")
    assert file.host("more", "t", "another"), "behind the same address, too"
    for k in range(300):
        assert Tally.answer(file, "a0", "q", f"t{k}", 0)
    assert file.count("a0", "q", 1).votes == (300,)


def test_an_operator_sees_and_closes_rooms_and_shuts_a_browser_out(file: Tally, clock: Clock) -> None:
    for token, choice in (("a", 0), ("b", 1), ("c", 1)):
        file.answer("one", "q", token, choice)
    file.host("two", "key", "browser")
    clock.time += 5
    assert file.rooms() == [("one", 3, 5.0), ("two", 0, 5.0)]
    assert file.votes() == [("one", "q", 0, 1), ("one", "q", 1, 2)]
    file.block("c")
    assert file.blocked() == {"c"} and file.votes()[1] == ("one", "q", 1, 1)
    file.unblock("c")
    assert file.blocked() == frozenset()
    file.close("one")
    assert file.rooms() == [("two", 0, 5.0)] and file.votes() == []
    assert not file.host("one", "lecturer"), "whose screen asks for it every two seconds"
    with pytest.raises(Unavailable, match="closed"):
        Tally.answer(file, "one", "q", "a", 0)
    file.clear()
    assert file.rooms() == [] and rows(file) == 0 and file.host("one", "lecturer")


def test_everything_is_gone_after_a_day(file: Tally, clock: Clock) -> None:
    file.answer("room", "q", "a", 0)
    file.reveal("room", "q", "lecturer")
    clock.time += DAY - 1
    assert file.count("room", "q", 2).revealed and rows(file) == 3
    clock.time += 2
    count = file.count("room", "q", 2)
    assert count.votes == (0, 0) and not count.revealed
    assert rows(file) == 0, "a read purges the file itself"


def test_a_clock_that_jumps(file: Tally, clock: Clock) -> None:
    file.answer("room", "q", "a", 0)
    clock.time -= SLACK / 2
    assert file.count("room", "q", 2).votes == (1, 0), "a small step back loses nothing"
    clock.time -= 10 * DAY
    assert file.count("room", "q", 2).votes == (0, 0), "no row outlives a day and the slack by the clock in force"
    assert rows(file) == 0
    file.answer("room", "q", "a", 1)
    assert file.count("room", "q", 2).votes == (0, 1)
    clock.time += 20 * DAY
    assert file.count("room", "q", 2).votes == (0, 0)


@pytest.mark.parametrize("name", ["a", "Physik-A", "量子力学", "物理2班", "हिन्दी", "x" * 40, "-", "٣"])
def test_room_names_of_any_language(name: str, file: Tally) -> None:
    assert file.answer(name, "q", "a", 0)
    assert file.count(name, "q", 1).votes == (1,)


@pytest.mark.parametrize("name", [*INJECTIONS, "", "x" * 41, "ﷺ" * 3, "x" * 100_000, "́a"])
def test_other_names_are_refused(name: str, file: Tally) -> None:
    with pytest.raises(ValueError, match="room must be 1 to 40 letters"):
        file.answer(name, "q", "a", 0)
    with pytest.raises(ValueError, match="room must be"):
        file.count(name, "q", 2)
    with pytest.raises(ValueError, match="room must be"):
        file.reveal(name, "q", "a")
    assert not file.path.exists(), "a refused name touches no file"


@pytest.mark.parametrize("text", [text for text in INJECTIONS if text != "\ud800"])
def test_questions_and_tokens_are_data(text: str, file: Tally) -> None:
    assert file.host("room", text[:64])
    file.answer("room", "q", "other", 1)
    assert file.answer("room", text, text[:64], 0)
    assert file.count("room", text, 2).votes == (1, 0)
    assert file.count("room", "q", 2).votes == (0, 1)
    assert file.reveal("room", text, text[:64])
    assert not file.count("room", "q", 2).revealed


def test_arguments_that_no_page_sends(file: Tally) -> None:
    for question, token, choice in (("q" * 201, "a", 0), ("q", "a" * 65, 0), ("q", "a", -1), ("q", "a", 10)):
        with pytest.raises(ValueError, match="must be"):
            file.answer("room", question, token, choice)


@pytest.mark.parametrize("bound", ["QUESTIONS", "VOTERS"])
def test_bounds(bound: str, file: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, bound, 3)

    def vote(k: int) -> tuple[str, str, str]:
        return ("room", f"q{k}" if bound == "QUESTIONS" else "q", f"t{k}")

    for k in range(3):
        assert file.answer(*vote(k), 0)
    with pytest.raises(Unavailable) as refused:
        file.answer(*vote(3), 0)
    assert refused.value.reason == "crowded"
    assert file.answer(*vote(0), 1), "whoever is in may still change"


def test_lecturers_and_reveals_are_bounded_too(file: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "ROOMS", 2)
    monkeypatch.setattr(tally, "QUESTIONS", 2)
    assert file.host("a", "t", "one") and file.host("b", "t", "many") and file.host("c", "t", "many")
    assert [name for name, *_ in file.rooms()] == ["a", "c"], "who has most makes room"
    assert file.reveal("a", "1", "t") and file.reveal("a", "2", "t") and file.reveal("a", "2", "t")
    with pytest.raises(Unavailable, match="crowded"):
        file.reveal("a", "3", "t")


def test_a_hall_answers_at_once(file: Tally) -> None:
    """300 sessions as threads, on a file that does not exist yet, each answering, changing its mind and looking."""

    def student(k: int) -> None:
        file.answer("room", "q", f"t{k}", 0)
        file.answer("room", "q", f"t{k}", k % 4)
        file.count("room", "q", 4)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(student, range(300)))
    assert file.count("room", "q", 4).votes == (75, 75, 75, 75)


def test_a_file_that_is_replaced_or_deleted_is_taken_as_it_is(file: Tally) -> None:
    file.answer("room", "q", "a", 0)
    for name in file.path.parent.iterdir():
        name.unlink()
    assert file.count("room", "q", 2).votes == (0, 0)
    file.answer("room", "q", "b", 1)
    assert file.count("room", "q", 2).votes == (0, 1)


VOTES = """
import sys, time
from ui.present.tally import Tally
path, first, start = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
time.sleep(max(0.0, start - time.time()))
file = Tally(path)
file.host("room", "key")
for k in range(first, first + 50):
    file.answer("room", "q", f"t{k}", k % 2)
"""


def test_replicas_share_one_file(tmp_path: Path) -> None:
    path, start = tmp_path / "new" / "rooms.sqlite3", str(time.time() + 1.0)
    command = [sys.executable, "-c", VOTES, str(path)]
    children = [subprocess.Popen([*command, str(50 * k), start], cwd=ROOT) for k in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert Tally(path).count("room", "q", 2).votes == (75, 75)


def reason_of(file: Tally) -> str:
    with pytest.raises(Unavailable) as refused:
        file.answer("room", "q", "late", 0)
    return refused.value.reason


def test_a_locked_file(file: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "PATIENCE", 0.1)
    file.answer("room", "q", "a", 0)
    holder = sqlite3.connect(file.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    assert reason_of(file) == "locked"
    with pytest.raises(Unavailable, match="locked"):
        file.count("room", "q", 2)
    assert time.monotonic() - started < 30.0
    holder.close()
    assert file.answer("room", "q", "b", 0), "and it goes on as soon as the file is free"
    started = time.monotonic()
    with tally.TURN:
        assert reason_of(file) == "locked", "nobody waits for ever for a turn"
    assert time.monotonic() - started < 30.0


def test_a_full_disk(file: Tally) -> None:
    file.answer("room", "q", "a", 0)
    (db,) = tally.KEPT.values()
    db.execute("PRAGMA max_page_count=1")  # SQLite never shrinks it below the file's present size
    reasons = set()
    for k in range(2000):
        try:
            file.answer("room", f"{k % 90}".zfill(200), f"{k}".zfill(64), 0)
        except Unavailable as error:
            reasons.add(error.reason)
            break
    assert reasons == {"full"}


def test_a_file_that_is_no_database(file: Tally) -> None:
    file.path.write_text("these are no rooms, but a long enough line of text\n" * 100)
    assert reason_of(file) == "unreadable"
    assert "no rooms" in file.path.read_text(), "nothing was overwritten"


@pytest.mark.parametrize("path", ["file/below/rooms.sqlite3", "folder"])
def test_a_place_where_no_file_can_be(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    assert reason_of(Tally(tmp_path / path)) == "unwritable"


READ_ONLY = """
import os, sys
from ui.present.tally import Tally, Unavailable
if os.getuid() == 0:
    os.setuid(65534)
for path in sys.argv[1:]:
    for call in (lambda t: t.host("room", "key"), lambda t: t.count("room", "q", 2)):
        try:
            call(Tally(path))
        except Unavailable as error:
            print(error.reason)
"""


def test_a_read_only_home(file: Tally, tmp_path: Path) -> None:
    """As a user who may read the folder and the file and write neither; root may write anything, so it steps down."""
    file.answer("room", "q", "a", 0)
    for name in tmp_path.iterdir():
        name.chmod(0o444)
    folders = [tmp_path, *tmp_path.parents]
    opened = [folder for folder in folders if folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o005]
    for folder in opened:
        folder.chmod(0o755)
    tmp_path.chmod(0o555)
    code = [sys.executable, "-c", READ_ONLY, str(file.path), str(tmp_path / "new" / "rooms.sqlite3")]
    run = subprocess.run(code, capture_output=True, text=True, cwd=ROOT)
    tmp_path.chmod(0o755)
    assert run.stdout.split() == ["unwritable"] * 4, run.stderr


def test_where_the_file_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROPE_LAB_ROOMS", "/data/r.sqlite3")
    assert tally.default_path() == Path("/data/r.sqlite3")
    monkeypatch.delenv("ROPE_LAB_ROOMS")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert tally.default_path() == Path("/data/rope-lab/rooms.sqlite3")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/srv/someone")
    assert tally.default_path() == Path("/srv/someone/.local/share/rope-lab/rooms.sqlite3")
