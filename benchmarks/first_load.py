"""The first load over a slow line, through the proxy of `make serve`, beside the floor page served the same way.

Run: python -m benchmarks.first_load [--pages home frequencies] [--rounds 2] [--kbit 1600] [--rtt 150] [--json FILE]
Chromium's own network emulation slows a browser with an empty cache; a round opens the floor, then each page. Measured
is the time until the first figure is painted, and the bytes that came over the line.
"""

import argparse
import json
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, sync_playwright

from benchmarks.app import PAGES, PAINTED, chromium, table
from benchmarks.servers import free_port
from deploy.hall import Hall
from deploy.proxy import Site

FLOOR = "benchmarks.floor_frozen:app"
BAR = 1.1


def counted(line: CDPSession) -> list[int]:
    """Return the sizes of what arrives over HTTP and websockets from now on, as the line carries them."""
    sizes: list[int] = []
    line.send("Network.enable")
    line.on("Network.loadingFinished", lambda event: sizes.append(round(event["encodedDataLength"])))
    line.on("Network.webSocketFrameReceived", lambda event: sizes.append(size(event["response"])))
    return sizes


def size(frame: dict[str, object]) -> int:
    """Bytes of a websocket frame: binary ones come as base64."""
    return len(str(frame["payloadData"])) * 3 // 4


def opened(browser: Browser, url: str, kbit: int | None = None, rtt: int = 0) -> tuple[float, int]:
    """Milliseconds to the first painted figure with an empty cache, and the bytes that came until it is quiet."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    page = context.new_page()
    line = context.new_cdp_session(page)
    sizes = counted(line)
    if kbit is not None:
        slow = {"latency": rtt, "downloadThroughput": kbit * 125, "uploadThroughput": kbit * 125}
        line.send("Network.emulateNetworkConditions", {"offline": False} | slow)
    page.goto(url, wait_until="commit", timeout=120_000)
    page.wait_for_selector(PAINTED, state="attached", timeout=120_000)
    elapsed = float(page.evaluate("performance.now()"))
    page.wait_for_timeout(1500)
    context.close()
    return elapsed, sum(sizes)


def main() -> int:
    """Measure and print; exit 1 when a page takes more than 1.1 times the floor's time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", nargs="*", default=["home", "frequencies"], choices=PAGES.split(","))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kbit", type=int, default=1600)
    parser.add_argument("--rtt", type=int, default=150)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        halls = {}
        for name, app in (("floor", FLOOR), ("app", "app:app")):
            halls[name] = Hall(Site(listen=f"127.0.0.1:{free_port()}"), 1, app)
            stack.callback(halls[name].stop)
            halls[name].start()
        browser = chromium(stack.enter_context(sync_playwright()))
        urls = {"floor": f"http://{halls['floor'].site.listen}/"}
        urls |= {name: f"http://{halls['app'].site.listen}/{'' if name == 'home' else name}" for name in options.pages}
        for url in urls.values():
            opened(browser, url)
        taken: dict[str, list[tuple[float, int]]] = {name: [] for name in urls}
        for _ in range(options.rounds):
            for name, url in urls.items():
                taken[name].append(opened(browser, url, options.kbit, options.rtt))
        browser.close()
    rows: list[dict[str, Any]] = []
    for name, loads in taken.items():
        seconds, sizes = (statistics.median(each) for each in zip(*loads, strict=True))
        row = {"page": name, "seconds": round(seconds / 1000, 2)}
        row["ratio"] = round(row["seconds"] / rows[0]["seconds"], 2) if rows else 1.0
        rows.append(row | {"bytes": round(sizes)})
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), "utf-8")
    return int(any(row["ratio"] > BAR for row in rows))


if __name__ == "__main__":
    sys.exit(main())
