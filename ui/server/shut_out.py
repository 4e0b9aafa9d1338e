"""The browsers that the hall's operator has shut out: what they send ends their connection."""

from __future__ import annotations

import time
from contextlib import suppress

from ui.present.tally import Tally, Unavailable, default_path

SECONDS = 3.0
browsers: frozenset[str] = frozenset()


def keep() -> None:
    """Take the list from the file of rooms every few seconds, without end."""
    global browsers
    while True:
        with suppress(Unavailable):
            browsers = Tally().blocked() if default_path().exists() else frozenset()
        time.sleep(SECONDS)
