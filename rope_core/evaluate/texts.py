"""Text files as windows of tokens, each of one file, each begun as the tokenizer begins a text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.hf.read import open_regular

MAX_TEXT = 200 * 10**6
TokenIds = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextTokenizer:
    """How a model's text becomes tokens.

    Attributes:
        encode: text as bytes -> token ids, without what begins or ends a text.
        begin: ids that the tokenizer puts before every text; usually one, or none.
        unit: "token" or "byte".
    """

    encode: Callable[[bytes], list[int]]
    begin: tuple[int, ...] = ()
    unit: str = "token"


@dataclass(frozen=True, eq=False)
class TokenizedTexts:
    """What is read.

    Attributes:
        documents: int64 (documents, longest + 1), the begin ids included.
        filler: int64 (n,), all files' tokens one after another, for the tasks.
        files: names of the files that were read.
        sha256: of the documents.
        begin: how many ids at the start of each document begin it.
    """

    documents: TokenIds
    filler: TokenIds
    files: tuple[str, ...]
    sha256: str
    begin: int


def tokenize_files(
    paths: Sequence[Path], tokenizer: TextTokenizer, window_length: int, max_windows: int
) -> TokenizedTexts:
    """Cut files into windows of ``window_length`` tokens and one more, at most ``max_windows``, in turn from each file.

    Raises ValueError where a file cannot be read, or none holds a window.
    """
    checked_int("documents", max_windows, 1, 4096)
    size = window_length + 1 - len(tokenizer.begin)
    tokens: list[TokenIds] = []
    for path in paths:
        try:
            with open_regular(path, "--text") as file:
                text = file.read(MAX_TEXT + 1)
        except OSError as error:
            raise argument_error("--text", "readable_file", f"{path}: {error.strerror}") from error
        if len(text) > MAX_TEXT:
            raise argument_error("--text", "text_bytes", f"{path.name}: {len(text):,}", limit=MAX_TEXT)
        tokens.append(np.asarray(tokenizer.encode(text), dtype=np.int64))
    cut = [[ids[at : at + size] for at in range(0, len(ids) - size + 1, size)] for ids in tokens]
    chosen = [windows[turn] for turn in range(max(map(len, cut), default=0)) for windows in cut if turn < len(windows)]
    if not chosen:
        most_tokens = max(map(len, tokens), default=0)
        raise argument_error("--text", "eval_text", f"{most_tokens:,}", low=size, length=window_length)
    begun = np.tile(np.asarray(tokenizer.begin, dtype=np.int64), (min(max_windows, len(chosen)), 1))
    documents = np.concatenate([begun, np.stack(chosen[:max_windows])], 1)
    digest = hashlib.sha256(documents.tobytes()).hexdigest()
    return TokenizedTexts(
        documents, np.concatenate(tokens), tuple(path.name for path in paths), digest, len(tokenizer.begin)
    )
