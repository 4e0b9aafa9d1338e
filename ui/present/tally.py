"""The class tally of predict-first questions: counts by room in one SQLite file, no names, gone after a day.

Who opens a room gets its key, and leads it on every device that has the key; nobody else does, and a vote opens none.
A room without votes expires HOUR seconds after its lecturer last looked, with votes DAY seconds after the latest, by
the wall clock; every call first removes what has expired. A clock that jumps forward by a day empties all rooms; one
that jumps back keeps rows for at most SLACK longer, because a row that claims to expire later than DAY + SLACK from now
is removed as well.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rope_core.errors import reject
from rope_core.jobs.private import kept, own_file
from ui.present.rooms import room_name

DAY, HOUR, SLACK = 86_400.0, 3600.0, 3600.0
QUESTION_LIMIT, TOKEN_LIMIT, CONTENT_LIMIT = 200, 64, 8000
ROOMS, ROOMS_EACH, QUESTIONS, VOTERS = 1000, 20, 100, 1000
CHOICES = 10
# A page waits for a busy file this long, in seconds, and goes on without a tally after that.
PATIENCE = 3.0
# SQLite lets those who wait try again at random; within a process they take turns, so that a full hall is served.
TURN = threading.Lock()
# The connection to the latest file, by its path and inode: to open a file costs as much as an answer, and who closes it
# last has it synced to the disk.
KEPT: dict[tuple[Path, int], sqlite3.Connection] = {}
# Rooms last a day: those of an earlier form are not carried over.
TABLES = (
    "DROP TABLE IF EXISTS rooms",
    "DROP TABLE IF EXISTS answers",
    "DROP TABLE IF EXISTS revealed",
    "DROP TABLE IF EXISTS blocked",
    "DROP TABLE IF EXISTS shown",
    "CREATE TABLE rooms (room TEXT PRIMARY KEY, key TEXT NOT NULL, opener TEXT NOT NULL, seen REAL NOT NULL,"
    " expires REAL NOT NULL, number INTEGER NOT NULL DEFAULT 0, content TEXT NOT NULL DEFAULT '')",
    "CREATE TABLE answers (room TEXT NOT NULL, question TEXT NOT NULL, token TEXT NOT NULL, choice INTEGER NOT NULL,"
    " expires REAL NOT NULL, PRIMARY KEY (room, question, token))",
    "CREATE TABLE revealed (room TEXT NOT NULL, question TEXT NOT NULL, expires REAL NOT NULL,"
    " PRIMARY KEY (room, question))",
    "CREATE TABLE blocked (token TEXT PRIMARY KEY, expires REAL NOT NULL)",
    "PRAGMA user_version=5",
)
VERSION = 5
PURGES = (
    "DELETE FROM rooms WHERE expires <= ? OR expires > ?",
    "DELETE FROM blocked WHERE expires <= ? OR expires > ?",
    "DELETE FROM answers WHERE expires <= ? OR expires > ? OR room NOT IN (SELECT room FROM rooms)",
    "DELETE FROM revealed WHERE expires <= ? OR expires > ? OR room NOT IN (SELECT room FROM rooms)",
)
REASONS = ("locked", "full", "unwritable", "unreadable", "crowded", "rooms", "closed")


class Unavailable(Exception):
    """There is no tally for now: ``reason`` is one of REASONS."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the tally is {reason}")
        self.reason = reason


@dataclass(frozen=True)
class Count:
    """A question in a room: votes by choice, and whether its answer is out."""

    votes: tuple[int, ...]
    revealed: bool


def default_path() -> Path:
    """Return where rooms live: ROPE_LAB_ROOMS, else the user's data folder."""
    return kept("ROPE_LAB_ROOMS", "rooms.sqlite3")


