"""A student's file in a child process, a function at a time, and what each stage gave.

The child holds the student's functions and numpy; this process draws what they are called with, and judges.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rope_core.grade import remote
from rope_core.grade.assignment import Assignment, read_text
from rope_core.grade.child import judged
from rope_core.grade.faults import Fault, Student, exception
from rope_core.grade.result import Result, check_source, results
from rope_core.jobs.ending import kill

MARK = "ROPE_GRADE"


class _Over(Exception):
    """The child has ended, or is to be: a key of texts.toml and its slots."""

    def __init__(self, key: str, **slots: object) -> None:
        super().__init__(key)
        self.ended = key, slots


class _Remote(Student):
    """A student's functions in another process, which may answer anything, late or never."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        super().__init__("", {})
        self._process, self._seconds, self._read = process, seconds, b""
        self._until = time.monotonic() + seconds

    def call(self, name: str, *arguments: Any) -> Any:
        """Return what the student's function answers. Raises Fault, and _Over where no answer comes."""
        request = {"name": name, "arguments": [remote.packed(each) for each in arguments]}
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            reply = json.loads(self._line())
            return self._taken(name, reply)
        except OSError:
            raise self._gone() from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise Fault("kind", name=name, got="?") from None

    def _line(self) -> bytes:
        """Return the child's next line, of at most ``remote.MOST_BYTES``, in time."""
        assert self._process.stdout is not None
        file = self._process.stdout.fileno()
        while b"\n" not in self._read:
            left = self._until - time.monotonic()
            if left <= 0 or not select.select([file], [], [], left)[0]:
                raise _Over("endless", seconds=f"{self._seconds:g}")
            chunk = os.read(file, 2**16)
            if not chunk or len(self._read) > remote.MOST_BYTES:
                raise self._gone()
            self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _gone(self) -> _Over:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        return _Over("ended", code=self._process.poll())

    @staticmethod
    def _taken(name: str, reply: Any) -> Any:
        if reply.get("borrowed"):
            raise Fault("borrowed")
        if reply.get("missing"):
            raise Fault("missing", name=name)
        if "error" in reply:
            lines = [int(line) for line in reply["lines"]]
            raise exception(str(reply["error"])[:100], str(reply["detail"])[:200], lines)
        value = remote.unpacked(reply["value"])
        if value is None:
            raise Fault("kind", name=name, got=str(reply["value"].get("type"))[:100])
        return value


def grade(file: str | Path, assignment: Assignment, seed: int = 0) -> list[Result]:
    """Run a student's file on this machine and return a Result for each stage of the assignment.

    Each function has a child process of its own with the caller's rights (no sandbox), without input or output, ended
    with what it started after ``assignment.seconds``. The inputs are drawn from ``seed``.

    Raises ValueError on a file that cannot be read or is no Python; whatever the code does is a Result.
    """
    path = Path(file)
    source = read_text("file", path)
    check_source(source, str(path))
    broken = Fault("borrowed") if borrows(source) else None
    graded = []
    for name, points in assignment.points.items():
        graded += _function(path.resolve(), name, points, assignment.seconds, seed, broken)
    return graded


def borrows(source: str) -> bool:
    """Whether a source imports rope_core, with which answers are compared.

    >>> borrows("from rope_core.grade.rotations import turned"), borrows("import numpy")
    (True, False)
    """
    nodes = list(ast.walk(ast.parse(source)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.partition(".")[0] == "rope_core" for name in names)


def _function(
    path: Path, name: str, points: Mapping[str, float], seconds: float, seed: int, broken: Fault | None
) -> list[Result]:
    """Return the stages of a function: those that were judged, and for the rest why the child ended."""
    lines: list[str] = []
    ended: tuple[str, Mapping[str, object]] = ("ended", {"code": None})
    with _started(path) as process:
        try:
            lines.extend(judged(_Remote(process, seconds), name, seed, points, broken))
        except _Over as over:
            ended = over.ended
    return results(name, points, lines, ended)


@contextlib.contextmanager
def _started(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the child in an empty folder; end it at the end, with what it started."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        # -I: neither this package nor a student's random.py in this folder is on the path before Python's own.
        command = [sys.executable, "-I", str(Path(remote.__file__)), str(path)]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "LANG": "C.UTF-8", MARK: mark}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill(process)
            _kill_marked(f"{MARK}={mark}".encode())
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):
                    pipe.close()


def _kill_marked(mark: bytes) -> None:
    """End what has left the child's group (on Linux): its environment holds the mark."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
