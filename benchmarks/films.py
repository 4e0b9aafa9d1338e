"""Films under the hand: paints a second while a mouse drags, messages on the way, bytes and time until one answers."""

import math
import statistics
import time
from collections.abc import Sequence

from playwright.sync_api import Browser, Locator, Page

SECONDS, MOVES = 3.0, 60
BARS = {"median": 55, "slowest": 40, "bytes": 150_000, "answer_ms": 300}
# When the page's title was painted and when each film was ready, in the browser's own clock.
CLOCK = """() => {
  window.seen = {};
  new MutationObserver(() => {
    if (!window.seen.title && document.querySelector('h1')) window.seen.title = performance.now();
    if (!window.seen.film && document.querySelector('.film[data-ready]')) window.seen.film = performance.now();
  }).observe(document, {childList: true, subtree: true, attributes: true});
}"""


def measured(browser: Browser, app: str, pages: Sequence[str]) -> list[dict[str, object]]:
    """Drag the first slider of each page's leading film; one row a page, none for a page without a film."""
    rows = []
    for name in pages:
        page = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB").new_page()
        sent: list[int] = []
        page.on(
            "websocket",
            lambda socket, sent=sent: socket.on("framesent", lambda frame: sent.append(len(frame))),
        )
        page.add_init_script(f"({CLOCK})()")
        page.goto(f"{app}/{'' if name == 'home' else name}?lang=en")
        page.wait_for_selector("h1")
        page.wait_for_timeout(4000)
        film = page.locator(".film[data-ready]").first
        if film.count():
            sent.clear()
            paints = dragged(page, film)
            seen = page.evaluate("window.seen")
            sizes = page.evaluate("[...document.querySelectorAll('.film')].map(film => Number(film.dataset.bytes))")
            answer = round(seen["film"] - seen["title"])
            row = {
                "page": name,
                "paints_s": round(paints),
                "messages": len(sent),
                "bytes": sum(sizes),
                "answer_ms": answer,
            }
            rows.append(row)
        page.context.close()
    return rows


def dragged(page: Page, film: Locator) -> float:
    """Paints a second while the mouse drags the film's first slider to and fro; the button stays down."""
    slider = film.locator(".film-range").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    before, start = int(film.get_attribute("data-paints") or 0), time.perf_counter()
    for move in range(int(SECONDS * MOVES)):
        page.mouse.move(box["x"] + box["width"] * (0.5 + 0.4 * math.sin(move / 15)), box["y"] + box["height"] / 2)
        time.sleep(max(0.0, start + (move + 1) / MOVES - time.perf_counter()))
    return (int(film.get_attribute("data-paints") or 0) - before) / (time.perf_counter() - start)


def verdict(rows: Sequence[dict[str, object]]) -> tuple[str, bool]:
    """Return the films' bars in a line, and whether all are met."""
    paints = sorted(float(str(row["paints_s"])) for row in rows)
    most = {key: max(int(str(row[key])) for row in rows) for key in ("messages", "bytes", "answer_ms")}
    median = statistics.median(paints)
    line = (
        f"films: median {median:.0f} paints a second (bar {BARS['median']}), slowest {paints[0]:.0f} (bar "
        f"{BARS['slowest']}), {most['messages']} messages while dragging (bar 0), at most {most['bytes']:,} bytes (bar "
        f"{BARS['bytes']:,}) and {most['answer_ms']} ms from the title to an answer (bar {BARS['answer_ms']})"
    )
    met = median >= BARS["median"] and paints[0] >= BARS["slowest"] and not most["messages"]
    return line, met and most["bytes"] <= BARS["bytes"] and most["answer_ms"] <= BARS["answer_ms"]