def _reason(error: Exception) -> str:
    """Return which of REASONS an error of SQLite or the file system is."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "locked"
    if code == sqlite3.SQLITE_FULL:
        return "full"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return "unreadable"
    return "unwritable"


class Tally:
    """The file of rooms. Every method opens it anew, so threads and processes may share it; each raises Unavailable."""

    def __init__(self, path: str | Path | None = None, now: Callable[[], float] = time.time) -> None:
        self.path, self.now = Path(path) if path is not None else default_path(), now

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction on a file from which everything expired is gone."""
        if not TURN.acquire(timeout=PATIENCE):
            raise Unavailable("locked")
        db = None
        try:
            db = self._connection()
            db.execute("BEGIN IMMEDIATE")
            self._purge(db)
            yield db
            db.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise Unavailable(_reason(error)) from error
        finally:
            if db is not None and db.in_transaction:
                db.execute("ROLLBACK")
            TURN.release()

    def _connection(self) -> sqlite3.Connection:
        """Return the connection that is kept, or a new one where the file is another."""
        own_file(self.path)
        place = self.path, self.path.stat().st_ino
        if place not in KEPT:
            while KEPT:
                KEPT.popitem()[1].close()
            db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(db)
            except sqlite3.Error:
                db.close()
                raise
            KEPT[place] = db
        return KEPT[place]

    @staticmethod
    def _prepare(db: sqlite3.Connection) -> None:
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA secure_delete=ON")
        if _version(db) != VERSION:
            db.execute("BEGIN IMMEDIATE")
            if _version(db) != VERSION:  # another process may have been first
                for table in TABLES:
                    db.execute(table)
            db.execute("COMMIT")
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            # Fails at once while another process is at the file, which works without it, too.
            with suppress(sqlite3.OperationalError):
                db.execute("PRAGMA journal_mode=WAL")

    def _purge(self, db: sqlite3.Connection) -> None:
        now = self.now()
        for purge in PURGES:
            db.execute(purge, (now, now + DAY + SLACK)[: purge.count("?")])

    def answer(self, room: str, question: str, token: str, choice: int) -> bool:
        """Count ``choice`` as the one vote of ``token``, or move it there; False once the answer is out.

        Raises ValueError on arguments that no page sends, Unavailable("crowded") where a bound is met or the browser is
        shut out, and Unavailable("closed") where nobody leads such a room.
        """
        room = _checked(room, question, token)
        if not 0 <= choice < CHOICES:
            raise reject("choice", f"from 0 to {CHOICES - 1}", choice)
        with self._open() as db:
            if _revealed(db, room, question):
                return False
            now = self.now()
            if db.execute("SELECT 1 FROM rooms WHERE room = ? AND key <> ''", (room,)).fetchone() is None:
                raise Unavailable("closed")
            if db.execute("SELECT 1 FROM blocked WHERE token = ?", (token,)).fetchone():
                raise Unavailable("crowded")
            self._bound(db, room, question, token)
            db.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", (room, question, token, choice, now + DAY)
            )
            db.execute("UPDATE rooms SET expires = ? WHERE room = ?", (now + DAY, room))
        return True

    def _make(self, db: sqlite3.Connection, room: str, key: str, opener: str) -> None:
        """Open a room, unless its lecturer has too many; where all have, whoever has most loses the one last seen."""
        rooms, own = db.execute("SELECT count(*), total(opener = ?) FROM rooms", (opener,)).fetchone()
        if own >= ROOMS_EACH:
            raise Unavailable("rooms")
        if rooms >= ROOMS:
            db.execute(
                "DELETE FROM rooms WHERE room = (SELECT room FROM rooms AS r ORDER BY"
                " (SELECT count(*) FROM rooms WHERE opener = r.opener) + (r.opener = ?) DESC, seen LIMIT 1)",
                (opener,),
            )
        db.execute(
            "INSERT INTO rooms VALUES (?, ?, ?, ?, ?, 0, '')", (room, key, opener, self.now(), self.now() + HOUR)
        )

    @staticmethod
    def _bound(db: sqlite3.Connection, room: str, question: str, token: str) -> None:
        """Refuse a vote that would go past a bound; one that replaces another never does."""
        known = [name for (name,) in db.execute("SELECT DISTINCT question FROM answers WHERE room = ?", (room,))]
        if question not in known and len(known) >= QUESTIONS:
            raise Unavailable("crowded")
        others = db.execute(
            "SELECT count(*) FROM answers WHERE room = ? AND question = ? AND token <> ?", (room, question, token)
        )
        if others.fetchone()[0] >= VOTERS:
            raise Unavailable("crowded")

    def count(self, room: str, question: str, choices: int) -> Count:
        """Return the votes: one number for each of its ``choices``."""
        room = _checked(room, question)
        with self._open() as db:
            rows = db.execute(
                "SELECT choice, count(*) FROM answers WHERE room = ? AND question = ? GROUP BY choice", (room, question)
            )
            counts = dict(rows.fetchall())
            return Count(tuple(counts.get(choice, 0) for choice in range(choices)), _revealed(db, room, question))

    def host(self, room: str, key: str, opener: str = "") -> bool:
        """Lead the room, which opens it where nobody has; False where it was opened with another key.

        Raises Unavailable("rooms") where the browser ``opener`` has too many rooms open.
        """
        room = _checked(room, "", key)
        with self._open() as db:
            return self._lead(db, room, key, opener)

    def _lead(self, db: sqlite3.Connection, room: str, key: str, opener: str) -> bool:
        kept, now = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest(), self.now()
        held = db.execute("SELECT key, opener FROM rooms WHERE room = ?", (room,)).fetchone()
        if held is None:
            self._make(db, room, kept, opener)
        elif not held[0] or (held[0] != kept and not (opener and held[1] == opener)):
            return False
        # Who has lost the window with the key finds the room again with the browser that opened it.
        row = (kept, now, now + HOUR, room)
        db.execute("UPDATE rooms SET key = ?, seen = ?, expires = max(expires, ?) WHERE room = ?", row)
        return True

    def reveal(self, room: str, question: str, key: str, opener: str = "") -> bool:
        """Put the answer out for the whole room; False where ``key`` is not that of the room."""
        room = _checked(room, question, key)
        with self._open() as db:
            if not self._lead(db, room, key, opener):
                return False
            count = db.execute("SELECT count(*) FROM revealed WHERE room = ?", (room,)).fetchone()[0]
            if count >= QUESTIONS and not _revealed(db, room, question):
                raise Unavailable("crowded")
            db.execute("INSERT OR REPLACE INTO revealed VALUES (?, ?, ?)", (room, question, self.now() + DAY))
        return True

    def show(self, room: str, key: str, opener: str, content: str) -> bool:
        """Have all who follow the room see ``content``, which ``shown`` returns; False where ``key`` leads it not."""
        room = _checked(room, "", key)
        if len(content) > CONTENT_LIMIT:
            raise reject("content", f"at most {CONTENT_LIMIT} letters", len(content))
        with self._open() as db:
            if not self._lead(db, room, key, opener):
                return False
            row = (int(1000 * self.now()), content, room, content)
            db.execute("UPDATE rooms SET number = ?, content = ? WHERE room = ? AND content <> ?", row)
        return True

    def shown(self, room: str) -> tuple[int, str]:
        """Return a number that changes with what the room shows, and that; 0 and "" where nobody leads such a room."""
        room = _checked(room, "")
        with self._open() as db:
            row = db.execute("SELECT number, content FROM rooms WHERE room = ?", (room,)).fetchone()
        return (int(row[0]), str(row[1])) if row else (0, "")

    def rooms(self) -> list[tuple[str, int, float]]:
        """Return the rooms that are open: name, votes, and seconds since their lecturer looked."""
        with self._open() as db:
            rows = db.execute(
                "SELECT room, (SELECT count(*) FROM answers WHERE answers.room = rooms.room), seen FROM rooms"
                " WHERE key <> '' ORDER BY room"
            ).fetchall()
        return [(room, votes, max(0.0, self.now() - seen)) for room, votes, seen in rows]

    def votes(self) -> list[tuple[str, str, int, int]]:
        """Return how all rooms voted: room, question, choice from 0, votes."""
        with self._open() as db:
            rows = db.execute(
                "SELECT room, question, choice, count(*) FROM answers GROUP BY room, question, choice ORDER BY 1, 2, 3"
            )
            return rows.fetchall()

    def close(self, room: str) -> None:
        """Close a room: its votes are gone, and for an hour nobody leads one of that name."""
        with self._open() as db:
            row = (self.now() + HOUR, room)
            db.execute("UPDATE rooms SET key = '', number = 0, content = '', expires = ? WHERE room = ?", row)
            for table in ("answers", "revealed"):
                db.execute(f"DELETE FROM {table} WHERE room = ?", (room,))

    def clear(self) -> None:
        """Forget all rooms, with all votes."""
        with self._open() as db:
            db.execute("DELETE FROM rooms")
            self._purge(db)

    def block(self, token: str) -> None:
        """Shut a browser out for a day, with its votes."""
        with self._open() as db:
            db.execute("INSERT OR REPLACE INTO blocked VALUES (?, ?)", (token, self.now() + DAY))
            db.execute("DELETE FROM answers WHERE token = ?", (token,))

    def unblock(self, token: str) -> None:
        """Let a browser in again."""
        with self._open() as db:
            db.execute("DELETE FROM blocked WHERE token = ?", (token,))

    def blocked(self) -> frozenset[str]:
        """Return the browsers that are shut out."""
        with self._open() as db:
            return frozenset(token for (token,) in db.execute("SELECT token FROM blocked"))


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _checked(room: str, question: str, token: str = "") -> str:
    """Return the room's name in one spelling; ValueError on what cannot be a room, a question or a token."""
    if len(question) > QUESTION_LIMIT:
        raise reject("question", f"at most {QUESTION_LIMIT} characters", question[:60])
    if len(token) > TOKEN_LIMIT:
        raise reject("token", f"at most {TOKEN_LIMIT} characters", token[:60])
    return room_name(room)


def _revealed(db: sqlite3.Connection, room: str, question: str) -> bool:
    row = db.execute("SELECT 1 FROM revealed WHERE room = ? AND question = ?", (room, question)).fetchone()
    return row is not None
