"""What stands around every page: title and claim, notes, controls, figures with their data and code, share link."""

from __future__ import annotations

import inspect
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from ui.figures.drawing import Drawing, as_csv
from ui.page import access, fields
from ui.page.controls import Controls, short
from ui.page.declared import Declaration, declare
from ui.page.language import language, language_switch
from ui.page.menu import FILES
from ui.page.reasons import reason
from ui.page.state import Field
from ui.page.store import Store
from ui.present import panel, stage
from ui.present.view import View
from ui.text.escape import plain
from ui.text.words import Words

PAINT_SECONDS = 0.16
CROWD = 3
"""Sessions whose scripts run at one time from which on a run saved is worth more than a figure a few frames sooner."""
PLOT = {"displaylogo": False, "locale": "en"}
STYLE = """<style>
.stMainBlockContainer {padding-top: 2.4rem; padding-bottom: 3rem; max-width: 76rem}
.stMainBlockContainer [data-testid="stVerticalBlock"] {gap: .55rem}
section[data-testid="stSidebar"] {width: 15rem !important; min-width: 15rem}
/* Streamlit's colours of code are too pale on a light page. */
.stCode .token {color: inherit !important}
.stCode .token.keyword {font-weight: 600}
.katex-display {overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0}
[data-testid="stPageLink"] p {white-space: normal; overflow: visible; text-align: left}
.stMarkdown table {display: block; overflow-x: auto; width: fit-content; max-width: 100%}
h1 {text-wrap: balance}
/* Plotly draws its buttons nearly white on any theme, where a dark theme's letters cannot be read. */
.js-plotly-plot .updatemenu-item-rect {fill: #0b5c9e !important; stroke: #0b5c9e !important}
.js-plotly-plot .updatemenu-button .updatemenu-item-text {fill: white !important; font-weight: 600 !important}
/* Figures of several panels keep a legible width on a phone, where they are moved sideways with a finger. */
@media (max-width: 640px) {
  .stMainBlockContainer {padding-top: 4.2rem}
  .stMarkdown :is(td, th) {min-width: 6em}
  [class*="st-key-wide-"] {overflow-x: auto; overflow-y: hidden}
  [class*="st-key-wide-"] [data-testid="stElementContainer"], [class*="st-key-wide-"] .stPlotlyChart {min-width: 700px}
}
h1 {font-size: 2rem !important; padding: 0 0 .2rem 0 !important}
h2 {font-size: 1.5rem !important; font-weight: 600 !important; padding: .6rem 0 .3rem 0 !important}
/* Beside the play buttons, which stand at the upper right: the mode bar would take their clicks. */
.js-plotly-plot .plotly .modebar {right: 10rem !important}
</style>"""


def crowded() -> bool:
    """Whether many sessions' scripts run right now."""
    return sum(thread.name.startswith("ScriptRunner") for thread in threading.enumerate()) >= CROWD


