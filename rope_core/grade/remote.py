"""The child process of ``rope grade``: it runs a student's text and answers calls of its functions.

It is started by its path, without site-packages, and knows numpy alone. What is right stays in the process that grades.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import sys
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any

if __name__ == "__main__":
    sys.path.append(sys.argv[1])
import numpy as np

if __name__ == "__main__":
    sys.path.pop()

MOST_BYTES, MOST_LETTERS = 2**22, 20
MEMORY, FILE_BYTES, FOLDER_BYTES, PROCESSES = 2**31, 2**24, 2**26, 64
FILE = "mine.py"
"""What a student's text is called in tracebacks."""


def to_json_array(value: Any) -> dict[str, Any]:
    """Return numbers as what JSON can hold: an array, a few of them, or the type of what is none.

    >>> from_json_array(to_json_array(np.arange(3)))
    array([0, 1, 2])
    """
    if type(value) in (str, float) or (type(value) is int and abs(value) < 2**63):
        return {"plain": value}
    if isinstance(value, tuple) and len(value) < 5:
        return {"items": [to_json_array(each) for each in value]}
    try:
        array = np.asarray(value)
    except Exception:
        return (
            {"items": [to_json_array(each) for each in value]}
            if isinstance(value, list) and len(value) < 5
            else _none(value)
        )
    if array.dtype.kind not in "fiub":
        return _none(value)
    data = base64.b64encode(array.tobytes()).decode() if array.nbytes <= MOST_BYTES // 2 else ""
    return {"type": type(value).__name__, "dtype": array.dtype.str, "shape": array.shape, "data": data}


def _none(value: Any) -> dict[str, Any]:
    return {"type": type(value).__name__}


def from_json_array(given: Any, *, inside: bool = False) -> Any:
    """Return what ``to_json_array`` was given; None where it was no array. Raises ValueError on anything else.

    An array that was too long to be sent has its shape alone, and takes no memory; ``inside`` others there is none.
    """
    if not isinstance(given, dict):
        raise ValueError("given must be a packed value")
    plain = given.get("plain")
    if type(plain) in (str, int, float):
        return plain[:MOST_LETTERS] if isinstance(plain, str) else plain
    if "items" in given:
        return tuple(from_json_array(each, inside=True) for each in list(given["items"])[:5])
    if "dtype" not in given:
        return None
    dtype, shape = np.dtype(str(given["dtype"])[:8]), tuple(int(n) for n in list(given["shape"])[:32])
    if dtype.kind not in "fiub" or min(shape, default=0) < 0:
        raise ValueError("dtype must be one of numbers")
    data = base64.b64decode(str(given["data"]), validate=True)
    if data:
        return np.frombuffer(data, dtype).reshape(shape).copy()
    if inside and 0 not in shape:
        raise ValueError("data must be the numbers of an array")
    return np.broadcast_to(np.zeros((), dtype), shape)


def run_source(source: str) -> dict[str, Any]:
    """Run a student's text; return its names. It is the module ``student``: its ``__main__`` part does not run."""
    module = sys.modules["student"] = ModuleType("student")
    module.__file__ = FILE
    exec(compile(source, FILE, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def exception_record(error: BaseException) -> dict[str, Any]:
    """Return an exception's name and text, and the lines of the student's file on its way."""
    try:
        detail = str(error)[:200]
    except Exception:  # a student's own __str__
        detail = ""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "detail": detail,
        "lines": [frame.lineno for frame in frames if frame.filename == FILE],
    }


def call_record(functions: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Return a function's answer to a request as JSON can hold it, or what it raised."""
    function = functions.get(request["name"])
    if not callable(function):
        return {"missing": True}
    try:
        value = function(*map(from_json_array, request["arguments"]))
        return {"value": to_json_array(value)}
    except BaseException as error:
        return exception_record(error)


def _bound(seconds: float) -> None:
    """Set this process's limits, and those of what it starts, for the time that it has."""
    import ctypes
    import resource

    limits = {"AS": MEMORY, "FSIZE": FILE_BYTES, "CORE": 0, "CPU": math.ceil(seconds) + 1}
    if os.getpid() == 1:  # of its own process namespace; elsewhere all of the user's processes would count
        limits["NPROC"] = PROCESSES
        # A folder in memory that is gone with this process, whatever was made of it.
        if not ctypes.CDLL(None).mount(b"none", os.getcwdb(), b"tmpfs", 6, f"size={FOLDER_BYTES}".encode()):
            os.chdir(os.getcwdb())
    for name, most in limits.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def _libraries(folder: str) -> Iterator[str]:
    """Yield what is in a folder of libraries, but no package that was installed into it."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith("python") and entry.is_dir():
                yield from _libraries(entry.path)
            elif entry.name not in ("site-packages", "dist-packages"):
                yield entry.path


def landlock_version() -> int:
    """Return the version of Linux's Landlock, 0 or less where there is none."""
    import ctypes

    return int(ctypes.CDLL(None, use_errno=True).syscall(444, None, 0, 1)) if sys.platform == "linux" else 0


def _confine() -> None:
    """Leave this process and what it starts Python's own library, numpy and its folder: no other file, no program.

    By Landlock (https://docs.kernel.org/userspace-api/landlock.html), where Linux has it; it cannot be undone.
    """
    import ctypes

    version = landlock_version()
    if version < 1:
        return
    system = ctypes.CDLL(None, use_errno=True).syscall
    create, add, restrict = 444, 445, 446
    read_file, read_folder, of_files = 1 << 2, 1 << 3, 0b1100000000000111
    every = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    # Files; TCP from version 4 on; signals and abstract sockets from version 6 on.
    handled = (ctypes.c_uint64 * 3)(every, 3 if version > 3 else 0, 3 if version > 5 else 0)
    rules = system(create, handled, 8 if version < 4 else 16 if version < 6 else 24, 0)
    roots = {os.path.realpath(f"{base}/{lib}") for base in (sys.base_prefix, "/usr", "/") for lib in ("lib", "lib64")}
    readable = [path for root in roots for path in _libraries(root)]
    readable += [np.__path__[0], f"{np.__path__[0]}.libs", "/etc/ld.so.cache", "/dev/urandom"]
    allowed = dict.fromkeys(readable, read_file | read_folder) | {"/dev/null": 0b111, os.getcwd(): every & ~1}
    for path, rights in allowed.items():
        with contextlib.suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights &= every if os.path.isdir(path) else every & of_files
            system(add, rules, 1, rights.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder), 0)
            os.close(place)
    no_new_privileges = 38
    ctypes.CDLL(None).prctl(no_new_privileges, 1, 0, 0, 0)
    system(restrict, rules, 0)
    os.close(rules)


def main(seconds: float) -> None:
    """Run the text of the first line, a JSON string, then answer requests, a line each, until there are no more."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    source = json.loads(requests.readline())
    _bound(seconds)
    _confine()
    functions: dict[str, Any] = {}
    broken: dict[str, Any] = {}
    try:
        functions = run_source(source)
    except BaseException as error:
        broken = exception_record(error)
    for line in requests:
        replies.write(json.dumps(broken or call_record(functions, json.loads(line))).encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main(float(sys.argv[2]))
