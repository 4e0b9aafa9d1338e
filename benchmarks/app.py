"""Key press on a page's first slider to its changed figure painted, beside the least Streamlit page; films dragged.

Run: python -m benchmarks.app [--rounds 20] [--pages clock,rotation] [--json FILE]
Rounds are interleaved, so that every page meets the same machine; ratios are to the floor page's median of the run.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Playwright, sync_playwright

from benchmarks import films
from benchmarks.servers import ROOT, served

PAGES = "home,rotation,layouts,frequencies,clock,attention,encodings,precision,lrpe,config,benchmark,models,ledger"
PAINTED = ".js-plotly-plot .main-svg, .film[data-ready]"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]

# Resolves with the milliseconds until any figure's picture, title or first curve differs from now, or with -1.
WATCH = """() => {
  const look = () => [...document.querySelectorAll('.js-plotly-plot')].map(plot => {
    const image = plot.querySelector('image');
    const words = [...plot.querySelectorAll('.gtitle, .annotation-text')].map(e => e.textContent).join();
    const curves = [...plot.querySelectorAll('.traces path, .trace path')].slice(0, 40).map(e => e.getAttribute('d'));
    return (image ? (image.getAttribute('href') || image.getAttribute('xlink:href') || '').slice(-160) : '')
      + words + curves.join();
  }).concat([...document.querySelectorAll('.film')].map(film => film.dataset.paints)).join('|');
  window.changed = () => new Promise(done => {
    const before = look(), start = performance.now();
    const tick = () => {
      const after = look();
      if (after && after !== before) requestAnimationFrame(() => done(performance.now() - start));
      else if (performance.now() - start > 10000) done(-1);
      else requestAnimationFrame(tick);
    };
    tick();
  });
}"""


def chromium(playwright: Playwright) -> Browser:
    """Start the system's Chromium, or the one that playwright brings."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)


@dataclass
class PageTiming:
    """One page under measurement."""

    name: str
    url: str
    cold_ms: float = 0.0
    warm_ms: float = 0.0
    moves: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    missed: int = 0


def first_load(browser: Browser, subject: PageTiming) -> None:
    """Time an empty and a filled browser cache from address to painted figure."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    for name in ("cold_ms", "warm_ms"):
        page = context.new_page()
        page.goto(subject.url, wait_until="commit")
        page.wait_for_selector(PAINTED, state="attached", timeout=60_000)
        setattr(subject, name, float(page.evaluate("performance.now()")))
        page.close()
    context.close()


def opened(browser: Browser, subject: PageTiming) -> tuple[Page, Locator, list[int]]:
    """Return the page with its first slider and the sizes of the messages that arrive from now on."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB").new_page()
    sizes: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
    page.goto(subject.url)
    page.wait_for_selector(PAINTED, state="attached", timeout=60_000)
    page.wait_for_timeout(2500)
    page.evaluate(WATCH)
    return page, page.get_by_role("slider").first, sizes


def measure(subjects: list[PageTiming], rounds: int, app: str) -> list[dict[str, object]]:
    """Press an arrow key on each page's first slider in turn, ``rounds`` times, after one round that does not count.

    Returns the rows of the films, which are dragged before.
    """
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        dragged = films.measured(browser, app, [subject.name for subject in subjects[1:]])
        for subject in subjects:
            first_load(browser, subject)
        pages = [(subject, *opened(browser, subject)) for subject in subjects]
        for number in range(rounds + 1):
            for subject, page, slider, sizes in pages:
                page.bring_to_front()
                slider.focus()
                sizes.clear()
                page.evaluate("() => { window.pending = window.changed(); }")
                page.keyboard.press("ArrowRight" if number % 4 < 3 else "ArrowLeft")
                elapsed = float(page.evaluate("() => window.pending"))
                page.wait_for_timeout(350)
                if number and elapsed > 0:
                    subject.moves.append(elapsed)
                    subject.sizes.append(sum(sizes))
                elif number:
                    subject.missed += 1
        browser.close()
    return dragged


def rows(subjects: list[PageTiming]) -> list[dict[str, object]]:
    """Return the measurements, one row a page, the floor first."""
    floor = statistics.median(subjects[0].moves)
    measured = []
    for subject in subjects:
        ordered = sorted(subject.moves)
        median = statistics.median(ordered)
        measured.append(
            {
                "page": subject.name,
                "ratio": round(median / floor, 2),
                "median_ms": round(median),
                "p95_ms": round(ordered[max(0, round(len(ordered) * 0.95) - 1)]),
                "bytes": round(statistics.median(subject.sizes)),
                "cold_ms": round(subject.cold_ms),
                "warm_ms": round(subject.warm_ms),
                "missed": subject.missed,
            }
        )
    return measured


def table(rows: list[dict[str, object]]) -> str:
    """Return the rows as a Markdown table."""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += [
        "| " + " | ".join(f"{row[key]:,}" if key != "page" else str(row[key]) for key in head) + " |" for row in rows
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure and print; exit 1 when the median page or the slowest page misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pages", default=PAGES)
    options = parser.parse_args()
    names = [name for name in options.pages.split(",") if list(ROOT.glob(f"pages/*/{name}.py"))]
    with (
        tempfile.TemporaryDirectory() as empty,
        served(ROOT / "benchmarks" / "floor.py", cwd=Path(empty)) as floor,
        served(ROOT / "app.py") as app,
    ):
        subjects = [PageTiming("floor", floor)]
        subjects += [PageTiming(n, f"{app}/{'' if n == 'home' else n}?lang=en") for n in names]
        dragged = measure(subjects, options.rounds, app)
    keys = rows(subjects)
    print(table(keys))
    ratios = sorted(float(str(row["ratio"])) for row in keys[1:])
    print(f"\nmedian page {statistics.median(ratios):.2f} (bar 1.0), slowest page {ratios[-1]:.2f} (bar 1.3)")
    moving, met = films.verdict(dragged)
    print(f"\n{table(dragged)}\n\n{moving}")
    if options.json:
        options.json.write_text(json.dumps({"keys": keys, "films": dragged}, indent=1), "utf-8")
    return int(not met or statistics.median(ratios) > 1.0 or ratios[-1] > 1.3 or any(row["missed"] for row in keys))


if __name__ == "__main__":
    sys.exit(main())
