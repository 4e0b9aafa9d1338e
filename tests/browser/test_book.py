"""The book in a real Chromium, served as plain files from a subfolder: live, quiet, and whole without scripts."""

from __future__ import annotations

import json
import math
import re
import shutil
import socket
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.book import BARS, BEFORE, FIRST_FILM, READY, WAKE, QuietFileHandler, before_a_film, hosted, in_all
from benchmarks.servers import ROOT
from rope_core.grade import StageResult
from rope_core.version import LICENCE, __version__
from tests.browser.conftest import DESK, PATIENCE, PHONE, WAY, Visit, address_has, built, holds, until
from tests.support.painted import ALIKE, EDGE, drawn_apart, saved, unlike
from tests.support.reader import violations
from tools.book import scorm
from ui.book.frame import BookFrame
from ui.page.declaration import page_declaration
from ui.page.menu import PATH
from ui.page.tasks import ChoiceQuestion
from ui.present import lessons
from ui.text.words import PageTexts

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"
COMPILED = """async () => {
  for (const name of await caches.keys()) for (const key of await (await caches.open(name)).keys())
    if (key.url.endsWith("/python/compiled")) return (await (await caches.match(key)).arrayBuffer()).byteLength;
  return 0;
}"""
DRAWN = "() => [...document.querySelectorAll('.plot[data-drawn]')].map(box => [box.id, JSON.stringify(box.data)])"


@pytest.fixture(scope="session")
def book(host: Path) -> Iterator[str]:
    """Serve the book from a subfolder."""
    with hosted(host) as url:
        yield f"{url}course/rope/"


def opened(visit: Visit, url: str) -> Page:
    """Go to a page of the book and wait until its Python answers."""
    visit.page.goto(url)
    visit.page.wait_for_selector(READY)
    return visit.page


def figures(page: Page) -> dict[str, Any]:
    """Return the traces that Plotly holds, by the figure's id."""
    return {name: json.loads(text) for name, text in page.evaluate(DRAWN)}


def at(page: Page) -> dict[str, float]:
    """Return where the leading film's controls rest."""
    return dict(json.loads(page.locator(".film").first.get_attribute("data-at") or "{}"))


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[Visit]:
    """Return a reader who stays for several tests: what was loaded once is kept by the browser."""
    visit = Visit(browser)
    visit.context.add_init_script(FIRST_FILM)
    yield visit
    assert not visit.complaints and not visit.outside
    visit.close()


def test_a_page_moves_and_its_address_opens_the_same(reader: Visit, book: str, host: Path) -> None:
    visit = reader
    page = opened(visit, f"{book}clock/?factor=8&error=2&open=heatmaps,reading&beat=2&lang=en")
    expect(page.get_by_role("heading", level=1)).to_have_text(PageTexts("en", "clock")("title"))
    assert until(page, lambda: at(page), bool) == {"factor": 8, "distance": 2, "hand": 0, "beat": 2}
    slower = page.get_by_role("slider", name=PageTexts("en", "clock")("field.slower"))
    expect(slower).to_have_value("4")
    slower.scroll_into_view_if_needed()
    plot = page.locator("[id='page/reading/plot.reading']")
    expect(plot).to_have_attribute("data-drawn", "1")
    slower.focus()
    page.keyboard.press("ArrowRight")
    expect(plot).to_have_attribute("data-drawn", "2")
    address_has(page, "slower=4.5", "factor=8")
    # The film's own control: one message when the keys rest, and the other parts follow.
    page.locator(".film-range[data-key='input.factor']:visible").first.focus()
    page.keyboard.press("Home")
    address_has(page, "factor=1")
    page.get_by_role("radio", name=PageTexts("en", "clock")("axis.even")).check()
    address_has(page, "axis=even")
    query = {"factor": "1", "error": "2", "slower": "4.5", "axis": "even", "open": "heatmaps,reading", "lang": "en"}
    own = BookFrame("clock", "en", {}, "../", query)
    expected = {
        node.id: json.loads(node.data)["data"] for node in own.places.root.self_and_descendants() if node.kind == "plot"
    }
    page.mouse.wheel(0, -3000)

    def as_the_server_draws_them() -> None:
        drawn = figures(page)
        assert drawn.keys() == expected.keys()
        assert [name for name, traces in drawn.items() if not near(traces, expected[name])] == []

    holds(page, as_the_server_draws_them)
    with page.expect_download() as saved:
        page.locator("[id='page/reading/more.clock.reading'] summary").click()
        page.locator("[data-act='page/reading/csv.clock.reading']").click()
    assert Path(saved.value.path()).read_text("utf-8-sig").count("\n") > 10
    assert len(page.evaluate(BEFORE)) > 10
    assert before_a_film(page, host) <= BARS["bytes before a film"]
    assert in_all(host / "course/rope") <= BARS["bytes in all"]


