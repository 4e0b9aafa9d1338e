"""Films in a real browser: painted as Python has them, moved by mouse, finger and keys, with no message on the way.

test_pages drags and presses the film that leads each page, in the page's one visit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import DESK, PHONE, WAY, Visit, address_has, holds, painted, reset, resting, until
from tests.support.painted import ALIKE, as_python_has_it, at, drawn_apart, pairs, saved, unlike
from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser

LED = [name for name in SECTIONS if page_declaration(name).claim_in_film]
"""The pages that a film leads."""

LAST = """() => {
  const panels = [...globalThis.ropeLabFilms.films.values()].flatMap(film => film.panels).filter(panel => panel.shown);
  return panels.map(panel => {
    const edge = panel.svg.getBoundingClientRect().right + 1;
    const letters = [...panel.axes.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right <= edge);
    return [panel.head.x.ticks.at(-1)?.[1] ?? '', letters.map(t => t.textContent)];
  });
}"""


def open_film(visit: Visit, app: str, query: str) -> Locator:
    """Open the rotation page and wait for its leading film to answer."""
    visit.page.goto(f"{app}/rotation?{query}")
    return leading(visit.page)


def leading(page: Page) -> Locator:
    """Return the film that leads a page, once it answers."""
    film = page.locator(".film[data-at]").first
    expect(film).to_be_visible()
    return film


def drag(visit: Visit, page: str) -> None:
    """Drag each slider of the film that leads a page: no message on the way, and what is painted is Python's."""
    film = leading(visit.page)
    rng = np.random.default_rng(len(page))
    pulled: set[str] = set()
    for beat in film.locator(".film-step").all() or [None]:
        if beat:
            beat.click()
            expect(beat).to_have_attribute("aria-current", "step")
        for slider in film.locator(".film-range:visible").all():
            name = slider.get_attribute("aria-label") or ""
            assert name and int(slider.get_attribute("max") or 0)
            if name not in pulled:
                pull(visit, film, slider, rng.uniform(0.1, 0.9))
                holds(visit.page, lambda: as_python_has_it(visit.page, film))
            pulled.add(name)
    expect(film.locator(".film-finding")).to_have_text(re.compile("^▸ "))


def pull(visit: Visit, film: Locator, slider: Locator, share: float) -> None:
    """Move a slider from its middle to a share of its width: a message once it rests on another stop, none before."""
    visit.settle()
    box, rested, before = resting(slider), at(film), len(visit.sent)
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visit.page.mouse.down()
    for step in range(1, 9):
        visit.page.mouse.move(box["x"] + box["width"] * (0.5 + (share - 0.5) * step / 8), box["y"] + 12)
    assert len(visit.sent) == before
    visit.page.mouse.up()
    painted(visit.page)
    if at(film) != rested:
        assert until(visit.page, lambda: len(visit.sent), lambda now: now > before) > before


def press_handles(page: Page) -> None:
    """Move each handle of the leading film by keys: all are sliders, and large enough for a finger."""
    handles = page.locator(".film[data-at]").first.locator(".film-handle:visible")
    assert handles.count()
    for k in range(handles.count()):
        handle = handles.nth(k)
        assert handle.get_attribute("role") == "slider" and handle.get_attribute("aria-label")
        grip = handle.locator(".film-grip")

        def large(grip: Locator = grip) -> None:
            box = grip.bounding_box()
            assert box and min(box["width"], box["height"]) >= 24

        holds(page, large)
        handle.focus()
        for key, to in (("End", "aria-valuemax"), ("Home", "aria-valuemin")):
            page.keyboard.press(key)
            expect(handle).to_have_attribute("aria-valuenow", handle.get_attribute(to) or "")
        page.keyboard.press("ArrowRight")
        expect(handle).to_have_attribute("aria-valuenow", "1")
        assert handle.get_attribute("aria-valuetext")


def test_an_arrow_is_turned_and_the_address_opens_the_same_on_another_visit(
    visit: Visit, browser: Browser, app: str
) -> None:
    page = visit.page
    page.goto(f"{app}/?lang=en")
    film = leading(page)
    before = until(page, lambda: at(film), lambda now: "position" in now)
    grip = resting(film.locator(".film-handle:visible .film-grip").nth(1))
    frame = resting(film.locator(".film-panel:visible svg").nth(1))
    middle = np.array([frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2])
    tip = np.array([grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2])
    page.mouse.move(*tip)
    page.mouse.down()
    # Five words the clock's way.
    for angle in np.linspace(0, 5 * 10_000 ** (-16 / 128), 25):
        c, s = np.cos(angle), np.sin(angle)
        page.mouse.move(*(middle + np.array([[c, -s], [s, c]]) @ (tip - middle)))
    page.mouse.up()
    address_has(page, f"position={before['position'] + 5:.0f}")
    sentence = film.locator(".film-finding").inner_text()
    other = Visit(browser)
    other.page.goto(page.url)
    expect(leading(other.page).locator(".film-finding")).to_have_text(sentence)
    # Reset reaches the picture too.
    reset(page)
    assert until(page, lambda: at(film), lambda now: now == before) == before


