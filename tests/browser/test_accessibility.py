"""WCAG 2.2 AA by axe-core, the keyboard alone, what a screen reader announces, a phone's width, zoom, no motion."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from rope_core.languages import LANGUAGES
from tests.browser.conftest import DESK, PHONE, until
from tests.browser.test_pages import address
from tests.support.reader import Reader, tell, violations
from tests.test_pages import NAMES
from ui.film.colours import contrast_ratio
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser
ZOOMED = {"width": 640, "height": 360}
PLOTLYS = "g[role=slider]:not(.film-handle)"
LETTERS = """() => [...document.querySelectorAll('.js-plotly-plot')].map(plot => {
  const seen = node => {
    let opacity = 1;
    for (let n = node; n && n !== plot; n = n.parentElement) {
      const style = getComputedStyle(n);
      if (style.display === 'none' || style.visibility === 'hidden') return 0;
      opacity *= Number(style.opacity);
    }
    return opacity;
  };
  const rect = node => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return {
    figure: plot.closest('[class*="st-key-fig"]').className.match(/st-key-(\\S+)/)[1],
    box: rect(plot.querySelector('.main-svg')),
    letters: [...plot.querySelectorAll('text')].filter(t => t.textContent.trim() && !t.closest('defs')).map(t => {
      const style = getComputedStyle(t), turn = t.getScreenCTM();
      return {text: t.textContent, fill: style.fill, opacity: seen(t) * Number(style.fillOpacity),
        size: parseFloat(style.fontSize), box: rect(t), slanted: Math.abs(turn.b) > 1e-3 && Math.abs(turn.a) > 1e-3};
    }).filter(t => t.opacity > 0.05 && t.box[2] > t.box[0]),
  };
})"""


@pytest.fixture
def english(browser: Browser) -> Reader:
    """Return an English reader at a desk."""
    return Reader(browser, "en", "light", DESK)


def figures(page: Page) -> list[dict[str, Any]]:
    """Every figure's letters, with the window as high as the page."""
    height = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": min(height + 50, 16_000)})
    before: list[dict[str, Any]] = []

    def same(now: list[dict[str, Any]]) -> bool:
        """Whether nothing has moved since the last look."""
        nonlocal before
        rest, before = now == before, now
        return rest

    return until(page, lambda: list(page.evaluate(LETTERS)), same)


def overlaps(page: Page) -> list[str]:
    """Return letters of a figure that overlap or leave the figure."""
    result = []
    for figure in figures(page):
        level = [letters for letters in figure["letters"] if not letters["slanted"]]
        left, top, right, bottom = figure["box"]
        for place, first in enumerate(level):
            x0, y0, x1, y1 = first["box"]
            if min(x0 - left, y0 - top, right - x1, bottom - y1) < -1.5:
                result.append(f"{figure['figure']}: {first['text']!r} is cut")
            for other in level[place + 1 :]:
                a0, b0, a1, b1 = other["box"]
                twin = first["text"] == other["text"] and abs(x0 - a0) + abs(y0 - b0) < 3
                if min(x1, a1) - max(x0, a0) > 2 and min(y1, b1) - max(y0, b0) > 4 and not twin:
                    result.append(f"{figure['figure']}: {first['text']!r} on {other['text']!r}")
    return result


def pale(page: Page) -> list[str]:
    """Letters of a figure with less than 4.5 to 1 against the pixels around them (3 to 1 from 24 pixels on)."""
    drawn = figures(page)
    assert all(figure["letters"] for figure in drawn)
    page.add_style_tag(content=".js-plotly-plot text {visibility: hidden !important}")
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    result = []
    for figure in drawn:
        for letters in figure["letters"]:
            x0, y0, x1, y1 = (max(round(edge), 0) for edge in letters["box"])
            around = picture[y0:y1, x0:x1].reshape(-1, 3)
            if not around.size:
                continue
            ground = np.median(around, axis=0)
            fill = np.array([float(part) for part in re.findall(r"[\d.]+", letters["fill"])[:3]])
            mixed = fill * letters["opacity"] + ground * (1 - letters["opacity"])
            ratio = contrast_ratio(*(f"#{bytes(colour.round().astype(np.uint8)).hex()}" for colour in (mixed, ground)))
            if ratio < (3 if letters["size"] >= 24 else 4.5):
                result.append(f"{figure['figure']}: {letters['text']!r} {ratio:.2f}")
    return result


