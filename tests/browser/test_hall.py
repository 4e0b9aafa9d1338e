"""A class in real browsers: a lecturer on the book's stage by keyboard, and a student's phone that follows."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.book import hosted
from benchmarks.servers import HallProcess
from tests.browser.conftest import PHONE, Visit
from tools.book.about import name_rooms
from ui.present import lessons

pytestmark = pytest.mark.browser


class Served(HallProcess):
    """A hall's process and its lecturer's link."""

    @property
    def link(self) -> str:
        return f"{self.url}#lecturer={self.key}"


@pytest.fixture
def hall(tmp_path: Path, host: Path) -> Iterator[Served]:
    served = Served(host / "course/rope", tmp_path)
    served.start()
    yield served
    served.stop(signal.SIGKILL)


def ready(page: Page) -> None:
    page.wait_for_selector("html[data-ready]:not([data-busy])", timeout=120_000)


def test_a_phone_follows_votes_and_sees_no_answer_before_it_is_shown(browser: Browser, hall: Served) -> None:
    lesson = lessons.page_lesson("en", "rotation")
    assert lesson
    at = next(k for k, each in enumerate(lesson.steps) if each.predict)
    step, before = lesson.steps[at], lesson.steps[at - 1]
    assert step.predict and at > 0 and not before.predict
    lecturer, student = Visit(browser), Visit(browser, PHONE, "zh-CN", touch=True)
    stage, phone = lecturer.page, student.page
    stage.goto(hall.link)
    expect(stage).to_have_url(re.compile("^[^#]*$"))
    stage.goto(f"{hall.url}rotation/?step={at}&display=stage&lang=en")
    ready(stage)
    phone.goto(f"{hall.url}room/physik-2?lang=en")
    expect(phone.get_by_text("The next question appears here")).to_be_visible()
    stage.locator("summary", has_text="Lessons").click()
    stage.get_by_label("Room").fill("Physik-2")
    stage.keyboard.press("Enter")
    expect(stage.locator(".qr-code img")).to_be_visible()
    assert stage.locator(".qr-code img").evaluate("image => image.naturalWidth") > 100
    expect(phone.locator("h1")).to_have_text(before.say)
    stage.locator("summary", has_text="Lessons").click()
    stage.keyboard.press("PageDown")
    expect(stage.locator(".stage-say")).to_have_text(step.predict.question)
    expect(phone.locator("h1")).to_have_text(step.predict.question)
    assert phone.locator("main").inner_text().count("\n") <= 2 + 2 * len(step.predict.choices), "and nothing else"
    expect(stage.get_by_text("0 answered")).to_be_visible()
    phone.get_by_role("button").nth(0).tap()
    expect(phone.get_by_text("Counted.")).to_be_visible()
    expect(stage.get_by_text("1 answered")).to_be_visible()
    assert not phone.get_by_text(step.say).is_visible()

    hall.stop(signal.SIGKILL)
    expect(stage.locator(".voters")).to_contain_text("connection is lost", timeout=20_000)
    hall.start()
    expect(stage.get_by_text("1 answered")).to_be_visible(timeout=20_000)
    stage.keyboard.press("PageDown")  # what goes on shows the answer first
    right = "ABCDEF"[step.predict.answer]
    expect(phone.get_by_text(f"The right answer is {right}.")).to_be_visible(timeout=20_000)
    expect(stage.get_by_text(f"{right} is right: 0 of 1 (0 %)")).to_be_visible()
    assert all(phone.get_by_role("button").nth(k).is_disabled() for k in range(len(step.predict.choices)))

    stage.reload()
    ready(stage)
    expect(stage.get_by_text(f"{right} is right: 0 of 1 (0 %)")).to_be_visible()
    stage.keyboard.press("End")
    last = lesson.steps[-1]
    expect(phone.locator("h1")).to_have_text(last.predict.question if last.predict else last.say)
    stage.keyboard.press("Escape")
    expect(phone.get_by_text("The talk is over.")).to_be_visible()
    lost = [line for line in lecturer.complaints + student.complaints if "net::ERR_" not in line]
    assert lost == [], lost


def test_a_room_is_closed_and_its_votes_are_a_file(browser: Browser, hall: Served) -> None:
    lecturer = Visit(browser)
    page = lecturer.page
    page.goto(hall.link)
    page.goto(f"{hall.url}rotation/?display=stage&lang=en&room=physik-2")
    ready(page)
    expect(page.locator(".stage-room")).to_contain_text("physik-2")
    page.locator("summary", has_text="Lessons").click()
    with page.expect_download() as votes:
        page.get_by_role("link", name="Votes as CSV").click()
    assert votes.value.path().read_text() == "room,question,choice,votes\n"
    page.get_by_role("button", name="Close the room").click()
    expect(page.locator(".stage-room")).to_have_count(0)
    assert page.request.get(f"{hall.url}room/physik-2/state").status == 404
    assert "room=" not in page.url


def test_a_book_on_another_host_has_its_rooms_here(browser: Browser, hall: Served, host: Path, tmp_path: Path) -> None:
    shutil.copytree(host / "course/rope", tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        page.write_text(name_rooms(page.read_text("utf-8"), hall.url), "utf-8")
    hall.stop(signal.SIGKILL)
    with hosted(tmp_path / "site") as site:
        hall.start("--site", site)
        visit, student = Visit(browser), Visit(browser, PHONE, touch=True)
        stage, phone = visit.page, student.page
        stage.goto(f"{site}#{hall.link.partition('#')[2]}")
        stage.goto(f"{site}rotation/?display=stage&lang=en&room=physics-2&step=1")
        ready(stage)
        address = f"{hall.url}room/physics-2?lang=en"
        stage.locator("summary", has_text="QR code").click()
        expect(stage.locator(".qr-code p").first).to_have_text(address)
        phone.goto(address)
        expect(phone.locator("h1")).to_have_text(stage.locator(".stage-say").inner_text())
        stage.locator("summary", has_text="Lessons").click()
        with stage.expect_download() as votes:
            stage.get_by_role("link", name="Votes as CSV").click()
        assert votes.value.path().read_text() == "room,question,choice,votes\n"
        stage.get_by_role("button", name="Close the room").click()
        expect(phone.get_by_text("The talk is over.")).to_be_visible()
        assert visit.complaints == []


def test_who_has_no_key_sees_no_room(browser: Browser, hall: Served) -> None:
    visit = Visit(browser)
    page = visit.page
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{hall.url}rotation/?display=stage&lang=en&room=physik-2")
    ready(page)
    page.locator("summary", has_text="Lessons").click()
    expect(page.get_by_text("A lesson of your own")).to_be_visible()
    expect(page.get_by_label("Room")).to_have_count(0)
    assert not [url for url in requests if "/room/" in url] and visit.complaints == []
