"""One worker's part of work that several do at once: every n-th piece, nothing shared but the folder of results."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rope_core.errors import argument_error


@dataclass(frozen=True)
class WorkShard:
    """Worker ``index`` of ``count``.

    >>> [number for number in range(7) if WorkShard.parse("1/3").has_item(number)]
    [1, 4]
    """

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> WorkShard:
        """Return the shard that "i/n" says, 0 <= i < n <= 1,000,000; raises ValueError on anything else."""
        match = re.fullmatch(r"(\d{1,7})/(\d{1,7})", text, re.ASCII)
        index, count = map(int, match.groups()) if match else (0, 0)
        if not index < count <= 1_000_000:
            raise argument_error("--shard", "shard", text)
        return cls(index, count)

    def has_item(self, number: int) -> bool:
        """Return whether a piece of work is this worker's, by its number."""
        return number % self.count == self.index
