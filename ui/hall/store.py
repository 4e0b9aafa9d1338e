"""The file of rooms and votes: one SQLite file of one process; no names of people, gone after a day."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rope_core.jobs.private import ensure_private_file, user_data_path

DAY, SLACK = 86_400.0, 3600.0
"""Seconds for which a room is kept after its lecturer last used it, and the most that a clock may run ahead."""
VOTERS, QUESTIONS = 100_000, 200
"""Votes that a question takes, and questions that a room takes."""
VERSION = 6
TABLES = (
    # Rooms last a day: those of an earlier form are not carried over.
    "DROP TABLE IF EXISTS rooms",
    "DROP TABLE IF EXISTS votes",
    "DROP TABLE IF EXISTS answered",
    "DROP TABLE IF EXISTS answers",
    "DROP TABLE IF EXISTS revealed",
    "DROP TABLE IF EXISTS blocked",
    "CREATE TABLE rooms (name TEXT PRIMARY KEY, owner TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL,"
    " used REAL NOT NULL)",
    "CREATE TABLE votes (room TEXT NOT NULL, question TEXT NOT NULL, voter TEXT NOT NULL, choice INTEGER NOT NULL,"
    " PRIMARY KEY (room, question, voter)) WITHOUT ROWID",
    "CREATE TABLE answered (room TEXT NOT NULL, question TEXT NOT NULL, PRIMARY KEY (room, question)) WITHOUT ROWID",
    "PRAGMA user_version=6",
)
EXPIRED = (
    "DELETE FROM rooms WHERE used <= ? OR used > ?",
    "DELETE FROM votes WHERE room NOT IN (SELECT name FROM rooms)",
    "DELETE FROM answered WHERE room NOT IN (SELECT name FROM rooms)",
)


class StoreUnavailable(Exception):
    """The file takes nothing: ``reason`` is "locked", "full", "unwritable" or "unreadable"."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the file of rooms is {reason}")
        self.reason = reason


@dataclass(frozen=True)
class StoredRoom:
    """A room as the file has it.

    Attributes:
        name: its name in one spelling.
        owner: hash of the lecturer's key that opened it.
        number: of the latest content, milliseconds since 1970; larger with each content.
        content: what its phones show, JSON.
    """

    name: str
    owner: str
    number: int
    content: str


def default_rooms_path() -> Path:
    """Return where rooms are kept: ROPE_LAB_ROOMS, else the user's data folder."""
    return user_data_path("ROPE_LAB_ROOMS", "rooms.sqlite3")


def _unavailable(error: Exception) -> StoreUnavailable:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable("locked")
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailable("full")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return StoreUnavailable("unreadable")
    return StoreUnavailable("unwritable")


class RoomStore:
    """An open file of rooms, for one thread; no other process opens it meanwhile.

    Each call is one transaction and raises Unavailable where the file takes nothing. What a call has written outlives
    the process's end by any signal.

    Args:
        path: of the file; ``default_rooms_path()`` without one.
        now: seconds since 1970.
    """

    def __init__(self, path: Path | None = None, now: Callable[[], float] = time.time) -> None:
        self.path, self.now = path or default_rooms_path(), now
        self._totals: dict[tuple[str, str], int] = {}
        try:
            ensure_private_file(self.path)
            self._db = sqlite3.connect(self.path, timeout=0.5, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("BEGIN IMMEDIATE")
            if self._db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                for table in TABLES:
                    self._db.execute(table)
            self._db.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise _unavailable(error) from error

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._db.close()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        try:
            with self._db:
                self._db.execute("BEGIN")
                yield self._db
        except (OSError, sqlite3.Error) as error:
            raise _unavailable(error) from error

    def unexpired_rooms(self) -> list[StoredRoom]:
        """Remove what has expired; return the rooms."""
        now = self.now()
        self._totals.clear()
        with self._open() as db:
            for statement in EXPIRED:
                db.execute(statement, (now - DAY, now + SLACK)[: statement.count("?")])
            rows = db.execute("SELECT name, owner, number, content FROM rooms ORDER BY name").fetchall()
        return [StoredRoom(*row) for row in rows]

    def store_content(self, room: StoredRoom, answered: str = "") -> None:
        """Keep a room's content; no vote counts any more for the question ``answered``."""
        row = (room.name, room.owner, room.number, room.content, self.now())
        with self._open() as db:
            db.execute("INSERT OR REPLACE INTO rooms VALUES (?, ?, ?, ?, ?)", row)
            if answered:
                db.execute("INSERT OR IGNORE INTO answered VALUES (?, ?)", (room.name, answered))

    def record_vote(self, room: str, question: str, voter: str, choice: int) -> str:
        """Count a choice (from 0) as a voter's vote, or move the vote there.

        Returns "" where it counts, "late" where the answer is out, "crowded" past VOTERS votes or QUESTIONS questions.
        """
        if self.is_answer_out(room, question):
            return "late"
        count, key = self.voter_count(room, question), (room, question, voter)
        full = count >= VOTERS or (not count and len(self.vote_counts(room)) >= QUESTIONS)
        with self._open() as db:
            moved = db.execute(
                "UPDATE votes SET choice = ? WHERE room = ? AND question = ? AND voter = ?", (choice, *key)
            )
            if moved.rowcount:
                return ""
            if full:
                return "crowded"
            db.execute("INSERT INTO votes VALUES (?, ?, ?, ?)", (*key, choice))
        self._totals[room, question] = count + 1
        return ""

    def is_answer_out(self, room: str, question: str) -> bool:
        """Whether a question's answer is out in a room."""
        with self._open() as db:
            row = db.execute("SELECT 1 FROM answered WHERE room = ? AND question = ?", (room, question)).fetchone()
        return row is not None

    def voter_count(self, room: str, question: str) -> int:
        """Return how many have voted on a question."""
        if (room, question) not in self._totals:
            with self._open() as db:
                row = db.execute(
                    "SELECT count(*) FROM votes WHERE room = ? AND question = ?", (room, question)
                ).fetchone()
            self._totals[room, question] = int(row[0])
        return self._totals[room, question]

    def vote_counts(self, room: str) -> dict[str, dict[int, int]]:
        """Return a room's votes: by question, by choice (from 0)."""
        counts: dict[str, dict[int, int]] = {}
        with self._open() as db:
            rows = db.execute(
                "SELECT question, choice, count(*) FROM votes WHERE room = ? GROUP BY 1, 2 ORDER BY 1, 2", (room,)
            ).fetchall()
        for question, choice, count in rows:
            counts.setdefault(question, {})[choice] = count
        return counts

    def remove_room(self, room: str) -> None:
        """Remove a room with its votes."""
        self._totals.clear()
        with self._open() as db:
            db.execute("DELETE FROM votes WHERE room = ?", (room,))
            db.execute("DELETE FROM answered WHERE room = ?", (room,))
            db.execute("DELETE FROM rooms WHERE name = ?", (room,))


def lecturer_keys(path: Path) -> list[str]:
    """Return the lecturers' keys of a file of its owner alone, a line each; an absent file is made with one key.

    Raises OSError where it cannot be read or written, ValueError where a key has fewer than 16 letters.
    """
    if not path.exists():
        ensure_private_file(path)
        path.write_text(f"{os.urandom(16).hex()}\n", "ascii")
    ensure_private_file(path)
    keys = path.read_text("utf-8").split()
    if not keys or any(len(key) < 16 for key in keys):
        raise ValueError(f"{path} must hold keys of at least 16 letters, a line each, got {len(keys)} lines")
    return keys
