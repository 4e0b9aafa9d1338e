"""What a page file may ask of the frame around it; Streamlit is one frame, the book another.

A page file declares ``FIELDS``, the values that its controls set, and ``body(page)``, which draws it on a frame;
``fits(store)``, where there is one, raises ValueError where values do not go together. It sees nothing of what draws:
no Streamlit, no browser. A learning page declares ``TASKS`` as well, what it asks of its reader.

The frame itself writes the page's ``title``, ``claim`` and, where there is one, ``task`` above the body, and below it
how far the visitor is on the path (``ui.page.declaration.path_progress``). Beside the title is one button, behind which
are the model with its geometry where the page has one, the link, the presentation, the legend of symbols, and reset.
"""

from __future__ import annotations

import inspect
import logging
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Literal, Protocol

from rope_core.comparisons.samples import FunctionAnswers, SchemeCall
from ui.figures.drawing import Drawing, Film, table_to_csv
from ui.page import tasks
from ui.page.citation import bibtex_entry, citation_line
from ui.page.controls import ContainerContext, LabelFunction, PageControls
from ui.page.sentences import escaped_label, refusal_sentence
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Challenge, ChoiceQuestion
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts
from ui.work.session import SessionState

LOG = logging.getLogger(__name__)
NoteKind = Literal["info", "success", "warning", "error"]
ButtonLook = Literal["", "primary", "quiet"]
ClickHandler = Callable[..., object] | None
TableColumns = Mapping[str, Sequence[object]]
ColumnFormats = Mapping[str, Any] | None
RowClickHandler = Callable[[int], None] | None


class UploadedFile(Protocol):
    """A file that a visitor has chosen."""

    name: str
    size: int

    def getvalue(self) -> bytes:
        """Return its content."""


