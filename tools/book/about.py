"""What every page of the book says of itself: to search engines and previews in its head, to readers in its foot."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import quote

from rope_core.languages import FIRST, LANGUAGES
from rope_core.version import __version__
from tools.book import pieces
from tools.book.search import strip_markup
from tools.book.site import CONNECT, FOOT, HEAD, BookPage, all_book_pages
from ui.page.menu import PATH
from ui.text.words import PageTexts

ROOT = Path(__file__).resolve().parents[2]
LICENCES = Path(__file__).parent / "licenses"
"""Of what is shipped without a licence's text beside it."""
TEXTS = "https://creativecommons.org/licenses/by/4.0/"
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<circle cx="16" cy="16" r="13" fill="#fff" stroke="#0068CF" stroke-width="3"/>
<path d="M16 16L24 8M24 14V8H18" fill="none" stroke="#E02000" stroke-width="3" stroke-linecap="round"/>
</svg>"""
EDITION = "edition-to-come"
"""Stands for the edition's name until all files are there."""
CLIMB = """(async () => {
  for (let at = new URL(".", location); ; at = new URL("..", at)) {
    const there = await fetch(new URL("edition.txt", at)).then(({ ok }) => ok, () => false);
    if (!there && at.pathname !== "/") continue;
    for (const link of document.links) link.href = new URL(link.getAttribute("href"), at);
    return;
  }
})()"""
"""Has the page of an address that is none find the book above itself, where no one has said where that is."""
WIDTH, HEIGHT = 900, 620
"""Of a page in somebody's frame, px."""


def write_heads_and_feet(folder: Path, site: str, rooms: str = "") -> None:
    """Fill in the head and the foot of every page.

    Args:
        folder: of the book.
        site: the address that the book will have, for what needs absolute ones; "" where it is unknown.
        rooms: the address of a hall elsewhere whose rooms lecturers use; "" for one that serves the book itself.
    """
    (folder / "assets/icon.svg").write_text(ICON, "utf-8")
    there = [page for page in all_book_pages() if (folder / page.folder / "index.html").exists()]
    for page in there:
        file = folder / page.folder / "index.html"
        parts = ((HEAD, "\n".join(head(page, site))), (FOOT, foot(page, there)))
        text = file.read_text("utf-8")
        for mark, part in parts:
            text = text.replace(mark, part, 1)
        file.write_text(name_rooms(text, rooms), "utf-8")
    words = [PageTexts(lang, "labels") for lang in LANGUAGES]
    lost = "".join(
        f'<p><a href="{site + BookPage("home", t.lang).folder or "./"}">{escape(t("browser.lost"))}</a></p>'
        for t in words
    )
    climb = "" if site else f"<script>{CLIMB}</script>"
    (folder / "404.html").write_text(f'<!doctype html><meta charset="utf-8"><title>404</title>{lost}{climb}\n', "utf-8")
    if not site:
        return
    shutil.copy(ROOT / "docs/clock.png", folder / "assets/preview.png")
    for page in there:
        (folder / page.folder / "oembed.json").write_text(json.dumps(oembed(page, site), ensure_ascii=False), "utf-8")
    addresses = "".join(f"<url><loc>{escape(site + page.folder)}</loc></url>" for page in there)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    (folder / "sitemap.xml").write_text(f'<urlset xmlns="{space}">{addresses}</urlset>\n', "utf-8")
    (folder / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {site}sitemap.xml\n", "utf-8")


def name_rooms(text: str, rooms: str) -> str:
    """Return a page that has its rooms from a hall at another address, and may connect to it; without one as it is."""
    if not rooms:
        return text
    text = text.replace("<html ", f'<html data-rooms="{escape(rooms)}" ', 1)
    return text.replace(CONNECT, f"{CONNECT} {escape(rooms)}", 1)


def head(page: BookPage, site: str) -> Iterator[str]:
    """Yield a page's lines for search engines and previews."""
    t, app = PageTexts(page.lang, page.name), PageTexts(page.lang, "labels")("app.title")
    title, description = f"{t('title')} · {app}", strip_markup(t("claim"))
    named = {"og:type": "article", "og:site_name": app, "og:title": title, "og:description": description}
    yield f'<meta name="description" content="{escape(description)}">'
    yield f'<link rel="icon" href="{page.root}assets/icon.svg" type="image/svg+xml">'
    resource: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "LearningResource",
        "name": t("title"),
        "description": description,
        "inLanguage": page.lang,
        "learningResourceType": "interactive lesson" if page.name in PATH else "reference",
        "educationalLevel": "higher education",
        "teaches": "rotary position embedding (RoPE)",
        "isAccessibleForFree": True,
        "license": TEXTS,
        "version": __version__,
    }
    if site:
        here = site + page.folder
        resource["url"] = here
        named |= {"og:url": here, "og:image": f"{site}assets/preview.png"}
        yield f'<link rel="canonical" href="{escape(here)}">'
        for lang, name in (*((lang, lang) for lang in LANGUAGES), (FIRST, "x-default")):
            yield f'<link rel="alternate" hreflang="{name}" href="{escape(site + BookPage(page.name, lang).folder)}">'
        yield f'<link rel="alternate" type="application/json+oembed" href="{escape(here)}oembed.json">'
    yield from (f'<meta property="{name}" content="{escape(text)}">' for name, text in named.items())
    text = json.dumps(resource, ensure_ascii=False).replace("<", "\\u003c")
    yield f'<script type="application/ld+json">{text}</script>'


