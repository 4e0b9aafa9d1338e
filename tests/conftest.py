"""What all tests share: the browser, or one line on how to get one."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from benchmarks.servers import ROOT, served

# Models of a test's size cost more in waking a second thread, and in its waiting for work, than in arithmetic; what a
# test starts inherits it. Inductor compiles in this process: its pool of others imports torch once more.
os.environ.update(OMP_NUM_THREADS="1", TORCHINDUCTOR_COMPILE_THREADS="1")

# A shared machine's pauses are no failures.
settings.register_profile("anew", deadline=None)
settings.register_profile("alike", deadline=None, derandomize=True)

# The fuzzing harnesses need atheris, which `make fuzz` installs; they are programs and no tests.
collect_ignore = ["fuzz/fuzz_check.py", "fuzz/fuzz_weights.py"]

T = TypeVar("T")
SHARED = {
    "pages": ("tests/browser/test_pages.py", "tests/browser/test_accessibility.py"),
    "book": ("tests/browser/test_book.py", "tests/browser/test_hall.py"),
    "server": ("tests/browser/", "tests/ui/served/test_moves.py"),
    "kernels": tuple(f"tests/rope_core/{room}/" for room in ("bench", "kernels", "lrpe")),
    "families": ("tests/rope_core/hf/test_ropes.py", "tests/rope_core/hf/test_sweep.py"),
    "sources": (
        "tests/test_architecture.py",
        "tests/test_language.py",
        "tests/test_security.py",
        "tests/rope_core/test_errors.py",
    ),
}
"""Files whose tests share what is costly: a server and a browser, the book, modules, sources. The first that fits."""
CHROMIUM = os.environ.get("ROPE_LAB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
HOW = "no Chromium was found: `apt-get install chromium fonts-wqy-microhei`, or name one in ROPE_LAB_CHROMIUM"


@pytest.fixture(autouse=True)
def no_part_of_a_page_is_broken(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which a page had to leave a part undrawn."""
    yield
    if "broken_part" not in request.keywords:
        assert not [each.exc_text for each in caplog.get_records("call") if each.name == "ui.page.frame"]


def shared(nodeid: str) -> str:
    """Return what a test shares with others, or its file."""
    file = nodeid.partition("::")[0]
    return next((name for name, files in SHARED.items() if file.startswith(files)), file)


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same inputs in every run of what a change must pass, and others in every long run."""
    settings.load_profile("alike" if "not long" in config.option.markexpr else "anew")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the million objects of what is imported: it costs half of the collection."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep on one of xdist's workers what shares something costly, and each file.

    xdist 3.8 hands its own groups on in a test's id, which pytest 9.2 does not let it change: each test was alone
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """
    if config.getoption("dist") != "loadgroup":
        return None
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = shared
    return scheduler


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


@pytest.fixture(scope="session", autouse=True)
def components() -> Iterator[None]:
    """Read what is installed once: AppTest looks for components in the metadata of every package at each fresh run."""
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


def children(of: int | str = "self") -> set[int]:
    """Return the processes that a process has started and that nobody has waited for (Linux)."""
    pids: set[int] = set()
    for task in Path(f"/proc/{of}/task").glob("*"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            pids.update(int(word) for word in (task / "children").read_text("ascii").split())
    return pids


def begun(pid: int) -> int:
    """Return the tick of the machine's clock at which a process began (Linux)."""
    return int(Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace").rpartition(")")[2].split()[19])


@pytest.fixture(autouse=True)
def no_child_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """End the processes that a test has started, passed or failed: they would go on beside all other tests.

    The lists of children can miss one while a thread or another child ends, so a process counts by when it began: the
    browser and the servers of the session are older. A hall that tests share starts its own anew when they are killed,
    and ends them.
    """
    before, start = children(), time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else 0.0
    yield
    for left in children() - before if "hall" not in request.fixturenames else ():
        with contextlib.suppress(OSError):  # it has ended, or whoever started it has waited for it
            if begun(left) >= int(start * os.sysconf("SC_CLK_TCK")):
                os.kill(left, signal.SIGKILL)
                os.waitpid(left, 0)


@pytest.fixture(scope="session")
def app_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the shared server's records."""
    return tmp_path_factory.mktemp("server") / "records.sqlite3"


@pytest.fixture(scope="session")
def app(app_records: Path) -> Iterator[str]:
    """One server for the tests that do not mind who was there before, with records of its own."""
    entry = ROOT / "tests/support/app_with_jobs.py"
    with served(entry, ROPE_LAB_RECORDS=str(app_records)) as url:
        yield url


@pytest.fixture
def small_models() -> Iterator[None]:
    """Weights that a test writes are read anew by the next."""
    from rope_core.lab import records, weights

    kept = weights.load_shipped_model, records.shipped_record
    yield
    for each in kept:
        each.cache_clear()


def apart(run: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine in a thread of its own: this one's event loop may be the browser's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(run())).result()
