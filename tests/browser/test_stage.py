"""The presentation display in a real Chromium: what is above the fold, keys, the code, a foreign frame."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import DESK, PHONE, Visit, in_menu, keys_answer, resting, until
from tests.browser.test_pages import address
from tests.test_pages import NAMES
from ui.present import lessons

pytestmark = pytest.mark.browser
HALL = {"width": 1920, "height": 1080}
FAULTS = (Path(__file__).parents[1] / "support" / "slides.js").read_text("utf-8")
LEADS = "[class*=st-key-stage-figure] :is(.js-plotly-plot .main-svg, .film[data-ready] .film-panels)"
BOXES = """() => {
  const box = what => document.querySelector(what).getBoundingClientRect();
  const inView = figure => figure.getBoundingClientRect().top < innerHeight;
  const shown = [...document.querySelectorAll('.js-plotly-plot, .film')].filter(inView);
  const plot = box('LEADS');
  return {
    top: plot.top, bottom: plot.bottom, width: plot.width, across: innerWidth, high: innerHeight,
    said: box('[class*=st-key-stage-say] p').bottom, shown: shown.length,
    letters: parseFloat(getComputedStyle(document.querySelector('[class*=st-key-stage-say] p')).fontSize),
    ticks: [...document.querySelectorAll(':is(.js-plotly-plot, .film) text')]
      .map(letters => letters.getBoundingClientRect().height).find(height => height > 0),
    scroll: document.querySelector('[data-testid=stMain]').scrollWidth,
    menu: document.querySelectorAll('section[data-testid=stSidebar]').length,
  };
}""".replace("LEADS", LEADS)


def barcodes(page: Page) -> list[zxingcpp.Barcode]:
    """Read the codes in view."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("L")
    return list(zxingcpp.read_barcodes(np.asarray(picture)))


def count(page: Page, text: str) -> None:
    expect(page.locator(".st-key-stage-count")).to_have_text(text)


def above_the_fold(page: Page) -> None:
    """One figure, whole, under the sentence, over the whole width, with letters for the last row."""
    page.wait_for_selector(LEADS)
    box = until(page, lambda: page.evaluate(BOXES), fills)
    assert fills(box), box


def fills(box: dict[str, float]) -> bool:
    """Whether the figure's box is whole, below the sentence, as wide or as high as the screen, and legible."""
    whole = box["said"] <= box["top"] + 2 and box["bottom"] <= box["high"] + 2
    full = box["width"] > 0.9 * box["across"] or box["bottom"] > 0.88 * box["high"]
    large = full and box["width"] > 0.6 * box["across"] and box["bottom"] - box["top"] > 0.28 * box["high"]
    alone = box["shown"] == 1 and box["menu"] == 0 and box["scroll"] <= box["across"]
    return whole and large and alone and box["letters"] >= 24 and box["ticks"] >= 15


def test_a_lecture_by_the_keys(app: str, visit: Visit) -> None:
    steps = len(getattr(lessons.page_lesson("en", "rotation"), "steps", ()))
    page = visit.open(f"{app}/rotation?display=stage&lang=en&hide=apart&beat=2")
    count(page, f"0 / {steps}")
    above_the_fold(page)
    keys_answer(visit)
    page.keyboard.press("ArrowRight")
    count(page, f"1 / {steps}")
    page.keyboard.press(" ")
    count(page, f"2 / {steps}")
    page.keyboard.press("ArrowLeft")
    count(page, f"1 / {steps}")
    page.wait_for_url("**step=1**")
    visit.settle()
    page.locator(".st-key-stage-code button").click()
    code = page.locator(".st-key-stage-qr img")
    expect(code).to_be_visible()
    (result,) = until(page, lambda: barcodes(page), bool)
    audience = parse_qs(urlsplit(result.text).query)
    assert urlsplit(result.text).path == "/rotation" and audience["step"] == ["1"] and "display" not in audience
    assert resting(code)["height"] > 0.5 * DESK["height"]
    page.keyboard.press("Escape")
    expect(code).to_have_count(0)
    page.locator(".st-key-stage-open label").click()
    slider = page.get_by_role("slider", name="words before the sentence").first
    expect(slider).to_be_visible()
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_url("**before=1**")
    count(page, f"1 / {steps}")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(r"^(?!.*display=stage)"))
    expect(page.locator("section[data-testid=stSidebar]")).to_have_count(1)
    expect(page.get_by_text(f"step 1 of {steps}")).to_be_visible()
    assert visit.complaints == []


def test_notes_are_in_a_window_of_their_own_which_follows_and_steps(app: str, visit: Visit) -> None:
    lesson = lessons.page_lesson("en", "rotation")
    assert lesson is not None
    page = visit.open(f"{app}/rotation?display=stage&lang=en&step=1")
    keys_answer(visit)
    with page.expect_popup() as opened:
        page.locator(".st-key-stage-notes button").first.click()
    notes = opened.value
    expect(notes.locator("body")).to_contain_text(lesson.step(1).notes)
    expect(page.get_by_text(lesson.step(1).notes)).not_to_be_visible()
    notes.keyboard.press("ArrowRight")
    count(page, f"2 / {len(lesson.steps)}")
    expect(notes.locator("body")).to_contain_text(lesson.step(2).notes)
    expect(notes.locator("body")).not_to_contain_text(lesson.step(1).notes)


