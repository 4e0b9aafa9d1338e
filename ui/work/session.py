"""A visitor's values, as pages and their work keep them, and the refusal of those that do not go together."""

from collections.abc import MutableMapping
from typing import Any

SessionState = MutableMapping[Any, Any]
"""What one visitor's values are kept in, by words of the modules that keep them."""


class IncompatibleValues(ValueError):
    """Values that do not go together: ``key`` is a text key of the page, ``given`` fills its slots."""

    def __init__(self, key: str, **given: str) -> None:
        super().__init__(key)
        self.key, self.given = key, given