TO_BEAT_2 = (
    "document.body.append(Object.assign(document.createElement('a'), {href: '?beat=2&lang=en', id: 'to'})); to.click()"
)


def test_other_pages_open_in_the_python_that_is_there(reader: Visit, book: str) -> None:
    page, begun = opened(reader, f"{book}?lang=en"), []
    page.on("worker", lambda worker: begun.append(worker.url))
    here, title = page.get_by_role("navigation").locator("[aria-current]"), page.locator("h1")
    for name, way in (("Rotation", "rotation/"), ("The clock", "clock/")):
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        expect(here).to_have_text(name)
        assert page.url.split("?")[0] == book + way
        expect(title).to_be_focused()
        page.wait_for_selector(READY)
    page.locator(".film-step").nth(1).click()
    address_has(page, "clock/", "beat=2")
    page.get_by_role("searchbox").fill("attention factor")
    page.locator("#found a", has_text="Faults and terms").first.click()
    expect(title).to_have_text(PageTexts("en", "glossary")("title"))
    for name in ("clock", "rotation"):
        page.go_back()
        expect(title).to_have_text(PageTexts("en", name)("title"))
    page.wait_for_selector(READY)
    page.locator(".film-step").nth(2).click()
    address_has(page, "rotation/", "beat=3")
    step = page.locator(".film-step[aria-current=step]")
    page.evaluate(TO_BEAT_2)
    expect(step).to_have_text("2")
    page.go_back()
    expect(step).to_have_text("3")
    assert not begun


def test_the_second_visit_needs_no_network_and_compiles_nothing(reader: Visit, book: str) -> None:
    page, t = opened(reader, f"{book}inside/?head_no=3&lang=en"), PageTexts("en", "inside")
    page.wait_for_selector("html[data-kept]")
    reader.context.set_offline(True)
    opened(reader, f"{book}inside/?head_no=3&lang=en")
    head = page.get_by_role("slider", name=t("field.head_no"))
    expect(head).to_have_value("3")
    # The model that reads was kept; another one is fetched when it is chosen.
    head.focus()
    page.keyboard.press("ArrowRight")
    address_has(page, "head_no=4")
    reader.context.set_offline(False)
    page.get_by_role("combobox", name=t("field.weights")).select_option("rope-1")
    address_has(page, "weights=rope-1")
    assert until(page, lambda: page.evaluate(COMPILED), lambda size: size > 1_000_000) > 1_000_000


def test_words_are_found_in_all_of_the_prose(reader: Visit, book: str, host: Path) -> None:
    page = opened(reader, f"{book}clock/?factor=8&lang=en")
    for lang, word in (("en", "neighbours"), ("zh", "相邻")):
        if lang == "zh":
            page.locator("a[data-lang=zh]").click()
            page.wait_for_selector(f"html[lang=zh]{READY[4:]}")
            assert until(page, lambda: at(page), bool)["factor"] == 8 and "/zh/clock/?" in page.url
        page.get_by_role("searchbox").fill("xyzzy")
        expect(page.locator("#found")).to_have_text(PageTexts(lang, "labels")("browser.nothing"))
        page.get_by_role("searchbox").fill(word)
        expect(page.locator("#found a").filter(has_text=PageTexts(lang, "clock")("title")).first).to_be_visible()
        page.get_by_role("searchbox").fill("theta")
        expect(page.locator("#found a").filter(has_text={"en": "frequency", "zh": "频率"}[lang]).first).to_be_visible()
        page.keyboard.press("ArrowDown")
        expect(page.locator("#found a").first).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.get_by_role("searchbox")).to_be_focused()
    page.get_by_role("searchbox").fill("时钟相邻词")
    expect(page.locator("#found li")).not_to_have_count(0)
    page.get_by_role("searchbox").fill("相邻")
    link = page.locator("#found a").filter(has_text=PageTexts("zh", "clock")("title")).first
    href = link.get_attribute("href") or ""
    assert (host / urljoin(urlsplit(page.url).path, href.partition("#")[0]).strip("/")).is_dir()


