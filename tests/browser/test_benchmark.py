"""The benchmark page in Chromium: records at once, a run cancelled, a run that lands, another in the queue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rope_core.bench.records import BenchmarkDatabase
from tests.browser.conftest import Visit, address_has, until
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser
TINY = "open=run&suite=one&batch=1&seq=64&heads=2&kv_heads=1&head_dim=64&rounds=5&only=numba%2Ceager"
T = PageTexts("en", "benchmark")


def children(records: Path) -> list[str]:
    """Process ids of runs that write to ``records``, by what they were started with."""
    result = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line, env = (place / "cmdline").read_bytes(), (place / "environ").read_bytes()
        except OSError:
            continue
        if b"rope_core.cli.bench" in line and f"ROPE_LAB_RECORDS={records}".encode() in env:
            result.append(place.name)
    return result


def press(page: Page, key: str) -> None:
    page.get_by_role("button", name=T(key), exact=True).click()


def beginning(key: str) -> re.Pattern[str]:
    """Return what a label says before its first slot."""
    return re.compile(re.escape(T(key).split("{")[0]))


def test_a_run_is_cancelled_and_another_lands(browser: Browser, app: str, app_records: Path) -> None:
    visit, other = Visit(browser), Visit(browser)
    page = visit.open(f"{app}/benchmark?lang=en&open=run&suite=cpu")
    expect(page.locator(".film-panel svg").first).to_be_in_viewport()
    press(page, "start")
    expect(page.locator("[data-testid=stProgress]").first).to_be_visible()
    expect(page.get_by_text(T("yours"))).to_be_visible()
    assert until(page, lambda: children(app_records), bool)

    beside = other.open(f"{app}/benchmark?lang=en&{TINY}")
    expect(beside.get_by_text(T("others"))).to_be_visible()
    press(beside, "start")
    waits = re.compile(f"{re.escape(T('yours'))}.*waits for 1 before it")
    expect(beside.get_by_text(waits)).to_be_visible()

    press(page, "cancel")
    expect(page.get_by_text(beginning("over.cancelled"))).to_be_visible()
    expect(beside.get_by_text(beginning("over.done"))).to_be_visible()
    assert until(page, lambda: children(app_records), lambda alive: not alive) == []

    finished = [run for run in BenchmarkDatabase(app_records).runs() if run.run_status == "finished"]
    assert len(finished) == 1
    results = {result.contestant: result for result in BenchmarkDatabase(app_records).results(finished[0].id)}
    assert set(results) == {"numba", "eager"} and {r.state for r in results.values()} == {"ok"}
    assert results["numba"].case.seq == 64

    press(beside, "show_here")
    expect(beside.get_by_text("49.2 kB").first).to_be_visible()
    address_has(beside, "source=here")
    assert visit.complaints == [] and other.complaints == []
