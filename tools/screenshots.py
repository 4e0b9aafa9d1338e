"""Takes the pictures of README and docs from the running app: python -m tools.screenshots."""

import shutil

from playwright.sync_api import sync_playwright

from benchmarks.servers import ROOT, served

SHOTS = {"clock": "clock?lang=en"}


def main() -> None:
    """Write docs/<name>.png, 1280 x 720, one per entry of SHOTS."""
    with served(ROOT / "app.py") as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, address in SHOTS.items():
            page = browser.new_page(viewport={"width": 1280, "height": 720}, locale="en-GB")
            page.goto(f"{url}/{address}")
            page.wait_for_selector(".film[data-ready]", timeout=60_000)
            page.wait_for_timeout(2000)
            page.screenshot(path=ROOT / "docs" / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
