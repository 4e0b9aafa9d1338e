"""Films in a real JupyterLab: two lines show one's own model, the hand's values come back, Python's move the film."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visit, until
from tests.support import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.long]
YARN = {"rope_type": "yarn", "rope_theta": 5e5, "factor": 16.0, "original_max_position_embeddings": 8192}
CONFIG = {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "rope_parameters": YARN}
SECOND = {"distance": 2, "hand": 0, "beat": 2}
CELLS = (
    'from rope_core.notebook import figure, film\nshown = film("clock", "config.json", beat=2); shown',
    "shown",
    'figure("rotation", "backward", "config.json")',
    "print('factor', shown.values['factor'])",
    "shown.values = {'factor': 2.0, 'beat': 1}; print('told', shown.finding)",
)


def notebook(cells: tuple[str, ...]) -> str:
    built: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"c{k}", "execution_count": None, "metadata": {}, "outputs": [], "source": text}
        for k, text in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": built})


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a JupyterLab: the one named in ROPE_LAB_JUPYTER, else one installed by requirements-notebook.lock."""
    folder = tmp_path_factory.mktemp("jupyter")
    named = os.environ.get("ROPE_LAB_JUPYTER")
    program = Path(named) if named else folder / "venv/bin/jupyter-lab"
    if not named:
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        lock = ROOT / "requirements-notebook.lock"
        subprocess.run([folder / "venv/bin/pip", "install", "-q", "--require-hashes", "-r", lock], check=True)
    home = folder / "home"
    home.mkdir()
    (home / "config.json").write_text(json.dumps(CONFIG | {"max_position_embeddings": 131_072}), "utf-8")
    (home / "own.ipynb").write_text(notebook(CELLS), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password="]
    quiet += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    places = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    server = subprocess.Popen(
        [program, *quiet, f"--port={port}", f"--ServerApp.root_dir={home}"],
        env=os.environ | places | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).close()
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/lab/tree/own.ipynb"
    finally:
        server.terminate()
        server.wait(30)


def at(page: Page) -> list[dict[str, float]]:
    """Return where the films' controls rest."""
    return [json.loads(film.get_attribute("data-at") or "{}") for film in page.locator(".film").all()]


def test_two_lines_show_a_film_of_ones_own_model(browser: Browser, lab: str) -> None:
    visit = Visit(browser, {"width": 1280, "height": 2400})
    page = visit.page
    page.goto(lab)
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector("text=/\\| Idle/")
    cells = page.locator(".jp-Notebook .jp-CodeCell")

    def run(number: int) -> None:
        cells.nth(number).locator(".jp-InputArea").click()
        page.keyboard.press("Control+Enter")

    for number in range(3):
        run(number)
    expect(page.locator(".film[data-ready]")).to_have_count(2)
    assert until(page, lambda: at(page), lambda seen: len(seen) == 2 and all(seen)) == [{"factor": 16, **SECOND}] * 2
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    # By keys in the first view; Python and the second view hear of it.
    page.locator(".film").first.locator(".film-range:visible").last.focus()
    page.keyboard.press("Home")
    until(page, lambda: at(page), lambda seen: seen == [{"factor": 1, **SECOND}] * 2)
    assert at(page) == [{"factor": 1, **SECOND}] * 2
    run(3)
    expect(cells.nth(3)).to_contain_text("factor 1.0")
    run(4)
    expect(cells.nth(4)).to_contain_text("told Slow only slow hands")
    assert until(page, lambda: at(page), lambda seen: seen == [SECOND | {"factor": 2, "beat": 1}] * 2)
    assert at(page) == [SECOND | {"factor": 2, "beat": 1}] * 2
    assert not visit.outside
