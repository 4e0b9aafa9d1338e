"""Whose script runs next in this process: few at once, of different visitors, who has used least comes first."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

# Runs that use the processor at once: they share one interpreter, and a second one takes the first one's pauses.
AT_ONCE = 2
# Runs at once together with those that wait for a file or for the hub.
MOST = 32
# Seconds after which an account has fallen to 1/e, and visitors of one address that are taken for a class.
MEMORY, CLASS = 10.0, 30
LOOK = 0.25
# The share of a look's time below which a run counts as one that waits.
IDLE = 0.02
ACCOUNTS, FORGOTTEN = 4096, 1e-3
HERE: WeakSet[Turns] = WeakSet()
"""The turns of all apps of this process."""


@dataclass
class _Account:
    """Seconds of processor, forgotten little by little."""

    seconds: float = 0.0
    at: float = 0.0

    def used(self, now: float) -> float:
        return self.seconds * math.exp((self.at - now) / MEMORY)

    def charge(self, seconds: float, now: float) -> None:
        self.seconds, self.at = self.used(now) + seconds, now


@dataclass
class _Address(_Account):
    visitors: dict[str, _Account] = field(default_factory=dict)


class Turns:
    """The runs of a process, and who waits for one. Used on the event loop's thread alone.

    Visitors take turns by what they used in the last seconds, a little by what their address used; a visitor who has
    only just come starts with the average of the address, so that nobody gains by coming under a new name.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._held: list[Turn] = []
        self._waiting: list[Turn] = []
        self._addresses: dict[str, _Address] = {}
        self._look: asyncio.TimerHandle | None = None
        self._here: set[Turn] = set()
        HERE.add(self)

    def enter(self, turn: Turn) -> None:
        """Note that a socket is open."""
        self._here.add(turn)

    def leave(self, turn: Turn) -> None:
        """Note that a socket is closed."""
        self._here.discard(turn)
        if turn in self._waiting:
            self._waiting.remove(turn)

    def visitors(self) -> list[dict[str, Any]]:
        """Return who is here, with open sockets and the seconds of processor of late; from any thread."""
        open_now, now = Counter(turn.visitor for turn in tuple(self._here)), self._now()
        accounts = [each for address in tuple(self._addresses.values()) for each in tuple(address.visitors.items())]
        used = {visitor: account.used(now) for visitor, account in accounts}
        return [
            {"visitor": visitor, "sockets": count, "seconds": used.get(visitor, 0.0)}
            for visitor, count in open_now.items()
        ]

    def ask(self, turn: Turn) -> None:
        """Let a run begin, now or in its turn; where nobody else waits it may replace the one before it."""
        if turn in self._held and not self._waiting and turn.threads < 2:
            turn.begin()
        else:
            self._waiting.append(turn)
            self._next()

    def free(self, turn: Turn) -> None:
        """Give a place back."""
        if turn in self._held:
            self._held.remove(turn)
            self._next()

    def charge(self, turn: Turn, seconds: float) -> None:
        """Note the seconds of processor of a run that is over."""
        now = self._now()
        for account in self._accounts(turn, now):
            account.charge(seconds, now)
        if sum(len(each.visitors) for each in self._addresses.values()) > ACCOUNTS:
            self._forget(now)

    def _accounts(self, turn: Turn, now: float) -> tuple[_Address, _Account]:
        address = self._addresses.setdefault(turn.address, _Address(at=now))
        if turn.visitor not in address.visitors:
            average = address.used(now) / max(1, len(address.visitors))
            address.visitors[turn.visitor] = _Account(average, now)
        return address, address.visitors[turn.visitor]

    def _forget(self, now: float) -> None:
        for name, address in list(self._addresses.items()):
            kept = {visitor: each for visitor, each in address.visitors.items() if each.used(now) > FORGOTTEN}
            address.visitors = kept
            if not kept:
                del self._addresses[name]

    def _used(self, turn: Turn) -> float:
        now = self._now()
        address, visitor = self._accounts(turn, now)
        return visitor.used(now) + address.used(now) / CLASS

    def _next(self) -> None:
        """Let those begin for whom there is a place."""
        while len(self._held) < MOST and sum(not each.idle for each in self._held) < AT_ONCE:
            here = {each.visitor for each in self._held}
            others = [each for each in self._waiting if each.visitor not in here]
            ready = others or [each for each in self._waiting if each not in self._held]
            if not ready:
                break
            turn = min(ready, key=self._used)
            self._waiting.remove(turn)
            self._held.append(turn)
            turn.begin()
        if self._waiting and self._look is None:
            self._look = asyncio.get_running_loop().call_later(LOOK, self._watch)

    def _watch(self) -> None:
        """See which runs use no processor: they hold up nobody."""
        self._look = None
        for turn in self._held:
            turn.look()
        self._next()


