"""The book's files, read once: compressed, with an ETag each; what is not among them is not there."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

TEXTS = re.compile(r"text/|application/(javascript|json|xml|wasm)|image/svg")
KIND = {".js": "text/javascript", ".mjs": "text/javascript", ".gz": "application/gzip", ".woff2": "font/woff2"}
PIECE = 1 << 16
SEND_SECONDS = 300.0
"""Seconds in which a file has been read by a browser; the connection of one that takes longer is closed."""
ABREAST = 4
"""Answers that begin in one turn of the event loop: between two turns a room's step goes to its phones."""
WORKER = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval'; connect-src 'self'"
"""The policy of the script that starts Python (docs/book.md); pages have theirs in their heads."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
EDITION = re.compile(r"^assets-[0-9a-f]{16}/")
"""Where files are whose address changes with their bytes."""


@dataclass(frozen=True)
class BookFile:
    """One file of the book.

    Attributes:
        body: its bytes; packed: the same by gzip, b"" where that saves nothing.
        headers: of its answers.
    """

    body: bytes = field(repr=False)
    packed: bytes = field(repr=False)
    headers: Mapping[str, str]


def read_book_files(folder: Path) -> dict[str, BookFile]:
    """Return the files of a built book by their path in it.

    Raises ValueError where the folder has no index.html.
    """
    if not (folder / "index.html").is_file():
        raise ValueError(f"book must be a folder that `make book` has written, got {str(folder)!r}")
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: _file(name, path) for name, path in paths.items()}


def _file(name: str, path: Path) -> BookFile:
    body = path.read_bytes()
    kind = KIND.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    packed = gzip.compress(body, 9, mtime=0) if TEXTS.match(kind) else b""
    kept = "public, max-age=31536000, immutable" if EDITION.match(name) else "no-cache"
    headers = HEADERS | {
        "content-type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
        "etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        "cache-control": kept,
        "vary": "accept-encoding",
    }
    if path.name == "worker.js":
        headers["content-security-policy"] = WORKER
    return BookFile(body, packed if len(packed) < 0.9 * len(body) else b"", headers)


class BookFiles:
    """An ASGI application that answers with the files of a book."""

    def __init__(self, files: Mapping[str, BookFile]) -> None:
        self.files, self.turn = files, asyncio.Semaphore(ABREAST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] not in ("GET", "HEAD"):
            await Response(status_code=405, headers={"allow": "GET, HEAD"})(scope, receive, send)
            return
        async with self.turn:
            await asyncio.sleep(0)
        name = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
        file = self.files.get(f"{name}index.html" if not name or name.endswith("/") else name)
        if file is None and f"{name}/index.html" in self.files:
            await RedirectResponse(f"{name.rpartition('/')[2]}/", 308)(scope, receive, send)
            return
        if file is None:
            lost = self.files.get("404.html")
            await Response(lost.body if lost else b"", 404, HEADERS, "text/html")(scope, receive, send)
            return
        await _send(file, scope, send)


async def _send(file: BookFile, scope: Scope, send: Send) -> None:
    given = Headers(scope=scope)
    headers, body = dict(file.headers), file.body
    if file.packed and re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0+)?\s*(,|$))", given.get("accept-encoding", "")):
        body, headers["content-encoding"] = file.packed, "gzip"
    known = {tag.strip().removeprefix("W/") for tag in given.get("if-none-match", "").split(",")}
    status, body = (304, b"") if headers["etag"] in known or "*" in known else (200, body)
    if status == 200:
        headers["content-length"] = str(len(body))
    raw = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    if scope["method"] == "HEAD":
        body = b""
    # A browser that stops reading gets its connection closed by an answer that is not whole.
    with suppress(TimeoutError):
        async with asyncio.timeout(SEND_SECONDS):
            for at in range(0, len(body), PIECE):
                piece = {"type": "http.response.body", "body": body[at : at + PIECE], "more_body": True}
                await send(piece)
            await send({"type": "http.response.body", "body": b""})
