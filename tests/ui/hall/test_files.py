"""The book's files as a server's answers: compressed, known again, and no others."""

import gzip
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from ui.hall.files import BookFiles, read_book_files

PAGE = "<!doctype html><p>" + "长 words " * 400
MODULE = "export const x = 1;\n" * 200


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    texts = {
        "index.html": PAGE,
        "clock/index.html": PAGE,
        "404.html": "<p>lost",
        "assets-0123456789abcdef/worker.js": MODULE,
        "assets-0123456789abcdef/python/app.zip.gz": "packed",
        "sw.js": MODULE,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def client(book: Path) -> TestClient:
    return TestClient(Starlette(routes=[Mount("/", BookFiles(read_book_files(book)))]), follow_redirects=False)


def test_a_text_comes_compressed_to_who_takes_it(client: TestClient) -> None:
    packed = client.get("/", headers={"accept-encoding": "br, gzip"})
    plain = client.get("/", headers={"accept-encoding": "identity"})
    refused = client.get("/", headers={"accept-encoding": "gzip;q=0, *"})
    assert packed.headers["content-encoding"] == "gzip" and packed.text == plain.text == refused.text == PAGE
    assert "content-encoding" not in plain.headers and "content-encoding" not in refused.headers
    assert int(packed.headers["content-length"]) < len(PAGE) / 10
    assert packed.headers["vary"] == "accept-encoding"
    assert packed.headers["content-type"] == "text/html; charset=utf-8"


def test_what_is_compressed_as_a_file_is_not_unpacked_by_the_browser(client: TestClient) -> None:
    answer = client.get("/assets-0123456789abcdef/python/app.zip.gz", headers={"accept-encoding": "gzip"})
    assert answer.content == b"packed" and "content-encoding" not in answer.headers


def test_a_file_that_is_known_is_not_sent_again(client: TestClient, book: Path) -> None:
    tag = client.get("/").headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        answer = client.get("/", headers={"if-none-match": known})
        assert answer.status_code == 304 and answer.content == b"" and answer.headers["etag"] == tag
    assert client.get("/", headers={"if-none-match": '"other"'}).status_code == 200
    (book / "index.html").write_text(f"{PAGE} new", "utf-8")
    other = TestClient(Starlette(routes=[Mount("/", BookFiles(read_book_files(book)))]))
    assert other.get("/", headers={"if-none-match": tag}).status_code == 200


def test_only_files_whose_address_changes_with_them_are_kept_unasked(client: TestClient) -> None:
    assert "immutable" in client.get("/assets-0123456789abcdef/worker.js").headers["cache-control"]
    for name in ("/", "/clock/", "/sw.js"):
        assert client.get(name).headers["cache-control"] == "no-cache"


def test_headers_and_methods(client: TestClient) -> None:
    answer = client.head("/clock/")
    assert answer.status_code == 200 and answer.content == b""
    assert int(answer.headers["content-length"]) == len(gzip.compress(PAGE.encode(), 9, mtime=0))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" not in answer.headers, "a page has its own in its head"
    policy = client.get("/assets-0123456789abcdef/worker.js").headers["content-security-policy"]
    assert "'wasm-unsafe-eval'" in policy and "default-src 'none'" in policy
    assert client.post("/").status_code == client.put("/clock/").status_code == 405
    assert client.get("/clock").status_code == 308 and client.get("/clock").headers["location"] == "clock/"


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/clock/..%2f..%2fsecret.txt",
        "//etc/passwd",
        "/clock/%00",
        "/index.html/",
        "/\\..\\secret.txt",
    ],
)
def test_nothing_else_is_there(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404 and answer.text == "<p>lost"


def test_a_folder_that_is_no_book_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="book must be a folder that `make book` has written, got"):
        read_book_files(tmp_path)
