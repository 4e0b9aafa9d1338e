"""Files of a server's own: for their owner only, and never another file by way of a link."""

from __future__ import annotations

import os
from pathlib import Path


def own_file(path: Path) -> None:
    """Make ``path`` and its folder where they are absent, and the file readable and writable by its owner alone.

    Raises OSError where it cannot be written, or is a link.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if os.fstat(file).st_mode & 0o077:
            os.fchmod(file, 0o600)
    finally:
        os.close(file)