def near(ours: Any, theirs: Any) -> bool:
    """Whether a figure's values are the same but for the last digits of another machine's cosine."""
    if isinstance(theirs, dict) and "bdata" in theirs:
        return True if not isinstance(ours, dict) or "bdata" not in ours else ours["dtype"] == theirs["dtype"]
    if isinstance(theirs, dict):
        return all(name in ours and near(ours[name], value) for name, value in theirs.items())
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(near(a, b) for a, b in zip(ours, theirs, strict=True))
    if isinstance(theirs, float):
        return isinstance(ours, int | float) and abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs))
    return bool(ours == theirs)


def test_a_config_is_checked_on_the_readers_machine(reader: Visit, book: str) -> None:
    page = opened(reader, f"{book}config/?lang=en")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    config = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 131072}
    rope = {"rope_type": "yarn", "rope_theta": 5e5, "factor": 4.0, "original_max_position_embeddings": 8192}
    page.get_by_text(PageTexts("en", "config")("ways"), exact=True).click()
    page.locator("form textarea").fill(json.dumps(config | {"rope_parameters": rope}))
    page.get_by_role("button", name=PageTexts("en", "config")("paste_button")).click()
    expect(page.get_by_text("131,072").first).to_be_visible()
    page.locator("form textarea").fill("{no json")
    page.get_by_role("button", name=PageTexts("en", "config")("paste_button")).click()
    expect(page.get_by_role("alert").first).to_be_visible()
    assert not [url for url in sent if not url.startswith(book)] and not reader.outside


SOLUTION = (ROOT / "tests/rope_core/grade/solution.py").read_text("utf-8")
WAYS_OUT = """from pyodide.code import run_js
passed = run_js('''(() => {
  const passed = [], ways = {
    request: () => { const r = new XMLHttpRequest(); r.open("GET", "ADDRESSsw.js", false); r.send(); },
    script: () => importScripts("ADDRESSsw.js"), worker: () => importScripts("data:text/javascript,0"),
    store: () => indexedDB.open("rope-lab"), page: () => parent.document, cache: () => caches.open("rope-lab"),
    service: () => navigator.serviceWorker.register("ADDRESSsw.js"),
    own: () => { if (origin === "null") throw 0; },
  };
  for (const [name, way] of Object.entries(ways)) try { way(); passed.push(name); } catch {}
  fetch("http://127.0.0.1:PORT/", { mode: "no-cors" }).catch(() => {});
  try { new WebSocket("ws://127.0.0.1:PORT/"); } catch {}
  return passed.join(" ") || "nothing";
})()''')
def rotate(*given):
    raise ValueError(passed)
"""


def rotation_exercise(book: str, visit: Visit) -> Callable[[str, int], str]:
    """Open the rotation exercise; return what grades a text and, once its points are shown, reads the table."""
    # A fragment that no decoder takes opens the page all the same.
    page = opened(visit, f"{book}rotation/?open=yours&lang=en#100%")

    def graded(source: str, points: int) -> str:
        page.locator("[data-grade=rotate] textarea").fill(source)
        page.get_by_role("button", name=PageTexts("en", "rotation")("grade.run")).click()
        expect(page.get_by_text(f"{points} of 5 points")).to_be_visible()
        return str(page.locator("[id='page/yours/table']").inner_text())

    return graded


def test_a_solution_is_graded_in_the_page_and_saved(book: str, reader: Visit) -> None:
    assert rotation_exercise(book, reader)(SOLUTION, 5).count("✓") == 5
    with reader.page.expect_download() as saved:
        reader.page.get_by_role("button", name=PageTexts("en", "rotation")("grade.save")).click()
    text = Path(saved.value.path()).read_text("utf-8")
    assert text.startswith(SOLUTION.rstrip()) and "# 5 of 5 points" in text and text.count("# ✓") == 5
    compile(text, "mine.py", "exec")


