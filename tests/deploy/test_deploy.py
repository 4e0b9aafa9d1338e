"""The hall's settings, its nginx and its watch over the replicas, with real processes on the loopback."""

import asyncio
import contextlib
import fcntl
import gzip
import http.client
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.servers import ROOT, free_port
from benchmarks.sessions import Session, Visit, sessions
from deploy.__main__ import main
from deploy.hall import CHECK_SECONDS, CHECKS_MISSED, LOCK, Hall, Replica, clear
from deploy.proxy import Limits, Site, configuration, inline_scripts, policy
from deploy.replica import QUIET_SECONDS, Once
from rope_core.jobs import control
from rope_core.jobs.queue import Queue
from tests.conftest import apart, children
from tests.support.attacks import message
from tests.support.nginx import FLOOR, active_sessions, alive, ask, needs_nginx, served_hall, wait_until
from ui.present.tally import Tally

# Few enough for a test to reach.
LIMITS = Limits(student_rate=5, student_burst=40, stranger_rate=5, stranger_burst=320, header_seconds=1)
BOUNDED = "tests.support.bounded_floor:app"


@pytest.mark.parametrize(
    "wrong, rule",
    [
        ({"hosts": ("rope.example; return 200",)}, "host must be a name"),
        ({"hosts": ("rope.example:80",)}, "host must be a name"),
        ({"hosts": ("",)}, "host must be a name"),
        ({"listen": "8080"}, "listen must be ADDRESS:PORT"),
        ({"listen": "127.0.0.1:80; user root"}, "listen must be ADDRESS:PORT"),
        ({"frame_ancestors": '*"; add_header X-Evil "1'}, "frame_ancestors must be"),
        ({"certificate": Path("hall.pem")}, "certificate must be given together with its key"),
        ({"listen": "127.0.0.1:99999"}, "port must be from 1 to 65535, got 99999"),
        ({"listen": "127.0.0.1:0"}, "port must be from 1 to 65535, got 0"),
        ({"proxies": ("0.0.0.0/0 1; } #",)}, "proxies must be addresses or networks"),
    ],
)
def test_a_setting_that_would_break_the_configuration_is_refused(wrong: dict[str, object], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Site(**wrong)  # type: ignore[arg-type]


def test_the_policy_names_the_hash_of_every_inline_script(tmp_path: Path) -> None:
    bare = set(inline_scripts(tmp_path))
    (tmp_path / "page.py").write_text('HTML = """<script>\nalert(1)\n</script>"""\n', "utf-8")
    # printf '\nalert(1)\n' | openssl dgst -sha256 -binary | base64
    assert set(inline_scripts(tmp_path)) - bare == {"J8+4/wmqNoqVGih0Xof49bzVEIwR8aHhR5HvZK1wlzY="}
    (tmp_path / "page.py").unlink()
    (tmp_path / "page.js").write_text("\nalert(1)\n", "utf-8")
    assert set(inline_scripts(tmp_path)) - bare == {"J8+4/wmqNoqVGih0Xof49bzVEIwR8aHhR5HvZK1wlzY="}
    allowed = dict(part.split(" ", 1) for part in policy(Site()).split("; "))
    assert allowed["default-src"] == "'none'"
    assert re.fullmatch(r"'self'( 'sha256-[A-Za-z0-9+/]{43}=')+", allowed["script-src"])
    assert all("*" not in sources and "http" not in sources for sources in allowed.values())


def test_cookies_of_a_framed_hall_are_made_for_a_third_party(tmp_path: Path) -> None:
    keys = {"certificate": tmp_path / "c.pem", "key": tmp_path / "k.pem"}
    own = configuration(Site(**keys), tmp_path, 2)  # type: ignore[arg-type]
    framed = configuration(Site(frame_ancestors="https://moodle.example", **keys), tmp_path, 2)  # type: ignore[arg-type]
    assert "Secure; SameSite=Lax" in own and "X-Frame-Options SAMEORIGIN" in own and "Strict-Transport" in own
    assert "Secure; SameSite=None; Partitioned" in framed and "X-Frame-Options" not in framed
    assert "frame-ancestors https://moodle.example" in framed and "frame-ancestors 'self'" in own
    assert "Secure" not in configuration(Site(), tmp_path, 2)


def test_a_missing_nginx_is_one_sentence(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import deploy.proxy as p, shutil; p.shutil.which = lambda *a, **k: None\n"
         "import runpy, sys; sys.argv = ['deploy']; runpy.run_module('deploy', run_name='__main__')"],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 1
    assert run.stderr.strip() == (
        "nginx must be installed (`apt-get install nginx-light`, `brew install nginx`), got no such program"
    )


@pytest.mark.parametrize(
    "more, rule",
    [
        (["--port", "99999"], r"port must be from 1 to 65535, got 99999"),
        (["--replicas", "0"], r"replicas must be at least 1, got 0"),
        (["--certificate", "none.pem", "--key", "none.key"], r"certificate and key must be PEM files .* none.pem"),
        (["--address", "192.0.2.1"], r"listen must be an address that is free here, got 192.0.2.1:\d+: .*assign"),
        ([], r"listen must be an address that is free here, got 127.0.0.1:\d+: .*in use"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_starts(
    more: list[str], rule: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(sys, "argv", ["deploy", "--port", str(taken.getsockname()[1]), *more])
        assert main() == 1
    text = capsys.readouterr()
    assert re.fullmatch(rule, text.err.strip()) if rule.endswith("use") else re.match(rule, text.err)
    assert len(text.err.strip().splitlines()) == 1 and not text.out


def test_an_operator_lists_and_cancels_the_work_of_all_replicas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    run = tmp_path / f"{control.PREFIX}x"
    run.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(run / "1.jobs"))
    queue = Queue()
    control.serve(queue, run / "2.jobs")
    job = queue.submit("rope_core.jobs.child", ["http.server", "0"], owner="visitor", title="a run")
    try:
        for words, code, text in (
            ([], 0, f"{job}  "),
            (["--cancel", "none"], 1, "--cancel must be the id of a job that waits or runs, got 'none'"),
            (["--cancel", job], 0, "jobs"),
        ):
            monkeypatch.setattr(sys, "argv", ["deploy", "jobs", *words])
            assert main() == code
            assert text in "".join(capsys.readouterr())
        assert queue.wait(job, 120).state == "cancelled"
    finally:
        queue.close()


def test_an_operator_lists_rooms_takes_their_votes_and_closes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROPE_LAB_ROOMS", str(tmp_path / "rooms.sqlite3"))
    tally = Tally()
    for name in ("a", "b"):
        tally.host(name, "key")
    tally.answer("a", "lecture/3", "token", 1)
    for words, code, text in (
        ([], 0, "2 rooms"),
        (["--votes"], 0, "room,question,choice,votes\r\na,lecture/3,2,1\r\n"),
        (["--close", "c"], 1, "--close must be a room that is open, got 'c'"),
        (["--close", "A"], 0, "1 rooms"),
        (["--clear"], 0, "0 rooms"),
    ):
        monkeypatch.setattr(sys, "argv", ["deploy", "rooms", *words])
        assert main() == code
        assert text in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "per_check, others_here, checks, killed, started",
    [(0.0, True, 3, 1, 0), (4.0, True, 12, 0, 1), (0.0, False, 3, 0, 1), (4.0, False, 12, 0, 0)],
)
def test_the_watch_is_patient_and_ends_no_second_place(
    per_check: float,
    others_here: bool,
    checks: int,
    killed: int,
    started: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A process that answers no check, and uses so many seconds of its processor between two of them."""
    clock, ended, begun = [0.0], list[int](), list[Path]()
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr("deploy.hall.answers", lambda *_: False)
    monkeypatch.setattr("deploy.hall.worked", lambda _: per_check * clock[0] / CHECK_SECONDS)
    monkeypatch.setattr("deploy.hall.end", lambda process, _: ended.append(process.pid))
    with subprocess.Popen(["sleep", "60"]) as process:

        def launch(socket: Path) -> subprocess.Popen[bytes]:
            begun.append(socket)
            return process

        replica = Replica(tmp_path / "r0.sock", launch, serving=process)
        for check in range(checks):
            assert (len(ended), len(begun)) == (0, 0), check
            clock[0] += CHECK_SECONDS + 0.1
            replica.tick(others_here)
        process.kill()
    assert (len(ended), len(begun)) == (killed, started)


@pytest.fixture(scope="module")
def hall() -> Iterator[tuple[Hall, str]]:
    with served_hall(2, BOUNDED, LIMITS, proxies=("127.0.0.1",)) as result:
        yield result


@needs_nginx
def test_headers_stand_on_every_answer(hall: tuple[Hall, str]) -> None:
    for path in ("/", "/frequencies", "/_stcore/metrics", "/static/none.js", "/_stcore/health"):
        headers = ask(hall[1], path).headers
        assert "script-src 'self'" in headers["Content-Security-Policy"], path
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        assert headers["Referrer-Policy"] == "same-origin"
        assert "camera=()" in headers["Permissions-Policy"]
        assert headers["Server"] == "nginx"


@needs_nginx
@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/_stcore/metrics?families=active_sessions",
        "//_stcore//metrics",
        "/x/../_stcore/metrics",
        "/%5Fstcore/metrics",
        "/_stcore/%6Detrics",
        "/static/../_stcore/metrics",
        "/_stcore/health/../metrics",
        "/_stcore/script-health-check",
        "/_stcore/agent/interact",
        "/component/x/index.html",
    ],
)
def test_what_is_the_operators_is_not_outside(hall: tuple[Hall, str], path: str) -> None:
    assert ask(hall[1], path).status in (400, 404)


@needs_nginx
def test_what_no_visitor_needs_is_turned_away(hall: tuple[Hall, str]) -> None:
    _, url = hall
    assert ask(url, "/", Host="evil.example").status == 421
    assert ask(url, "/", Host="localhost").status == 200
    assert ask(url, "/", "POST", b"x").status == 403
    assert ask(url, "/_stcore/upload_file/a/b", "PUT", b"x" * 7 * 2**20).status == 413
    assert ask(url, "/_stcore/upload_file/a/b", "PUT", b"x" * 2**20).status == 403
    assert ask(url, "/static/../../../../../../etc/passwd").status in (400, 404)
    assert ask(url, "/static/..%2f..%2fnginx.conf").status in (400, 404)


@needs_nginx
def test_the_bundle_comes_compressed_and_the_same(hall: tuple[Hall, str]) -> None:
    script = re.search(rb'src="\.(/static/js/index\.[^"]+)"', (_index(hall[1])))
    assert script is not None
    path = script[1].decode()
    line = http.client.HTTPConnection(hall[1].split("://")[1])
    line.request("GET", path, headers={"Accept-Encoding": "gzip"})
    packed = line.getresponse()
    small = packed.read()
    line.request("GET", path)
    whole = line.getresponse().read()
    line.close()
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(small) == whole
    assert len(small) < 0.5 * len(whole)
    assert "max-age=31536000" in packed.headers["Cache-Control"]


def _index(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


@needs_nginx
def test_a_cookie_keeps_its_replica_and_cookies_are_spread(hall: tuple[Hall, str]) -> None:
    result, url = hall

    async def visits() -> None:
        wait_until(lambda: sum(active_sessions(result)) == 0)
        async with sessions(Visit(url), 1) as (first,):
            before = active_sessions(result)
            same = [Session(Visit(url), cookies=dict(first.cookies)) for _ in range(4)]
            for each in same:
                await each.open()
            wait_until(lambda: sum(active_sessions(result)) == sum(before) + 4)
            after = active_sessions(result)
            assert sorted(b - a for a, b in zip(before, after, strict=True)) == [0, 4]
            for each in same:
                await each.close()
        async with sessions(Visit(url), 16):
            wait_until(lambda: min(active_sessions(result)) >= 2)

    apart(visits)


@needs_nginx
def test_one_address_may_be_a_whole_hall_and_one_cookie_may_not(hall: tuple[Hall, str]) -> None:
    _, url = hall
    students = [f"rope_place={uuid.uuid4().hex}" for _ in range(300)]
    assert {ask(url, "/static/none.js", Cookie=cookie).status for cookie in students} == {404}
    # A burst is let in, and whoever goes on faster than the rate is refused in the end, however slow the machine is.
    assert refused(url, students[0]) >= LIMITS.student_burst - 1
    assert ask(url, "/static/none.js", Cookie=students[1]).status == 404
    # All without a cookie are one stranger, those of the tests before this one among them.
    assert refused(url, "rope_place=made-up") > 5 * LIMITS.student_burst


def refused(url: str, cookie: str, most: int = 3000) -> int:
    """Return how many requests of one cookie, one after the other, are let in before the first that is not."""
    for count in range(most):
        status = ask(url, "/static/none.js", Cookie=cookie).status
        if status == 429:
            return count
        assert status == 404
    raise AssertionError(f"none of {most} requests was refused")


@needs_nginx
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_nothing_outlives_a_hall_that_is_killed() -> None:
    port = str(free_port())
    command = [sys.executable, "-m", "deploy", "--replicas", "1", "--port", port, "--app", FLOOR]
    supervisor = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)

    def served() -> bool:
        try:
            return ask(f"http://127.0.0.1:{port}", "/_stcore/health").status == 200
        except OSError:
            return False

    try:
        wait_until(served)
        run = children(supervisor.pid)
        assert len(run) == 2
        run |= {pid for child in run for pid in children(child)}
    finally:
        supervisor.kill()
        supervisor.wait()
    wait_until(lambda: not any(alive(pid) for pid in run))
    assert not served()


@needs_nginx
def test_a_websocket_of_another_site_is_refused(hall: tuple[Hall, str]) -> None:
    _, url = hall

    async def knock() -> None:
        own, secure = url, url.replace("http", "https")
        for origin, scheme in (("https://evil.example", "http"), (secure, "http"), (own, "https")):
            with pytest.raises(websockets.InvalidStatus, match="403"):
                await opened(origin, scheme)
        await opened(own, "http")
        await opened(secure, "https")

    async def opened(origin: str, scheme: str) -> None:
        """Open a websocket by way of a proxy in front of the hall that is trusted."""
        headers = {"Cookie": f"rope_place={uuid.uuid4().hex}", "X-Forwarded-Proto": scheme}
        stream = url.replace("http", "ws") + "/_stcore/stream"
        page = websockets.Origin(origin)
        async with websockets.connect(stream, origin=page, additional_headers=headers, proxy=None):
            pass

    apart(knock)


@needs_nginx
def test_a_killed_replica_costs_one_reconnect_and_comes_back(hall: tuple[Hall, str]) -> None:
    result, url = hall

    async def lecture() -> None:
        async with sessions(Visit(url), 1) as (student,):
            wait_until(lambda: sorted(active_sessions(result)) == [0, 1])
            here = active_sessions(result).index(1)
            victim = result.replicas[here].serving
            assert victim is not None
            os.killpg(victim.pid, signal.SIGKILL)
            await student.close()
            await student.open()
            await student.move()
            assert student.cookies["rope_home"] == str(1 - here)
            place = result.replicas[here]
            wait_until(lambda: place.settled and place.serving is not victim)
            # The first replica is back, and the student's next requests still go where the session is.
            again = Session(Visit(url), cookies=dict(student.cookies))
            await again.open()
            wait_until(lambda: active_sessions(result)[1 - here] == 2)
            await again.close()

    apart(lecture)


@needs_nginx
@pytest.mark.skipif(sys.platform != "linux", reason="children are listed in /proc")
def test_workers_do_not_outlive_their_nginx_and_the_next_one_serves(hall: tuple[Hall, str]) -> None:
    result, url = hall
    master = result.proxy
    assert master is not None
    workers = children(master.pid)
    os.kill(master.pid, signal.SIGKILL)
    wait_until(lambda: result.proxy is not master and (result.run / "nginx.pid").exists())
    assert workers and not any(alive(pid) for pid in workers)
    assert ask(url, "/_stcore/health").status == 200


@needs_nginx
def test_a_stopped_nginx_is_noticed_and_replaced(hall: tuple[Hall, str], monkeypatch: pytest.MonkeyPatch) -> None:
    result, url = hall
    monkeypatch.setattr("deploy.hall.CHECK_SECONDS", 0.1)
    master = result.proxy
    assert master is not None
    for pid in children(master.pid):
        os.kill(pid, signal.SIGSTOP)
    result._missed = CHECKS_MISSED - 1
    wait_until(lambda: result.proxy is not master and (result.run / "nginx.pid").exists())
    assert ask(url, "/_stcore/health").status == 200


@needs_nginx
def test_letters_that_no_header_holds_are_answered_at_once(hall: tuple[Hall, str]) -> None:
    """By nginx, and by a replica that is reached without it."""
    result, _ = hall
    address = result.site.listen.split(":")
    lines = (socket.create_connection((address[0], int(address[1])), 20), socket.socket(socket.AF_UNIX))
    lines[1].connect(str(result.replicas[0].place))
    keys = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n"
    for line in lines:
        with contextlib.closing(line):
            line.settimeout(20)
            line.sendall(f"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\n{keys}Origin: \x01\r\n\r\n".encode())
            assert line.recv(12) == b"HTTP/1.1 400"


def test_the_folder_of_a_hall_that_was_killed_is_removed_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    killed, serves, no_hall = (tmp_path / f"{control.PREFIX}{name}" for name in "abc")
    for folder in (killed, serves, no_hall):
        folder.mkdir()
    (killed / LOCK).touch()
    with (serves / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        clear()
    assert sorted(tmp_path.iterdir()) == [serves, no_hall]


def test_the_launcher_raises_the_files_and_says_where_it_cannot_write(tmp_path: Path) -> None:
    code = "import deploy.replica as r, resource, uvicorn\n"
    limits = "resource.getrlimit(resource.RLIMIT_NOFILE)"
    code += f"hard = {limits}[1]; resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)); r.open_files()\n"
    code += f"assert {limits}[0] == min(r.FILES, hard), {limits}\n"
    code += f"import tempfile; tempfile.tempdir = {str(tmp_path / 'none')!r}; raise SystemExit(r.main())"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.returncode == 1 and len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith("TMPDIR must be a folder with room that can be written, got "), run.stderr


def test_a_place_that_raises_is_logged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    once, passed = Once(), list[bool]()
    for seconds in (0.0, 1.0, QUIET_SECONDS):
        clock[0] += seconds
        try:
            int("odd")
        except ValueError as error:
            info = (type(error), error, error.__traceback__)
            passed.append(once.filter(logging.LogRecord("", 40, "", 1, "", (), info)))
    assert passed == [True, False, True]
    assert once.filter(logging.LogRecord("", 30, "", 1, "a warning", (), None))


@needs_nginx
def test_a_header_that_never_ends_is_cut_off(hall: tuple[Hall, str]) -> None:
    address = hall[0].site.listen.split(":")
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(socket.create_connection((address[0], int(address[1])), 10)) for _ in range(200)]
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        assert ask(hall[1], "/_stcore/health").status == 200
        began = time.monotonic()
        for line in lines:
            with contextlib.suppress(ConnectionResetError):
                assert line.recv(1) == b""
        assert time.monotonic() - began < 8 * LIMITS.header_seconds


@needs_nginx
def test_a_real_servers_sockets_and_uploads_are_bounded(hall: tuple[Hall, str]) -> None:
    _, url = hall

    async def urls(single: Session, request: str) -> list[str]:
        await single.send(message(lambda built: fill(built.file_urls_request, request)))
        while (shown := ForwardMsg.FromString(await single.listen())).WhichOneof("type") != "file_urls_response":
            assert shown.WhichOneof("type") != "git_info_changed"
        return [each.upload_url for each in shown.file_urls_response.file_urls]

    def fill(built: Any, request: str) -> None:
        built.request_id = request
        built.file_names.extend(["a.json", "b.json", "c.json"])

    def put(single: Session, path: str, megabytes: int) -> int:
        cookie = "; ".join(f"{name}={value}" for name, value in single.cookies.items())
        body = (
            b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.json"\r\n\r\n'
            + b"x" * megabytes * 10**6
            + b"\r\n--x--\r\n"
        )
        token = single.cookies["_streamlit_xsrf"].strip('"')
        kind = "multipart/form-data; boundary=x"
        return ask(url, path, "PUT", body, Cookie=cookie, X_Xsrftoken=token, Content_Type=kind).status

    async def visit() -> None:
        async with sessions(Visit(url), 1) as (single,):
            await single.send(message(lambda built: setattr(built, "load_git_info", True)))
            first, second, third = await urls(single, "1")
            assert await asyncio.to_thread(put, single, first, 4) == 204
            assert await asyncio.to_thread(put, single, second, 4) == 204
            assert await asyncio.to_thread(put, single, third, 4) == 413
            assert await asyncio.to_thread(put, single, first, 1) == 403
            assert await asyncio.to_thread(put, single, first[:-1], 1) == 403
            statuses = [await asyncio.to_thread(put, single, third, 0) for _ in range(10)]
            assert statuses[0] == 204 and statuses[-1] == 429
            await single.send("text")
            with pytest.raises(websockets.ConnectionClosedError) as closed:
                while True:
                    await single.listen()
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1003

    apart(visit)
