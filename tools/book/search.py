"""What the book's search looks through, one JSON for each language: prose, terms, models and claims."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from rope_core.hf.catalogue import released_models
from rope_core.languages import LANGUAGES, other_language
from rope_core.ledger.entry import claim_texts
from tools.book.site import TEX, BookPage, all_book_pages
from ui.book.markdown import markdown_to_html
from ui.text.glossary import glossary_terms
from ui.text.words import PageTexts, page_sections

TAG = re.compile(r"<[^>]+>")
SearchRow = tuple[str, str, str, str]


def write_search_index(folder: Path) -> None:
    """Write assets/search-<lang>.json, for each place: page's title, way from the root, place's title, text."""
    for lang in LANGUAGES:
        there = [
            page for page in all_book_pages() if page.lang == lang and (folder / page.folder / "index.html").exists()
        ]
        rows = [row for page in there for row in (*_rows(page, folder), *_named(page))]
        (folder / "assets" / f"search-{lang}.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")


def _rows(page: BookPage, folder: Path) -> list[SearchRow]:
    """Return a page's sections; the way to one in a fold opens the fold."""
    written, t = (folder / page.folder / "index.html").read_text("utf-8"), PageTexts(page.lang, page.name)
    rows = [(t("title"), page.folder, "", strip_markup(t("claim")))]
    for section in page_sections(page.lang, page.name):
        title, body = t.section_title_and_text(section)
        folded = f"?open={section}" * (f'<span id="{section}">' in written)
        place = f"{folded}#{section}" if f'id="{section}"' in written else ""
        rows.append((t("title"), page.folder + place, title, strip_markup(body)))
    return rows


def _named(page: BookPage) -> Iterator[SearchRow]:
    """Yield what a page of reference lists: a term in both languages, a model, a claim."""
    title = PageTexts(page.lang, page.name)("title")
    if page.name == "glossary":
        for term in glossary_terms():
            name, other = term.names[page.lang], term.names[other_language(page.lang)]
            says = f"{term.says[page.lang]} ({', '.join((other, *term.also))})"
            yield title, f"{page.folder}?{urlencode({'find': name})}", name, says
    elif page.name == "models":
        for model in released_models():
            yield title, f"{page.folder}?pick={model.id}", model.name, f"{model.family} {model.year} {model.id}"
    elif page.name == "ledger":
        for name, text in claim_texts().items():
            yield title, f"{page.folder}?{urlencode({'entry': name})}", text.claim[page.lang], f"{name} {text.where}"


def strip_markup(markdown: str) -> str:
    """Return the words of a text, without its markup and formulas.

    >>> strip_markup("a **b** $x^2$ c & [d](e)")
    'a b c & d'
    """
    return " ".join(unescape(TAG.sub("", TEX.sub(" ", markdown_to_html(markdown)))).split())
