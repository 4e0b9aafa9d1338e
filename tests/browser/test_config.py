"""The config page in Chromium: a layer type, paste, upload, findings, downloads. Hostile text: test_threats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import rope_core as rc
from tests.browser.conftest import Visit, address_has
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser
DYNAMIC = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "max_position_embeddings": 4096,
    "rope_scaling": {"type": "dynamic", "factor": 2.0},
}


def ways(visit: Visit, page: Page, lang: str) -> None:
    """Open the box with the ways to bring a config, unless it is open."""
    if not page.get_by_label(PageTexts(lang, "config")("paste_label")).is_visible():
        page.get_by_text(PageTexts(lang, "config")("ways"), exact=True).click()
        visit.settle()


def paste(visit: Visit, page: Page, text: str, lang: str) -> None:
    ways(visit, page, lang)
    page.get_by_label(PageTexts(lang, "config")("paste_label")).fill(text)
    page.get_by_text(PageTexts(lang, "config")("paste_button"), exact=True).click()
    visit.settle()


def test_paste_upload_and_download(visit: Visit, app: str, tmp_path: Path) -> None:
    t = PageTexts("en", "config")
    page = visit.open(f"{app}/config?lang=en")
    expect(page.locator(".film[data-ready]")).to_be_in_viewport()
    expect(page.locator("[data-testid=stPlotlyChart]")).to_have_count(0)
    page = visit.open(f"{app}/config?lang=en&model=gemma-3-4b")
    expect(page.locator("[data-testid=stPlotlyChart]").first).to_be_in_viewport()
    page.get_by_text("full_attention", exact=True).first.click()
    expect(page.get_by_text("linear (PI)", exact=True).first).to_be_visible()
    address_has(page, "layer=full_attention")
    page.get_by_role("slider", name="length wanted").press("ArrowRight")
    address_has(page, "want=")

    paste(visit, page, json.dumps(DYNAMIC), "en")
    expect(page.get_by_text(t("shown.paste"))).to_be_visible()
    expect(page.get_by_text(t("scheme.dynamic"), exact=True).first).to_be_visible()
    expect(page).not_to_have_url(re.compile("layer=|llama"))
    large = tmp_path / "config.json"
    large.write_text(json.dumps({"model_type": "llama", "pad": "x" * 5_000_000}), "utf-8")
    ways(visit, page, "en")
    page.locator("input[type=file]").set_input_files(large)
    expect(page.get_by_text("1,048,576").first).to_be_visible()
    expect(page.get_by_text(t("shown.paste"))).to_be_visible()
    assert page.locator("[data-testid=stException]").count() == 0

    # What is too long for a message of a box comes as a file.
    ways(visit, page, "en")
    long = json.dumps(DYNAMIC | {"pad": "x" * 200_000})
    page.get_by_label(t("paste_label")).evaluate(
        """(box, text) => {
          const carried = new DataTransfer();
          carried.setData('text', text);
          box.dispatchEvent(new ClipboardEvent('paste', {clipboardData: carried, bubbles: true, cancelable: true}));
        }""",
        long,
    )
    expect(page.get_by_text(t("shown.upload"))).to_be_visible()
    paste(visit, page, json.dumps(DYNAMIC), "en")
    expect(page.get_by_text(t("shown.paste"))).to_be_visible()

    file = tmp_path / "my <b>config.json"
    file.write_text(json.dumps(DYNAMIC), "utf-8")
    ways(visit, page, "en")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text(t("shown.upload"))).to_be_visible()
    visit.settle()
    page.keyboard.press("Escape")
    page.locator("summary", has_text=t.section_title_and_text("convert")[0]).click()
    address_has(page, "open=convert")
    visit.settle()
    with page.expect_download() as waiting:
        page.get_by_text(t("download_config"), exact=True).last.click()
    built = json.loads(Path(waiting.value.path()).read_text("utf-8"))
    assert built["rope_parameters"] == {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 2.0}
    with page.expect_download() as waiting:
        page.get_by_text(t("report_json"), exact=True).click()
    record = json.loads(Path(waiting.value.path()).read_text("utf-8"))
    assert [finding["key"] for finding in record["findings"]] == [finding.key for finding in rc.check(DYNAMIC)]
    with page.expect_download() as waiting:
        page.get_by_text(t("report_html"), exact=True).click()
    report = Path(waiting.value.path()).read_text("utf-8")
    assert report.startswith("<!DOCTYPE html>") and "<svg" in report and "<b>config" not in report
    assert visit.complaints == [] and visit.outside == []
