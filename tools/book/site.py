"""A page of the book as an HTML file: what is drawn at the default values, around it menu, title and language."""

from __future__ import annotations

import json
import re
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape, unescape
from itertools import zip_longest
from pathlib import Path

import numpy as np

from rope_core.languages import FIRST, LANGUAGES
from ui.book.frame import BookFrame, page_folder
from ui.book.markdown import markdown_to_html
from ui.book.nodes import HtmlNode, live_values_by_id, script_data_by_id
from ui.figures.drawing import Drawing
from ui.film.static_scene import StaticScene
from ui.page.menu import ORDER
from ui.text.words import PageTexts, page_sections

HEAD, FOOT = "<!-- head -->", "<!-- foot -->"
"""Where a page's words about itself go, once all pages are there (about.py)."""
BARE = (
    ".plot, .film {height: auto !important; min-height: 0 !important; overflow: auto}"
    ".menu, .popover, .control, .button, .choices, .grade button {display: none}"
)
"""The style for readers without scripts: numbers in a figure's place, and nothing to press."""
ROWS, COLUMNS = 12, 8
"""How much of a figure's numbers readers without scripts see."""
TEX = re.compile(r'<span class="(?P<look>tex(?: display)?)">(?P<latex>.*?)</span>', re.DOTALL)


def _inline(text: str) -> str:
    """Return what allows one text in a style element."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


CONNECT = "connect-src 'self'"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "frame-src 'self'",
        CONNECT,
        "style-src 'self' 'unsafe-inline'",
        f"style-src-elem 'self' {_inline(BARE)} {_inline('')}",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
"""No address but the book's own. Styles in attributes are KaTeX's, Plotly's and the pages'; an empty style element is
Plotly's, which fills it by script. ``style-src`` is for browsers that do not know the two after it."""
PLAYER = Path(__file__).resolve().parents[2] / "ui/film/assets"
SCRIPTS = sorted(path.name for path in PLAYER.glob("*.js") if path.stem != "streamlit")
"""The player's files, which the browser is to ask for at once and not one after another."""


@dataclass(frozen=True)
class BookPage:
    """One page in one language."""

    name: str
    lang: str

    @property
    def folder(self) -> str:
        """Where the page lies below the book's root: "", or folders that each end with a slash."""
        return page_folder(self.name, self.lang)

    @property
    def root(self) -> str:
        """The way from the page's folder to the book's root."""
        return "../" * self.folder.count("/")

    def to(self, other: BookPage) -> str:
        """Return the way to another page."""
        return self.root + other.folder or "./"


def all_book_pages() -> list[BookPage]:
    """Return every page in every language, in the order of the menu."""
    return [BookPage(name, lang) for lang in LANGUAGES for names in ORDER.values() for name in names]


def draw(folder: str, names: Sequence[str]) -> None:
    """Write the files of every page, or of those of these ``names``: run by Pyodide itself (draw.mjs)."""
    wanted = list(names)
    for page in all_book_pages():
        if not wanted or page.name in wanted:
            write(page, Path(folder))


def write(page: BookPage, folder: Path) -> None:
    """Write a page's file, formulas as their LaTeX, and beside it the data of its figures."""
    book, t = BookFrame(page.name, page.lang, {}, page.root), PageTexts(page.lang, "labels")
    tree = book.places.root
    drawn, films = script_data_by_id(tree), {node.id for node in tree.self_and_descendants() if node.kind == "film"}
    for node in tree.self_and_descendants():
        if node.kind in ("film", "plot"):
            node.content_hashes  # noqa: B018  what readers without scripts see is no part of what is compared
            drawing = book.figures[node.id]
            node.html = _table(drawing, t) if isinstance(drawing, Drawing) else _still(node)
    built = {"films": {id: text for id, text in drawn.items() if id in films}, "told": live_values_by_id(tree)}
    others = [BookPage(page.name, lang) for lang in LANGUAGES if lang != page.lang]
    switch = "".join(
        f'<a href="{way}" lang="{lang}" data-lang="{lang}" data-href="{way}">{LANGUAGES[lang]}</a>'
        for lang, way in ((each.lang, page.to(each)) for each in others)
    )
    attributes = {
        "lang": page.lang,
        "data-lang": page.lang,
        "data-page": page.name,
        "data-root": page.root,
        "data-book": page.root or "./",
        "data-nothing": t("browser.nothing"),
        "data-canonical": page.to(BookPage(page.name, FIRST)),
        "data-first": FIRST,
        "data-other": " ".join(f"{each.lang}={page.to(each)}" for each in others),
    }
    task = markdown_to_html(f"**{t('frame.try')}** {book.t('task')}") if book.t.has_label("task") else ""
    stated = "" if book.page.claim_in_film else markdown_to_html(f"**{book.t('claim')}**")
    claim = f'<div class="claim">{stated}{task}</div>' if stated or task else ""
    root, written = page.root, tree.to_html()
    preload = "".join(f'<link rel="modulepreload" href="{root}assets/{name}">' for name in SCRIPTS)
    text = f"""<!doctype html>
<html {" ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(book.t("title"))} · {escape(t("app.title"))}</title>
{HEAD}
<script src="{root}assets/lang.js"></script>
<link rel="stylesheet" href="{root}assets/katex/katex.min.css">
<link rel="stylesheet" href="{root}assets/film.css">
<link rel="stylesheet" href="{root}assets/book.css">
{preload}
<noscript><style>{BARE}</style></noscript>
<script type="module" src="{root}assets/book.js"></script>
<script type="module" src="{root}assets/search.js"></script>
</head>
<body>
<a class="skip" href="#main">{escape(t("browser.skip"))}</a>
<div class="shell">
<nav aria-label="{escape(t("browser.menu"))}">{_menu(page, t, _contents(page, written))}</nav>
<main id="main">
<search hidden><label>{escape(t("browser.search"))} <input id="search" type="search" autocomplete="off"></label>
<ul id="found" aria-live="polite"></ul></search>
<header><h1>{escape(book.t("title"))}</h1>{switch}</header>
<p class="note warning unmoved" data-failed="{escape(t("browser.failed"))}">{escape(t("browser.unmoved"))}</p>
{claim}
{written}
{FOOT}
</main>
</div>
<script type="application/json" id="built">{_inert(json.dumps(built, ensure_ascii=False))}</script>
</body>
</html>
"""
    (folder / page.folder).mkdir(parents=True, exist_ok=True)
    (folder / page.folder / "index.html").write_text(text, "utf-8")
    figures = {id: text for id, text in drawn.items() if id not in films}
    (folder / page.folder / "figures.json").write_text(json.dumps(figures, ensure_ascii=False), "utf-8")


