"""What a page file may ask of the frame around it; Streamlit is one frame.

A page file declares ``FIELDS``, the values that its controls set, and ``body(page)``, which draws it on a frame;
``fits(store)``, where there is one, raises ValueError where values do not go together. It sees nothing of what draws:
no Streamlit, no browser. A learning page declares ``TASKS`` as well, what it asks of its reader.

The frame itself writes the page's ``title``, ``claim`` and, where there is one, ``task`` above the body, and below it
how far the visitor is on the path (``ui.page.menu.way``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

import rope_core as rc
from ui.figures.drawing import Drawing, Film
from ui.page.state import Field, Value
from ui.page.store import Store
from ui.page.tasks import Challenge, Question
from ui.text.words import Words
from ui.work.session import Session

Place = AbstractContextManager[object]
Kind = Literal["info", "success", "warning", "error"]
Names = Callable[[str], str]


class File(Protocol):
    """A file that a visitor has chosen."""

    name: str
    size: int

    def getvalue(self) -> bytes:
        """Return its content."""


class Controls(Protocol):
    """What sets the values of fields. Each returns the value in force; a hidden one is not drawn."""

    def hides(self, field: Field) -> bool:
        """Return whether a field's control is not drawn."""

    def slider(self, field: Field) -> Value:
        """Draw a slider, over the field's own stops where it has some."""

    def number(self, field: Field) -> Value:
        """Draw a box for an exact number."""

    def text(self, field: Field) -> Value:
        """Draw a box for a line of text."""

    def toggle(self, field: Field) -> Value:
        """Draw a switch."""

    def select(self, field: Field, names: Names | None = None, after: Callable[[], None] | None = None) -> Value:
        """Draw a menu over the field's choices; call ``after`` when the visitor has chosen."""

    def segments(self, field: Field, names: Names | None = None) -> Value:
        """Draw a row of buttons over the field's choices; one is always on."""

    def several(self, field: Field, choices: Sequence[str], names: Names) -> list[str]:
        """Draw a button for each choice, any number of them on; the field holds them with commas between."""

    def param(self, param: rc.Param) -> None:
        """Draw the control of a scheme's parameter."""

    def beside(self, *fields: Field, draw: Callable[[Field], Value] | None = None) -> None:
        """Draw the controls of fields beside each other, sliders unless ``draw`` draws others."""

    def model_name(self, choice: str) -> str:
        """Return how the model menu names a choice."""


