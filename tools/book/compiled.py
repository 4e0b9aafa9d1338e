"""Keeps of the archives in /folder what the pages load: run by Pyodide itself, for its own browser.

The project's modules stay as they are written, because the pages show them. What a page imports only where it needs
torch, numba or sqlite3 is left out, and so is all that only such modules need. Of the libraries docstrings and comments
go; what Python itself starts with is compiled, which is faster but larger, and the rest is not.
"""

import ast
import importlib
import importlib.util
import py_compile
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

FOLDER, SITE, MADE = Path("/folder"), Path("/site"), Path("/tmp/made.pyc")
EPOCH = (1980, 1, 1, 0, 0, 0)
ALWAYS = {
    "encodings.utf_8",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.idna",
    "encodings.cp437",
    "encodings.utf_16",
}
ALWAYS |= {"encodings.utf_8_sig", "encodings.utf_32", "encodings.unicode_escape", "encodings.raw_unicode_escape"}
ALWAYS |= {"zipfile", "shutil", "statistics", "fractions", "decimal", "random", "traceback", "pkgutil"}
DOCUMENTS = ("numpy/_core/_add_newdocs.py", "numpy/_core/_add_newdocs_scalars.py")
ROOTS = (
    "ui.book.session",
    "ui.film.static_scene",
    "rope_core.grade.child",
    "rope_core.ledger",
    "rope_core.lrpe.reference",
)
"""What the browser, or the one that draws the files, loads by a name that stands in no import; pages are the others."""


def read(name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def write(name: str, files: dict[str, bytes]) -> None:
    """Write an archive that is not compressed: the whole of it is, afterwards."""
    with zipfile.ZipFile(FOLDER / f"{name}.zip", "w", zipfile.ZIP_STORED) as archive:
        for each in sorted(files, key=lambda name: (name.rpartition(".")[2], name)):
            archive.writestr(zipfile.ZipInfo(each, EPOCH), files[each])


def module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def bare(path: str, source: bytes) -> str:
    """Return a module's source without docstrings and comments."""
    tree = ast.parse(b"" if path in DOCUMENTS else source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            # An empty one: numpy hands docstrings on, and takes no other value.
            node.body[0].value.value = ""  # type: ignore[attr-defined]
    return ast.unparse(tree)


def compiled(source: str, place: str) -> bytes:
    """Return bytecode that is never checked against its source, without assertions."""
    MADE.with_suffix(".py").write_text(source, "utf-8")
    never = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(
        str(MADE.with_suffix(".py")), str(MADE), place, doraise=True, optimize=1, invalidation_mode=never
    )
    return MADE.read_bytes()


def loads(name: str) -> bool:
    """Load a module; where it cannot be, forget also what it had loaded."""
    before = set(sys.modules)
    try:
        importlib.import_module(name)
    except Exception:  # torch, numba, sqlite3 or Unix sockets are missing, or the name is no module's
        for each in set(sys.modules) - before:
            del sys.modules[each]
        return False
    return True


def imports(name: str, source: bytes) -> Iterator[str]:
    """Yield what a module imports anywhere, and names in other modules that may be modules."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            within = sys.modules[name].__package__ or ""
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), within)
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names if f"{module}.{alias.name}" in own))


first = set(sys.modules)
app, numpy, library = read("app"), read("numpy"), read("library")
for path, content in (app | numpy).items():
    (SITE / path).parent.mkdir(parents=True, exist_ok=True)
    (SITE / path).write_bytes(b"" if path in DOCUMENTS else content)
sys.path.insert(0, str(SITE))
own = {module(path): content for path, content in app.items() if path.endswith(".py")}
roots = [*ROOTS, *(name for name in sorted(own) if name.startswith("pages."))]
if broken := [name for name in roots if not loads(name)]:
    raise RuntimeError(f"these must load without torch, numba and sqlite3, got {broken}")
for name in ALWAYS:
    loads(name)
traced: set[str] = set()
while left := sorted((set(own) & set(sys.modules)) - traced):
    for name in left:
        traced.add(name)
        for each in imports(name, own[name]):
            if each not in sys.modules:
                loads(each)
loaded = set(sys.modules) | ALWAYS
packages = {module(path): path.removesuffix("__init__.py") for path in app if path.endswith("/__init__.py")}
unused = tuple(folder for name, folder in packages.items() if name not in loaded)
kept = {
    path: content
    for path, content in app.items()
    if (module(path) in loaded if path.endswith(".py") else not path.startswith(unused))
}
print(len(traced), "modules of the project,", len(set(own) - traced), "left out")
write("app", kept)
code: dict[str, dict[str, bytes]] = {"library": {}, "numpy": {}}
for name, files in (("numpy", numpy), ("library", library)):
    for path, content in files.items():
        top = module(path.partition("/")[0])
        if path.endswith(".py") and module(path) in loaded:
            source = bare(path, content)
            if module(path) in first:
                code[name][path + "c"] = compiled(source, f"/lib/python312.zip/{path}")
            else:
                # Beside the project, where Python keeps what it has compiled; a package's parts stay together.
                code[name if top in first else "numpy"][path] = source.encode()
        elif path.endswith(".so") and module(path.partition(".")[0]) in loaded:
            code[name][path] = content
for name, files in code.items():
    write(name, files)
