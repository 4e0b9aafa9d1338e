"""A scheme as text: what kind of text it is, how it goes into an address, and the column that it is."""

from __future__ import annotations

import base64
import binascii
import json
import re
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from rope_core.comparisons import examples
from rope_core.comparisons.columns import ComparisonColumn, numbers_of, of_callable, of_config, of_numbers
from rope_core.errors import argument_error
from rope_core.hf.read import check_nesting_depth, parse_json_object

LETTERS, BYTES, NUMBERS = 6000, 60_000, 4096
"""The most letters of an address, bytes of a text, and frequencies."""


def kind_of(text: str) -> str:
    """Return what a text is: an "example" by its name, a "config", "numbers", or else "code".

    >>> [kind_of(each) for each in ("mine", '{"rope_theta": 1e4}', "1.0, 0.1", "def f(dim, base): ...")]
    ['example', 'config', 'numbers', 'code']
    """
    begin = text.lstrip()[:1]
    if text in examples.EXAMPLES:
        return "example"
    return "config" if begin == "{" else "numbers" if begin and begin in "[-+.0123456789" else "code"


def tidy(text: str) -> str:
    """Return a text without spaces around it and without carriage returns, an example by its name."""
    text = text.replace("\r\n", "\n").strip()
    return next((name for name in examples.EXAMPLES if text == examples.code(name).strip()), text)


def shown(text: str) -> str:
    """Return a text as its reader edits it: an example is its code."""
    return examples.code(text) if text in examples.EXAMPLES else text


def pack(text: str) -> str:
    """Return a text for an address: an example's name as it is, others deflated. ValueError where it is too long.

    >>> unpack(pack("def f(dim, base): ...")), pack(examples.code("scheme_a"))
    ('def f(dim, base): ...', 'scheme_a')
    """
    text = tidy(text)
    if text in examples.EXAMPLES:
        return text
    data = text.encode("utf-8", "surrogatepass")
    packed = base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")
    if len(data) > BYTES or len(packed) > LETTERS:
        raise argument_error(
            "the text", f"short enough for an address: {LETTERS} letters once it is packed", len(packed)
        )
    return packed


def unpack(packed: str) -> str:
    """Return the text of an address; at most BYTES of it are unpacked. Raises ValueError on what is none."""
    if packed in examples.EXAMPLES:
        return packed
    try:
        inflate = zlib.decompressobj()
        data = inflate.decompress(base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", validate=True), BYTES)
        if not inflate.eof:
            raise ValueError
        return data.decode()
    except (ValueError, zlib.error, binascii.Error):
        raise argument_error("the text", "one that this page has packed", packed[:20]) from None


def of_text(name: str, text: str) -> ComparisonColumn:
    """Return a column of a text that is no code: an example's name, frequencies or a config. Raises ValueError."""
    if text in examples.EXAMPLES:
        return replace(of_callable(name, examples.EXAMPLES[text]), code=examples.code(text), file=None)
    if kind_of(text) == "config":
        config = parse_json_object(text)
        check_nesting_depth(config)
        return of_config(name, config)
    words = re.split(r"[\s,;\[\]]+", text.strip(" \t\r\n[],;"))
    try:
        values = [float(word) for word in words[: NUMBERS + 1]]
    except ValueError:
        raise argument_error("inv_freq", "numbers with commas, spaces or lines between", text[:40]) from None
    if len(values) > NUMBERS:
        raise argument_error("inv_freq", f"at most {NUMBERS} numbers", len(words))
    return of_numbers(name, values)


def read_file(name: str, content: bytes) -> str:
    """Return a file as the text that is pasted: numbers of .npy, .csv, .safetensors as JSON. Raises ValueError."""
    suffix = Path(name).suffix.lower()
    if suffix not in (".npy", ".safetensors"):
        try:
            return content[: 4 * BYTES].decode("utf-8-sig")
        except UnicodeDecodeError:
            raise argument_error("the file", "text, .npy or .safetensors", name) from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_bytes(content)
        values = np.asarray(numbers_of(path), dtype=np.float64).reshape(-1)
    if not 0 < values.size <= NUMBERS:
        raise argument_error("inv_freq", f"1 to {NUMBERS} numbers", values.size)
    return json.dumps(values.tolist())
