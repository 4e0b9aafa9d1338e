"""The child process of ``rope grade``: it runs a student's file and answers calls of its functions.

It is started by its path and knows numpy alone. What is right stays in the process that grades.
"""

from __future__ import annotations

import base64
import json
import os
import runpy
import sys
import traceback
from typing import Any

import numpy as np

MOST_BYTES = 2**22
MEMORY, FILE_BYTES = 2**31, 2**24


def packed(value: Any) -> dict[str, Any]:
    """Return numbers as what JSON can hold: an array, a few of them, or the type of what is none.

    >>> unpacked(packed(np.arange(3)))
    array([0, 1, 2])
    """
    if type(value) in (str, float) or (type(value) is int and abs(value) < 2**63):
        return {"plain": value}
    if isinstance(value, tuple) and len(value) < 5:
        return {"items": [packed(each) for each in value]}
    try:
        array = np.asarray(value)
    except Exception:
        return (
            {"items": [packed(each) for each in value]} if isinstance(value, list) and len(value) < 5 else _none(value)
        )
    if array.dtype.kind not in "fiub":
        return _none(value)
    data = base64.b64encode(array.tobytes()).decode() if array.nbytes <= MOST_BYTES // 2 else ""
    return {"type": type(value).__name__, "dtype": array.dtype.str, "shape": array.shape, "data": data}


def _none(value: Any) -> dict[str, Any]:
    return {"type": type(value).__name__}


def unpacked(given: Any) -> Any:
    """Return what ``packed`` was given; None where it was no array. Raises ValueError on what it cannot have sent."""
    if not isinstance(given, dict):
        raise ValueError("given must be a packed value")
    if type(given.get("plain")) in (str, int, float):
        return given["plain"]
    if "items" in given:
        return tuple(unpacked(each) for each in list(given["items"])[:5])
    if "dtype" not in given:
        return None
    dtype, shape = np.dtype(str(given["dtype"])[:8]), tuple(int(n) for n in list(given["shape"])[:32])
    if dtype.kind not in "fiub" or min(shape, default=0) < 0:
        raise ValueError("dtype must be one of numbers")
    data = base64.b64decode(str(given["data"]), validate=True)
    # What is too long to be sent is told by its shape.
    return np.frombuffer(data, dtype).reshape(shape).copy() if data else np.broadcast_to(np.zeros((), dtype), shape)


def failed(error: BaseException, path: str) -> dict[str, Any]:
    """Return an exception's name and text, and the lines of the student's file on its way."""
    try:
        detail = str(error)[:200]
    except Exception:  # a student's own __str__
        detail = ""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "detail": detail,
        "lines": [frame.lineno for frame in frames if frame.filename == path],
    }


def _answer(functions: dict[str, Any], request: dict[str, Any], path: str) -> dict[str, Any]:
    function = functions.get(request["name"])
    if not callable(function):
        return {"missing": True}
    try:
        value = function(*map(unpacked, request["arguments"]))
        return {"value": packed(value)}
    except BaseException as error:
        return failed(error, path)


def main(path: str) -> None:
    """Run the file, then answer requests, a line each, until there are no more."""
    import resource

    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))
    sys.path.append(os.path.dirname(path))
    functions: dict[str, Any] = {}
    broken: dict[str, Any] = {}
    try:
        # A student's file has any name and is no module; its `if __name__ == "__main__"` part does not run.
        functions = runpy.run_path(path, run_name="student")
    except BaseException as error:
        broken = failed(error, path)
    for line in requests:
        reply = broken or _answer(functions, json.loads(line), path)
        reply["borrowed"] = any(name.partition(".")[0] == "rope_core" for name in sys.modules)
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
