"""The hall: replicas and nginx, started, watched, restarted one after another, and stopped."""

import contextlib
import ctypes
import fcntl
import http.client
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.proxy import ROOT, Site, compress, configuration, program
from rope_core.jobs.control import PREFIX

TICK = 0.2
START_SECONDS = 120.0
STOP_SECONDS = 10.0
OPEN_SECONDS = 10.0
CHECK_SECONDS = 5.0
# Checks that may go unanswered in a row: by a process that does nothing, and by one that is at work.
CHECKS_MISSED, CHECKS_MISSED_AT_WORK = 3, 12
AT_WORK = 0.2
LOCK, CHECK = "lock", "check.sock"
# What visitors may start: their runs would take the machine from the lecture.
QUIET = {"ROPE_LAB_BENCH": "off", "ROPE_LAB_MEASURE": "off"}
LONGEST_PAUSE = 30.0
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Line(http.client.HTTPConnection):
    """An HTTP connection over a Unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        """Connect to the socket's path."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


def answers(path: Path, check: str) -> bool:
    """Whether the server on the socket answers a check with "ok"."""
    with contextlib.closing(Line(path, 3.0)) as line:
        try:
            line.request("GET", f"/_stcore/{check}")
            answer = line.getresponse()
            return answer.status == 200 and answer.read() == b"ok"
        except (OSError, http.client.HTTPException):
            return False


def follow(number: int) -> Callable[[], None]:
    """Return what a new process does first: take this signal when the one that started it ends (on Linux)."""

    def ask() -> None:
        if LIBC is not None:
            LIBC.prctl(PR_SET_PDEATHSIG, number)

    return ask


def worked(pid: int) -> float:
    """Return the seconds of processor that a process has used; 0 where the system (other than Linux) does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def end(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process and to the children it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def clear() -> None:
    """Remove the folders of this user's halls that were killed: nobody holds their locks."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (folder / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Replica:
    """One place among the replicas: the process that serves it, the one that will, and those on their way out.

    A process starts on a socket of its own. Once its script runs, the socket is renamed to the place's name, so that
    nginx finds the new process with the next connection and no request is refused.
    """

    place: Path
    launch: Callable[[Path], subprocess.Popen[bytes]]
    serving: subprocess.Popen[bytes] | None = None
    coming: subprocess.Popen[bytes] | None = None
    leaving: list[tuple[subprocess.Popen[bytes], float]] = field(default_factory=list)
    starts: int = 0
    failures: int = 0
    _since: float = 0.0
    _not_before: float = 0.0
    _checked: float = 0.0
    _worked: float = 0.0
    _missed: int = 0

    @property
    def settled(self) -> bool:
        """Whether a process serves the place and none comes or goes."""
        return self.serving is not None and self.coming is None and not self.leaving

    @property
    def socket(self) -> Path:
        """The socket of the process that is coming."""
        return self.place.with_suffix(f".{self.starts}.sock")

    def begin(self) -> None:
        """Start the next process for this place."""
        self.starts += 1
        self.coming, self._since = self.launch(self.socket), time.monotonic()

    def tick(self, others_here: bool = True) -> None:
        """Look after the place once: promote who is ready, replace who has died or hangs, see off who leaves.

        A process that does nothing ends at once, unless another place is away too: then, and where it is at work, its
        successor serves before it ends. Of processes at work one is replaced at a time.
        """
        now = time.monotonic()
        self._see_off(now)
        if self.coming is not None:
            self._await(now)
        if self.serving is not None:
            self._watch(now, others_here)
        if self.serving is None and self.coming is None and now >= self._not_before:
            self.begin()

    def _await(self, now: float) -> None:
        assert self.coming is not None
        if answers(self.socket, "script-health-check"):
            if self.serving is not None:
                self.dismiss(self.serving)
            os.replace(self.socket, self.place)
            self.serving, self.coming, self.failures, self._missed = self.coming, None, 0, 0
            self._checked = now
            say(f"{self.place.stem}: serving, process {self.serving.pid}, after {now - self._since:.1f} s")
        elif self.coming.poll() is not None or now - self._since > START_SECONDS:
            end(self.coming, signal.SIGKILL)
            self.coming = None
            self.failures += 1
            self._not_before = now + min(LONGEST_PAUSE, 2.0**self.failures)
            say(f"{self.place.stem}: did not start; next try in {self._not_before - now:.0f} s")

    def _watch(self, now: float, others_here: bool) -> None:
        assert self.serving is not None
        if self.serving.poll() is not None:
            say(f"{self.place.stem}: process {self.serving.pid} has ended with {self.serving.returncode}")
            end(self.serving, signal.SIGKILL)
            self.serving = None
        elif now - self._checked > CHECK_SECONDS:
            work = worked(self.serving.pid)
            at_work = work - self._worked > AT_WORK * (now - self._checked)
            self._checked, self._worked = now, work
            self._missed = 0 if answers(self.place, "health") else self._missed + 1
            late = self._missed >= (CHECKS_MISSED_AT_WORK if at_work else CHECKS_MISSED)
            if late and others_here and not at_work:
                say(f"{self.place.stem}: process {self.serving.pid} does not answer")
                end(self.serving, signal.SIGKILL)
            elif late and (others_here or not at_work) and self.coming is None and now >= self._not_before:
                say(f"{self.place.stem}: process {self.serving.pid} does not answer; its successor starts")
                self.begin()

    def dismiss(self, process: subprocess.Popen[bytes]) -> None:
        """Ask a process to finish; ``tick`` ends it when it takes too long."""
        process.terminate()
        self.leaving.append((process, time.monotonic() + STOP_SECONDS))

    def _see_off(self, now: float) -> None:
        for process, until in list(self.leaving):
            if process.poll() is not None or now > until:
                end(process, signal.SIGKILL)
                process.wait()
                self.leaving.remove((process, until))


