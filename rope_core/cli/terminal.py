"""All that the commands write: what a config, a file or its name holds steers no terminal, program or spreadsheet."""

from __future__ import annotations

import csv
import json
import re
import sys
import unicodedata
from collections.abc import Sequence

from rope_core.findings import to_json_value

# A spreadsheet computes a cell that begins so, full-width signs and leading blanks included; where lists are separated
# by semicolons it cuts a cell there.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b"
_FORMULA = re.compile(rf"(^|[;|]|,(?=[\s\ufffd]*[=@]))(?=[\s\ufffd]*[{_SIGNS}])")


def without_control_characters(text: str) -> str:
    """Return a text as one line without control, direction and other unseen characters.

    >>> without_control_characters("a\\x1b[31m\\u202eb\\u3000c")
    'a\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}b\u3000c'
    """
    return "".join(letter if _seen(letter) else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _seen(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def print_lines(*lines: object, end: str = "\n", error: bool = False, flush: bool = False) -> None:
    """Write lines to standard output, or to standard error."""
    for line in lines:
        print(without_control_characters(str(line)), end=end, file=sys.stderr if error else sys.stdout, flush=flush)


def print_json(value: object, indent: int | None = 1) -> None:
    """Write a value as JSON; what ``without_control_characters`` takes out of a text is escaped."""
    text = json.dumps(to_json_value(value), ensure_ascii=False, indent=indent, allow_nan=False)
    escaped = (letter if letter == "\n" or _seen(letter) else json.dumps(letter)[1:-1] for letter in text)
    print("".join(escaped), flush=indent is None)


def print_csv_row(cells: Sequence[object]) -> None:
    """Write a line of CSV, numbers in full precision; what a spreadsheet would take for a formula is a text."""
    cleaned = (
        _FORMULA.sub(r"\1'", without_control_characters(cell)) if isinstance(cell, str) else cell for cell in cells
    )
    csv.writer(sys.stdout).writerow(cleaned)
    sys.stdout.flush()
