"""Each page in a real Chromium, as the first request that a fresh server ever gets."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.servers import ROOT, served
from tests.browser.conftest import PHONE, Visit, address_has
from tests.test_pages import NAMES
from ui.text.words import Words

pytestmark = pytest.mark.browser


def address(url: str, name: str, query: str = "") -> str:
    """The deep link of a page; home stands at the root."""
    return f"{url}/{'' if name == 'home' else name}{query}"


@pytest.mark.parametrize("name", NAMES)
def test_first_request_of_a_fresh_server(name: str, browser: Browser) -> None:
    with served(ROOT / "app.py") as url:
        for visit in (Visit(browser), Visit(browser, PHONE, "zh-CN")):
            page = visit.open(address(url, name))
            lang = "zh" if visit.page.viewport_size == PHONE else "en"
            expect(page.get_by_role("heading", level=1)).to_contain_text(Words(lang, name)("title"))
            assert page.locator("[role=dialog]").count() == 0
            assert page.locator("[data-testid=stException]").count() == 0
            address_has(page, f"lang={lang}")
            wide = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
            assert wide <= page.evaluate("() => window.innerWidth")
            if lang == "en":
                page.get_by_text("中文", exact=True).first.click()
                expect(page.get_by_role("heading", level=1)).to_contain_text(Words("zh", name)("title"))
            assert visit.complaints == []
            assert visit.outside == []
            visit.close()
