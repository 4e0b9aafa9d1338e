"""A real Chromium and real servers for the browser tests."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.request import Request as Post
from urllib.request import urlopen

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    FloatRect,
    Locator,
    Page,
    Request,
    expect,
    sync_playwright,
)

from benchmarks.book import WAKE
from benchmarks.servers import ROOT
from tests.conftest import CHROMIUM
from ui.text.words import PageTexts

# Each window would load two pages for its address bar, which headless nobody sees: a third of a visit's processor time.
UNSEEN = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", UNSEEN]
DESK = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
PATIENCE = 180.0
"""Seconds that a test waits for what it asserts: a busy machine is slow, and a passing test waits for none of them."""
expect.set_options(timeout=1000 * PATIENCE)
T = TypeVar("T")


BOOK_PAGES = ("home", "rotation", "clock", "inside", "config", "glossary")
REQUIRED = os.environ.get("ROPE_LAB_BOOK") == "required"


def built(folder: Path, *only: str) -> Path:
    """Build the book, or some of its pages; skip the test where a piece of it cannot be had."""
    command = [sys.executable, "-m", "tools.book", str(folder), *(["--only", *only] if only else [])]
    written = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    if written.returncode:
        text = written.stderr.strip().splitlines()[-1]
        if not REQUIRED and text.startswith("book: "):
            pytest.skip(text)
        raise RuntimeError(written.stderr[-2000:])
    return folder


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder to be served, which has some pages of the book below it; one worker of a run builds it."""
    folder = tmp_path_factory.mktemp("host")
    if "PYTEST_XDIST_WORKER" in os.environ:
        tmp_path_factory.getbasetemp().with_name("book").touch(exist_ok=False)
    built(folder / "course/rope", *BOOK_PAGES)
    return folder


def address_has(page: Page, *parts: str) -> None:
    """Wait until the address holds each of these; it is written after the figures are."""
    for part in parts:
        expect(page).to_have_url(re.compile(re.escape(part)))


def until(page: Page, look: Callable[[], T], good: Callable[[T], bool]) -> T:
    """Look again until what is seen is good, at most PATIENCE long; return what was seen last."""
    end = time.monotonic() + PATIENCE
    while not good(seen := look()) and time.monotonic() < end:
        page.wait_for_timeout(100)
    return seen


def holds(page: Page, check: Callable[[], None]) -> None:
    """Check again until nothing that it asserts fails, at most PATIENCE long; then fail as it does."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > end:
                raise
            page.wait_for_timeout(100)


def painted(page: Page) -> None:
    """Wait until what has been changed is on the screen."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


WAY = """const look = () => {
  const at = document.querySelector(".film[data-at] .film-range")?.valueAsNumber ?? NaN;
  const { low, high } = globalThis.way ?? { low: at, high: at };
  if (at === at) globalThis.way = { low: Math.min(at, low), high: Math.max(at, high), at };
  requestAnimationFrame(look);
};
look();"""
"""Keeps how far the slider of the film that leads has moved."""


def resting(what: Locator) -> FloatRect:
    """Return a thing's box in the window once it is the same at two looks: sizes and places follow a change late."""
    before: list[FloatRect | None] = [None]

    def same(now: FloatRect | None) -> bool:
        before.append(now)
        return now is not None and now == before[-2]

    box = until(what.page, what.bounding_box, same)
    assert box
    return box


FIREFOX = os.environ.get("ROPE_LAB_FIREFOX")
"""A Firefox to run instead of Chromium."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a worker, or the Firefox that the environment names."""
    with sync_playwright() as playwright:
        if FIREFOX:
            started = playwright.firefox.launch(executable_path=FIREFOX, channel="moz-firefox")
        else:
            started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        with contextlib.suppress(Error):  # one that has died fails the tests that use it, not whatever test comes last
            started.close()