def test_beats_follow_each_other_and_the_whole_word_is_the_handle(visit: Visit, app: str) -> None:
    page = visit.page
    page.goto(f"{app}/?lang=en")
    film = leading(page)
    word = film.locator(".film-handle rect:visible").first
    panels = film.locator(".film-panel:visible")
    expect(panels).to_have_count(3)
    box = resting(word)
    corner = box["x"] + 4, box["y"] + 4
    page.mouse.move(*corner)
    page.mouse.down()
    page.mouse.move(corner[0] - box["width"] * 2.2, corner[1] - 9, steps=4)
    # What the hand holds says so, and no ring of the keyboard's lies over it.
    assert word.evaluate("node => getComputedStyle(node).cursor") == "grabbing"
    assert film.locator(".film-handle:focus").first.evaluate("n => getComputedStyle(n).outlineStyle") == "none"
    page.mouse.up()
    address_has(page, "position=3")
    expect(film.locator(".film-then")).to_have_class(re.compile("film-ready"))
    # Nobody has to drag: a press beside the word takes it there.
    box = resting(word)
    page.mouse.click(box["x"] + box["width"] * 1.6, box["y"] + 8)
    address_has(page, "position=4")
    # And what the press has taken there is held.
    box = resting(word)
    page.mouse.move(box["x"] + box["width"] * 1.6, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] - box["width"] * 0.5, box["y"] + 8, steps=4)
    page.mouse.up()
    address_has(page, "position=3")
    film.locator(".film-then").click()
    address_has(page, "beat=2", "position=3")
    expect(panels).to_have_count(3)
    holds(page, lambda: as_python_has_it(page, film))
    film.get_by_role("button", name="Step 2").press("PageUp")
    expect(page).not_to_have_url(re.compile("beat="))
    assert visit.complaints == []


def test_without_motion_the_beats_stand_below_each_other(visit: Visit, app: str) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    visit.page.goto(f"{app}/?lang=en")
    film = leading(visit.page)
    expect(film.locator(".film-say")).to_have_count(2)
    expect(film.locator(".film-panel:visible")).to_have_count(3 + 3)
    expect(film.locator(".film-then")).to_have_count(0)


def test_on_paper_the_app_has_the_whole_width_and_nothing_to_press(browser: Browser, app: str) -> None:
    visit = Visit(browser)
    page = visit.open(f"{app}/block?lang=en")
    leading(page)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(leading(page).locator(".film-say")).to_have_count(3)
    box = page.locator(".stMainBlockContainer").bounding_box()
    assert box and box["x"] == 0 and box["width"] == DESK["width"]
    for away in ("[data-testid=stSidebar]", ".film-bar", ".stSlider", ".st-key-bar", "[data-testid=stPopover] button"):
        assert not any(map(Locator.is_visible, page.locator(away).all())), away
    visit.close()


def test_on_a_first_visit_a_thing_moves_once_by_itself_and_sends_nothing(browser: Browser, app: str) -> None:
    visit = Visit(browser)
    visit.context.add_init_script(f"localStorage.removeItem('rope-lab-dragged'); {WAY}")
    visit.page.goto(f"{app}/?lang=en")
    leading(visit.page)

    def there_and_back() -> None:
        way = visit.page.evaluate("globalThis.way")
        assert way and way["high"] > way["low"] + 0.5 and way["at"] == way["low"]

    holds(visit.page, there_and_back)
    assert "position" not in visit.page.url
    visit.close()


def test_a_step_of_a_lesson_plays_once_and_its_end_is_in_the_address(visit: Visit, app: str) -> None:
    film = open_film(visit, app, "lang=en&display=stage&step=4")
    address_has(visit.page, "m=64")
    expect(film.locator(".film-finding")).to_contain_text("At position 64 the four pairs have turned ")


def test_play_moves_by_itself_and_rests_on_a_stop(rotation: Page) -> None:
    rotation.emulate_media(reduced_motion="reduce")
    film = leading(rotation)
    rotation.get_by_role("button", name="Step 3").click()
    button = film.locator(".film-play:visible")
    button.click()
    expect(film.locator(".film-value").last).not_to_have_text("4")
    button.click()
    address_has(rotation, "apart=")
    assert at(film)["apart"] == int(re.findall(r"apart=(\d+)", rotation.url)[0])
    rotation.emulate_media(reduced_motion="no-preference")


