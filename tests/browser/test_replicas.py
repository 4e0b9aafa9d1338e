"""The hall in a real Chromium: replicas that die or are replaced under load, the policy on every page, bytes."""

from __future__ import annotations

import asyncio
import http.server
import threading
import time
from collections.abc import Iterator
from typing import TypeVar

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.servers import free_port
from benchmarks.sessions import Broken, Session, sessions
from benchmarks.sessions import Visit as Load
from deploy.hall import Hall
from deploy.proxy import Site
from tests.browser.conftest import Visit
from tests.browser.test_pages import address
from tests.conftest import apart
from tests.support.nginx import FLOOR, ask, needs_nginx, served_hall
from tests.test_pages import NAMES

pytestmark = [pytest.mark.browser, pytest.mark.long, needs_nginx]
APP = "app:app"
T = TypeVar("T")


@pytest.fixture(scope="module")
def hall() -> Iterator[tuple[Hall, str]]:
    with served_hall(2, APP) as result:
        yield result


@pytest.mark.parametrize("query", ["?open=all", "?display=stage"])
@pytest.mark.parametrize("name", NAMES)
def test_every_page_works_under_the_policy_and_asks_no_other_host(
    name: str, query: str, hall: tuple[Hall, str], browser: Browser
) -> None:
    visit = Visit(browser)
    page = visit.open(address(hall[1], name, query))
    page.wait_for_selector(":is(.js-plotly-plot .main-svg, .film[data-ready] .film-panels)")
    if query == "?open=all" and name != "home":
        page.locator(".js-plotly-plot:visible").first.hover()
        expect(page.locator(".rope-lab-svg:visible").first).to_be_visible()
    if query == "?open=all":
        page.get_by_role("slider").first.press("ArrowRight")
        visit.settle()
    assert visit.complaints == []
    assert visit.outside == []


def test_a_rolling_restart_under_load_drops_nothing(hall: tuple[Hall, str]) -> None:
    result, url = hall
    before = [replica.serving for replica in result.replicas]
    statuses: list[int] = []
    reconnects: list[int] = []
    answered = wanted = 0

    async def student(session: Session, done: asyncio.Event) -> None:
        nonlocal answered, wanted
        lost = 0
        while not done.is_set():
            wanted += 1
            try:
                await session.move()
            except Broken:
                lost += 1
                await session.close()
                await session.open()
                await session.move()
            answered += 1
            await asyncio.sleep(1)
        reconnects.append(lost)

    async def lecture() -> None:
        done = asyncio.Event()
        async with sessions(Load(url, "rotation", "position of mat"), 8) as group:
            running = [asyncio.create_task(student(each, done)) for each in group]
            result.restart()
            until = time.monotonic() + 120
            while any(
                replica.serving is old or not replica.settled
                for replica, old in zip(result.replicas, before, strict=True)
            ):
                assert time.monotonic() < until
                statuses.append((await asyncio.to_thread(ask, url, "/rotation")).status)
                await asyncio.sleep(0.1)
            await asyncio.sleep(2)
            done.set()
            await asyncio.gather(*running)

    apart(lecture)
    assert set(statuses) == {200} and len(statuses) > 20
    assert wanted == answered >= 8 * 5
    assert max(reconnects) <= 1 and sum(reconnects) > 0


def test_only_the_named_sites_may_frame_the_app(browser: Browser) -> None:
    port = free_port()
    own = f"http://localhost:{port}"
    for ancestors, shown in (("'self'", 0), (own, 1)):
        site = Site(listen=f"127.0.0.1:{free_port()}", frame_ancestors=ancestors)
        framed = Hall(site, 1, FLOOR)
        framed.start()
        page = browser.new_context().new_page()
        body = f'<iframe src="http://{site.listen}/?embed=true" width=900 height=600></iframe>'.encode()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), outer(body))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            page.goto(own, wait_until="commit")
            plot = page.frame_locator("iframe").locator("[data-testid=stApp]")
            expect(plot).to_have_count(shown)
            if not shown:
                page.wait_for_timeout(3000)
                expect(plot).to_have_count(0)
        finally:
            page.context.close()
            server.shutdown()
            server.server_close()
            framed.stop()


def outer(body: bytes) -> type[http.server.BaseHTTPRequestHandler]:
    """Return a site of one page."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Page