class Visit:
    """A visitor's tab, with what the browser complained about, where it sent requests, and its messages' sizes."""

    def __init__(
        self, browser: Browser, viewport: dict[str, int] = DESK, locale: str = "en-GB", touch: bool = False
    ) -> None:
        self.context = browser.new_context(
            viewport=viewport, locale=locale, accept_downloads=True, has_touch=touch, is_mobile=touch
        )
        self.context.set_default_timeout(1000 * PATIENCE)
        # Who has dragged before sees nothing move by itself.
        self.context.add_init_script("if (origin !== 'null') localStorage.setItem('rope-lab-dragged', '1')")
        self.context.add_init_script(WAKE)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.sent: list[int] = []
        self.page.on("console", self._complain)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._note)
        self.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: self.sent.append(len(frame))))

    def _complain(self, message: ConsoleMessage) -> None:
        # Streamlit asks for two files below a deep link's path before it knows its base, and for a download's file
        # while a run that a newer one cut short is being forgotten; these 404s are its own.
        own = "404 (Not Found)", "Download Button source error - 404"
        if message.type == "error" and not any(text in message.text for text in own):
            self.complaints.append(message.text)

    def _note(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")):
            self.outside.append(request.url)

    def open(self, url: str) -> Page:
        """Go to ``url`` and wait until its page is drawn and the server is idle."""
        self.page.goto(url)
        self.page.wait_for_selector("h1")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait until the script has run and figures that are on the page are painted."""
        self.page.wait_for_timeout(250)
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')]"
            ".every(c => c.querySelector('.main-svg'))"
        )
        self.page.wait_for_timeout(150)

    def close(self) -> None:
        """Close the tab and its context."""
        self.context.close()


def keys_answer(visit: Visit) -> None:
    """Wait until the stage's keys are read and the button that they press is there, its script at rest."""
    visit.page.wait_for_function("() => window.ropeLabStage")
    visit.settle()
    expect(visit.page.locator(".st-key-stage-next button")).to_be_enabled()


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close the tabs that a test has opened and cancel the work that it has started, passed or failed."""
    browser: Browser | None = request.getfixturevalue("browser") if "browser" in request.fixturenames else None
    before = browser.contexts if browser else []
    yield
    for context in browser.contexts if browser else []:
        if context not in before:
            context.close()
    if "app" in request.fixturenames:
        urlopen(Post(f"{request.getfixturevalue('app')}/jobs-of-tests", method="POST")).close()


@pytest.fixture
def visit(browser: Browser) -> Visit:
    """Return a fresh visitor at 1280 x 720 with an English browser."""
    return Visit(browser)


def says(page: Page, words: str) -> None:
    """Wait until a finding has these words."""
    expect(page.locator("p", has_text=words).first).to_be_visible()


@pytest.fixture(scope="session")
def tab(browser: Browser, app: str) -> Iterator[Visit]:
    """Return a tab at the rotation page, which tests share."""
    visit = Visit(browser)
    visit.open(f"{app}/rotation?lang=en&beat=2")
    yield visit
    with contextlib.suppress(Error):
        visit.close()


def in_menu(page: Page, label: str) -> None:
    """Press a button of those behind the one beside the title."""
    page.get_by_role("button", name=PageTexts("en", "labels")("frame.menu"), exact=True).click()
    page.get_by_role("button", name=label, exact=True).click()


def reset(page: Page) -> None:
    """Bring a page back to its defaults."""
    in_menu(page, "Reset")
    page.keyboard.press("Escape")


@pytest.fixture
def rotation(tab: Visit, app: str) -> Page:
    """Return the rotation page at its second step and its defaults, opened anew where a test has left another."""
    page = tab.page
    if not re.search(r"rotation\?(lang=en&beat=2|beat=2&lang=en)$", page.url):
        page.goto(f"{app}/rotation?lang=en&beat=2")
        tab.settle()
    says(page, "At position 5 the four pairs")
    page.mouse.move(0, 0)  # where nothing answers to a pointer that rests while the page scrolls
    return page
