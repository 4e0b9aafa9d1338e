"""What the book's search looks through: every section of every page's prose, as one JSON for each language."""

import json
import re
from html import unescape
from pathlib import Path

from tools.book.site import TEX, Page, pages
from ui.book.markdown import html
from ui.text.words import LANGUAGES, Words, sections

TAG = re.compile(r"<[^>]+>")


def write(folder: Path) -> None:
    """Write assets/search-<lang>.json, for each section: page's title, way from the root, section's title, text."""
    for lang in LANGUAGES:
        rows = [row for page in pages() if page.lang == lang for row in _rows(page, folder)]
        (folder / "assets" / f"search-{lang}.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")


def _rows(page: Page, folder: Path) -> list[tuple[str, str, str, str]]:
    file = folder / page.folder / "index.html"
    written, t = file.read_text("utf-8") if file.exists() else "", Words(page.lang, page.name)
    rows = [(t("title"), page.folder, "", plain(t("claim")))] if written else []
    for section in sections(page.lang, page.name) if written else ():
        title, body = t.prose(section)
        place = f"#{section}" if f'id="{section}"' in written else ""
        rows.append((t("title"), page.folder + place, title, plain(body)))
    return rows


def plain(markdown: str) -> str:
    """Return the words of a text, without its markup and formulas.

    >>> plain("a **b** $x^2$ c & [d](e)")
    'a b c & d'
    """
    return " ".join(unescape(TAG.sub("", TEX.sub(" ", html(markdown)))).split())
