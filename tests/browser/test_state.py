"""What the address bar, the language switch and the page menu do to a visitor's values."""

from __future__ import annotations

import csv
import io
import re

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.servers import ROOT, served
from tests.browser.conftest import Visit, address_has

pytestmark = pytest.mark.browser


def press(page: Page, slider: str, key: str = "ArrowRight", times: int = 1) -> None:
    """Press a key on the slider of that name."""
    handle = page.get_by_role("slider", name=slider).first
    for _ in range(times):
        handle.focus()
        handle.press(key)


def finding(page: Page, start: str) -> str:
    """The visible finding that starts with these words."""
    return str(page.locator("p", has_text=re.compile(start)).first.inner_text())


def test_a_move_reaches_the_address_and_the_figure(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?m=7&lang=en")
    press(page, "query position m")
    page.wait_for_url("**m=8**")
    expect(page.locator("p", has_text="Query at 8, key at 5").first).to_be_visible()


def test_a_late_address_is_put_right(app: str, visit: Visit) -> None:
    """The network holds the addresses back until moves forth and back have all been made."""
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
    visit.open(f"{app}/rotation?m=7&lang=en")
    before = page.url
    for key, place in (("ArrowRight", 8), ("ArrowRight", 9), ("ArrowLeft", 8), ("ArrowLeft", 7)):
        press(page, "query position m", key)
        expect(page.locator("p", has_text=f"Query at {place}, key at 5").first).to_be_visible()
        visit.settle()
    assert page.url == before and held
    for message in held:
        sides[-1].send(message)
    visit.settle()
    address_has(page, "m=7")


def test_a_copied_link_is_the_view_on_a_fresh_server(browser: Browser, app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?model=llama-3-8b&m=40&n=13&shift=9&pair=2&lang=zh")
    said = finding(page, "查询在")
    query = page.url.split("?")[1]
    with served(ROOT / "app.py") as other:
        second = Visit(browser)
        assert finding(second.open(f"{other}/rotation?{query}"), "查询在") == said
        second.close()
    assert "49" in said and "22" in said


def test_switching_language_keeps_every_value(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?m=33&n=3&lang=en")
    page.get_by_text("中文", exact=True).first.click()
    expect(page.locator("p", has_text="查询在 33，键在 3").first).to_be_visible()
    page.get_by_text("English", exact=True).first.click()
    expect(page.locator("p", has_text="Query at 33, key at 3").first).to_be_visible()


def test_leaving_a_page_and_coming_back_keeps_its_values(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?m=21&base=500000&lang=en")
    page.get_by_role("link", name="Start here").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("to the last digit")
    address_has(page, "base=500000")
    page.get_by_role("link", name="Rotation", exact=True).first.click()
    expect(page.locator("p", has_text="Query at 21").first).to_be_visible()


def test_reset_returns_to_the_defaults(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?m=21&dim=32&lang=en")
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.locator("p", has_text="Query at 12, key at 5").first).to_be_visible()
    page.wait_for_url(re.compile(r"rotation\?lang=en$"))


@pytest.mark.parametrize(
    "query, words",
    [
        ("dim=13", "Rotary width d in the link was 13, but must be even"),
        ("dim=1000000", "Rotary width d in the link was 1000000, but must be between 2 and 1,024"),
        ("m=1000000000000", "query position m in the link was 1000000000000, but must be between"),
        ("base=1", "base in the link was 1, but must be greater than 1"),
        ("base=nan", "base in the link was nan, but must be a finite number"),
        ("model=<script>alert(1)</script>", "but must be one of the values offered"),
    ],
)
def test_a_link_with_a_bad_value_is_answered_in_one_sentence(app: str, visit: Visit, query: str, words: str) -> None:
    page = visit.open(f"{app}/rotation?{query}&lang=en")
    expect(page.locator("[data-testid=stAlert]")).to_have_count(1)
    expect(page.locator("[data-testid=stAlert]")).to_contain_text(words)
    assert page.locator("script", has_text="alert(1)").count() == 0


def test_a_typed_odd_width_is_refused_and_the_view_stays(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?dim=16&lang=en")
    before = finding(page, "Query at")
    page.get_by_role("button", name=re.compile("d = 16")).click()
    box = page.get_by_role("spinbutton", name="Rotary width d")
    box.fill("7")
    box.press("Enter")
    expect(page.locator("[data-testid=stAlert]")).to_contain_text("Rotary width d must be even")
    assert finding(page, "Query at") == before
    address_has(page, "dim=16")


def test_numbers_and_pictures_can_be_taken_away(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/rotation?m=9&lang=en")
    page.get_by_role("button", name="Data, code, source").first.click()
    with page.expect_download() as got:
        page.get_by_role("button", name="Numbers (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(got.value.path().read_text("utf-8-sig"))))
    assert len(rows) == 64 and float(rows[0]["score"]) == pytest.approx(float(rows[63]["score"]), abs=1e-12)
    page.keyboard.press("Escape")
    figure = page.locator(".js-plotly-plot").first
    figure.hover()
    for button, ending in (("[data-title^='Download plot']", ".png"), (".rope-lab-svg", ".svg")):
        with page.expect_download() as got:
            figure.locator(button).click()
        assert got.value.suggested_filename.endswith(ending)
        assert got.value.path().stat().st_size > 2000


def test_the_browser_chooses_the_first_language(browser: Browser, app: str) -> None:
    for locale, word in (("zh-CN", "旋转"), ("de-DE", "Rotation")):
        visit = Visit(browser, locale=locale)
        expect(visit.open(f"{app}/rotation").get_by_role("heading", level=1)).to_contain_text(word)
        visit.close()