class Hall:
    """Replicas of the app behind nginx.

    Args:
        site: where nginx listens and what it lets in.
        replicas: how many processes serve the app.
        app: the app as "module:name", importable from the project's folder.
    """

    def __init__(self, site: Site, replicas: int, app: str = "app:app") -> None:
        if replicas < 1:
            raise ValueError(f"replicas must be at least 1, got {replicas}")
        self.site, self.app = site, app
        self.nginx = program()
        site.check()
        clear()
        self.run = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.run.chmod(0o711)
        self.lock = (self.run / LOCK).open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.secret, self.operator = secrets.token_hex(32), secrets.token_hex(16)
        self.replicas = [Replica(self.run / f"r{index}.sock", self._launch) for index in range(replicas)]
        self.proxy: subprocess.Popen[bytes] | None = None
        self.turns: deque[Replica] = deque()
        self.stopping = False
        self._checked, self._missed = 0.0, 0

    def _launch(self, address: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "deploy.replica", "--app", self.app, "--socket", str(address)]
        command += ["--hosts", *self.site.hosts]
        environment = QUIET | os.environ | {"STREAMLIT_SERVER_COOKIE_SECRET": self.secret}
        environment["ROPE_LAB_OPERATOR"] = self.operator
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, start_new_session=True, preexec_fn=follow(signal.SIGKILL)
        )

    def start(self) -> None:
        """Start everything and wait until all replicas serve; raises RuntimeError when they do not."""
        for replica in self.replicas:
            replica.begin()
        compress(self.run)
        (self.run / "nginx.conf").write_text(configuration(self.site, self.run, len(self.replicas)), "utf-8")
        until = time.monotonic() + START_SECONDS
        while not all(replica.settled for replica in self.replicas):
            if self.stopping:
                return
            if time.monotonic() > until or any(replica.failures > 1 for replica in self.replicas):
                raise RuntimeError("the replicas did not start; their messages stand above")
            self.tick()
            time.sleep(TICK)
        self._open()

    def _open(self) -> None:
        """Start nginx and wait until it has bound its port, which it says by writing its number."""
        number, check = self.run / "nginx.pid", self.run / CHECK
        for left in (number, check):
            left.unlink(missing_ok=True)
        command = [self.nginx, "-c", str(self.run / "nginx.conf"), "-p", str(self.run), "-e", "stderr"]
        self.proxy = subprocess.Popen(command, start_new_session=True, preexec_fn=follow(signal.SIGTERM))
        until = time.monotonic() + OPEN_SECONDS
        while not number.exists():
            if self.proxy.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"nginx did not start on {self.site.listen}; its message stands above")
            time.sleep(0.05)
        self._checked, self._missed = time.monotonic(), 0

    def restart(self) -> None:
        """Replace all replicas, one after another, each only when its successor serves."""
        self.turns = deque(self.replicas)

    def tick(self) -> None:
        """Look after everything once."""
        for replica in self.replicas:
            replica.tick(all(other.settled for other in self.replicas if other is not replica))
        if self.turns and all(replica.settled for replica in self.replicas):
            self.turns.popleft().begin()
        if self.proxy is not None and not self.stopping and (why := self._proxy_fails(self.proxy)):
            say(f"nginx {why}")
            # Its workers may live on, with the port.
            end(self.proxy, signal.SIGKILL)
            self.proxy.wait()
            self._open()

    def _proxy_fails(self, proxy: subprocess.Popen[bytes]) -> str:
        """Return what is wrong with nginx, "" where nothing is."""
        if proxy.poll() is not None:
            return f"has ended with {proxy.returncode}"
        if time.monotonic() - self._checked > CHECK_SECONDS:
            self._missed = 0 if answers(self.run / CHECK, "health") else self._missed + 1
            self._checked = time.monotonic()
        return "does not answer" if self._missed >= CHECKS_MISSED else ""

    def watch(self) -> None:
        """Look after everything until ``stopping`` is set."""
        while not self.stopping:
            self.tick()
            time.sleep(TICK)

    def stop(self) -> None:
        """End nginx and all replicas, and clear away what was written."""
        processes = [
            each for replica in self.replicas for each in (replica.serving, replica.coming) if each is not None
        ]
        processes += [process for replica in self.replicas for process, _ in replica.leaving]
        processes += [self.proxy] if self.proxy is not None else []
        for process in processes:
            process.terminate()
        until = time.monotonic() + STOP_SECONDS
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, until - time.monotonic()))
            end(process, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.run, ignore_errors=True)
        self.lock.close()


def say(sentence: str) -> None:
    """Tell the operator."""
    print(f"{time.strftime('%H:%M:%S')} {sentence}", file=sys.stderr, flush=True)