def typeset_formulas(files: Iterable[Path], katex: Path) -> None:
    """Put KaTeX's HTML in the place of every formula of the files."""
    texts = {path: path.read_text("utf-8") for path in files}
    matches = (match for text in texts.values() for match in TEX.finditer(text))
    formulas = sorted({(unescape(match["latex"]), "display" in match["look"]) for match in matches})
    from tools.book import pieces  # this module is loaded by Pyodide as well, which has no such programs

    script = [str(Path(__file__).parent / "katex.mjs"), str(katex / "dist/katex.mjs")]
    given = json.dumps([{"latex": latex, "display": display} for latex, display in formulas])
    answer = subprocess.run(
        [pieces.node_program("node"), *script], input=given, text=True, capture_output=True, check=True
    )
    rendered = dict(zip(formulas, json.loads(answer.stdout), strict=True))
    for path, text in texts.items():

        def put(match: re.Match[str]) -> str:
            key = unescape(match["latex"]), "display" in match["look"]
            return f'<span class="{match["look"]}">{rendered[key]}</span>'

        path.write_text(TEX.sub(put, text), "utf-8")


def _still(node: HtmlNode) -> str:
    """Return a film's picture, which is there before its script; for readers without scripts each step's picture."""
    first, *later = (
        f'<p class="film-say">{escape(say)}</p>{panels}<p class="film-finding">▸ {escape(finding)}</p>'
        for say, panels, finding in StaticScene(b64decode(node.data), node.live["at"]).beats()
    )
    return first + (f"<noscript>{''.join(later)}</noscript>" if later else "")


def _table(drawing: Drawing, t: PageTexts) -> str:
    """Return some of a figure's numbers as a table for readers without scripts; its finding is beside it."""
    columns = {name: np.asarray(column).ravel().tolist() for name, column in drawing.table().items()}
    columns = dict(list(columns.items())[:COLUMNS])
    total = max(map(len, columns.values()), default=0)
    rows = list(zip_longest(*columns.values(), fillvalue=""))[:: -(-total // ROWS) or 1]
    heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
    cells = "".join(f"<tr>{''.join(f'<td>{escape(_number(value))}</td>' for value in row)}</tr>" for row in rows)
    caption = escape(t("browser.rows", shown=len(rows), total=total))
    return f"<noscript><table><caption>{caption}</caption><tr>{heads}</tr>{cells}</table></noscript>"


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _contents(page: BookPage, written: str) -> str:
    """Return the sections of a page as a list of links."""
    titles = {
        name: title for name, (title, _) in page_sections(page.lang, page.name).items() if f'id="{name}"' in written
    }
    links = "".join(
        f'<li><a href="#{name}">{markdown_to_html(title, is_one_line=True)}</a></li>'
        for name, title in titles.items()
        if title
    )
    return f'<ul class="contents">{links}</ul>' if links else ""


def _menu(page: BookPage, t: PageTexts, contents: str) -> str:
    """Return the links to all pages, below this one those to its sections."""
    pieces = []
    for section, names in ORDER.items():
        links = []
        for name in names:
            here = ' aria-current="page"' if name == page.name else ""
            link = f'<a href="{page.to(BookPage(name, page.lang))}"{here}>{escape(t.page_name(name))}</a>'
            links.append(f"<li>{link}{contents if here else ''}</li>")
        pieces.append(f"<h2>{escape(t(f'section.{section}'))}</h2><ul>{''.join(links)}</ul>")
    return "".join(pieces)


def _inert(text: str) -> str:
    """Return JSON that no HTML parser takes for an end of its element."""
    return text.replace("<", "\\u003c")
