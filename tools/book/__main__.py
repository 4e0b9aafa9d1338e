"""Writes the book into a folder: python -m tools.book build/book."""

import argparse
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rope_core.lab.cards import INDEX
from rope_core.lab.inside import rotary_model_names
from tools.book import about, pieces, scorm, search, site
from ui import book, film

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ("rope_core", "pages", "ui/book", "ui/figures", "ui/film", "ui/page", "ui/present", "ui/text", "ui/work")
"""What the reader's browser runs of this project."""
ENDINGS = (".py", ".toml", ".md", ".json")
LEFT_OUT = (
    "rope_core/lab/corpus.json",
    "rope_core/lab/weights/README",
    "rope_core/kernels/",
    "/assets/",
    "rope_core/cli/",
)
LATER = "later.json"
"""The archive's list of the files that are fetched once Python reads them, with their sizes: weights."""
ASSETS = re.compile(r'((?:href|src|content)="(?:[^"]*/)?)assets/')
"""Where a page names the assets, whose folder has the edition's name: a browser may keep them for good."""
SCRIPTS = Path(book.__file__).parent / "assets"
KEYS = ROOT / "ui/present/stage.js"


def project() -> dict[str, bytes]:
    """Return the files that the reader's browser runs, by path."""
    paths = [*(ROOT / "ui").glob("*.py"), *(path for place in PROJECT for path in (ROOT / place).rglob("*"))]
    named = {path.relative_to(ROOT).as_posix(): path for path in paths if path.suffix in ENDINGS}
    return {name: path.read_bytes() for name, path in named.items() if not any(map(name.__contains__, LEFT_OUT))}


def write(folder: Path, only: Sequence[str] = (), site_address: str = "", rooms_address: str = "") -> None:
    """Write the whole book, or some of its pages; what was in the folder is gone."""
    packages = pieces.install_node_packages(folder.parent / "book-pieces")
    shutil.rmtree(folder, ignore_errors=True)
    assets = folder / "assets"
    shutil.copytree(
        packages / "katex/dist/fonts", assets / "katex/fonts", ignore=shutil.ignore_patterns("*.ttf", "*.woff")
    )
    for name in ("katex.min.css", "katex.min.js"):
        shutil.copy(packages / "katex/dist" / name, assets / "katex" / name)
    shutil.copy(packages / "plotly.js-cartesian-dist-min/plotly-cartesian.min.js", assets / "plotly.js")
    shutil.copy(packages / "pyodide/pyodide.mjs", assets / "pyodide.mjs")
    for name in ("pyodide.asm.js", "pyodide.asm.wasm"):
        (assets / f"{name}.gz").write_bytes(pieces.gzip_without_time((packages / "pyodide" / name).read_bytes()))
    lock = json.loads((packages / "pyodide/pyodide-lock.json").read_text("utf-8")) | {"packages": {}}
    (assets / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    modules = {
        "library": pieces.archive_files((packages / "pyodide/python_stdlib.zip").read_bytes()),
        "numpy": pieces.archive_files(numpy := pieces.numpy_wheel(packages)),
        "app": project() | pieces.pure_python_files() | {LATER: json.dumps(later(assets / "python")).encode()},
    }
    pieces.write_compiled_archives(modules, packages, assets / "python")
    players = Path(film.__file__).parent / "assets"
    for path in (*players.iterdir(), *SCRIPTS.iterdir(), KEYS):
        if path.name not in ("streamlit.js", "sw.js", scorm.SCRIPT):
            shutil.copy(path, assets / path.name)
    pieces.write_pages(packages, ROOT, folder, only)
    search.write_search_index(folder)
    site.typeset_formulas(sorted(folder.rglob("*.html")), packages / "katex")
    about.write_licences(folder, packages, numpy)
    about.write_heads_and_feet(folder, site_address, rooms_address)
    edition = digest(folder)
    for page in folder.rglob("*.html"):
        text = page.read_text("utf-8").replace(about.EDITION, edition)
        page.write_text(ASSETS.sub(rf"\1assets-{edition}/", text), "utf-8")
    code = assets / "code.js"
    code.write_text(code.read_text("utf-8").replace("VERSION", edition), "utf-8")
    (folder / "edition.txt").write_text(f"{edition}\n", "utf-8")
    shutil.copy(SCRIPTS / "sw.js", folder)
    assets.rename(folder / f"assets-{edition}")


def later(folder: Path) -> dict[str, int]:
    """Write what is fetched only when it is read into a folder; return its paths and sizes."""
    paths = [(INDEX.parent / f"{name}.safetensors").relative_to(ROOT) for name in rotary_model_names()]
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    return {path.as_posix(): (ROOT / path).stat().st_size for path in paths}


def digest(folder: Path) -> str:
    """Return a hash of every file of the book: the name of this edition."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(path.relative_to(folder).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def main() -> None:
    """Write the book, or say in one sentence what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=(), help="these pages, for a test")
    parser.add_argument("--scorm", type=Path, help="write the book as a course package (SCORM 1.2) as well: a zip")
    units = parser.add_mutually_exclusive_group()
    units.add_argument(
        "--week", type=int, choices=range(1, len(scorm.WEEKS) + 1), help="package a week of docs/course.md"
    )
    units.add_argument("--pages", default="", help="package these pages, with commas between, each with its completion")
    parser.add_argument("--models", action="store_true", help="with the trained models in such a package: 26 MB more")
    parser.add_argument("--site", default="", help="the address that the book will have, for search engines")
    parser.add_argument("--rooms", default="", help="the address of a hall (make serve) on another host with its rooms")
    options = parser.parse_args()
    site_address, rooms_address = (f"{text.rstrip('/')}/" if text else "" for text in (options.site, options.rooms))
    try:
        write(options.folder, options.only, site_address, rooms_address)
        if options.scorm:
            names = scorm.WEEKS[options.week - 1] if options.week else tuple(filter(None, options.pages.split(",")))
            if unknown := set(names) - {page.name for page in site.all_book_pages()}:
                parser.error(f"pages must be names of the menu, got {', '.join(sorted(unknown))}")
            scorm.write_scorm_package(options.folder, options.scorm, names, models=options.models or not names)
    except pieces.MissingPiece as missing:
        sys.exit(f"book: {missing}")


if __name__ == "__main__":
    main()
