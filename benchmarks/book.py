"""The book's seconds and bytes: first paint, first film, Python ready, from an empty and a warm cache; key to paint.

Run: python -m benchmarks.book [build/book] [--pages home clock attention inside] [--rounds 5] [--json FILE]
The book is served as plain files from a subfolder on this machine. A round is a browser without any cache, then
the same page again once its visit is kept.
"""

import argparse
import functools
import http.server
import json
import statistics
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.app import chromium

BARS = {
    "first paint": 500.0,
    "first film": 1000.0,
    "ready": 5000.0,
    "ready, warm": 2500.0,
    "key to paint": 60.0,
    "bytes before a film": 500_000.0,
    "bytes in all": 8_250_000.0,
}
"""Milliseconds and bytes at most."""
GZIP = 12
"""Bytes by which gzip's frame is longer than zlib's."""
APART = (".woff2", ".safetensors")
"""Files that are counted apart: letters, and the models that are read on one page."""
READY = "html[data-ready]"
FIRST_FILM = """new MutationObserver((_, watch) => {
  if (!document.querySelector(".film[data-ready]")) return;
  globalThis.firstFilm = performance.now();
  watch.disconnect();
}).observe(document, { subtree: true, childList: true, attributes: true })"""
WAKE = """addEventListener("DOMContentLoaded", () => {
  document.querySelector("[data-act]")?.dispatchEvent(new Event("focusin", { bubbles: true }));
})"""
"""Has a control ask for Python as soon as the page is there."""
BEFORE = """() => [location.href, ...performance.getEntriesByType("resource")
  .filter(({ startTime, name }) => startTime < (globalThis.firstFilm ?? 0) && name.startsWith("http"))
  .map(({ name }) => name)]"""
SEEN = """() => ({
  "first paint": performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  "first film": globalThis.firstFilm,
  "ready": Number(document.documentElement.dataset.ready),
})"""
MOVED, VALUES = "clock/?open=reading&lang=en", [4.5 + k / 2 for k in range(20)]
"""A page and the values of its slider that has no film; none is drawn twice."""
PRESSED = """async (value) => {
  const input = document.querySelector("[id$='w.slower'] input"), plot = document.querySelector("[id$='plot.reading']");
  const drawn = new Promise((done) => new MutationObserver((_, watch) => {
    watch.disconnect();
    requestAnimationFrame(() => done(performance.now()));
  }).observe(plot, { attributeFilter: ["data-drawn"] }));
  const began = performance.now();
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  return await drawn - began;
}"""


class QuietFileHandler(http.server.SimpleHTTPRequestHandler):
    """Plain files, without a log."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hosted(folder: Path, handler: type[QuietFileHandler] = QuietFileHandler) -> Iterator[str]:
    """Serve a folder as plain files; yield its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def compressed(path: Path) -> int:
    """Return a file's bytes as a host that compresses sends them."""
    content = (path / "index.html" if path.is_dir() else path).read_bytes()
    return min(len(content), len(zlib.compress(content, 9)) + GZIP)


def in_all(book: Path) -> int:
    """Return the bytes that a reader's browser loads beside the pages, letters and models, compressed."""
    files = (path for path in book.glob("assets-*/**/*") if path.is_file() and path.suffix not in APART)
    return sum(map(compressed, files))


def before_a_film(page: Page, host: Path) -> int:
    """Return the bytes that a page loaded until its first film could be moved, compressed."""
    return sum(compressed(host / urlsplit(url).path.strip("/")) for url in page.evaluate(BEFORE))


def opened(page: Page, url: str) -> dict[str, float]:
    """Open a page and wait until its Python answers; return what was seen when, milliseconds."""
    page.goto(url)
    page.wait_for_selector(READY, timeout=120_000)
    return {name: float(at) for name, at in page.evaluate(SEEN).items() if at is not None}


def visited(browser: Browser, host: Path, url: str) -> dict[str, float]:
    """Open a page without a cache, and again when it is kept."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    context.add_init_script(FIRST_FILM)
    context.add_init_script(WAKE)
    page = context.new_page()
    seen = opened(page, url)
    seen["bytes before a film"] = before_a_film(page, host)
    page.wait_for_selector("html[data-kept]", timeout=60_000)
    seen |= {f"{name}, warm": at for name, at in opened(page, url).items()}
    context.close()
    return seen


def pressed(browser: Browser, url: str) -> list[float]:
    """Return the milliseconds from each move of a slider without a film until its figure is painted."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    context.add_init_script(WAKE)
    page = context.new_page()
    opened(page, url)
    page.locator("[id$='plot.reading']").scroll_into_view_if_needed()
    page.wait_for_selector("[id$='plot.reading'][data-drawn]")
    answered: list[float] = [page.evaluate(PRESSED, value) for value in VALUES]
    context.close()
    return answered


def main() -> int:
    """Measure, print a table, and return 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=Path, nargs="?", default=Path("build/book"))
    parser.add_argument("--pages", nargs="+", default=["home", "clock", "attention", "inside"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    host = options.book.resolve().parent
    rows: dict[str, dict[str, Any]] = {}
    with sync_playwright() as playwright, hosted(host) as address:
        browser = chromium(playwright)
        url = f"{address}{options.book.name}/"
        for name in options.pages:
            place = f"{url}{'' if name == 'home' else f'{name}/'}?lang=en"
            rounds = [visited(browser, host, place) for _ in range(options.rounds)]
            rows[name] = {what: [each[what] for each in rounds if what in each] for what in rounds[0]}
        rows["clock, a slider"] = {"key to paint": pressed(browser, url + MOVED)}
        rows["all files"] = {"bytes in all": [in_all(options.book)]}
        browser.close()
    missed = 0
    for page, figures in rows.items():
        for what, values in figures.items():
            middle, bar = statistics.median(values), BARS.get(what, BARS.get(what.removesuffix(", warm")))
            missed += bar is not None and middle > bar
            spread = f"{min(values):,.0f} to {max(values):,.0f}"
            print(f"{page:16} {what:20} {middle:>12,.0f}  ({spread}{f'; bar {bar:,.0f}' if bar else ''})")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), "utf-8")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