@pytest.fixture(scope="module")
def attention(browser: Browser, app: str) -> Iterator[Visit]:
    """Return a tab at the attention page, where nothing is drawn yet."""
    visit = Visit(browser)
    visit.page.goto(f"{app}/attention?lang=en")
    yield visit
    visit.close()


def test_a_curve_is_drawn_compared_and_kept_in_the_address(attention: Visit, browser: Browser) -> None:
    visit, sent = attention, attention.sent
    film = visit.page.locator(".film", has=visit.page.locator(".film-sketch"))
    pad, show, true = film.locator(".film-pad"), film.get_by_role("button", name="Show the curve"), ".film-true"
    pad.scroll_into_view_if_needed()
    expect(show).to_be_disabled()
    visit.settle()
    box, before = resting(pad), len(sent)
    visit.page.mouse.move(box["x"] + 2, box["y"] + 0.25 * box["height"])
    visit.page.mouse.down()
    # A quick hand: one move over half of the columns, then the rest, and a correction of the last column.
    for across, down in ((0.5, 0.25), (0.99, 0.75), (0.99, 0.5)):
        visit.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
    visit.page.mouse.up()
    expect(show).to_be_enabled()
    assert len(sent) == before and not film.locator(true).count()
    show.click()
    expect(film.locator(true)).to_have_count(1)
    expect(film.locator(".film-finding")).to_have_text(re.compile("^▸ .*Farthest off at .*: you drew .*, it is "))
    address_has(visit.page, "expected=75.75.75.75.75.75.75.75.")
    levels = [int(level) for level in re.findall(r"expected=([0-9.]+)", visit.page.url)[0].split(".")]
    assert levels[-1] == 50 and levels[7:14] == sorted(levels[7:14], reverse=True)

    def over_every_column() -> None:
        shaded = pairs(film.locator(".film-gap").get_attribute("d") or "")
        assert len(shaded) and np.ptp(shaded[:, 0]) == pytest.approx(box["width"] - 24, abs=0.5)

    holds(visit.page, over_every_column)
    other = Visit(browser)
    other.page.goto(visit.page.url)
    expect(other.page.locator(true)).to_have_count(1)
    expect(other.page.locator(".film-finding").nth(1)).to_have_text(film.locator(".film-finding").inner_text())
    film.get_by_role("button", name="Draw again").click()
    expect(film.locator(true)).to_have_count(0)
    expect(visit.page).not_to_have_url(re.compile("expected="))
    assert not visit.complaints + other.complaints


def swipe(page: Page, *points: tuple[float, float]) -> None:
    """Press a finger on the first point, move it over the others and lift it."""
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *at: tuple[float, float]) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]})

    touch("touchStart", points[0])
    for point in points[1:]:
        touch("touchMove", point)
    touch("touchEnd")
    finger.detach()


def test_an_axis_ends_with_its_last_label_whole(browser: Browser, app: str) -> None:
    visit = Visit(browser, PHONE)
    visit.page.goto(f"{app}/precision?lang=en&beat=3")
    leading(visit.page)

    def end_whole() -> None:
        named = visit.page.evaluate(LAST)
        assert sorted({last for last, _ in named if last}) == ["1,000,000"]
        assert [last for last, read in named if last not in [*read, ""]] == []

    holds(visit.page, end_whole)


def test_a_finger_moves_the_film_and_not_the_page(browser: Browser, app: str) -> None:
    visit = Visit(browser, PHONE, touch=True)
    page = visit.page
    page.goto(f"{app}/attention?lang=en")
    film = page.locator(".film[data-at]").first
    expect(film).to_be_visible()
    visit.settle()
    scrolled = "document.querySelector('[data-testid=stMain]').scrollTop"
    # A handle, then a slider.
    grip = resting(film.locator(".film-grip:visible"))
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    before, at_top = at(film), page.evaluate(scrolled)
    swipe(page, (x, y), (x + 30, y + 40), (x + 60, y + 120))
    address_has(page, "at=")
    assert at(film)["at"] > 2 * before["at"] and page.evaluate(scrolled) == at_top
    film.get_by_role("button", name="Step 2").click()
    slider = film.locator(".film-range:visible")
    expect(slider).to_have_attribute("aria-label", "length of the text")
    box = resting(slider)
    y = box["y"] + box["height"] / 2
    swipe(page, *((box["x"] + share * box["width"], y) for share in (0.5, 0.6, 0.8)))
    address_has(page, "context=")
    assert at(film)["context"] > 4 * before["context"]
    # A curve: over every column, down and up again.
    sketch = page.locator(".film", has=page.locator(".film-sketch"))
    pad = sketch.locator(".film-pad")
    visit.settle()

    def sought() -> float:
        pad.evaluate("node => node.scrollIntoView({block: 'center'})")
        return float(page.evaluate(scrolled))

    assert until(page, sought, lambda now: now > at_top) > at_top
    visit.settle()
    box, at_pad = resting(pad), page.evaluate(scrolled)
    ways = [(0.02 + 0.08 * k, 0.9 - abs(k - 6) / 8) for k in range(13)]
    swipe(page, *((box["x"] + across * box["width"], box["y"] + down * box["height"]) for across, down in ways))
    expect(sketch.get_by_role("button", name="Show the curve")).to_be_enabled()
    assert page.evaluate(scrolled) == at_pad