class Frame(Protocol):
    """A page that is being drawn: its words and values, and what draws it."""

    name: str
    t: Words
    store: Store

    @property
    def controls(self) -> Controls:
        """What sets the values of the page's fields."""

    @property
    def session(self) -> Session:
        """What this visitor's long work and texts are kept in; none of it is in the URL."""

    def get(self, field: Field) -> Any:
        """Return a field's value in force."""

    def live(self, part: Callable[..., None], *given: Any, shared: bool = True, every: float | None = None) -> None:
        """Draw ``part(page, *given)``, which is drawn again alone when one of its own controls moves.

        Parts that show a ``shared`` value follow where one moves in another part. ``every``: seconds after which the
        part is drawn again by itself, again and again.
        """

    def redraw(self) -> None:
        """End this drawing and draw the whole page again."""

    def sentence(self, key: str, given: dict[str, Any]) -> str:
        """Return the label ``key`` with its slots filled by foreign values or by a refusal, free of markup."""

    def bar(self) -> None:
        """Draw share, present and reset, and the model with its geometry where the page has one."""

    def predict(self, question: Question) -> bool:
        """Ask a question whose answer is hidden until a choice is made; return whether it may be seen.

        Then whether it was right, and why, is written, and the page's values move to where it is seen.
        """

    def symbols(self) -> None:
        """Write the legend of the page's symbols (`ui.page.symbols.legend`), which light up in formulas and films."""

    def challenge(self, challenge: Challenge, *given: Any) -> None:
        """Draw a challenge's task and its fields, and what its check says of their values, given ``given`` as well."""

    def grade(self, function: str) -> None:
        """Have the reader write a ``function`` of `rope grade`, graded in the page where that runs in the browser.

        Code of a visitor is never run by a server: there the page writes the command that grades it.
        """

    def deeper(self, section: str, *parts: Callable[[Any], None], every: float | None = None) -> None:
        """Fold a section of the page's text away under its title, with ``parts(page)``, drawn once it is open.

        ``every``: seconds after which the parts are drawn again by themselves, again and again.

        The text is there before, for who searches the page. A link opens it by its name, ``open=<section>``.
        """

    def folded(self, section: str, *parts: Callable[[Any], None]) -> None:
        """Fold a section away as `deeper` does, but in place: in the part that is drawn, and redrawn with it."""

    def prose(self, section: str) -> None:
        """Write a section of the page's text, under its heading."""

    def write(self, markdown: str) -> None:
        """Write Markdown."""

    def caption(self, markdown: str) -> None:
        """Write Markdown in small letters."""

    def note(self, markdown: str, kind: Kind = "info") -> None:
        """Write Markdown in a box."""

    def badge(self, text: str, icon: str, colour: str) -> None:
        """Write a few words on a colour."""

    def code(self, text: str, language: str | None = None, height: int | None = None) -> None:
        """Write code that can be copied, its long lines broken where it has no language."""

    def progress(self, share: float, text: str) -> None:
        """Draw how much of some work is done, 0 to 1."""

    def table(
        self,
        columns: Mapping[str, Sequence[object]],
        key: str | None = None,
        *,
        looks: Mapping[str, Any] | None = None,
        height: int | None = None,
        pick: Callable[[int], None] | None = None,
    ) -> int:
        """Draw columns by their heads; where there is a ``key``, a row can be chosen.

        ``looks``: by head, a width in pixels or one of "pinned", "small", "large", "year", "number", "link".
        ``pick`` is called with the row that is chosen; the table returns it, 0 until one is.
        """

    def show(self, drawing: Drawing | Film, *code: Callable[..., Any]) -> None:
        """Draw a figure, write its finding, and offer its numbers, its recipe and the source of ``code``.

        A film has the controls that it moves with it.
        """

    def columns(self, *widths: float, level: bool = False) -> Sequence[Place]:
        """Return places beside each other, of these relative widths; ``level``: their last lines in one line."""

    def row(self) -> Place:
        """Return a place whose content is in a line."""

    def card(self, *, stretch: bool = False) -> Place:
        """Return a place with a border, as high as those beside it where it is to ``stretch``."""

    def tabs(self, titles: Sequence[str]) -> Sequence[Place]:
        """Return places of which the visitor sees one at a time."""

    def fold(self, title: str, *, opened: bool = False) -> Place:
        """Return a place that folds under its title."""

    def details(self, label: str, key: str, *, lazy: bool = True, quiet: bool = False) -> AbstractContextManager[bool]:
        """Return a place behind a button, and whether its content is wanted now; ``lazy``: only once it is open."""

    def passing(self) -> AbstractContextManager[Callable[[float, str], None]]:
        """Return a place for progress that goes away at the end; call it with the share done and a text."""

    def button(
        self,
        label: str,
        key: str,
        act: Callable[..., object] | None = None,
        *given: Any,
        primary: bool = False,
        icon: str | None = None,
        off: bool = False,
    ) -> bool:
        """Draw a button; return whether it was pressed. ``act(*given)`` runs before the page is drawn again."""

    def download(self, label: str, data: str | Callable[[], str], file: str, mime: str, key: str) -> None:
        """Draw a button that saves a file; ``data`` may make its content when it is pressed."""

    def goto(self, name: str, label: str | None = None, **query: str) -> None:
        """Draw a link to another page, with values for it; nothing where that page is not installed."""

    def href(self, name: str, **query: str) -> str:
        """Return the address of another page in this language, with values for it, for a link in a text."""

    def area(self, label: str, key: str) -> str:
        """Draw a box for several lines of text, kept in the session under ``key``; return the text."""

    def upload(self, label: str, key: str, most: int, take: Callable[[File], None] | None = None) -> File | None:
        """Draw a box for one file of at most ``most`` MiB; ``take`` is called with a new one."""

    def form(
        self, label: str, button: str, key: str, take: Callable[[str], None], *, lines: int = 1, hint: str = ""
    ) -> None:
        """Draw a box for text with a button that hands it to ``take``."""