@pytest.fixture
def course(app: str) -> Iterator[str]:
    """Return a page of another origin with the app in a frame."""
    view = "embed=true&lang=en&hide=model&beat=2"
    frame = f'<iframe title="clock" width="900" height="600" src="{app}/clock?{view}"></iframe>'

    class Course(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>Course</title><h1>Course</h1>{frame}".encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Course) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def test_a_page_of_another_site_frames_the_app(course: str, visit: Visit) -> None:
    page = visit.page
    page.goto(course)
    frame = page.frame_locator("iframe")
    expect(frame.locator(".film[data-at]").first).to_be_visible()
    assert frame.locator("section[data-testid=stSidebar]").count() == 0
    assert frame.get_by_text("Model", exact=True).count() == 0
    dials = frame.locator(".film").first
    # Linear scaling divides the radian between neighbours by the factor.
    expect(dials).to_contain_text("14.3°")
    slider = frame.get_by_role("slider", name="factor", exact=True)
    slider.focus()
    slider.press("ArrowRight")
    expect(dials).to_contain_text("11.5°")
    figure, outer = resting(frame.locator(".film-panel:visible").first), resting(page.locator("iframe"))
    assert figure["y"] < outer["y"] + 0.6 * outer["height"] and figure["width"] < outer["width"]


def test_a_lesson_file_of_one_s_own_is_text_and_moves_across_pages(app: str, visit: Visit, tmp_path: Path) -> None:
    text = "<img src=x onerror=document.title=1> $x$ [a](javascript:1) **b**"
    bad, mine = tmp_path / "bad.toml", tmp_path / "mine.toml"
    good = (
        f'title = "<b>Mine</b>"\nminutes = 3\n[[steps]]\npage = "precision"\nsay = "{text}"\n'
        '[[steps]]\npage = "models"\nsay = "Second"\nstate = { context = 100000 }\n'
    )
    page = visit.open(f"{app}/?lang=en")
    in_menu(page, "Present")
    bad.write_text(good.replace('"models"', '"nowhere"'), "utf-8")
    page.locator("input[type=file]").set_input_files(bad)
    expect(page.locator("[data-testid=stAlert]")).to_contain_text("Step 2: there is no page nowhere.")
    mine.write_text(good, "utf-8")
    page.locator("input[type=file]").set_input_files(mine)
    page.get_by_role("button", name="<b>Mine</b>, 3 min, 2 steps").click()
    count(page, "1 / 2")
    shown = page.locator("[class*=st-key-stage-say]")
    assert until(page, lambda: shown.inner_text().replace("\u2060", ""), lambda shown: shown == text) == text
    assert shown.locator("img, a, strong, .katex").count() == 0
    page.keyboard.press("ArrowRight")
    count(page, "2 / 2")
    page.wait_for_url("**/models?*context=100000*")
    visit.settle()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/precision?*")
    assert visit.complaints == []


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "glossary"])  # a table leads it
def test_every_page_shows_one_figure_above_the_fold(name: str, lang: str, app: str, visit: Visit) -> None:
    above_the_fold(visit.open(address(app, name, f"?display=stage&lang={lang}")))
    assert visit.complaints == []


@pytest.mark.long
@pytest.mark.parametrize("talk", lessons.talk_names())
@pytest.mark.parametrize("viewport, lang", [(DESK, "zh"), (PHONE, "zh"), (HALL, "en")])
def test_a_shipped_talk_is_played_to_its_end(
    talk: str, viewport: dict[str, int], lang: str, app: str, browser: Browser
) -> None:
    lesson = lessons.shipped_talk(lang, talk)
    assert lesson
    visit = Visit(browser, viewport)
    page = visit.open(address(app, lesson.steps[0].page, f"?display=stage&talk={talk}&lang={lang}"))
    for step in lesson.steps:
        count(page, f"{step.number} / {len(lesson.steps)}")
        page.wait_for_url(re.compile(f"^[^?]*/{step.page.replace('home', '')}\\?.*step={step.number}\\b"))
        visit.settle()
        assert page.locator("[data-testid=stException], [data-testid=stAlertContentWarning]").count() == 0
        page.wait_for_selector(f".st-key-stage-figure-{step.figure}" if step.figure else LEADS)
        page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollWidth <= innerWidth")
        assert viewport == PHONE or until(page, lambda: page.evaluate(FAULTS), lambda faults: not faults) == []
        if step.predict:  # the key that goes on shows the answer first
            page.keyboard.press("ArrowRight")
            expect(page.locator(".st-key-stage-reveal")).to_have_count(0)
            assert viewport == PHONE or until(page, lambda: page.evaluate(FAULTS), lambda faults: not faults) == []
        page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-stage-next button")).to_be_disabled()
    assert visit.complaints == []
