"""What the address bar, the language switch and the page menu do to a visitor's values."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.servers import ROOT, served
from tests.browser.conftest import Visit, address_has, says
from tests.support import films
from tests.test_pages import opened
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser


QUERY = "position of mat"


def press(page: Page, slider: str, key: str = "ArrowRight") -> None:
    """Press a key on the slider of that name."""
    handle = page.get_by_role("slider", name=slider).first
    handle.focus()
    handle.press(key)


def finding(page: Page, start: str) -> str:
    """Return the visible finding that starts with these words."""
    return str(page.locator("p", has_text=re.compile(start)).first.inner_text())


def test_a_late_address_is_put_right(app: str, visit: Visit) -> None:
    """The network holds the addresses back until all moves have been made; then the browser goes back and forth."""
    held: list[bytes] = []
    sides: list[WebSocketRoute] = []

    def between(browser_side: WebSocketRoute) -> None:
        def hold_addresses(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            address = ForwardMsg.FromString(message).WhichOneof("type") == "page_info_changed"
            held.append(message) if address else browser_side.send(message)

        sides.append(browser_side)
        browser_side.connect_to_server().on_message(hold_addresses)

    page = visit.page
    page.route_web_socket("**/_stcore/stream**", between)
    visit.open(f"{app}/rotation?m=7&beat=2&display=stage&lang=en")
    before = page.url
    page.locator(".st-key-stage-open label").click()
    for key, place in (("ArrowRight", 8), ("ArrowRight", 9), ("ArrowLeft", 8)):
        press(page, QUERY, key)
        says(page, f"At position {place} the four")
        visit.settle()
    # A press that moves no value runs the whole page, with the old address as well.
    page.locator(".st-key-stage-code button").click()
    expect(page.get_by_role("dialog")).to_contain_text("m=8")
    page.keyboard.press("Escape")
    assert page.url == before and held
    for message in held:
        sides[-1].send(message)
    address_has(page, "m=8")
    for go, place in ((page.go_back, 9), (page.go_back, 8), (page.go_back, 7), (page.go_forward, 8)):
        go()
        says(page, f"At position {place} the four")


def test_a_copied_link_is_the_view_on_a_fresh_server(browser: Browser) -> None:
    """As its first request ever: the score is that of another process, and there is no dialog in the way."""
    values = {"model": "llama-3-8b", "m": "40", "apart": "13", "before": "2", "beat": "3", "lang": "zh"}
    wanted = films.shown(opened("rotation", **values))["rotation.circle"].finding
    with served(ROOT / "app.py") as url:
        visit = Visit(browser)
        page = visit.open(f"{url}/rotation?{urlencode(values)}")
        assert page.locator("[role=dialog]").count() == 0
        says(page, wanted)
        page.get_by_text("English", exact=True).first.click()
        says(page, "Words 13 apart score")


def test_switching_language_or_page_keeps_every_value(rotation: Page) -> None:
    press(rotation, QUERY)
    says(rotation, "At position 6 the four")
    rotation.get_by_text("中文", exact=True).first.click()
    says(rotation, "在位置 6，四对")
    rotation.get_by_text("English", exact=True).first.click()
    says(rotation, "At position 6 the four")
    address_has(rotation, "lang=en")
    rotation.get_by_role("link", name="Start here").click()
    expect(rotation.get_by_role("heading", level=1)).to_contain_text(PageTexts("en", "home")("title"))
    rotation.get_by_role("link", name="Rotation", exact=True).first.click()
    says(rotation, "At position 6 the four")
    address_has(rotation, "m=6")


def test_a_typed_odd_width_is_refused_and_the_view_stays(rotation: Page) -> None:
    before = finding(rotation, "At position")
    rotation.get_by_role("button", name="More", exact=True).click()
    box = rotation.get_by_role("spinbutton", name="Rotary width d")
    box.fill("7")
    box.press("Enter")
    expect(rotation.locator("[data-testid=stAlert]")).to_contain_text("Rotary width d must be even")
    assert finding(rotation, "At position") == before
    rotation.keyboard.press("Escape")


def test_numbers_and_pictures_can_be_taken_away(rotation: Page) -> None:
    rotation.get_by_role("button", name="Data, code, source").first.click()
    with rotation.expect_download() as got:
        rotation.get_by_role("button", name="Numbers (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(got.value.path().read_text("utf-8-sig"))))
    assert len(rows) == 1600
    apart = [row for row in rows if int(row["query_place"]) - int(row["key_place"]) == 4]
    assert len(apart) == 36 and np.ptp([float(row["rope"]) for row in apart]) < 1e-12
    for kind, starts in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with rotation.expect_download() as got:
            rotation.get_by_role("button", name=f"Save the picture as {kind}").click()
        assert got.value.path().read_bytes().startswith(starts) and got.value.suggested_filename.endswith(kind.lower())
    rotation.keyboard.press("Escape")
    fold = rotation.locator("details", has_text="backward pass")
    fold.locator("summary").click()
    figure = fold.locator(".js-plotly-plot")
    figure.hover()
    for button, ending in (("[data-title^='Download plot']", ".png"), (".rope-lab-svg", ".svg")):
        with rotation.expect_download() as got:
            figure.locator(button).click()
        assert got.value.suggested_filename.endswith(ending)
        assert got.value.path().stat().st_size > 2000
    fold.locator("summary").click()
    expect(fold).not_to_have_attribute("open", "")


def test_what_is_done_is_counted_at_once_and_outlives_a_wrong_try_a_reload_and_the_tab(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?lang=en")
    says(page, "0 of 4 on this page")
    page.get_by_role("button", name="RoPE’s: the words").click()
    expect(page.get_by_text("1 of 4 on this page")).to_be_visible(timeout=3_000)
    page.get_by_role("button", name="Ask again").click()
    page.get_by_role("button", name="Neither: the map").click()
    says(page, "You chose C")
    page.goto(f"{app}/rotation?lang=en")
    says(page, "1 of 4 on this page")
    other = page.context.new_page()
    other.goto(f"{app}/layouts?lang=en")
    says(other, "0 of 3 on this page")
    says(other, "· 1 of ")
    other.get_by_role("button", name="Yes: at position 0 nothing is turned").click()
    says(other, "1 of 3 on this page")
    says(page, "· 2 of ")