def open_boxes(reader: Reader) -> None:
    """Open every expander of the page."""
    for box in reader.page.locator("[data-testid=stExpander] summary").all():
        if box.is_visible():
            box.click()
    reader.rest()


@pytest.mark.long
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_with_all_its_folds(name: str, lang: str, browser: Browser, app: str) -> None:
    """Themes and widths take turns among pages and languages."""
    turn = NAMES.index(name) + list(LANGUAGES).index(lang)
    theme, size = ("light", "dark")[turn % 2], (DESK, PHONE)[turn // 2 % 2]
    reader = Reader(browser, lang, theme, size)
    page = reader.open(address(app, name, f"?lang={lang}"))
    open_boxes(reader)
    assert violations(page) == []
    tell(page, name, lang)
    assert (pale(page) if size == DESK else overlaps(page)) == []


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_page_on_the_stage(name: str, browser: Browser, app: str) -> None:
    for lang, theme in (("en", "light"), ("zh", "dark")):
        reader = Reader(browser, lang, theme, DESK)
        page = reader.open(address(app, name, f"?lang={lang}&display=stage"))
        assert violations(page) == []
        reader.close()


def test_menus_boxes_and_sentences(browser: Browser, app: str) -> None:
    """What opens over a page, a link's bad value, and a config that is none."""
    reader = Reader(browser, "zh", "light", DESK)
    page = reader.open(f"{app}/config?lang=zh&pair=-7&factor=bad")
    expect(page.get_by_role("alert").first).to_be_visible()
    page.get_by_text(PageTexts("zh", "config")("ways"), exact=True).click()
    page.get_by_label(PageTexts("zh", "config")("paste_label")).fill('{"model_type": ')
    page.get_by_text(PageTexts("zh", "config")("paste_button"), exact=True).click()
    expect(page.get_by_text(PageTexts("zh", "config")("kept", detail="").strip("。")).first).to_be_visible()
    reader.settle()
    assert violations(page) == []
    page.get_by_role("combobox").first.click()
    expect(page.get_by_role("listbox")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    for box in (PageTexts("zh", "labels")("frame.menu"), PageTexts("zh", "labels")("frame.details")):
        page.get_by_role("button", name=box).first.click()
        reader.settle()
        assert violations(page) == []
        page.keyboard.press("Escape")


FOCUS = """() => {
  const at = document.activeElement, box = at.getBoundingClientRect();
  return {tag: at.tagName, role: at.getAttribute('role'), main: !!at.closest('[data-testid=stMain]'),
    name: at.getAttribute('aria-label') || at.textContent.trim().slice(0, 60),
    x: box.x, y: box.y, w: box.width, h: box.height};
}"""


def tab_to(page: Page, name: str, role: str | None = None, key: str = "Tab", most: int = 250) -> dict[str, Any]:
    """Press Tab until the focus is on what is called ``name``."""
    for _ in range(most):
        page.keyboard.press(key)
        at: dict[str, Any] = page.evaluate(FOCUS)
        if name in at["name"] and (role is None or at["role"] == role or at["tag"].lower() == role):
            return at
    raise AssertionError(f"{name!r} was not reached by {key}")


def glow(page: Page) -> int:
    """How many pixels around the focused control differ once it has lost the focus."""
    page.evaluate("() => document.activeElement.scrollIntoView({block: 'center', behavior: 'instant'})")
    at = page.evaluate(FOCUS)
    room = page.viewport_size or DESK
    x, y = max(at["x"] - 8, 0), max(at["y"] - 8, 0)
    clip = {
        "x": x,
        "y": y,
        "width": min(at["w"] + 16, room["width"] - x),
        "height": min(at["h"] + 16, room["height"] - y),
    }

    def shot() -> np.ndarray[Any, Any]:
        return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")).astype(int)

    focused = shot()
    page.evaluate("() => { window.was = document.activeElement; window.was.blur(); }")
    bare = shot()
    page.evaluate("() => window.was.focus()")
    return int((np.abs(focused - bare).sum(axis=2) > 60).sum())


def glows(page: Page) -> None:
    """Wait until the focus is seen on the control that has it: rings and menus come and go by degrees."""
    assert until(page, lambda: glow(page), lambda pixels: pixels > 20) > 20


KEYBOARD = [
    pytest.param("frequencies", "pair", id="learn"),
    pytest.param("extrapolation", "byte", id="lab", marks=pytest.mark.long),
    pytest.param("config", "length wanted (tokens)", id="engineer", marks=pytest.mark.long),
    pytest.param("models", "text length", id="reference", marks=pytest.mark.long),
]


def plotlys_own(page: Page) -> None:
    """Move a figure's own slider by a key, unfold a section and switch a trace off in its figure's legend."""
    slider = page.locator(PLOTLYS).first
    slider.focus()
    value = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    expect(slider).not_to_have_attribute("aria-valuetext", value or "")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("."))
    expect(slider).to_be_focused()
    fold = page.locator("details", has=page.locator("#meaning"))
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    legend = fold.locator(".legend [role=button]").first
    expect(legend).to_have_attribute("aria-pressed", "true")
    legend.focus()
    page.keyboard.press("Enter")
    expect(legend).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("name, slider", KEYBOARD)
def test_a_section_by_keyboard_alone(name: str, slider: str, app: str, english: Reader) -> None:
    """Choose in a menu, move a slider, open the code, switch the language; the focus is seen on each."""
    page = english.open(f"{app}/?lang=en")
    tab_to(page, PageTexts("en", "labels").page_name(name), "a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(PageTexts("en", name)("title"))
    english.settle()

    tab_to(page, slider, "input")
    value = page.evaluate("() => document.activeElement.getAttribute('aria-valuetext')")
    glows(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.activeElement.getAttribute('aria-valuetext') !== before", arg=value)

    tab_to(page, PageTexts("en", "labels")("frame.details"), "button")
    glows(page)
    page.keyboard.press("Enter")
    english.settle()
    expect(page.get_by_text(PageTexts("en", "labels")("frame.recipe"), exact=True)).to_be_visible()
    page.keyboard.press("Escape")

    if page.get_by_role("combobox").count():
        label = page.get_by_role("combobox").first.get_attribute("aria-label") or ""
        tab_to(page, label, "input")
        glows(page)
        before = page.evaluate("() => document.activeElement.value")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_function("before => document.activeElement.value !== before", arg=before)
        english.settle()

    if name == "frequencies":
        plotlys_own(page)

    tab_to(page, "English", "radio", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_role("heading", level=1)).to_contain_text(PageTexts("zh", name)("title"))
    page.wait_for_function("() => document.documentElement.lang === 'zh-CN'")


def test_half_a_window_no_motion_and_the_keyboard_are_enough(browser: Browser, app: str) -> None:
    """200 % zoom of a 1280 x 720 window without motion; then Tab reaches every stop once and comes round.

    The skip link is the first stop, and leads to the page.
    """
    reader = Reader(browser, "en", "light", ZOOMED, still=True)
    page = reader.open(f"{app}/rotation?lang=en&open=backward")
    assert violations(page) == []
    tell(page, "rotation", "en")
    before = page.locator(".js-plotly-plot").first.inner_html()
    page.wait_for_timeout(600)
    assert page.locator(".js-plotly-plot").first.inner_html() == before

    page.set_viewport_size(DESK)
    reader.rest()
    assert tab_to(page, "Skip to main content", most=3)["tag"] == "A"
    stops = []
    for _ in range(300):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUS)
        if at["name"] == "Skip to main content" or at["tag"] == "BODY":
            break
        stops.append(
            (at["name"], at["x"], at["y"] + page.evaluate("() => document.querySelector('#stMain').scrollTop"))
        )
    else:
        raise AssertionError(f"the focus did not come round: {stops[-4:]}")
    assert len(stops) > 40
    assert len({stop[0] for stop in stops}) > 15
    if at["tag"] == "BODY":
        tab_to(page, "Skip to main content", most=3)
    page.keyboard.press("Enter")
    expect(page.locator("#stMain")).to_be_focused()


def test_the_whole_menu_is_in_view_on_a_screen_of_720_pixels(rotation: Page) -> None:
    last = rotation.get_by_role("link", name="Faults and terms").first.bounding_box()
    assert last and last["height"] >= 24 and last["y"] + last["height"] < DESK["height"]
