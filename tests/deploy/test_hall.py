"""`make serve` as a process: what it prints, what it refuses, how it holds against who means ill, kill and restart."""

import contextlib
import http.client
import json
import os
import pty
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from benchmarks.servers import HallProcess
from tests.support import ROOT

QUESTION = {"lang": "en", "say": "", "id": "tour/4", "question": "Which?", "choices": ["one", "two"]}
Json = dict[str, Any]


class Hall(HallProcess):
    """A hall's process over a book of two files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "book", folder)
        self.book.mkdir()
        (self.book / "index.html").write_text("<p>a book")
        (self.book / "large.bin").write_bytes(bytes(40_000_000))
        self.start()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=40)
        with contextlib.closing(line):
            sent = {"content-type": "application/json", **headers}
            line.request(method, path, None if body is None else json.dumps(body), sent)
            answer = line.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace"), dict(answer.getheaders())

    def show(self, **content: object) -> None:
        """Show a step."""
        status, text, _ = self.ask("PUT", "/room/hall", QUESTION | content, authorization=f"Bearer {self.key}")
        assert status == 200, text

    def state(self) -> Json:
        content: Json = json.loads(self.ask("GET", "/room/hall/state")[1])
        return content


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    started = Hall(tmp_path)
    yield started
    if started.process.poll() is None:
        started.stop(signal.SIGKILL)


def test_the_key_is_in_no_log_and_on_a_terminal_with_its_code(hall: Hall) -> None:
    until = time.monotonic() + 30  # its port opens before its lines are written
    while "lecturers.txt" not in (written := (hall.folder / "log").read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    assert f"http://127.0.0.1:{hall.port}/" in written and "lecturers.txt" in written and hall.key not in written
    hall.show()
    assert hall.key not in (hall.folder / "log").read_text()
    hall.stop()
    outer, inner = pty.openpty()
    process = subprocess.Popen(hall.command, cwd=ROOT, env=hall.environment, stdout=inner)
    shown = b""
    while "▄".encode() not in shown:
        shown += os.read(outer, 4096)
    process.terminate()
    process.wait(15)
    assert f"/#lecturer={hall.key}".encode() in shown


def test_what_cannot_be_served_is_one_sentence(hall: Hall) -> None:
    def refusal(command: list[str]) -> str:
        run = subprocess.run(command, cwd=ROOT, env=hall.environment, capture_output=True, text=True, timeout=60)
        assert run.returncode == 1 and run.stderr.count("\n") == 1, run.stderr
        return run.stderr

    assert "another process serves these rooms" in refusal(hall.command)
    hall.stop()
    assert "nowhere.pem" in refusal([*hall.command, "--certificate", "nowhere.pem"])
    assert "book must be a folder" in refusal([*hall.command[:3], str(hall.folder), *hall.command[4:]])
    assert "--address and --port must be free here" in refusal([*hall.command, "--address", "192.0.2.77"])


def test_phones_get_a_step_when_it_is_shown_and_their_streams_end_with_the_room(hall: Hall) -> None:
    hall.show(say="first")
    lines = []
    for _ in range(20):
        line = http.client.HTTPConnection("127.0.0.1", hall.port, timeout=30)
        line.request("GET", "/room/hall/steps")
        lines.append(line.getresponse())

    def event(stream: http.client.HTTPResponse) -> Json:
        while not (text := stream.readline()).startswith(b"data: "):
            assert text, "the stream has ended"
        content: Json = json.loads(text[6:])
        return content

    assert {event(line)["say"] for line in lines} == {"first"}
    work = hall.work
    hall.show(say="", answer=1)
    assert {event(line)["answer"] for line in lines} == {1}
    time.sleep(1)
    assert hall.work - work < 0.5, "nothing is done while nothing is shown"
    assert hall.ask("DELETE", "/room/hall", authorization=f"Bearer {hall.key}")[0] == 200
    assert all(line.read() == b"\n" for line in lines), "no event comes after the last"


def test_a_killed_hall_goes_on_where_it_was(hall: Hall) -> None:
    """Votes that were counted are there, phones keep their votes, the step is shown."""
    hall.show()
    cookies = [hall.ask("GET", "/room/hall")[2]["set-cookie"].partition(";")[0] for _ in range(20)]

    def vote(cookie: str) -> bool:
        try:
            text = hall.ask("POST", "/room/hall/vote", {"question": "tour/4", "choice": 1}, cookie=cookie)[1]
        except (OSError, http.client.HTTPException):
            return False
        return bool(json.loads(text)["counted"])

    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(vote, cookies)
        time.sleep(0.02)
        hall.stop(signal.SIGKILL)
        counted = sum(answers)
    hall.start()
    assert hall.state()["question"] == "Which?"
    status, text, _ = hall.ask("GET", "/room/hall/votes", authorization=f"Bearer {hall.key}")
    assert status == 200 and counted <= json.loads(text)["voters"] <= 20
    assert all(map(vote, cookies)), "each again"
    assert json.loads(hall.ask("GET", "/room/hall/votes", authorization=f"Bearer {hall.key}")[1])["voters"] == 20


def test_who_never_ends_a_header_or_a_body_is_cut_off_and_the_lecturer_steps(hall: Hall) -> None:
    hall.show()
    before, work = hall.memory, hall.work
    kinds = [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"GET /room/hall HTTP/1.1\r\nHost: x\r\n\r\nGET / HT"]
    kinds += [
        b"POST /room/hall/vote HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n{"
    ]
    lines = []
    for k in range(800):
        line = socket.create_connection(("127.0.0.1", hall.port))
        line.sendall(kinds[k % 4])
        lines.append(line)
    hall.show(say="the next step")
    assert hall.work - work < 1, "what a lecturer may wait for"
    for line in lines:
        line.settimeout(25)
        with contextlib.suppress(ConnectionResetError):
            while line.recv(65536):
                pass
        line.close()
    assert hall.memory - before < 60


def test_who_stops_reading_holds_little(hall: Hall) -> None:
    before, lines = hall.memory, []
    for _ in range(100):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", hall.port))
        line.sendall(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
        lines.append(line)
    time.sleep(1)
    hall.show()
    assert hall.memory - before < 60
    for line in lines:
        line.close()


ODD = (
    b"GET /room/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1",
    b"GET /../../etc/passwd HTTP/1.1",
    b"GET //evil.example/ HTTP/1.1",
    b"GET http://evil.example/ HTTP/1.1",
    b"\x00\xff\xfe",
    b"GET /\xff HTTP/1.1",
)


def test_odd_requests_leak_nothing_and_leave_the_hall_up(hall: Hall) -> None:
    head = b"\r\nHost: evil.example\r\nX-Forwarded-For: 127.0.0.1\r\nConnection: close\r\n\r\n"
    for request_line in ODD:
        with socket.create_connection(("127.0.0.1", hall.port), 10) as line:
            line.sendall(request_line + head)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := line.recv(65536):
                    answer += piece
        assert answer.split()[1:2] in ([b"400"], [b"404"], [b"308"], []) and b"root:" not in answer, request_line
        assert b"location: //" not in answer.lower() and b"traceback" not in answer.lower()
        assert hall.ask("GET", "/")[:2] == (200, "<p>a book")
    assert "Traceback" not in (hall.folder / "log").read_text()


def test_a_hall_with_names_answers_to_them_alone(hall: Hall) -> None:
    hall.stop()
    hall.start("--hosts", "rope.example")
    assert hall.ask("GET", "/", host="rope.example")[0] == 200
    assert hall.ask("GET", "/", host="evil.example")[0] == hall.ask("GET", "/room/hall", host="evil.example")[0] == 400
