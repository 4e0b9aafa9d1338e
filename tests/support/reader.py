"""A reader with a theme, a width or no wish for motion; axe-core, and what a screen reader announces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Browser, Page

from rope_core.languages import LANGUAGES
from tests.browser.conftest import DESK, PHONE, Visit, holds, until
from ui.text.words import page_labels

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
STATES = [(lang, theme, size) for lang in LANGUAGES for theme in ("light", "dark") for size in (DESK, PHONE)]
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
RUN = """async tags => (await axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']}))
    .violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.target.join(' ')} ${n.failureSummary}`))"""
# The same, read once the patches have had their turn: they wait 200 ms for the page to come to rest.
ANNOUNCED = """() => ({
  lang: document.documentElement.lang,
  headings: [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => Number(h.tagName[1])),
  figures: [...document.querySelectorAll('.stPlotlyChart')]
    .map(f => [f.getAttribute('role'), f.getAttribute('aria-label')]),
  findings: [...document.querySelectorAll('[role=status]')].map(s => s.textContent.replace('▸', '').trim()),
  english: [...document.querySelectorAll('[aria-label], [data-title]')]
    .flatMap(n => [n.getAttribute('aria-label'), n.getAttribute('data-title')]).filter(Boolean),
  nameless: [...document.querySelectorAll('button, a[href], [role=button], [role=slider], [tabindex="0"][role]')]
    .filter(n => n.checkVisibility() && !(n.getAttribute('aria-label') || n.textContent.trim() || n.labels?.length
      || n.getAttribute('aria-labelledby') || n.title)).map(n => n.outerHTML.slice(0, 120)),
  wide: Math.max(...['html', '[data-testid=stMain]'].map(n => document.querySelector(n).scrollWidth)) - innerWidth,
  cut: [...document.querySelectorAll('.katex-display, .stMarkdown table, pre, [class*="st-key-wide-"]')]
    .filter(n => n.scrollWidth > n.clientWidth + 1
      && !(/auto|scroll/.test(getComputedStyle(n).overflowX) && n.tabIndex === 0)).map(n => n.outerHTML.slice(0, 120)),
})"""
# The patches follow 200 ms after a change; a busy machine draws its last figure long after the script has run.
REST = """async () => {
  await document.fonts.ready;
  await new Promise(done => {
    let quiet, last;
    const end = () => { clearTimeout(quiet); clearTimeout(last); watch.disconnect(); done(); };
    const watch = new MutationObserver(() => { clearTimeout(quiet); quiet = setTimeout(end, 600); });
    watch.observe(document.body, {childList: true, subtree: true, attributes: true});
    quiet = setTimeout(end, 600);
    last = setTimeout(end, 10000);
  });
}"""


class Reader(Visit):
    """A visitor who prefers a theme and, if so wished, no motion."""

    def __init__(self, browser: Browser, lang: str, theme: str, size: dict[str, int], still: bool = False) -> None:
        super().__init__(browser, size, LOCALES[lang])
        self.page.emulate_media(color_scheme=theme, reduced_motion="reduce" if still else None)

    def open(self, url: str) -> Page:
        """As any visitor, and wait until nothing moves any more."""
        super().open(url)
        self.rest()
        return self.page

    def rest(self) -> None:
        """Wait until fonts are there, patches have been applied and nothing moves any more."""
        self.page.evaluate(REST)


def violations(page: Page) -> list[str]:
    """Return what axe-core finds on the page once it has come to rest."""
    page.evaluate(AXE)
    return until(page, lambda: list(page.evaluate(RUN, TAGS)), lambda faults: not faults)


def tell(page: Page, name: str, lang: str) -> None:
    """Wait until the page gives a screen reader what it needs, and does nothing that a narrow window must not do."""
    others = {
        text
        for key, text in page_labels("en" if lang == "zh" else "zh", "labels").items()
        if key.startswith("browser.")
    }
    # Figures far down a long page are drawn, and then named, after the first ones have come to rest.
    holds(page, lambda: announced(page.evaluate(ANNOUNCED), lang, others))


def announced(shown: dict[str, Any], lang: str, others: set[str]) -> None:
    """Hold what a page announces: ``others`` are the other language's words for the browser's own parts."""
    assert shown["lang"] == {"en": "en", "zh": "zh-CN"}[lang]
    assert shown["headings"][0] == 1 and shown["headings"].count(1) == 1
    assert all(after <= before + 1 for before, after in zip(shown["headings"], shown["headings"][1:], strict=False))
    for role, finding in shown["figures"]:
        assert role == "figure" and re.search(r"\d|[。.]$", finding), finding
        assert re.sub(r"\W", "", finding) in {re.sub(r"\W", "", sentence) for sentence in shown["findings"]}, finding
    assert others & set(shown["english"]) == set()
    assert shown["nameless"] == []
    assert shown["wide"] <= 0
    assert shown["cut"] == []
