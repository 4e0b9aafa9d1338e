"""Each page in a real Chromium, visited once: address, language, two widths, WCAG by axe, its film, no complaint."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from rope_core.languages import LANGUAGES
from tests.browser.conftest import DESK, PHONE, Visit, address_has, until
from tests.browser.test_films import LED, drag, press_handles
from tests.support.reader import STATES, Reader, tell, violations
from tests.test_pages import NAMES
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser
WIDE = "() => document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth"


def address(url: str, name: str, query: str = "") -> str:
    """Return the deep link of a page; home is at the root."""
    return f"{url}/{'' if name == 'home' else name}{query}"


def opened(visit: Visit, url: str, name: str, lang: str) -> None:
    """Open a page without a language in the link: it has the browser's, its frame, and nothing in the way."""
    page = visit.open(address(url, name))
    expect(page.get_by_role("heading", level=1)).to_contain_text(PageTexts(lang, name)("title"))
    assert page.locator("[role=dialog]").count() == 0
    assert page.locator("[data-testid=stException]").count() == 0
    address_has(page, f"lang={lang}")


def test_a_browser_of_a_third_language_has_english_and_the_switch(browser: Browser, app: str) -> None:
    """The first request of a fresh server: test_state's copied link."""
    visit = Visit(browser, locale="de-DE")
    opened(visit, app, "home", "en")
    visit.page.get_by_text(LANGUAGES["zh"], exact=True).first.click()
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text(PageTexts("zh", "home")("title"))


@pytest.mark.parametrize("name", NAMES)
def test_a_page(name: str, browser: Browser, app: str) -> None:
    """Language, theme and width take turns; all of them on every page: test_accessibility's long tests."""
    lang, theme, size = STATES[(3 * NAMES.index(name)) % len(STATES)]
    reader = Reader(browser, lang, theme, size)
    opened(reader, app, name, lang)
    assert violations(reader.page) == []
    tell(reader.page, name, lang)
    if name in LED:
        reader.page.set_viewport_size(DESK)
        drag(reader, name)
    reader.page.set_viewport_size(PHONE)
    assert until(reader.page, lambda: reader.page.evaluate(WIDE), lambda wide: wide <= 0) <= 0
    if name in LED:
        press_handles(reader.page)
    assert reader.complaints == []
    assert reader.outside == []
