"""The extrapolation page in Chromium: a measurement on a text of one's own."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from rope_core.lab.lines import scheme_lines
from tests.browser.conftest import Visit, address_has
from ui.text.words import PageTexts
from ui.work import extrapolated

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(extrapolated.shipped_rotary_models() == ("",), reason="no trained weights are in the package"),
]
T = PageTexts("en", "extrapolation")
SECRET = "a sentence that stays here"


def test_a_text_of_one_s_own_is_measured_and_stays_out_of_the_address(app: str, visit: Visit) -> None:
    page = visit.open(f"{app}/extrapolation?lang=en&open=live&read=own&longest=256&documents=1")
    text = f"{SECRET}, and is read byte by byte. " * 9
    box = page.get_by_label(T("text_label"))
    box.fill("too short")
    box.blur()
    expect(page.get_by_text("The text has 9 bytes; a length of 256 needs at least 257.")).to_be_visible()
    box.fill(text)
    box.blur()
    expect(page.get_by_text(f"{len(text)} bytes, of which the first 257 are read")).to_be_visible()
    page.get_by_role("button", name=T("measure"), exact=True).click()
    expect(page.get_by_text(T("measured_here", count=len(scheme_lines())))).to_be_visible()
    address_has(page, "read=own")
    assert "sentence" not in page.url
    # The figure is that of the request in hand: another length has none yet.
    page.get_by_role("slider", name=T("field.documents")).press("ArrowRight")
    expect(page.get_by_text(T("measured_here", count=len(scheme_lines())))).to_have_count(0)
    assert visit.complaints == []