class Page:
    """One page: its words, its values and its controls.

    Args:
        name: the file's name, which is the URL path and the name of the page's texts.
        own: the page's own fields.
        geometry: whether the page has the model and its geometry.
        scheme: whether it has the schemes' parameters.
        fits: called after each change; raises ValueError when the values do not go together.
    """

    def __init__(
        self,
        name: str,
        *own: Field,
        geometry: bool = True,
        scheme: bool = False,
        fits: Callable[[Store], object] | None = None,
    ) -> None:
        shared: tuple[Field, ...] = (fields.GEOMETRY if geometry or scheme else ()) + (
            fields.SCHEME_FIELDS if scheme else ()
        )
        fit = fits or (Store.request if scheme else Store.rope if shared else lambda _: None)
        self.store = Store(name, (*own, *shared))
        declare(Declaration(name, self.store.fields, fit))
        self.name, self.t = name, Words(language(), name)
        self.fits = lambda: fit(self.store)
        self.geometry_used = bool(shared)
        self.view = View(name, self.t.lang)
        self._arrive(pressed=self._follow())
        self.controls = Controls(self.store, self.t, self.fits, self.view.hidden)
        self.parts, self.drawn_for = 0, self._shared()
        self.whole = True
        self.first_sent: float | None = None
        st.html(STYLE + access.STYLE)
        st.html(access.script(self.t.lang), unsafe_allow_javascript=True)
        self.stage = stage.Stage(self) if self.view.stage else None
        if not self.stage:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.title(self.t("title"), width="stretch")
                language_switch()
            st.markdown(f"**{self.t('claim')}**")
            if self.view.number:
                stage.strip(self)

    def _shared(self) -> tuple[Any, ...]:
        return tuple(self.get(field) for field in self.store.fields.values() if field.shared)

    def _follow(self) -> bool:
        """Go where a talk's step stands, if it is another page than this; whether a step was asked for."""
        target = self.view.going()
        if target is not None and target != self.name:
            st.switch_page(FILES[target])
        return target is not None

    def _arrive(self, *, pressed: bool) -> None:
        """Take the link's values on the first run, after each page change and when the visitor goes back or forth.

        A move of a control comes with the address that the browser knew then; where moves follow each other faster
        than the network, that is an earlier one than was published, and nobody asked for it.
        """
        query, published = st.query_params.to_dict(), st.session_state.get("published")
        moved = st.session_state.get("page") != self.name
        st.session_state["page"] = self.name
        asked = query != published and not pressed and self._address() == published
        if moved or asked:
            st.session_state["published"] = query
        if asked:
            self.store.reset()
            self.view.values.clear()
        fresh = query if moved or asked else {}
        if fresh:
            self.store.read_query(query, self.fits)
            self.store.notes.extend(self.view.read(query, self.store.fields))
        self.view.arrive(self.store, fresh, moved=moved)

    def get(self, field: Field) -> Any:
        """A field's value in force."""
        return self.store.get(field)

    def live(self, body: Callable[[], None], *, shared: bool = True, every: float | None = None) -> None:
        """Run ``body`` as a fragment: a control inside it reruns it alone, then the URL follows.

        Where a shared value moved and the page has other parts, these are redrawn right after; a part that shows no
        ``shared`` value need not be. In a crowd the part is left to that run too, which then is all that a move costs.
        ``every``: seconds after which the part reruns by itself, again and again.
        """
        self.parts += shared

        @st.fragment(run_every=every)
        def part() -> None:
            if self._moved_elsewhere() and crowded():
                st.rerun()
            self.first_sent = None
            self._say_notes()
            with self.stage.part(body.__name__) if self.stage else nullcontext():
                self._run(body)
            self.publish()
            if self._moved_elsewhere():
                self._let_it_paint()
                st.rerun()

        self.whole = True
        with self.stage.around(body.__name__) if self.stage else nullcontext():
            part()
        self.whole = False

    def _moved_elsewhere(self) -> bool:
        """Whether other parts of the page show a shared value that has moved since they were drawn."""
        return self.parts > 1 and self._shared() != self.drawn_for

    def _let_it_paint(self) -> None:
        """Hold back what follows the first changed figure of a move until the browser has had time to paint it.

        A browser that gets several figures at once draws them all before it shows any.
        """
        if self.first_sent is not None:
            time.sleep(max(0.0, self.first_sent + PAINT_SECONDS - time.monotonic()))
            self.first_sent = -PAINT_SECONDS

    def _run(self, body: Callable[[], None]) -> None:
        """Run a part; values kept from another page that do not go together on this one are answered in a sentence."""
        try:
            body()
        except ValueError as error:
            if self._fit():
                raise
            st.warning(self.sentence("frame.kept_elsewhere", {"detail": str(error)}))

    def _fit(self) -> bool:
        try:
            self.fits()
        except ValueError:
            return False
        return True

    def _say_notes(self) -> None:
        for key, given in self.store.notes:
            st.warning(self.sentence(key, given))
        self.store.notes.clear()

    def sentence(self, key: str, given: dict[str, Any]) -> str:
        """A note in the page's language, without any Markdown or HTML of the value given."""
        words = {name: plain(value) for name, value in given.items() if name in ("given", "used")}
        if "detail" in given:
            words["detail"] = plain(reason(given["detail"], self.t), 240)
        if "field" in given:
            words["label"] = self.t(f"field.{given['field']}")
            words["rule"] = self.t(given["rule"], low=short(given["low"]), high=short(given["high"]))
        return self.t(key, **words)

    def publish(self) -> None:
        """Put the explicit values into the address bar."""
        query = self._address()
        if not query == st.query_params.to_dict() == st.session_state.get("published"):
            st.query_params.from_dict(query)
        st.session_state["published"] = query

    def _address(self) -> dict[str, str]:
        return self.store.query() | {"lang": self.t.lang} | self.view.query()

    def link(self, shown: Mapping[str, str] | None = None) -> str:
        """The address, as the browser reaches it, of these values; ``shown``: the parameters of the view."""
        address = urlsplit(st.context.url or "http://localhost:8501")
        query = urlencode(self.store.query() | {"lang": self.t.lang} | dict(shown or {}))
        return f"{address.scheme}://{address.netloc}{address.path or '/'}?{query}"

    def bar(self) -> None:
        """Share, present and reset, and the model with its geometry where the page has one."""
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if self.geometry_used:
                self.controls.geometry()
            if self.controls.folded:
                return
            with self.controls.place:
                if not self.stage:
                    self._ways_out()
                st.button(self.t("frame.reset"), on_click=self.view.again, args=(self.store,), key=f"reset.{self.name}")

    def _ways_out(self) -> None:
        """The link, and the presentation unless another site frames the page."""
        with st.popover(self.t("frame.share")):
            st.write(self.t("frame.share_help"))
            st.code(self.link(self.view.query()), language=None, wrap_lines=True)
        if st.context.is_embedded:
            return
        with st.popover(self.t("frame.present"), on_change="rerun", key=f"present.{self.name}") as box:
            if box.open:
                panel.panel(self)

    def goto(self, name: str, label: str | None = None, **query: str) -> None:
        """A link to another page, with values for it; nothing when that page is not installed."""
        if name in FILES:
            icon = ":material/arrow_forward:"
            st.page_link(FILES[name], label=label or self.t(f"page.{name}"), icon=icon, query_params=query)

    def prose(self, section: str) -> None:
        """Write a section of the page's text."""
        title, body = self.t.prose(section)
        if title:
            st.header(title, anchor=section)
        st.markdown(body)

    def show(self, drawing: Drawing, *code: Callable[..., Any]) -> None:
        """Draw a figure, say what it shows, and offer its numbers, code and source."""
        chart = f"{self.name}.{drawing.id}"
        saved = {"format": "png", "scale": 2, "filename": f"{self.name}-{drawing.id}"}
        config = PLOT | {"toImageButtonOptions": saved}
        if moved := self._moved(chart, drawing.ready.mark) and not self.whole:
            self._let_it_paint()
        with self.stage.placed(drawing.id) if self.stage else nullcontext():
            with st.container(key=f"wide-{chart}") if drawing.wide else nullcontext():
                st.plotly_chart(
                    drawing.ready,
                    key=f"fig.{chart}",
                    height="stretch" if self.stage else "content",
                    alt=drawing.finding,
                    config=config,
                )
            if moved and self.first_sent is None:
                self.first_sent = time.monotonic()
            st.markdown(f"▸ {drawing.finding}")
        with st.popover(self.t("frame.details"), type="tertiary", on_change="rerun", key=f"more.{chart}") as box:
            if box.open:
                self._details(drawing, code)

    @staticmethod
    def _moved(chart: str, mark: int) -> bool:
        """Whether a figure differs from what this session was sent last."""
        seen = st.session_state.setdefault("figures", {})
        before, seen[chart] = seen.get(chart), mark
        return bool(before != seen[chart])

    def _details(self, drawing: Drawing, code: Iterable[Callable[..., Any]]) -> None:
        st.download_button(
            self.t("frame.csv"),
            data=lambda: as_csv(drawing.table()),
            file_name=f"{self.name}-{drawing.id}.csv",
            mime="text/csv",
            key=f"csv.{self.name}.{drawing.id}",
            on_click="ignore",
        )
        st.markdown(f"**{self.t('frame.recipe')}**")
        st.code(textwrap.dedent(drawing.recipe).strip(), language="python")
        st.markdown(f"**{self.t('frame.code')}**")
        for function in code:
            st.code(inspect.getsource(inspect.unwrap(function)), language="python")
        st.markdown(f"**{self.t('frame.cite')}**")
        cite = self.t("frame.cite_line", page=self.t("title"), finding=drawing.finding, url=self.link())
        st.code(cite, language=None, wrap_lines=True)