@pytest.mark.long
def test_a_student_s_faulty_and_hostile_code_is_held_apart(browser: Browser, book: str) -> None:
    visit = Visit(browser)
    graded, page, right = rotation_exercise(book, visit), visit.page, SOLUTION
    editor = page.locator("[data-grade=rotate] textarea")
    turns, back = "a * cos - b * sin, a * sin + b * cos", "a * cos + b * sin, b * cos - a * sin"
    assert "transposed" in graded(right.replace(turns, back), 1)
    # Nothing goes out of the frame, and nothing of the page is in it.
    with socket.create_server(("127.0.0.1", 0)) as other:
        ways = WAYS_OUT.replace("ADDRESS", book).replace("PORT", str(other.getsockname()[1]))
        assert "nothing" in graded(ways, 0)
        page.wait_for_timeout(1000)
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
    assert not [complaint for complaint in visit.complaints if "Content Security Policy" not in complaint]
    visit.complaints.clear()
    page.evaluate("document.querySelector('[data-grade]').dataset.seconds = 4")
    endless = StageResult("rotate", "dtype", 1.0, "endless", {"seconds": 4}).sentence("en")
    stuck = right.replace("return rotate(grad", "while True: pass\n    return rotate(grad")
    assert graded(stuck, 3).count(endless) == 2
    # What was written is there again on another day, and Tab indents until Escape was pressed.
    page.reload()
    page.wait_for_selector(READY)
    assert "while True" in editor.input_value()
    editor.fill("x:")
    editor.press("Enter")
    editor.press("Tab")
    assert editor.input_value() == "x:\n        "
    editor.press("Escape")
    editor.press("Tab")
    expect(editor).not_to_be_focused()
    assert not visit.complaints and not visit.outside


@pytest.mark.long
def test_on_the_stage_the_film_is_there_before_python(browser: Browser, book: str) -> None:
    visit = Visit(browser)
    visit.page.route("**/worker.js", lambda route: route.abort())
    visit.page.goto(f"{book}clock/?lang=en&display=stage")
    film = visit.page.locator(".film[data-at]")
    expect(film.locator(".film-range:visible").first).to_be_visible()
    assert film.count() > visit.page.locator(".film:visible").count() == 1
    visit.close()


@pytest.mark.parametrize(
    ("place", "moved"),
    [("clock/?embed=true&lang=en&", {"beat": 2, "factor": 8}), ("zh/clock/?lang=zh&", {"distance": 3})],
)
def test_an_address_is_obeyed_before_python(browser: Browser, book: str, place: str, moved: dict[str, int]) -> None:
    context = browser.new_context(viewport=DESK)
    page = context.new_page()
    page.route("**/worker.js", lambda route: route.abort())
    page.add_init_script(WAY)
    page.goto(f"{book}{place}{urlencode(moved)}")
    page.wait_for_selector(".film[data-ready]")
    assert at(page) == {"factor": 4, "distance": 2, "hand": 0, "beat": 1} | moved
    # On a first visit nothing but what the address leaves open moves by itself.
    page.wait_for_timeout(1500)
    way = page.evaluate("globalThis.way")
    assert way["high"] == way["low"]
    context.close()


@pytest.mark.parametrize(
    ("place", "scheme", "ground"),
    [("zh/clock/?lang=zh", "dark", "screen"), ("inside/?lang=en&beat=2", "light", "dark")],
)
def test_a_saved_picture_shows_what_is_on_the_screen(
    browser: Browser, book: str, place: str, scheme: Any, ground: str
) -> None:
    context = browser.new_context(viewport=DESK, accept_downloads=True, color_scheme=scheme)
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script(WAKE)
    page = context.new_page()
    page.goto(f"{book}{place}")
    page.wait_for_selector(READY)
    page.locator("details.quiet > summary").first.click()
    film, files = page.locator(".film").first, {kind: saved(page, kind, ground) for kind in ("SVG", "PNG", "PDF")}
    page.emulate_media(color_scheme="dark")
    shown, drawn = drawn_apart(page, film, files["SVG"])
    assert unlike(shown, drawn) < ALIKE
    root = ElementTree.parse(files["SVG"].with_suffix(".svg")).getroot()
    finding = film.locator(".film-finding").inner_text().removeprefix("▸ ")
    written = "".join(node.text or "" for node in root.findall(f"{SVG}text"))
    assert finding.replace(" ", "") in written.replace(" ", "")
    assert __version__ in written and LICENCE in written
    # The same picture, larger, in files that say what it is.
    with Image.open(files["PNG"]) as picture:
        assert picture.width >= 1920 and picture.info["Copyright"] == LICENCE
        assert finding in picture.info["Description"] and place.split("?")[0] in picture.info["Source"]
        again = picture.convert("RGB")
    small = again.resize((round(float(root.attrib["width"])), round(float(root.attrib["height"]))))
    assert unlike(small.crop((EDGE, EDGE, *small.size)), drawn) < ALIKE
    pdf = files["PDF"].read_bytes()
    wide, high = (int(pdf.split(name)[1].split(b"/")[0]) for name in (b"/Width ", b"/Height "))
    points = np.frombuffer(zlib.decompress(pdf.split(b"stream\n")[1]), np.uint8).reshape(high, wide, 3)
    assert unlike(Image.fromarray(points).resize(again.size), again) < ALIKE
    assert finding.encode("utf-16-be").hex() in pdf.decode("latin-1")
    context.close()


