"""The header that has browsers read the player early: its files are there, and it comes with documents alone."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conftest import apart
from tests.support import ROOT
from ui.server.early import STATIC, Early, link

ASSETS = ROOT / "ui" / "film" / "assets"


def sent(kind: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer of a content type."""
    found: list[tuple[bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "headers": [(b"content-type", kind.encode())]})

    async def send(message: Any) -> None:
        found.extend(message["headers"])

    apart(lambda: Early(app)({"type": "http"}, None, send))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("kind, named", [("text/html; charset=utf-8", True), ("text/javascript", False)])
def test_documents_come_with_it_and_files_do_not(kind: str, named: bool) -> None:
    assert ((b"link", link()) in sent(kind)) is named


def test_every_file_that_the_player_is_made_of_is_named_and_there() -> None:
    files = re.findall(r"<\./(\S+?)>; rel=modulepreload", link().decode())
    (chunk,) = [name for name in files if name.startswith("static/")]
    assert (STATIC / chunk).is_file() and "BidiComponent" in chunk
    assets = {name.rpartition("/")[2] for name in files if name != chunk}
    read, imported = {"streamlit.js"}, {"streamlit.js"}
    while imported:
        found = {
            name for each in imported for name in re.findall(r'"\./(\w+\.js)"', (ASSETS / each).read_text("utf-8"))
        }
        imported = found - read
        read |= imported
    assert assets == read and all((ASSETS / name).is_file() for name in assets)
    assert all(name.startswith("_stcore/bidi-components/rope-lab.film/") for name in files if name != chunk)
