"""numba's decorator with a disk cache that sees every edit of a room, and a lock around its parallel kernels."""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


class _OneAtATime:
    """A lock around every parallel kernel: OpenMP's pool in numba's fallback layer ends the process on two callers.

    The first launch starts numba's pool, which gives OpenMP the number of numba's threads and so overrides
    torch.set_num_threads; torch's number is put back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = False

    def __enter__(self) -> None:
        self._lock.acquire()
        torch = sys.modules.get("torch")
        self._threads = None if self._started or torch is None else torch.get_num_threads()

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            sys.modules["torch"].set_num_threads(self._threads)
        self._started = True
        self._lock.release()


ONE_AT_A_TIME = _OneAtATime()


@functools.cache
def _sources(folder: Path) -> str:
    """Return a digest of the Python files beside a compiled function."""
    text = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]


def name_with_source_hash(function: Callable[..., Any]) -> Callable[..., Any]:
    """Name a function after its room's sources too, and return it.

    numba keeps compiled code under that name until the function's own file changes, whatever it imports.
    """
    function.__qualname__ += f"_{_sources(Path(function.__code__.co_filename).parent)}"
    return function


def cached_njit(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return numba's decorator with its disk cache, or without it and with a warning where no cache can be written."""

    chosen = {"nogil": True} | options

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name_with_source_hash(function)
        try:
            return numba.njit(cache=True, **chosen)(function)  # type: ignore[no-any-return]
        except RuntimeError as error:
            warnings.warn(f"numba compiles anew in every process: {error}; set NUMBA_CACHE_DIR", stacklevel=2)
            return numba.njit(**chosen)(function)  # type: ignore[no-any-return]

    return decorate
