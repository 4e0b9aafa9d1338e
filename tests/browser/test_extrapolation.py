"""The extrapolation page in Chromium: measurements watched, cancelled, queued, and one on a text of one's own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from rope_core.lab.lines import lines
from tests.browser.conftest import Visit, address_has
from ui.text.words import Words
from ui.work import extrapolated

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(extrapolated.models() == ("",), reason="no trained weights are in the package"),
]
T = Words("en", "extrapolation")
LONG = "longest=4096&documents=32"
SECRET = "a sentence that stays here"


def beginning(key: str) -> re.Pattern[str]:
    """Return what a label says before its first slot."""
    return re.compile(re.escape(T(key).split("{")[0]))


def press(page: Page, key: str) -> None:
    page.get_by_role("button", name=T(key), exact=True).click()


def test_a_measurement_is_watched_cancelled_and_another_lands(browser: Browser, app: str) -> None:
    visit, other = Visit(browser), Visit(browser)
    page = visit.open(f"{app}/extrapolation?lang=en&open=live&{LONG}")
    expect(page.get_by_text(beginning("not_measured")).first).to_be_visible()
    text = f"{SECRET}, and is read byte by byte. " * 9
    beside = other.open(f"{app}/extrapolation?lang=en&open=live&read=own&longest=256&documents=1")
    box = beside.get_by_label(T("text_label"))
    box.fill("too short")
    box.blur()
    expect(beside.get_by_text("The text has 9 bytes; a length of 256 needs at least 257.")).to_be_visible()
    box.fill(text)
    box.blur()
    expect(beside.get_by_text(f"{len(text)} bytes, of which the first 257 are read")).to_be_visible()

    press(page, "measure")
    expect(page.locator("[data-testid=stProgress]").first).to_be_visible()
    press(beside, "measure")
    # Of the whole page, so that a failure prints what it says instead.
    expect(beside.get_by_test_id("stMain")).to_contain_text("Your measurement waits for 1 before it.")

    press(page, "cancel")
    expect(page.get_by_text(T("cancelled"))).to_be_visible()
    expect(beside.get_by_text(T("measured_here", count=len(lines())))).to_be_visible()
    address_has(beside, "read=own")
    assert "sentence" not in beside.url
    assert SECRET not in page.content()
    # The figure is that of the request in hand: another length has none yet.
    beside.get_by_role("slider", name=T("field.documents")).press("ArrowRight")
    expect(beside.get_by_text(T("measured_here", count=len(lines())))).to_have_count(0)
    assert visit.complaints == [] and other.complaints == []