class Turn:
    """One socket's part: what it waits for, and the threads that run its session's script."""

    def __init__(self, turns: Turns, visitor: str, address: str) -> None:
        self._turns, self.visitor, self.address = turns, visitor, address
        self.coming: asyncio.Future[None] | None = None
        self.idle = False
        self._clocks: list[_Clock] = []
        self._seen = 0.0
        turns.enter(self)

    @property
    def threads(self) -> int:
        """How many threads run the session's script: two for a moment, where one takes the other's place."""
        return len(self._clocks)

    def begin(self) -> None:
        """Tell who waits that the place is there."""
        self.idle, self._seen = False, 0.0
        if self.coming is not None and not self.coming.done():
            self.coming.set_result(None)

    def ask(self) -> asyncio.Future[None]:
        """Return what is done once a run may begin."""
        self.coming = asyncio.get_running_loop().create_future()
        self._turns.ask(self)
        return self.coming

    def settle(self) -> None:
        """Give the place back where nothing runs: a message need not lead to a run."""
        if not self._clocks:
            self._turns.free(self)

    def leave(self) -> None:
        """Note that the socket is closed; a thread that still runs gives the place back."""
        self._turns.leave(self)
        self.settle()

    def look(self) -> None:
        """Note whether the threads have used any processor since the last look."""
        used = sum(clock.read() for clock in self._clocks)
        self.idle, self._seen = bool(self._clocks) and used - self._seen < IDLE * LOOK, used

    def started(self, clock: _Clock) -> None:
        """Note a thread that begins."""
        self._clocks.append(clock)

    def over(self, clock: _Clock, seconds: float) -> None:
        """Note a thread that has ended."""
        self._clocks.remove(clock)
        self._turns.charge(self, seconds)
        self.settle()


TURN: ContextVar[Turn] = ContextVar("turn")


class _Clock:
    """The processor time of a thread that runs, read by another one: only as long as the thread is there."""

    def __init__(self) -> None:
        self._lock, self._id, self._last = threading.Lock(), 0, 0.0

    def start(self) -> None:
        """Begin with the calling thread, where the system (other than macOS) has a clock for each."""
        if hasattr(time, "pthread_getcpuclockid"):
            self._id = time.pthread_getcpuclockid(threading.get_ident())

    def read(self) -> float:
        with self._lock:
            if self._id:
                self._last = time.clock_gettime(self._id)
            else:
                self._last += LOOK
            return self._last

    def stop(self) -> float:
        with self._lock:
            self._id = 0
        return time.thread_time()


class _Runner(ScriptRunner):
    """Streamlit's thread for a session's script, begun and ended before the eyes of the socket that wants it."""

    def start(self) -> None:
        self._turn = TURN.get(None)
        if self._turn is None:
            super().start()
            return
        self._loop, self._clock = asyncio.get_running_loop(), _Clock()
        self._turn.started(self._clock)
        try:
            super().start()
        except BaseException:
            self._turn.over(self._clock, 0.0)
            raise

    def _run_script_thread(self) -> None:
        if self._turn is None:
            super()._run_script_thread()
            return
        self._clock.start()
        try:
            super()._run_script_thread()
        finally:
            seconds = self._clock.stop()
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._turn.over, self._clock, seconds)


def visitors() -> list[dict[str, Any]]:
    """Return who is at this process."""
    return [row for turns in tuple(HERE) for row in turns.visitors()]


def watch() -> None:
    """Have Streamlit run scripts in threads whose beginning and end is seen."""
    app_session.ScriptRunner = _Runner  # type: ignore[attr-defined]