def test_a_lecture_is_played_by_the_keys(browser: Browser, book: str) -> None:
    talk, visit = lessons.shipped_talk("en", "tour"), Visit(browser)
    assert talk
    page = opened(visit, f"{book}?lang=en")
    page.locator(".menu > summary").click()
    page.get_by_text(PageTexts("en", "labels")("frame.present"), exact=True).click()
    page.get_by_role("button", name=talk.title).click()

    answered: list[int] = []

    def shows(number: int) -> None:
        step = talk.step(number)
        expect(page.locator(".stage-count")).to_have_text(f"{number} / {len(talk.steps)}")
        wanted = step.predict and number not in answered
        expect(page.locator(".stage-say")).to_have_text(step.predict.question if wanted and step.predict else step.say)
        expect(page.locator("#page > :is(.figure, .film)")).to_have_count(1)
        expect(page.locator("#page :is(.plot[data-drawn], .film[data-ready])").first).to_be_in_viewport()

    shows(1)
    expect(page.locator("nav")).not_to_be_visible()
    with page.expect_popup() as popup:
        page.locator(".stage-notes button").click()
    notes = popup.value
    expect(notes.locator("body")).to_contain_text(talk.step(1).notes)
    # Either window steps; on another page there is no other Python to be loaded.
    notes.keyboard.press("ArrowRight")
    shows(2)
    expect(notes.locator("body")).to_contain_text(talk.step(2).notes)
    wanted = talk.step(2).predict
    assert wanted
    page.get_by_role("button", name=wanted.choices[wanted.answer]).click()
    answered.append(2)
    shows(2)
    page.keyboard.press(" ")
    shows(3)
    assert "/frequencies/?" in page.url and talk.step(3).page == "frequencies"
    page.keyboard.press("ArrowLeft")
    shows(2)
    page.keyboard.press("Escape")
    page.wait_for_selector(f"html[data-page=rotation]{READY[4:]}")
    expect(page.locator("nav")).to_be_visible()
    expect(page.locator(".lesson")).to_contain_text(talk.title)
    assert not visit.complaints and not visit.outside


@pytest.mark.parametrize(("name", "size", "scheme"), [("clock", PHONE, "dark"), ("home", DESK, "light")])
def test_a_page_is_an_article_without_scripts(browser: Browser, book: str, name: str, size: Any, scheme: Any) -> None:
    context = browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book}{'' if name == 'home' else name}")
    t = PageTexts("en", name)
    expect(page.get_by_role("heading", level=1)).to_have_text(t("title"))
    expect(page.get_by_text(t("claim")).first).to_be_visible()
    assert page.locator(".katex").count() or name == "home"
    expect(page.locator(".film").first).to_contain_text("▸")
    # A picture for each step of the film that leads, each with what it teaches.
    film = page.locator(".film").first
    on_every_screen = film.locator(".film-panel:not([data-screen]) svg").all()
    assert film.locator(".film-say").count() == 2 and all(map(Locator.is_visible, on_every_screen))
    assert film.locator("svg:visible").count() >= 3 and film.locator("svg :is(path, rect, line, circle)").count() > 20
    assert all(map(Locator.is_visible, page.locator(".plot td").all()))
    context.close()
    reading = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
    page = reading.new_page()
    page.goto(f"{book}{'' if name == 'home' else f'{name}/'}")
    page.wait_for_selector(".film[data-ready]")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_on_paper_a_page_has_the_whole_width_and_nothing_to_press(browser: Browser, book: str) -> None:
    visit = Visit(browser)
    page = visit.page
    page.goto(f"{book}clock/?lang=en")
    page.wait_for_selector(".film[data-ready]")
    page.evaluate("addEventListener('afterprint', () => { document.title = 'printed' })")
    sheets = page.pdf(format="A4").count(b"/Type /Page\n")
    expect(page).to_have_title("printed")
    assert 2 <= sheets <= 5
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".film").first.locator(".film-say")).to_have_count(2)
    box = page.locator("main").bounding_box()
    assert box and box["x"] == 0 and box["width"] == DESK["width"]
    # The choices of a question are read, not pressed.
    for away in ("nav", "search", "button:not(.choices *)", "input", "select", ".onward"):
        assert not any(map(Locator.is_visible, page.locator(away).all())), away
    folds = page.locator("details.fold .inside")
    assert folds.count() > 3 and all(map(Locator.is_visible, folds.all()))
    # A handout's figures are drawn without being looked at.
    page = opened(visit, f"{book}clock/?open=all&lang=en")
    expect(page.locator(".plot:not([data-drawn])")).to_have_count(0)
    assert page.locator(".plot").count() > 2 and page.evaluate("scrollY") == 0
    # So they are when another model changes them, though the address names the sections one by one by then.
    page.evaluate("document.querySelectorAll('.plot').forEach((box) => { delete box.dataset.drawn })")
    page.locator("main select").first.evaluate(CHOOSE, "llama-3-8b")
    expect(page.locator(".plot[data-drawn]")).to_have_count(2)
    assert "open=all" not in page.url and page.evaluate("scrollY") == 0
    visit.close()


