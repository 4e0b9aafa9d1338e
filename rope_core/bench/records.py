"""Every run in one SQLite file that survives a kill at any moment."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rope_core.bench.cases import BenchmarkCase
from rope_core.errors import argument_error
from rope_core.jobs.private import ensure_private_file, user_data_path

if TYPE_CHECKING:
    import sqlite3

FORMAT = 1
STATES = ("ok", "wrong", "unavailable", "error")
TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, suite TEXT NOT NULL, started REAL NOT NULL, finished REAL, pid INTEGER NOT NULL,
    environment TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS results (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, "case" TEXT NOT NULL, contestant TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run, "case", contestant)
);
"""


@dataclass(frozen=True)
class CaseResult:
    """What one contestant did on one case.

    Attributes:
        state: "ok", "wrong" (the answer), "unavailable" or "error"; only "ok" has times.
        reason: why it is not ok, one sentence.
        data: seconds (a sample per round), floor (the copy's, same rounds), error, faults, peak_bytes, ...
    """

    case: BenchmarkCase
    contestant: str
    state: str
    reason: str
    data: dict[str, Any]


@dataclass(frozen=True)
class BenchmarkRun:
    """One run: its suite, its environment, and whether it came to its end."""

    id: str
    suite: str
    started: float
    finished: float | None
    environment: dict[str, Any]
    pid: int

    @property
    def run_status(self) -> str:
        """ "finished", "running", or "interrupted" where its process is gone."""
        if self.finished is not None:
            return "finished"
        return "running" if _alive(self.pid) else "interrupted"


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def default_record_path() -> Path:
    """Return where records live: ROPE_LAB_RECORDS, else the user's data folder."""
    return user_data_path("ROPE_LAB_RECORDS", "records.sqlite3")


class BenchmarkDatabase:
    """The file of records; every write is a transaction of its own.

    Args:
        path: the file; default_record_path() by default.
        patience: seconds that a call waits for a file that another process has locked.

    Every call raises ValueError when the file is no SQLite database, cannot be written, or stays locked.
    """

    def __init__(self, path: str | Path | None = None, patience: float = 30.0) -> None:
        self.path, self.patience = Path(path) if path is not None else default_record_path(), patience
        try:
            ensure_private_file(self.path)
        except OSError as error:
            raise argument_error("path", "writable_records", f"{self.path.name}: {error.strerror}") from error
        with self._open() as db:
            db.executescript(TABLES)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        import sqlite3  # a browser's Python, which shows shipped records, has none

        try:
            with closing(sqlite3.connect(self.path, timeout=self.patience)) as db:
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=FULL")
                db.execute("PRAGMA foreign_keys=ON")
                with db:
                    yield db
        except sqlite3.DatabaseError as error:
            # Only the content decides whether it is such a file: a full disk, a lock and a fault of the disk do not.
            damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
            rule = "sqlite_records" if damaged else "usable_records"
            raise argument_error("path", rule, f"{self.path.name}: {error}") from error

    def begin_run(self, suite: str, environment: dict[str, Any]) -> str:
        """Open a run and return its id."""
        name = uuid.uuid4().hex
        with self._open() as db:
            db.execute(
                "INSERT INTO runs VALUES (?, ?, ?, NULL, ?, ?)",
                (name, suite, time.time(), os.getpid(), json.dumps(environment)),
            )
        return name

    def add(self, run: str, result: CaseResult) -> None:
        """Write one result; it is there for good when this returns."""
        if result.state not in STATES:
            raise argument_error("state", "one_of", result.state, names=STATES)
        row = (run, result.case.key, result.contestant, result.state, result.reason, json.dumps(result.data))
        with self._open() as db:
            db.execute("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", row)

    def finish(self, run: str) -> None:
        """Mark a run as having come to its end."""
        with self._open() as db:
            db.execute("UPDATE runs SET finished = ? WHERE id = ?", (time.time(), run))

    def runs(self) -> list[BenchmarkRun]:
        """Return all runs, the latest first."""
        with self._open() as db:
            rows = db.execute(
                "SELECT id, suite, started, finished, environment, pid FROM runs ORDER BY started DESC"
            ).fetchall()
        return [BenchmarkRun(i, suite, start, end, json.loads(where), pid) for i, suite, start, end, where, pid in rows]

    def results(self, run: str) -> list[CaseResult]:
        """Return a run's results in the order in which they came."""
        with self._open() as db:
            rows = db.execute(
                'SELECT "case", contestant, state, reason, data FROM results WHERE run = ? ORDER BY rowid', (run,)
            ).fetchall()
        return [
            CaseResult(BenchmarkCase.from_key(c), name, state, why, json.loads(data))
            for c, name, state, why, data in rows
        ]

    def export_json(self) -> str:
        """Return all runs with their results as JSON."""
        bodies = [
            {
                "id": r.id,
                "suite": r.suite,
                "started": r.started,
                "finished": r.finished,
                "environment": r.environment,
                "results": [asdict(x) | {"case": json.loads(x.case.key)} for x in self.results(r.id)],
            }
            for r in self.runs()
        ]
        return json.dumps({"format": FORMAT, "runs": bodies}, indent=1)

    def import_json(self, text: str) -> int:
        """Add the runs of an export and return how many were new; ValueError on anything else, and nothing is added."""
        try:
            body = json.loads(text)
        except json.JSONDecodeError as error:
            raise argument_error("records", "valid_json", str(error)) from error
        if not isinstance(body, dict) or body.get("format") != FORMAT or not isinstance(body.get("runs"), list):
            raise argument_error("records", "export_format", text[:60], format=FORMAT)
        return self._insert([_checked_run(r) for r in body["runs"]])

    def _insert(self, runs: list[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]) -> int:
        added = 0
        with self._open() as db:
            for run, results in runs:
                if db.execute("SELECT 1 FROM runs WHERE id = ?", (run[0],)).fetchone():
                    continue
                db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", run)
                db.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", results)
                added += 1
        return added


def _checked_run(body: Any) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Turn one imported run into rows, or raise ValueError."""
    if not isinstance(body, dict):
        raise argument_error("records", "run_objects", body)
    wanted = {"id": str, "suite": str, "started": float, "environment": dict, "results": list}
    for name, kind in wanted.items():
        if not isinstance(body.get(name), kind):
            raise argument_error(f"records[].{name}", "of_type", body.get(name), kind=kind.__name__)
    finished = body.get("finished")
    if finished is not None and not isinstance(finished, float):
        raise argument_error("records[].finished", "number_or_nothing", finished)
    # pid 0: the run's process is on another machine or long gone.
    run = body["id"], body["suite"], body["started"], finished, 0, json.dumps(body["environment"])
    results = []
    for x in body["results"]:
        if not isinstance(x, dict) or x.get("state") not in STATES or not isinstance(x.get("data"), dict):
            raise argument_error("records[].results[]", "with_fields", x, names=("state", "data"))
        if not isinstance(x.get("contestant"), str) or not isinstance(x.get("reason"), str):
            raise argument_error("records[].results[]", "with_fields", x, names=("contestant", "reason"))
        case = BenchmarkCase.from_key(x.get("case", {}))
        results.append((body["id"], case.key, x["contestant"], x["state"], x["reason"], json.dumps(x["data"])))
    return run, results
