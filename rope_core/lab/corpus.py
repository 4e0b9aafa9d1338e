"""The lab's text: the source of Python's standard library, by file list and hash, with whole files held out."""

from __future__ import annotations

import hashlib
import json
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error

LICENCE = "PSF-2.0"
HERE = Path(__file__).parent
MANIFEST = HERE / "corpus.json"
HELD_OUT = HERE / "heldout.json"
# Tests and tables are left out: they are not shipped everywhere, or are the same line over and over.
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "pydoc_data", "encodings", "__pycache__"}
ONE_IN = 8


@dataclass(frozen=True)
class CorpusFile:
    """One file of the corpus: its path below the library's folder, its size, its SHA-256."""

    path: str
    bytes: int
    sha256: str

    @property
    def held_out(self) -> bool:
        """Whether the file is kept from training: one in 8, by the hash of its path."""
        return hashlib.sha256(self.path.encode()).digest()[0] % ONE_IN == 0


@dataclass(frozen=True)
class HeldOutDocument:
    """A held-out stretch of text: its file and what the model reads."""

    path: str
    text: bytes


def standard_library_folder() -> Path:
    """Return the folder of this Python's standard library."""
    return Path(sysconfig.get_paths()["stdlib"])


def corpus_files(root: Path | None = None) -> list[CorpusFile]:
    """List the corpus below ``root`` (this Python's library), sorted by path.

    Raises ValueError when there is no Python file there.
    """
    top = root or standard_library_folder()
    sources = []
    for path in sorted(top.rglob("*.py")):
        relative = PurePosixPath(path.relative_to(top).as_posix())
        # The build's own settings hold the builder's paths.
        if LEFT_OUT & set(relative.parts) or relative.name.startswith("_sysconfigdata") or "config-" in str(relative):
            continue
        data = path.read_bytes()
        sources.append(CorpusFile(str(relative), len(data), hashlib.sha256(data).hexdigest()))
    if not sources:
        raise argument_error("root", "a folder with Python files", top)
    return sorted(sources, key=lambda source: source.path)


def corpus_sha256(sources: list[CorpusFile]) -> str:
    """Return one SHA-256 over every file's hash and path, in order."""
    lines = "".join(f"{source.sha256}  {source.path}\n" for source in sources)
    return hashlib.sha256(lines.encode()).hexdigest()


def training_text_and_digest(root: Path | None = None) -> tuple[npt.NDArray[np.uint8], str]:
    """Return the training text, uint8 (n,), files joined by newlines, and the corpus's digest."""
    top = root or standard_library_folder()
    sources = corpus_files(top)
    parts = [(top / source.path).read_bytes() for source in sources if not source.held_out]
    return np.frombuffer(b"\n".join(parts), dtype=np.uint8), corpus_sha256(sources)


@lru_cache(maxsize=1)
def held_out_documents() -> tuple[HeldOutDocument, ...]:
    """Return the documents shipped for evaluation, the same on every machine: 4,097 bytes each, never trained on.

    Each is cut out of a held-out file, from the first line after a quarter of it; files that are too short, or hold
    more than ASCII, were passed over.
    """
    stored = json.loads(HELD_OUT.read_text("utf-8"))
    return tuple(HeldOutDocument(each["path"], each["text"].encode("ascii")) for each in stored["documents"])


@lru_cache(maxsize=1)
def shipped_corpus_manifest() -> dict[str, Any]:
    """Return the file list that the shipped weights were trained on."""
    stored: dict[str, Any] = json.loads(MANIFEST.read_text("utf-8"))
    return stored


def manifest_differences(root: Path | None = None) -> list[str]:
    """Return the paths that this machine's library lacks, adds or has in another version than the shipped list."""
    here = {source.path: source.sha256 for source in corpus_files(root)}
    there = {each["path"]: each["sha256"] for each in shipped_corpus_manifest()["files"]}
    return sorted(path for path in here.keys() | there.keys() if here.get(path) != there.get(path))