class PageFrame(Protocol):
    """A page that is being drawn: its words and values, and what draws it."""

    name: str
    t: PageTexts
    store: PageValues
    controls: PageControls
    session: SessionState
    """What this visitor's long work and texts are kept in; none of it is in the URL."""

    def draw_live_part(
        self, part: Callable[..., None], *given: Any, shared: bool = True, every_seconds: float | None = None
    ) -> None:
        """Draw ``part(page, *given)``, which is drawn again alone when one of its own controls moves.

        Parts that show a ``shared`` value follow where one moves in another part. ``every_seconds``: seconds after
        which the part is drawn again by itself, again and again.
        """

    def redraw(self) -> None:
        """End this drawing and draw the whole page again."""

    def draw_graded_exercise(self, function: str) -> None:
        """Have the reader write a ``function`` of `rope grade`, graded in the page where that runs in the browser.

        Code of a visitor is never run by a server: there the page writes the command that grades it.
        """

    def draw_scheme_editor(
        self, text: str, calls: Sequence[SchemeCall], take: Callable[[str], None]
    ) -> FunctionAnswers | None:
        """Have the reader write a scheme, or paste its numbers; return a function's answers to calls, None without any.

        ``take`` is given the text once the reader presses the button. A function runs in a process without files and
        network, in a browser in a frame of its own; on a server never before its reader has pressed the button, and
        where the machine cannot hold it apart the page writes the command that runs it.
        """

    def write_section(self, section: str) -> None:
        """Write a section of the page's text, under its heading."""

    def write(self, markdown: str) -> None:
        """Write Markdown."""

    def caption(self, markdown: str) -> None:
        """Write Markdown in small letters."""

    def note(self, markdown: str, kind: NoteKind = "info") -> None:
        """Write Markdown in a box."""

    def badge(self, text: str, icon: str, colour: str) -> None:
        """Write a few words on a colour."""

    def code(self, text: str, language: str | None = None, height: int | None = None) -> None:
        """Write code that can be copied, its long lines broken where it has no language."""

    def progress(self, share: float, text: str) -> None:
        """Draw how much of some work is done, 0 to 1."""

    def table(
        self,
        columns: TableColumns,
        key: str = "",
        *,
        looks: ColumnFormats = None,
        height: int | None = None,
        pick: RowClickHandler = None,
    ) -> int:
        """Draw columns by their heads; where there is a ``key``, a row can be chosen.

        ``looks``: by head, a width in pixels or one of "pinned", "small", "large", "year", "number", "link".
        ``pick`` is called with the row that is chosen; the table returns it, 0 until one is.
        """

    def show(
        self,
        drawing: Drawing | Film,
        *code: Callable[..., Any],
        then: Callable[[], None] | None = None,
        ask: ChoiceQuestion | None = None,
    ) -> None:
        """Draw a figure, write its finding, and offer its numbers, its recipe and the source of ``code``.

        A film has the controls that it moves with it; ``then`` draws what is right below it, ``ask`` is the question
        that follows.
        """

    def columns(self, *widths: float, level: bool = False) -> Sequence[ContainerContext]:
        """Return places beside each other, of these relative widths; ``level``: their last lines in one line."""

    def row(self) -> ContainerContext:
        """Return a place whose content is in a line."""

    def card(self, *, stretch: bool = False, key: str | None = None) -> ContainerContext:
        """Return a place with a border, as high as those beside it where it is to ``stretch``."""

    def tabs(self, titles: Sequence[str]) -> Sequence[ContainerContext]:
        """Return places of which the visitor sees one at a time."""

    def fold(self, title: str, *, opened: bool = False) -> ContainerContext:
        """Return a place that folds under its title."""

    def details(self, label: str, key: str, *, lazy: bool = True, quiet: bool = False) -> AbstractContextManager[bool]:
        """Return a place behind a button, and whether its content is wanted now; ``lazy``: only once it is open."""

    def button(
        self,
        label: str,
        key: str,
        act: ClickHandler = None,
        *given: Any,
        look: ButtonLook = "",
        icon: str = "",
        disabled: bool = False,
    ) -> bool:
        """Draw a button; return whether it was pressed. ``act(*given)`` runs before the page is drawn again."""

    def download(self, label: str, data: str | Callable[[], str], file: str, mime: str, key: str) -> None:
        """Draw a button that saves a file; ``data`` may make its content when it is pressed."""

    def draw_page_link(self, name: str, label: str | None = None, **query: str) -> None:
        """Draw a link to another page, with values for it; nothing where that page is not installed."""

    def href(self, name: str, **query: str) -> str:
        """Return the address of another page in this language, with values for it, for a link in a text."""

    def text_area(self, label: str, key: str) -> str:
        """Draw a box for several lines of text, kept in the session under ``key``; return the text."""

    def upload(
        self, label: str, key: str, max_mib: int, take: Callable[[UploadedFile], None] | None = None
    ) -> UploadedFile | None:
        """Draw a box for one file of at most ``max_mib`` MiB; ``take`` is called with a new one."""

    def form(
        self, label: str, button: str, key: str, take: Callable[[str], None], *, lines: int = 1, hint: str = ""
    ) -> None:
        """Draw a box for text with a button that hands it to ``take``."""

    # ---- what the methods below are made of ------------------------------------------------------------------------

    @property
    def is_on_stage(self) -> bool:
        """Whether one figure is left of the page, as on the stage."""

    def icon_markdown(self, name: str) -> str:
        """Return an icon by its name as Markdown, with a space, or a letter like it."""

    def choice_buttons(self, key: str, texts: Sequence[str], chosen: int | None, take: Callable[[int], None]) -> None:
        """Draw choices as buttons, the one that is chosen on; ``take`` is called with the index of one."""

    def container_below_page(self) -> ContainerContext:
        """Return the place of the folds below the page, under a heading of its own."""

    def section_fold(self, section: str, title: str) -> AbstractContextManager[bool]:
        """Return a place that folds under a section's title, and whether it is open."""

    def draw_film_save_buttons(self, chart: str) -> None:
        """Draw the buttons that save a film's picture."""

    def permalink(self) -> str:
        """Return the address of the values in force."""

    # ---- the same on all frames ------------------------------------------------------------------------------------

    def get(self, field: Field) -> Any:
        """Return a field's value in force."""
        return self.store.get(field)

    def filled_label(self, key: str, given: Mapping[str, Any]) -> str:
        """Return the label ``key`` with its slots filled by foreign values or by a refusal, free of markup."""
        return escaped_label(key, given, self.t)

    def attempt(self, part: Callable[[], None]) -> None:
        """Write what was refused, then run a part; what goes wrong is a sentence, and the other parts are drawn.

        Values kept from another page that do not go together on this one are named; any other error is logged.
        """
        try:
            self.write_pending_refusals()
            part()
        except Exception as error:
            if isinstance(error, ValueError) and not self.store.is_consistent():
                self.note(self.filled_label("frame.kept_elsewhere", {"error": error}), "warning")
            else:
                LOG.exception("a part of the page %s cannot be drawn", self.name)
                self.note(self.t("frame.broken"), "error")

    def write_pending_refusals(self) -> None:
        """Write what was refused since the last drawing, once: a note that cannot be written is not met again."""
        notes = list(self.store.notes)
        self.store.notes.clear()
        for key, given in notes:
            self.note(self.filled_label(key, given), "warning")

    def write_scheme_refusals(self, refused: Mapping[str, Exception], names: LabelFunction | None = None) -> None:
        """Write why schemes have no answer here, a line each; ``names``: how a reader knows them."""
        for name, error in refused.items():
            reason, scheme = (
                escaped_markdown(refusal_sentence(error, self.t), 400),
                names(name) if names else self.t(f"scheme.{name}"),
            )
            self.caption(self.t("refused", scheme=scheme, reason=reason))

    def ask_prediction(self, question: ChoiceQuestion) -> bool:
        """Ask a question whose answer is hidden until a choice is made; return whether it may be seen.

        Then whether it was right, and why, is written, and the page's values move to where it is seen.
        """
        field, key, words = question.field, f"ask.{question.name}", PageTexts(self.t.lang, "predict")
        if self.is_on_stage or self.controls.is_hidden(field):
            return True
        chosen = self.store.get(field)
        with self.card(key=f"ask-{question.name}"):
            self.write(f"**{words('predict')}** {self.t(f'{key}.question')}")
            if chosen:
                self._answer(question, chosen, words)
            else:
                self._choose(key, field, partial(tasks.take_choice, question, self.store))
        return bool(chosen)

    def _answer(self, question: ChoiceQuestion, choice: str, words: PageTexts) -> None:
        """Write whether the choice was right and why, and offer to ask again."""
        key, letters = f"ask.{question.name}", question.choices
        chosen, right = letters.index(choice), letters.index(question.right)
        verdict = tasks.choice_feedback(words, [self.t(f"{key}.{letter}") for letter in letters], chosen, right)
        with self.row():
            sign = self.icon_markdown("check" if chosen == right else "lightbulb")
            self.write(f"{sign}**{verdict}** {self.t(f'{key}.why')}")
            again = f"again.{question.name}"
            self.button(words("again"), again, tasks.take_choice, question, self.store, "", look="quiet")

    def _choose(self, words: str, field: Field, take: Callable[[str], None]) -> None:
        """Draw the choices of a field that is empty at first as buttons."""
        letters, value = field.choices[1:], self.store.get(field)
        texts = [self.t(f"{words}.{letter}") for letter in letters]
        chosen = letters.index(value) if value else None
        self.choice_buttons(f"choices-{field.name}", texts, chosen, lambda at: take(letters[at]))

    def draw_challenge(self, challenge: Challenge, *given: Any) -> None:
        """Draw a challenge's task and its fields, and what its check says of their values, given ``given`` as well."""
        if self.is_on_stage:
            return
        words, key = PageTexts(self.t.lang, "predict"), f"challenge.{challenge.name}"
        with self.card(key=f"challenge-{challenge.name}"):
            self.write(f"{self.icon_markdown('flag')}**{words('challenge')}** {self.t(f'{key}.task')}")
            numbers = [field for field in challenge.fields if field.kind != "choice"]
            if numbers:
                self.controls.beside(*numbers, draw=self.controls.number)
            for field in challenge.fields:
                if field.kind == "choice" and not self.controls.is_hidden(field):
                    self._choose(key, field, partial(self.store.try_put, field))
            result = tasks.challenge_verdict(challenge, self.store, self.session, given)
            if result:
                self.note(
                    tasks.challenge_feedback(challenge, result, words, self.t),
                    "success" if result.passed else "warning",
                )

    def draw_folded_section_below(
        self, section: str, *parts: Callable[[Any], None], every_seconds: float | None = None
    ) -> None:
        """Fold a section of the page's text away under its title, with ``parts(page)``, drawn once it is open.

        ``every_seconds``: seconds after which the parts are drawn again by themselves, again and again.

        The text is there before, for who searches the page. A link opens it by its name, ``open=<section>``.
        """

        def fold(page: PageFrame) -> None:
            page.draw_folded_section(section, *parts)

        fold.__name__ = section
        with self.container_below_page():
            self.draw_live_part(fold, every_seconds=every_seconds)

    def draw_folded_section(self, section: str, *parts: Callable[[Any], None]) -> None:
        """Fold a section away as `deeper` does, but in place: in the part that is drawn, and redrawn with it."""
        if self.is_on_stage:
            for part in parts:
                part(self)
            return
        title, body = self.t.section_title_and_text(section)
        with self.section_fold(section, title) as opened:
            self.write(body)
            if opened:
                for part in parts:
                    part(self)

    def _recipe(self, drawing: Drawing | Film) -> str:
        """Return a drawing's recipe, a film's at the values in force."""
        if isinstance(drawing, Drawing):
            return textwrap.dedent(drawing.recipe).strip()
        return drawing.recipe_at(drawing.scene.control_values(lambda name: self.store.get(self.store.fields[name])))

    def offer_data_recipe_and_citation(
        self, drawing: Drawing | Film, finding: str, code: Sequence[Callable[..., Any]]
    ) -> None:
        """Offer a figure's numbers as a file, the lines that make it again, the functions behind it, how to cite it."""
        chart = f"{self.name}.{drawing.id}"
        with self.details(self.t("frame.details"), f"more.{chart}", quiet=True) as wanted:
            if not wanted:
                return
            if isinstance(drawing, Film):
                self.draw_film_save_buttons(chart)
            file = f"{self.name}-{drawing.id}.csv"
            self.download(
                self.t("frame.csv"), lambda: table_to_csv(drawing.table()).decode(), file, "text/csv", f"csv.{chart}"
            )
            self.write(f"**{self.t('frame.recipe')}**")
            self.code(self._recipe(drawing), "python")
            self.write(f"**{self.t('frame.code')}**")
            for function in code:
                self.code(inspect.getsource(inspect.unwrap(function)), "python")
            self.write(f"**{self.t('frame.cite')}**")
            self.code(citation_line(self.t, finding, self.permalink()))
            self.code(bibtex_entry(self.t, self.permalink()))