CHOOSE = "(box, value) => { box.value = value; box.dispatchEvent(new Event('change', { bubbles: true })) }"
REFUSED = """for (const name of ["localStorage", "sessionStorage", "caches"])
  Object.defineProperty(globalThis, name, { get() { throw new DOMException("refused", "SecurityError"); } });"""


def test_a_film_lives_in_somebody_s_page_that_grants_it_no_memory(browser: Browser, book: str, host: Path) -> None:
    page = browser.new_context(viewport=DESK).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(f"if (top !== self) {{ {REFUSED} }}")
    page.add_init_script(WAKE)
    frame = f'<iframe src="{book}clock/?embed=true&beat=2&lang=en" width="700" height="200"></iframe>'
    script = "addEventListener('message', ({ data }) => { document.title = data.ropeLab.height })"
    (host / "course.html").write_text(f"{frame}<script>{script}</script>", "utf-8")
    page.goto(f"{urljoin(book, '/course.html').replace('127.0.0.1', 'localhost')}")
    inside = page.frame_locator("iframe")
    inside.locator(READY).wait_for()
    film = inside.locator(".film[data-ready]")
    expect(film.first.locator(".film-step[aria-current]")).to_have_text("2")
    assert sum(map(Locator.is_visible, film.all())) == 1
    for away in ("nav", "h1", "search", ".menu", ".fold", ".onward"):
        assert not any(map(Locator.is_visible, inside.locator(away).all())), away
    out = inside.locator(".way-out a")
    assert out.get_attribute("href") == f"{book}clock/?beat=2&lang=en"
    high = inside.locator("body").bounding_box()
    holds(page, lambda: expect(page).to_have_title(str(math.ceil(high["height"] if high else 0))))
    page.goto(f"{book}clock/")
    assert page.locator("nav").is_visible() and not errors
    page.context.close()


def test_who_only_reads_loads_no_python_and_a_hand_s_value_outlives_its_start(browser: Browser, book: str) -> None:
    contexts = [browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True), browser.new_context(viewport=DESK)]
    phone, desk = (context.new_page() for context in contexts)
    begun: list[str] = []
    phone.on("worker", lambda worker: begun.append(worker.url))
    phone.goto(f"{book}clock/?lang=en")
    desk.goto(f"{book}rotation/?lang=en")
    # At a desk, who stays.
    with desk.expect_event("worker", timeout=60_000):
        phone.wait_for_selector(".film[data-ready]")
        phone.evaluate("scrollTo(0, 5000)")
    phone.wait_for_timeout(1000)
    assert not begun
    # The step and the value are the film's own; Python, which the hand asks for, has them as well.
    phone.locator(".film-step").nth(1).tap()
    phone.locator(".film-range[data-key='input.factor']:visible").first.press("End")
    moved = until(phone, lambda: at(phone), lambda now: now.get("factor", 0) > 4)
    phone.wait_for_selector(READY, timeout=1000 * PATIENCE)
    address_has(phone, f"factor={moved['factor']:g}", "beat=2")
    assert at(phone) == moved
    for context in contexts:
        context.close()


