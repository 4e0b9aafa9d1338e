"""The header that has browsers read the player early: its files are there, and it comes with documents alone."""

import re
from typing import Any

import pytest

from tests.conftest import apart
from tests.support import ROOT
from ui.server.early import STATIC, Early, link, modules

ASSETS = ROOT / "ui" / "film" / "assets"


def sent(kind: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer of a content type."""
    result: list[tuple[bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "headers": [(b"content-type", kind.encode())]})

    async def send(message: Any) -> None:
        result.extend(message["headers"])

    apart(lambda: Early(app)({"type": "http", "path": "/clock"}, None, send))  # type: ignore[arg-type]
    return result


@pytest.mark.parametrize("kind, named", [("text/html; charset=utf-8", True), ("text/javascript", False)])
def test_documents_come_with_it_and_files_do_not(kind: str, named: bool) -> None:
    assert ((b"link", link()) in sent(kind)) is named


def test_every_file_that_a_film_waits_for_is_named_and_there() -> None:
    files = re.findall(r"<\./(\S+?)>; rel=modulepreload", link().decode())
    parts = {name for name in files if name.startswith("static/")}
    assert parts == {f"static/js/{name}" for name in modules("BidiComponent")}
    assets = {name.rpartition("/")[2] for name in files if name not in parts}
    read, imported = {"streamlit.js"}, {"streamlit.js"}
    while imported:
        result = {
            name for each in imported for name in re.findall(r'"\./(\w+\.js)"', (ASSETS / each).read_text("utf-8"))
        }
        imported = result - read
        read |= imported
    assert assets == read and all((ASSETS / name).is_file() for name in assets)
    assert all(name.startswith("_stcore/bidi-components/rope-lab.film/") for name in set(files) - parts)


def test_a_part_and_all_that_it_imports_are_named_but_for_what_the_document_names() -> None:
    """A browser reads what a module imports once it has read the module: a hop for each storey."""
    first, *others = modules("BidiComponent")
    document = (STATIC / "index.html").read_text("utf-8")
    assert first.startswith("BidiComponent.") and others and not any(name in document for name in others)
    for name in (first, *others):
        text = (STATIC / "static" / "js" / name).read_text("utf-8")
        # What is read when it is called for is an import(...), in parentheses.
        for each in re.findall(r'[\w}]\s*from\s*"([^"]+)"|import\s*"([^"]+)"', text):
            path = "".join(each).removeprefix("./")
            assert path in (first, *others) or path in document