def foot(page: BookPage, there: list[BookPage]) -> str:
    """Return the pages before and after this one, its edition and its licences."""
    t = PageTexts(page.lang, "labels")
    own = [each for each in there if each.lang == page.lang]
    at = own.index(page)
    around = [(own[k], sign) for k, sign in ((at - 1, "← {}"), (at + 1, "{} →")) if 0 <= k < len(own)]
    turn = " · ".join(
        f'<a href="{page.to(each)}">{sign.format(escape(t.page_name(each.name)))}</a>' for each, sign in around
    )
    licences = f'<a href="{page.root}licenses/">{escape(t("browser.licences"))}</a>'
    about = escape(t("browser.about", version=__version__, edition=EDITION))
    return f"<footer><p>{turn}</p><p>{about} · {licences}</p></footer>"


def oembed(page: BookPage, site: str) -> Mapping[str, object]:
    """Return what a page that embeds this one asks for. Source: oembed.com, rich."""
    title = PageTexts(page.lang, page.name)("title")
    address = f"{site}{page.folder}?{'&'.join(f'{k}={quote(v)}' for k, v in (('embed', 'true'), ('lang', page.lang)))}"
    frame = f'<iframe src="{escape(address)}" width="{WIDTH}" height="{HEIGHT}" title="{escape(title)}"></iframe>'
    return {"version": "1.0", "type": "rich", "title": title, "html": frame, "width": WIDTH, "height": HEIGHT}


def write_licences(folder: Path, packages: Path, numpy: bytes) -> None:
    """Write the licence of everything that the book ships into its folder licenses/, with a list of them."""
    held = pieces.archive_files(numpy)
    texts = {
        "RoPE Lab": (ROOT / "LICENSE").read_text("utf-8") + "\n" + (ROOT / "NOTICE").read_text("utf-8"),
        "KaTeX": (packages / "katex/LICENSE").read_text("utf-8"),
        "Plotly": (packages / "plotly.js-cartesian-dist-min/LICENSE").read_text("utf-8"),
        "NumPy": next(held[name] for name in sorted(held) if name.endswith("dist-info/LICENSE.txt")).decode(),
    }
    texts |= {path.stem: path.read_text("utf-8") for path in sorted(LICENCES.glob("*.txt"))}
    for name in pieces.PURE:
        (file,) = (path for path in distribution(name).files or () if path.name == "LICENSE")
        texts[name] = file.read_text("utf-8")
    place = folder / "licenses"
    place.mkdir()
    for name, text in texts.items():
        (place / f"{name.replace(' ', '-')}.txt").write_text(text, "utf-8")
    links = "".join(f'<li><a href="{name.replace(" ", "-")}.txt">{escape(name)}</a></li>' for name in texts)
    start = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Licences</title><h1>Licences</h1>'
    (place / "index.html").write_text(f"{start}<ul>{links}</ul></html>\n", "utf-8")
