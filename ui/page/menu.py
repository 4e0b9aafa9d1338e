"""Which pages there are, by section, in the order of the menu, and what each page file declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ui.page.frame import Frame
from ui.page.state import Field, Session
from ui.page.store import Store

PAGES = Path(__file__).resolve().parents[2] / "pages"
ORDER = {
    "learn": ("home", "rotation", "layouts", "frequencies", "clock", "attention", "encodings", "block", "precision"),
    "lab": ("lrpe", "extrapolation"),
    "engineer": ("config", "benchmark"),
    "reference": ("models", "ledger"),
}
SECTIONS = {path.stem: path.parent.name for path in PAGES.glob("*/*.py")}
"""The section of each page that is installed, by the page's name."""


@dataclass(frozen=True)
class Declaration:
    """What a page file declares at module level.

    Attributes:
        name: of the file, of the page's texts, and the URL path.
        fields: the values that its controls set (FIELDS), the shared ones included.
        fits: raises ValueError where a store's values do not go together; None where the file names no rule.
        body: draws the page on a frame.
    """

    name: str
    fields: tuple[Field, ...]
    fits: Callable[[Store], object] | None
    body: Callable[[Frame], None]

    def store(self, session: Session) -> Store:
        """Return the page's values in a session."""
        return Store(self.name, self.fields, session, self.fits)


def declaration(page: str) -> Declaration:
    """Return what the page ``page`` declares; raise KeyError where there is no such page."""
    module = import_module(f"pages.{SECTIONS[page]}.{page}")
    return Declaration(page, module.FIELDS, getattr(module, "fits", None), module.body)