class Gzipped(QuietFileHandler):
    """A host that names how .gz is encoded, so that browsers unpack it, and has lost one file."""

    lost = "none"

    def end_headers(self) -> None:
        if self.path.endswith(".gz"):
            self.send_header("Content-Encoding", "gzip")
        super().end_headers()

    def do_GET(self) -> None:
        if self.path.endswith(self.lost):
            self.send_error(403)
        else:
            super().do_GET()


def test_a_host_that_unpacks_serves_and_one_that_refuses_is_named(browser: Browser, host: Path) -> None:
    visit = Visit(browser)
    with hosted(host, Gzipped) as url:
        page = opened(visit, f"{url}course/rope/clock/?lang=en")
        expect(page.locator(".unmoved")).to_be_hidden()
        visit.close()
        Gzipped.lost = "app.zip.gz"
        page = (visit := Visit(browser)).page
        page.goto(f"{url}course/rope/clock/?lang=en")
        expect(page.locator(".unmoved")).to_contain_text("403")
        expect(page.locator(".unmoved")).to_contain_text("app.zip.gz")
        expect(page.locator(".unmoved")).not_to_contain_text("browser")
        visit.close()


class Aged(QuietFileHandler):
    """A host that has browsers keep every file for ten minutes, as GitHub Pages does."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()


KEPT = "caches.match('edition.txt').then(async (answer) => (await answer.text()).trim())"


def test_a_new_edition_is_read_where_the_host_has_files_kept(browser: Browser, host: Path, tmp_path: Path) -> None:
    shutil.copytree(host / "course/rope", tmp_path / "rope")
    visit, first = Visit(browser), tmp_path / "rope/index.html"
    (edition,) = re.findall(r"edition ([0-9a-f]{16})", first.read_text("utf-8"))
    with hosted(tmp_path, Aged) as url:
        page = opened(visit, f"{url}rope/?lang=en")
        page.wait_for_selector("html[data-kept]")
        for path in (first, tmp_path / "rope/edition.txt"):
            path.write_text(path.read_text("utf-8").replace(edition, "0" * 16), "utf-8")
        (tmp_path / "rope" / f"assets-{edition}").rename(tmp_path / "rope" / f"assets-{'0' * 16}")
        page.reload()
        expect(page.locator("footer")).to_contain_text("edition 0000000000000000")
        page.wait_for_selector(READY)
        assert page.evaluate(KEPT) == "0" * 16
    assert not visit.complaints
    visit.close()


SYSTEM = """<!doctype html><script src="runtime.js"></script><script>
  API = new Scorm12API({ autocommit: false });
  globalThis.called = { LMSCommit: 0, LMSFinish: 0 };
  for (const name in called) {
    const own = API[name].bind(API);
    API[name] = (text) => { called[name] += 1; return own(text); };
  }
  const before = sessionStorage.getItem("before");
  if (before) API.loadFromJSON(JSON.parse(before), "cmi");
</script><iframe src="package/rotation/?lang=en" width="1200" height="700"></iframe>"""
REPORT = """() => ({ status: API.cmi.core.lesson_status, score: API.cmi.core.score.raw, data: API.cmi.suspend_data,
  code: API.lastErrorCode })"""
QUESTION = next(task for task in page_declaration("rotation").tasks if isinstance(task, ChoiceQuestion))


@pytest.fixture(scope="module")
def system(host: Path, book: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a page that plays the course package in an open-source runtime."""
    place = tmp_path_factory.mktemp("runtime")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / "tests/support/scorm" / name, place)
    if subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=place, check=False).returncode:
        pytest.skip("npm must reach its registry for scorm-again")
    package = host / "package.zip"
    scorm.write_scorm_package(host / "course/rope", package)
    with zipfile.ZipFile(package) as archive:
        archive.extractall(host / "package")
    shutil.copy(place / "node_modules/scorm-again/dist/scorm12.min.js", host / "runtime.js")
    scorm.write_scorm_package(host / "course/rope", host / "units.zip", ("clock", "rotation"), models=False)
    assert (host / "units.zip").stat().st_size <= 9_000_000
    with zipfile.ZipFile(host / "units.zip") as archive:
        archive.extractall(host / "units")
    (host / "system.html").write_text(SYSTEM, "utf-8")
    (host / "units.html").write_text(SYSTEM.replace("package/", "units/"), "utf-8")
    return book.replace("course/rope/", "system.html")


