"""What a page declares, read without running it: its fields, and whether their values go together."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ui.page.menu import FILES
from ui.page.state import Field
from ui.page.store import Store

ASKING: ContextVar[bool] = ContextVar("asking", default=False)


@dataclass(frozen=True)
class Declaration:
    """A page's fields by name, and the check that raises ValueError where a store's values do not go together."""

    page: str
    fields: dict[str, Field]
    fits: Callable[[Store], object]


class Declared(BaseException):
    """Ends the run of a page file that was asked for its declaration only."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__(declaration.page)
        self.declaration = declaration


class Draft(Store):
    """A store of its own beside the session's, to try values on a page that is not open."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__(declaration.page, declaration.fields.values())
        self._explicit: dict[str, Any] = {}

    @property
    def explicit(self) -> dict[str, Any]:
        """The values set here; nothing of the session."""
        return self._explicit


def declare(declaration: Declaration) -> None:
    """Called where a page names its fields: ends the run where only these were asked for."""
    if ASKING.get():
        raise Declared(declaration)


@lru_cache(maxsize=64)
def declaration(page: str) -> Declaration | None:
    """What the page ``page`` declares; None when there is no such page."""
    if page not in FILES:
        return None
    token = ASKING.set(True)
    try:
        runpy.run_path(str(FILES[page]))
    except Declared as declared:
        return declared.declaration
    finally:
        ASKING.reset(token)
    return None
