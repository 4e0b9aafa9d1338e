"""Keeps of the archives in /folder what the project loads, compiled: run by Pyodide itself, for its own browser.

The project's modules stay as they are written, because the pages show them; those that cannot be loaded without torch,
numba or sqlite3 are left out.
"""

import ast
import importlib
import importlib.util
import marshal
import sys
import zipfile
from pathlib import Path

FOLDER, SITE = Path("/folder"), Path("/site")
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
ALWAYS |= {"zipfile", "tarfile", "shutil", "statistics", "fractions", "decimal", "random", "traceback"}
DOCUMENTS = ("numpy/_core/_add_newdocs.py", "numpy/_core/_add_newdocs_scalars.py")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LIBRARY = "/lib/python3.12/"


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


def compiled(path: str, source: bytes, place: str) -> bytes:
    """Return a module as bytecode that is never checked against its source, without its assertions and docstrings."""
    tree = ast.parse(b"" if path in DOCUMENTS else source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            # An empty one: numpy hands docstrings on, and takes no other value.
            node.body[0].value.value = ""  # type: ignore[attr-defined]
    code = compile(tree, place + path, "exec", dont_inherit=True, optimize=1)
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


def loads(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:  # torch, numba, sqlite3 or Unix sockets are missing
        return False
    return True


app, numpy, library = read("app"), read("numpy"), read("library")
for path, content in (app | numpy).items():
    (SITE / path).parent.mkdir(parents=True, exist_ok=True)
    (SITE / path).write_bytes(content)
sys.path.insert(0, str(SITE))
own = {path for path in app if path.endswith(".py")}
left = {path for path in sorted(own) if not loads(module(path))}
for path in own - left:
    for node in ast.walk(ast.parse(app[path])):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        for name in names:
            loads(name)
for name in ALWAYS:
    loads(name)
loaded = set(sys.modules) | ALWAYS
if broken := [path for path in left if path.startswith("pages/")]:
    raise RuntimeError(f"pages must load without torch, numba and sqlite3, got {broken}")
print(len(own - left), "modules of the project,", len(left), "left out")
write("app", {path: content for path, content in app.items() if path not in left})
for name, files, place in (("numpy", numpy, f"{LIBRARY}site-packages/"), ("library", library, "/lib/python312.zip/")):
    kept = {
        path + "c": compiled(path, content, place)
        for path, content in files.items()
        if path.endswith(".py") and module(path) in loaded
    }
    binary = {
        path: content
        for path, content in files.items()
        if path.endswith(".so") and module(path.partition(".")[0]) in loaded
    }
    write(name, kept | binary)