def reported(page: Page) -> dict[str, Any]:
    return dict(page.evaluate(REPORT))


def test_what_a_reader_does_is_reported_and_taken_up_elsewhere(browser: Browser, system: str, host: Path) -> None:
    context = browser.new_context(viewport=DESK)
    context.add_init_script(WAKE)
    page = context.new_page()
    page.goto(system)
    inside = page.frame_locator("iframe")
    inside.locator(READY).wait_for()
    assert reported(page) == {"status": "incomplete", "score": "0", "data": "", "code": "0"}
    inside.locator(".choices button").nth(QUESTION.choices.index(QUESTION.right)).click()
    tasks = sum(len(page_declaration(name).tasks) for name in PATH)
    first = until(page, lambda: reported(page), lambda now: now["data"] != "")
    assert first == {"status": "incomplete", "score": str(100 // tasks), "data": "rotation.left", "code": "0"}
    cmi = page.evaluate("JSON.stringify({ suspend_data: API.cmi.suspend_data })")
    context.close()
    # On another machine the system knows what was done.
    context = browser.new_context(viewport=DESK)
    context.add_init_script(WAKE)
    page = context.new_page()
    page.add_init_script(f"if (top === self) sessionStorage.setItem('before', {json.dumps(cmi)})")
    page.goto(system)
    inside = page.frame_locator("iframe")
    inside.locator(READY).wait_for()
    expect(inside.locator(".onward")).to_contain_text("1 of ")
    assert reported(page)["data"] == "rotation.left"
    context.close()


def test_a_unit_is_completed_by_its_own_page_and_ended_once(browser: Browser, system: str) -> None:
    context = browser.new_context(viewport=DESK)
    page = context.new_page()
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status == 404 else None)
    names = sorted(f"rotation.{task.name}" for task in page_declaration("rotation").tasks)
    done = json.dumps(json.dumps(names))
    page.add_init_script(f"if (top !== self) {{ localStorage.setItem('rope-lab-done', {done}); }}")
    page.add_init_script(WAKE)
    page.goto(system.replace("system", "units"))
    inside = page.frame_locator("iframe")
    inside.locator(READY).wait_for()
    assert reported(page) == {"status": "completed", "score": "100", "data": ",".join(names), "code": "0"}
    # The menu has the package's pages alone; the other one's tasks are none of this unit.
    assert inside.locator("nav a[href]:not([href^='#'])").count() == 2
    # Another page of the package goes on with the session.
    inside.locator("nav a[href*=clock]").click()
    inside.locator("html[data-page=clock]").wait_for()
    inside.locator(READY).wait_for()
    assert reported(page) == {"status": "completed", "score": "100", "data": ",".join(names), "code": "0"}
    page.evaluate("document.querySelector('iframe').remove()")
    assert until(page, lambda: page.evaluate("called"), lambda now: bool(now["LMSFinish"])) == {
        "LMSCommit": 1,
        "LMSFinish": 1,
    }
    assert [url for url in missing if "favicon" not in url] == []
    context.close()


def test_the_list_names_every_file_and_the_first_page(host: Path, system: str) -> None:
    with zipfile.ZipFile(host / "package.zip") as archive:
        names = archive.namelist()
        root = ElementTree.fromstring(archive.read(scorm.MANIFEST))
    (resource,) = root.iter(f"{{{scorm.IMS}}}resource")
    listed = [file.attrib["href"] for file in resource]
    assert sorted([*listed, scorm.MANIFEST]) == sorted(names) and resource.attrib["href"] in listed
    assert resource.attrib[f"{{{scorm.ADL}}}scormtype"] == "sco" and "sw.js" not in names


@pytest.mark.long
def test_the_whole_book_built_again_is_the_same(tmp_path: Path) -> None:
    first, second = (built(tmp_path / name / "book") for name in ("first", "second"))
    files = {path.relative_to(first): path.read_bytes() for path in first.rglob("*") if path.is_file()}
    again = {path.relative_to(second): path.read_bytes() for path in second.rglob("*") if path.is_file()}
    assert list(map(str, sorted(files))) == list(map(str, sorted(again)))
    assert [str(path) for path in files if files[path] != again[path]] == []
