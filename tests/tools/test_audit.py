"""The dependency audit: which versions count as affected, what it says of its age, and that it needs no network."""

import json
import socket
import threading
import tomllib
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tools import audit

# As the index says it of an old package whose flaws were never mended.
FLAW = {"id": "PYSEC-2017-94", "aliases": ["CVE-2013-7459"], "fixed_in": [], "link": "https://osv.dev/x"}
TODAY = date(2026, 11, 21)


def listed(version: str, *fixed: str) -> dict[str, Any]:
    """Return a list with one flaw of the package p."""
    row = {"package": "p", "id": "X-1", "aliases": [], "versions": [version], "fixed_in": list(fixed), "link": "y"}
    return {"date": TODAY, "asked": {"p": version}, "advisory": [row]}


@pytest.mark.parametrize(
    ("pin", "known", "fixed", "hit"),
    [
        ("1.0", "1.0", (), True),
        ("0.9", "1.0", (), True),
        ("1.1", "1.0", (), False),
        ("1.1", "1.0", ("1.2",), True),
        ("1.2", "1.0", ("1.2",), False),
        ("1.1.9", "1.1.0", ("1.1.9", "2.0.4"), False),
        ("2.0.3", "1.1.0", ("1.1.9", "2.0.4"), True),
        ("1.10", "1.9", ("1.9.1",), False),
        ("2.0.0rc1", "2.0.0", ("2.0.1",), True),
    ],
)
def test_affected_versions(pin: str, known: str, fixed: tuple[str, ...], hit: bool) -> None:
    bad, _ = audit.audit({"p": pin, "q": "1"}, listed(known, *fixed), TODAY)
    assert bool(bad) is hit
    assert not hit or bad[0].startswith(f"p {pin}: X-1")


def test_it_says_its_age_and_what_it_does_not_know() -> None:
    _, text = audit.audit({"p": "1.0", "q": "2"}, listed("1.0"), date(2027, 3, 1))
    assert text[0].startswith("1 of 2 packages were looked up on 2026-11-21, 100 days ago: 1 affected")
    assert text[1].endswith("q 2") and "100 days old" in text[2]
    _, text = audit.audit({"p": "1.0"}, listed("1.0"), TODAY)
    assert len(text) == 1


def test_the_committed_list_holds_and_needs_no_network(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cut(*_: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket, "socket", cut)
    assert audit.main([]) == 0
    assert "0 affected" in capsys.readouterr().out
    known = tomllib.loads(audit.LIST.read_text("utf-8"))
    pins = audit.versions()
    assert {"torch", "streamlit", "starlette", "h11", "mypy", "atheris"} <= set(pins) and len(pins) >= 90
    assert known["asked"] | known["unanswered"] == pins, "a new pin wants `python -m tools.audit --update INDEX`"
    assert len(known["unanswered"]) < len(pins) / 10
    assert "tools.audit" in (ROOT / "Makefile").read_text("utf-8").split("\ncheck:")[1].split("\n\n")[0]


class Index(BaseHTTPRequestHandler):
    """A package index that knows a flaw of old 1.0, and keeps no answers of other versions but the latest."""

    def do_GET(self) -> None:
        known = {"/pypi/old/1.0/json": ("1.0", [FLAW, FLAW | {"withdrawn": "2020"}]), "/pypi/new/json": ("3.0", [])}
        version, flaws = known.get(self.path, ("", None))
        self.send_response(404 if flaws is None else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"info": {"version": version}, "vulnerabilities": flaws}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the console."""


@pytest.fixture
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/pypi"
    server.shutdown()
    server.server_close()


def test_the_list_is_written_from_an_index(
    index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "LIST", tmp_path / "advisories.toml")
    monkeypatch.setattr(audit, "versions", lambda: {"old": "1.0", "new": "3.0", "newer": "2.0"})
    assert audit.main(["--update", index]) == 1
    text = capsys.readouterr().out
    assert "old 1.0: PYSEC-2017-94 (CVE-2013-7459), fixed in no version" in text
    assert "2 of 3 packages were looked up" in text and "newer 2.0" in text
    known = tomllib.loads((tmp_path / "advisories.toml").read_text("utf-8"))
    assert len(known["advisory"]) == 1 and known["unanswered"] == {"newer": "2.0"}