def test_a_curve_is_drawn_by_keys(attention: Visit) -> None:
    visit = attention
    visit.page.set_viewport_size(PHONE)
    visit.page.emulate_media(reduced_motion="reduce")
    slider = visit.page.locator(".film-sketch")
    assert slider.get_attribute("role") == "slider" and slider.get_attribute("aria-label")
    slider.focus()
    for key, text in (
        ("PageUp", "1: 0.53"),
        ("ArrowUp", "1: 0.54"),
        ("ArrowRight", "2: 0.54"),
        ("ArrowDown", "2: 0.53"),
        ("Home", "1: 0.54"),
    ):
        visit.page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuetext", text)
    for _ in range(14):
        visit.page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "16,384: 0.53")
    visit.page.keyboard.press("Enter")
    address_has(visit.page, "expected=61.60.60.")
    expect(slider).to_have_attribute("aria-readonly", "true")


LIT = "[...document.querySelectorAll('.symbol-lit')].map(node => node.dataset.symbol)"


def lit(page: Page, symbol: str) -> None:
    """Wait until what is lit belongs to this symbol alone."""
    assert until(page, lambda: set(page.evaluate(LIT)), lambda seen: seen == {symbol}) == {symbol}


def test_a_symbol_lights_what_it_names_in_legend_formula_and_film(rotation: Page) -> None:
    page = rotation
    page.get_by_role("button", name="Step 2").click()
    page.get_by_role("button", name=PageTexts("en", "labels")("frame.menu"), exact=True).click()
    chip, hand = page.locator(".symbol[data-symbol=q]:visible"), page.locator(".film [data-symbol=q]:visible").first
    page.mouse.move(640, 300)
    chip.focus()
    expect(hand).to_have_class(re.compile("symbol-lit"))
    expect(chip.locator(".symbol-meaning")).to_be_visible()
    # The page scrolls under a pointer that rests.
    for _ in range(6):
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollBy(0, 60)")
        painted(page)
    lit(page, "q")
    letter = page.locator(".katex-html .mathnormal", has_text="m").first
    letter.hover()
    expect(page.locator(".film [data-symbol=m]").first).to_have_class(re.compile("symbol-lit"))
    lit(page, "m")
    expect(letter).to_have_attribute("title", re.compile("^m: position"))
    page.keyboard.press("Escape")
    expect(chip).to_have_count(0)
    hand.hover(force=True)
    lit(page, "q")


def test_a_link_to_a_section_opens_its_fold(visit: Visit, app: str) -> None:
    visit.page.goto(f"{app}/rotation?lang=en#backward")
    fold = visit.page.locator("details", has_text="backward pass")
    expect(fold).to_have_attribute("open", "")
    expect(fold.locator(".js-plotly-plot")).to_be_visible()
    address_has(visit.page, "open=backward")


def test_a_saved_picture_shows_what_is_on_the_screen(visit: Visit, app: str) -> None:
    page = visit.open(f"{app}/clock?lang=en&beat=2&factor=8")
    page.get_by_role("button", name=PageTexts("en", "labels")("frame.details")).first.click()
    picture = saved(page, "SVG", "screen")
    page.keyboard.press("Escape")
    expect(page.locator(".film-saves")).to_have_count(0)
    shown, drawn = drawn_apart(page, leading(page), picture)
    # Letters that the page has brought along are another program's own, as wide.
    assert unlike(shown, drawn) < ALIKE


OUTSIDE = """() => [...document.querySelectorAll('.film')[0].querySelectorAll('.film-panel svg')].flatMap(drawn => {
  const box = drawn.getBoundingClientRect();
  return [...drawn.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([, at]) => at.width && (at.left < box.left - 2 || at.right > box.right + 2)).map(([text]) => text);
})"""


def test_a_tablet_with_its_menu_open_cuts_no_label(browser: Browser, app: str) -> None:
    visit = Visit(browser, {"width": 768, "height": 1024})
    for name in ("layouts", "benchmark"):
        page = visit.open(f"{app}/{name}?lang=en")
        page.wait_for_selector(".film[data-ready]")
        assert until(page, partial(page.evaluate, OUTSIDE), lambda cut: not cut) == []
    visit.close()
