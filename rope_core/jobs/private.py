"""Files of a server's own: for their owner only, and never another file by way of a link."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def user_data_path(variable: str, name: str) -> Path:
    """Return where something of the user's lives: where an environment variable says, else in the data folder."""
    if given := os.environ.get(variable):
        return Path(given)
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(home) / "rope-lab" / name


def ensure_private_file(path: Path) -> None:
    """Make ``path`` and its folder where they are absent, and the file readable and writable by its owner alone.

    Raises OSError where it cannot be written, or is a link.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        # A file that is there is not opened: closing it would drop the locks that SQLite holds on it in this process.
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise OSError(
                errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR, "is no file of its own", path.name
            ) from None
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, "cannot be written", path.name) from None
        if mode & 0o077:
            path.chmod(0o600)
