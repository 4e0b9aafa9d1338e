"""A student's file in a child process, a function at a time, and what each stage gave.

The child holds the student's functions and numpy; this process draws what they are called with, and judges.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.grade import remote
from rope_core.grade.assignment import Assignment, read_small_text_file
from rope_core.grade.child import graded_stage_outcomes
from rope_core.grade.faults import GradingStageError, StudentFunctions, reply_value
from rope_core.grade.result import StageResult, check_python_syntax, stage_results

LINUX = sys.platform == "linux"
PATIENCE = 10.0
"""Seconds in which what a child has started is to be ended."""
KEEPER = 'd=$(mktemp -d) && echo "$d"; read -r _; rm -rf "$d" || { chmod -R u+rwx "$d"; rm -rf "$d"; }'
"""Makes a folder, and removes it when its standard input closes: at the latest when this process has ended."""
APART = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child")
"""Starts a command whose processes end with it, without a network."""


StartProcess = Callable[[float], contextlib.AbstractContextManager[subprocess.Popen[bytes]]]


class _Over(BaseException):
    """The child has ended, or is to be: a key of the languages' grade.toml and its slots."""

    def __init__(self, key: str, **slots: object) -> None:
        super().__init__(key)
        self.ended = key, slots


class _Remote(StudentFunctions):
    """A student's functions in another process, which may answer anything, late or never."""

    def __init__(self, process: subprocess.Popen[bytes], source: str, seconds: float) -> None:
        super().__init__({})
        assert process.stdin and process.stdout
        self._process, self._seconds, self._read = process, seconds, b""
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._until = time.monotonic() + seconds
        os.set_blocking(self._in, False)
        self._source: str | None = source

    def call(self, name: str, *arguments: Any) -> Any:
        """Return what the student's function answers. Raises Fault, and _Over where no answer comes."""
        request = {"name": name, "arguments": [remote.to_json_array(each) for each in arguments]}
        try:
            if self._source is not None:
                self._send(self._source)
                self._source = None
            self._send(request)
            return reply_value(name, json.loads(self._line()))
        except GradingStageError:
            raise
        except OSError:
            raise self._gone() from None
        except Exception:  # whatever a reply holds
            raise GradingStageError("kind", name=name, got="?") from None

    def _wait(self, readable: list[int], writable: list[int]) -> None:
        left = self._until - time.monotonic()
        if left <= 0 or not any(select.select(readable, writable, [], left)):
            raise _Over("endless", seconds=f"{self._seconds:g}")

    def _send(self, given: object) -> None:
        """Write a line in time; a child may have filled the pipe itself."""
        data = memoryview(json.dumps(given).encode() + b"\n")
        while data:
            self._wait([], [self._in])
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._in, data[: select.PIPE_BUF]) :]

    def _line(self) -> bytes:
        """Return the child's next line, of at most ``remote.MOST_BYTES``, in time."""
        while b"\n" not in self._read:
            self._wait([self._out], [])
            chunk = os.read(self._out, 2**16)
            if not chunk or len(self._read) > remote.MOST_BYTES:
                raise self._gone()
            self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _gone(self) -> _Over:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return _Over("ended", code=self._process.wait(1.0))
        return _Over("silent")


def grade_file(file: str | Path, assignment: Assignment, seed: int = 0) -> list[StageResult]:
    """Run a student's file on this machine and return a Result for each stage of the assignment.

    Each function has a child process of its own, without input or output, ended with what it started after
    ``assignment.seconds``; what keeps it from the caller's files is in docs/grading.md. ``seed`` draws the inputs.

    Raises ValueError on a file that cannot be read or is no Python; whatever the code does is a Result.
    """
    path = Path(file)
    source = read_small_text_file("file", path)
    check_python_syntax(source, str(path))
    broken = GradingStageError("borrowed") if borrows(source) else None
    graded = []
    for name, points in assignment.points.items():
        graded += _function(source, name, points, assignment.seconds, seed, broken)
    return graded


