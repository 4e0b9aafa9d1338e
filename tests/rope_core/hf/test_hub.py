"""The hub's config.json, from a server of this test's own."""

import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from rope_core.__main__ import main
from rope_core.errors import ConfigError
from rope_core.hf.hub import fetch_config, is_model_id, split_id
from rope_core.hf.read import MAX_BYTES

pytest.importorskip("huggingface_hub", reason="it is the client whose answers this test reads")

LLAMA: dict[str, Any] = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "rope_theta": 12345.0}
COMMIT = "0" * 40
FILES: dict[tuple[str, str], bytes] = {
    ("org/good", "main"): json.dumps(LLAMA).encode(),
    ("org/good", "v2"): json.dumps({**LLAMA, "rope_theta": 54321.0}).encode(),
    ("org/broken", "main"): b"{",
    ("org/script", "main"): b"<script>alert(1)</script>",
}
ERRORS = {
    "org/gated": (401, "GatedRepo"),
    "org/empty": (404, "EntryNotFound"),
    "org/down": (503, ""),
}


class Hub(BaseHTTPRequestHandler):
    """Just enough of the hub for one file: HEAD and GET of /org/name/resolve/revision/config.json."""

    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_HEAD(self) -> None:
        self.answer(False)

    def do_GET(self) -> None:
        self.answer(True)

    def answer(self, body: bool) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        name, _, rest = self.path.lstrip("/").partition("/resolve/")
        revision = rest.split("/")[0]
        if name in ERRORS:
            return self.refuse(*ERRORS[name])
        if name == "org/huge":
            return self.send(MAX_BYTES + 1, b"")
        known = {repository for repository, _ in FILES}
        if (name, revision) not in FILES:
            return self.refuse(404, "RevisionNotFound" if name in known else "RepoNotFound")
        return self.send(len(FILES[name, revision]), FILES[name, revision] if body else b"")

    def refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, length: int, body: bytes) -> None:
        self.send_response(200)
        self.send_header("ETag", '"abc"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the console."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Hub.seen.clear()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    yield address
    server.shutdown()
    server.server_close()


def test_a_config_comes_back_at_its_revision(hub: str) -> None:
    assert fetch_config("org/good") == LLAMA
    assert fetch_config("org/good@v2")["rope_theta"] == 54321.0
    assert Hub.seen and all(token is None for _, token in Hub.seen)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("org/absent", "org/absent is not on"),
        ("org/good@v9", "org/good has no revision v9"),
        ("org/gated", "org/gated asks for a login"),
        ("org/empty", "org/empty has no config.json"),
        ("org/down", "503"),
        ("org/huge", f"at most {MAX_BYTES} bytes, got {MAX_BYTES + 1}"),
        ("org/broken", "config must be JSON"),
        ("org/script", "config must be JSON"),
    ],
)
def test_what_goes_wrong_is_one_sentence(hub: str, name: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        fetch_config(name)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_no_network_is_one_sentence_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    started = time.monotonic()
    with pytest.raises(ConfigError, match=r"http://127\.0\.0\.1:9 cannot be reached from this machine"):
        fetch_config("org/good")
    assert time.monotonic() - started < 5.0


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "name",
            "a/b/c",
            "../org",
            "org/..",
            "org/na me",
            "org/<script>",
            "org/name@",
            "org/name@a b",
            "o/n@../x",
        ),
        *("org/a?x=1", "org/a#x", "org/a%2e", "org/a@@b", "o@evil.example/x", "http://evil.example/a"),
        *("//evil.example/a", "org/a@main?download", "org\\a", "org/a\r\nHost: evil", "org/ａ"),
    ],
)
def test_malformed_ids_are_refused_without_asking(hub: str, name: str) -> None:
    with pytest.raises(ConfigError, match=r"model id must be org/name or org/name@revision"):
        fetch_config(name)
    assert not Hub.seen


def test_ids_and_paths() -> None:
    assert split_id("org/name") == ("org/name", None)
    assert is_model_id("org/name@refs/pr/3")
    assert not is_model_id("models/config.json") and not is_model_id("config.json")


def test_commands_take_an_id(hub: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "org/good", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["config"] == "org/good"
    assert main(["spectrum", "org/good"]) == 0
    assert "base 12345" in capsys.readouterr().out
    assert main(["check", "org/gated"]) == 2
    assert "login" in capsys.readouterr().err


def test_without_the_client_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match="needs the package huggingface_hub"):
        fetch_config("org/good")
