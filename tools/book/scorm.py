"""The book as a course package, SCORM 1.2: its files, a list of them, and a script that reports what is done."""

import json
import posixpath
import re
import zipfile
from collections.abc import Sequence, Set
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rope_core.languages import FIRST
from rope_core.version import __version__
from tools.book.site import all_book_pages
from ui import book
from ui.book.frame import page_folder
from ui.page.declaration import page_declaration
from ui.page.menu import PATH
from ui.text.words import PageTexts

SCRIPT = "scorm.js"
IMS, ADL = "http://www.imsproject.org/xsd/imscp_rootv1p1p2", "http://www.adlnet.org/xsd/adlcp_rootv1p2"
MANIFEST = "imsmanifest.xml"
LEFT_OUT = ("sw.js", "edition.txt")
"""What the host of a course keeps itself."""
EPOCH = (1980, 1, 1, 0, 0, 0)
WEEK = re.compile(r"^\| \d+ \| ([a-z, ]+) \|", re.MULTILINE)
COURSE = (Path(__file__).parents[2] / "docs" / "course.md").read_text("utf-8")
WEEKS = tuple(tuple(pages.split(", ")) for pages in WEEK.findall(COURSE))
"""The pages of each week of docs/course.md."""
EMPTY = re.compile("<h2>[^<]*</h2><ul></ul>")
LINK = re.compile(r'<li><a href="([^"#?]*)"[^>]*>[^<]*</a>(?:<ul class="contents">.*?</ul>)?</li>')


def write_scorm_package(book_folder: Path, package: Path, names: Sequence[str] = (), *, models: bool = True) -> None:
    """Write the book in ``book_folder`` as a zip; the same book gives the same bytes.

    Args:
        book_folder: of the whole book.
        package: the zip's path.
        names: of pages, each of which is then a unit with a completion of its own; none for the whole book as one unit.
        models: whether the trained models are in it, which *inside* and a part of *extrapolation* read.
    """
    counted = {name: len(page_declaration(name).tasks) for name in (names or PATH)}
    left = {page.folder for page in all_book_pages() if names and page.name not in names}
    paths = sorted(path for path in book_folder.rglob("*") if path.is_file() and path.name not in LEFT_OUT)
    named = {
        path.relative_to(book_folder).as_posix(): path for path in paths if models or path.suffix != ".safetensors"
    }
    files = {
        name: path.read_bytes() for name, path in named.items() if f"{name.rpartition('/')[0]}/".lstrip("/") not in left
    }
    (assets,) = (path.name for path in book_folder.glob("assets-*"))
    files[f"{assets}/{SCRIPT}"] = (Path(book.__file__).parent / "assets" / SCRIPT).read_bytes()
    query = escape(urlencode({"tasks": json.dumps(counted, separators=(",", ":"))} | ({"units": "1"} if names else {})))
    for name, content in files.items():
        if name.endswith("index.html") and not name.startswith("licenses"):
            here = name.rpartition("/")[0]
            script = f'<script type="module" src="{"../" * name.count("/")}{assets}/book.js"></script>'
            text = content.decode().replace(script, f"{script.replace('book.js', f'{SCRIPT}?{query}')}\n{script}")
            text = text.replace("<html ", '<html data-course="1" ', 1)
            files[name] = EMPTY.sub("", LINK.sub(partial(_kept, here, left), text)).encode()
    files[MANIFEST] = manifest(list(files), names)
    package.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def _kept(here: str, left: Set[str], link: re.Match[str]) -> str:
    """Return a menu's entry, nothing for that of a page that is ``left`` out."""
    target = posixpath.normpath(posixpath.join(here, link[1]))
    return "" if ("" if target == "." else f"{target}/") in left else link[0]


def manifest(files: list[str], names: Sequence[str]) -> bytes:
    """Return the list that a learning management system reads: a unit for each page, or one for all of them."""
    ElementTree.register_namespace("", IMS)
    ElementTree.register_namespace("adlcp", ADL)
    root = Element(f"{{{IMS}}}manifest", {"identifier": "rope-lab", "version": __version__})
    about = SubElement(root, f"{{{IMS}}}metadata")
    SubElement(about, f"{{{IMS}}}schema").text = "ADL SCORM"
    SubElement(about, f"{{{IMS}}}schemaversion").text = "1.2"
    plan = SubElement(SubElement(root, f"{{{IMS}}}organizations", {"default": "path"}), f"{{{IMS}}}organization")
    plan.set("identifier", "path")
    title = PageTexts(FIRST, "labels")("app.title")
    SubElement(plan, f"{{{IMS}}}title").text = title
    resources = SubElement(root, f"{{{IMS}}}resources")
    units = {name: (PageTexts(FIRST, name)("title"), f"{page_folder(name, FIRST)}index.html") for name in names}
    for name, (words, first) in (units or {"book": (title, "index.html")}).items():
        given = {"identifier": name, "identifierref": f"{name}-pages", "isvisible": "true"}
        SubElement(SubElement(plan, f"{{{IMS}}}item", given), f"{{{IMS}}}title").text = words
        look = {"identifier": f"{name}-pages", "type": "webcontent", f"{{{ADL}}}scormtype": "sco", "href": first}
        held = SubElement(resources, f"{{{IMS}}}resource", look)
        for file in sorted(files):
            SubElement(held, f"{{{IMS}}}file", {"href": file})
    return bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True))
