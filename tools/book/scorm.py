"""The book as a course package, SCORM 1.2: its files, a list of them, and a script that reports what is done."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rope_core.version import __version__
from ui import book
from ui.page.menu import PATH, declaration
from ui.text.words import Words

SCRIPT = "scorm.js"
IMS, ADL = "http://www.imsproject.org/xsd/imscp_rootv1p1p2", "http://www.adlnet.org/xsd/adlcp_rootv1p2"
MANIFEST = "imsmanifest.xml"
LEFT_OUT = ("sw.js", "edition.txt")
"""What the host of a course keeps itself."""
EPOCH = (1980, 1, 1, 0, 0, 0)


def write(folder: Path, package: Path) -> None:
    """Write the book in ``folder`` as a zip; the same book gives the same bytes."""
    tasks = sum(len(declaration(name).tasks) for name in PATH)
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in LEFT_OUT)
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    (assets,) = (path.name for path in folder.glob("assets-*"))
    files[f"{assets}/{SCRIPT}"] = (Path(book.__file__).parent / "assets" / SCRIPT).read_bytes()
    for name, content in files.items():
        if name.endswith(".html"):
            script = f'<script type="module" src="{"../" * name.count("/")}{assets}/book.js"></script>'
            own = script.encode()
            reports = own.replace(b"book.js", f"{SCRIPT}?tasks={tasks}".encode())
            files[name] = content.replace(own, reports + b"\n" + own)
    files[MANIFEST] = manifest(list(files))
    package.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def manifest(files: list[str]) -> bytes:
    """Return the list that a learning management system reads: one unit, which begins at the first page."""
    ElementTree.register_namespace("", IMS)
    ElementTree.register_namespace("adlcp", ADL)
    root = Element(f"{{{IMS}}}manifest", {"identifier": "rope-lab", "version": __version__})
    about = SubElement(root, f"{{{IMS}}}metadata")
    SubElement(about, f"{{{IMS}}}schema").text = "ADL SCORM"
    SubElement(about, f"{{{IMS}}}schemaversion").text = "1.2"
    plan = SubElement(SubElement(root, f"{{{IMS}}}organizations", {"default": "path"}), f"{{{IMS}}}organization")
    plan.set("identifier", "path")
    title = Words("en", "labels")("app.title")
    SubElement(plan, f"{{{IMS}}}title").text = title
    unit = SubElement(plan, f"{{{IMS}}}item", {"identifier": "book", "identifierref": "pages", "isvisible": "true"})
    SubElement(unit, f"{{{IMS}}}title").text = title
    look = {"identifier": "pages", "type": "webcontent", f"{{{ADL}}}scormtype": "sco", "href": "index.html"}
    held = SubElement(SubElement(root, f"{{{IMS}}}resources"), f"{{{IMS}}}resource", look)
    for name in sorted(files):
        SubElement(held, f"{{{IMS}}}file", {"href": name})
    return bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True))
