"""What the book's pages say of themselves: to search engines, to previews, and of their licences."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rope_core.languages import LANGUAGES
from tools.book import about
from tools.book.site import FOOT, HEAD, BookPage, all_book_pages
from ui.text.words import PageTexts

SITE = "https://web.example.edu/rope/"


class Elements(HTMLParser):
    """The attributes of each element, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.all and self.all[-1][0] == "script":
            self.scripts.append(data)


@pytest.mark.parametrize("site", ["", SITE])
@pytest.mark.parametrize("page", [BookPage("clock", "en"), BookPage("home", "zh"), BookPage("glossary", "zh")], ids=str)
def test_a_head_names_the_page_once_and_by_absolute_addresses_only_where_they_are_known(
    page: BookPage, site: str
) -> None:
    parsed, t = Elements("\n".join(about.head(page, site))), PageTexts(page.lang, page.name)
    (resource,) = map(json.loads, parsed.scripts)
    assert (resource["@type"], resource["name"], resource["inLanguage"]) == ("LearningResource", t("title"), page.lang)
    metas = {each.get("property") or each["name"]: each["content"] for tag, each in parsed.all if tag == "meta"}
    assert metas["og:description"] == metas["description"] and t("title") in str(metas["og:title"])
    links = [(each["rel"], each.get("hreflang"), each["href"]) for tag, each in parsed.all if tag == "link"]
    canonical = [href for rel, _, href in links if rel == "canonical"]
    assert canonical == ([SITE + page.folder] if site else []) and ("og:url" in metas) == bool(site)
    languages = {lang: href for _, lang, href in links if lang}
    wanted = {lang: SITE + BookPage(page.name, lang).folder for lang in LANGUAGES}
    assert languages == (wanted | {"x-default": wanted["en"]} if site else {})


def test_pages_are_filled_in_and_listed(tmp_path: Path) -> None:
    for page in all_book_pages():
        (tmp_path / page.folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / page.folder / "index.html").write_text(f"<html><head>{HEAD}</head>{FOOT}</html>", "utf-8")
    (tmp_path / "assets").mkdir()
    about.write_heads_and_feet(tmp_path, SITE)
    listed = [node.text for node in ElementTree.parse(tmp_path / "sitemap.xml").iter() if (node.text or "").strip()]
    assert (
        listed == [SITE + page.folder for page in all_book_pages()]
        and f"{SITE}sitemap.xml" in (tmp_path / "robots.txt").read_text()
    )
    for page in all_book_pages():
        text = (tmp_path / page.folder / "index.html").read_text("utf-8")
        assert HEAD not in text and FOOT not in text
        around = [href for tag, each in Elements(text).all if tag == "a" and (href := each["href"])]
        assert all((tmp_path / page.folder / href / "index.html").exists() for href in around[:-1])
        frame = Elements(json.loads((tmp_path / page.folder / "oembed.json").read_text("utf-8"))["html"]).all[0][1]
        assert frame["src"] == f"{SITE}{page.folder}?embed=true&lang={page.lang}"
    assert len(re.findall(r"href", (tmp_path / "404.html").read_text())) == len(LANGUAGES)