@contextlib.contextmanager
def isolated_functions(
    source: str, seconds: float = 20.0, lang: str = "en", process_of: StartProcess | None = None
) -> Iterator[Callable[..., Any]]:
    """Run a text apart, as homework is, and yield what calls its functions: call(name, *arguments).

    ``process_of``: seconds -> the process to run it in, `child_process` where there is none.

    Raises ValueError on a text that is no Python; the call raises ValueError on whatever goes wrong, in a sentence.
    """
    check_python_syntax(source, "the text")
    with (process_of or child_process)(seconds) as process:
        student = _Remote(process, source, seconds)

        def call(name: str, *arguments: Any) -> Any:
            try:
                return student.call(name, *arguments)
            except GradingStageError as fault:
                wrong: tuple[str, Mapping[str, object]] = fault.key, fault.slots
            except _Over as over:
                wrong = over.ended
            raise ValueError(StageResult(name, "values", 0.0, *wrong).sentence(lang))

        yield call


def child_process(seconds: float) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """Return a process for one text, as a context that ends it with what it started.

    A process namespace ends with what was started in it; adoption would end the children of other threads as well.
    """
    return _started(seconds, adopts=not can_isolate_processes())


def borrows(source: str) -> bool:
    """Whether a source imports rope_core, with which answers are compared.

    >>> borrows("from rope_core.grade.rotations import rotate_rows"), borrows("import numpy")
    (True, False)
    """
    nodes = list(ast.walk(ast.parse(source)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.partition(".")[0] == "rope_core" for name in names)


def _function(
    source: str, name: str, points: Mapping[str, float], seconds: float, seed: int, broken: GradingStageError | None
) -> list[StageResult]:
    """Return the stages of a function: those that were judged, and for the rest why the child ended."""
    lines: list[str] = []
    ended: tuple[str, Mapping[str, object]] = ("silent", {})
    with _started(seconds) as process:
        try:
            lines.extend(graded_stage_outcomes(_Remote(process, source, seconds), name, seed, points, broken))
        except _Over as over:
            ended = over.ended
    return stage_results(name, points, lines, ended)


@contextlib.contextmanager
def _started(seconds: float, *, adopts: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    """Start the child in an empty folder; end it at the end, with what it started."""
    piped: dict[str, Any] = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    piped |= {"stderr": subprocess.DEVNULL, "start_new_session": True}
    with subprocess.Popen(["sh", "-c", KEEPER], **piped) as keeper:
        assert keeper.stdout
        folder = keeper.stdout.readline().decode().rstrip("\n")
        # -I, -S: nothing of this package, of site-packages or of the folder is on the path.
        command = [sys.executable, "-I", "-S", remote.__file__, str(Path(np.__file__).parents[1]), str(seconds)]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "LANG": "C.UTF-8"}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        with (
            _adopting(keeper.pid) if adopts else contextlib.nullcontext(),
            subprocess.Popen(
                [*(APART if can_isolate_processes() else ()), *command],
                cwd=folder,
                env=environment,
                preexec_fn=_end_with_parent,
                **piped,
            ) as process,
        ):
            try:
                yield process
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)


def is_confined() -> bool:
    """Return whether code that is run apart reaches no file, network or process here, as docs/grading.md says."""
    return can_isolate_processes() and remote.landlock_version() > 0


@cache
def can_isolate_processes() -> bool:
    """Return whether this user may start a command with processes and a network of its own."""
    if not LINUX or not shutil.which(APART[0]):
        return False
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return subprocess.call([*APART, "true"], **quiet) == 0


def _prctl(option: int, value: int) -> None:
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_with_parent() -> None:
    """Have the kernel end this process when the one that grades has ended, however that was."""
    _prctl(1, signal.SIGKILL)


@contextlib.contextmanager
def _adopting(keeper: int) -> Iterator[None]:
    """Inherit what a child leaves behind, and end it: on Linux, processes whose parent has ended become this one's."""
    own, handlers = _children() | {keeper}, {}
    _prctl(36, 1)
    try:
        with contextlib.suppress(ValueError):  # a thread takes no signals
            handlers = {number: signal.signal(number, _leave) for number in (signal.SIGTERM, signal.SIGHUP)}
        yield
    finally:
        until = time.monotonic() + PATIENCE
        while (left := _children() - own) and time.monotonic() < until:
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
        _prctl(36, 0)
        for number, before in handlers.items():
            signal.signal(number, before)


def _leave(number: int, _: object) -> None:
    sys.exit(128 + number)


def _children() -> set[int]:
    """Return the processes whose parent this one is; none where the system does not list them."""
    children: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children.update(map(int, file.read_text().split()))
    return children
