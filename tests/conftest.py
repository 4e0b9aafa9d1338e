"""What all tests share: the browser, or one line on how to get one."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from hypothesis import settings

# A shared machine's pauses are no failures.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# The fuzzing harness needs atheris, which `make fuzz` installs; it is a program and no test.
collect_ignore = ["fuzz/fuzz_check.py"]

T = TypeVar("T")
CHROMIUM = os.environ.get("ROPE_LAB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
HOW = "no Chromium was found: `apt-get install chromium fonts-wqy-microhei`, or name one in ROPE_LAB_CHROMIUM"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the browser tests out where there is no browser, unless the environment requires them."""
    if CHROMIUM:
        return
    if os.environ.get("ROPE_LAB_BROWSER") == "required":
        raise pytest.UsageError(f"the browser tests must run, but {HOW}")
    kept = [item for item in items if not item.get_closest_marker("browser")]
    config.stash[LEFT_OUT] = len(items) - len(kept)
    items[:] = kept


LEFT_OUT = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in one line that the browser tests did not run."""
    if not CHROMIUM:
        terminalreporter.write_line(f"browser tests left out: {HOW}")


@pytest.fixture
def small_models() -> Iterator[None]:
    """One thread, as models of a test's size cost more in waking a second than in arithmetic; weights are read anew."""
    import torch

    from rope_core.lab import records, weights

    threads, kept = torch.get_num_threads(), (weights.cards, weights.load, records.shipped)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    for each in kept:
        each.cache_clear()


def apart(run: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in a thread of its own: this one's event loop may be the browser's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(run())).result()
