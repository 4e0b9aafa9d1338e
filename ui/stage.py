"""The presentation display: one figure above the fold, the step's sentence, keys that step, the audience's QR code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st

from ui import panel, predict, qr
from ui.escape import plain
from ui.language import language_switch
from ui.lessons import Step
from ui.words import Words

if TYPE_CHECKING:
    from ui.frame import Page

# A figure is drawn for a smaller screen and scaled up, so that letters, lines and marks grow alike, on any projector.
STYLE = """<style>
html {font-size: clamp(17px, 1.5vw, 40px)}
[data-testid="stHeader"] {display: none}
.stMainBlockContainer {
  padding: 0 1.2rem 3rem; max-width: none; --ink: light-dark(#000, #fff); --high: calc(100dvh - 12.6rem); --times: 1.3
}
@media (min-width: 1600px) {.stMainBlockContainer {--times: 1.6}}
@media (min-width: 1900px) {.stMainBlockContainer {--times: 1.95}}
@media (min-width: 2500px) {.stMainBlockContainer {--times: 2.6}}
.stMainBlockContainer, .stMainBlockContainer p, .stMainBlockContainer li, h1, h2, h3 {color: var(--ink)}
.stMainBlockContainer [data-testid="stVerticalBlock"] {gap: .35rem}
h1 {font-size: 1.05rem !important; font-weight: 600 !important; padding: 0 !important}
.st-key-stage-tools button {min-height: 2.2rem; padding-top: 0; padding-bottom: 0}
[class*="st-key-stage-say"] [data-testid="stMarkdownContainer"],
.st-key-stage-count [data-testid="stMarkdownContainer"] {margin-bottom: 0}
[class*="st-key-stage-say"] p {line-height: 1.2; font-weight: 700; text-wrap: balance; margin: 0}
.st-key-stage-say p {font-size: 1.75rem}
.st-key-stage-say-long p {font-size: 1.35rem}
.st-key-stage-count p {font-size: 1.15rem; font-weight: 600; white-space: nowrap; margin: 0}
.st-key-stage-previous button p {position: absolute; clip-path: inset(50%); width: 1px; overflow: hidden}
.st-key-stage-previous button, .st-key-stage-next button {min-height: 3rem; min-width: 3rem; border-width: 2px}
[class*="st-key-stage-figure"] p {font-size: 1.1rem; line-height: 1.25}
[class*="st-key-stage-figure"] [data-testid="stElementContainer"]:has(.stPlotlyChart) {
  flex: none; width: calc(100% / var(--times)) !important; height: calc(var(--high) / var(--times)) !important;
  margin-bottom: calc(var(--high) - var(--high) / var(--times))
}
[class*="st-key-stage-figure"] .js-plotly-plot {transform: scale(var(--times)); transform-origin: 0 0}
[class*="st-key-stage-figure"] :is(.stPlotlyChart, [data-testid="stFullScreenFrame"]) {height: 100% !important}
.js-plotly-plot text:not(.updatemenu-item-text):is([style*="rgb(128, 132, 149)"], [style*="rgb(163, 168, 184)"]) {
  fill: var(--ink) !important
}
[data-testid="stHorizontalBlock"]:not(:has([data-testid="stElementContainer"])) {display: none}
.st-key-stage-qr {align-items: center}
.st-key-stage-qr svg {width: min(62dvh, 100%)}
@media (max-width: 640px) {
  .stMainBlockContainer {padding: .4rem .8rem 3rem; --times: 1; --high: 62dvh}
  .st-key-stage-say p {font-size: 1.25rem}
}
</style>"""
# Popovers of a page hold controls; folded controls take them along.
FOLDED = """<style>
.stMain [data-testid="stLayoutWrapper"]:has(> [data-testid="stPopover"])
  :not([class*="st-key-more"], [class*="st-key-code"], [class*="st-key-stage"]) {display: none}
</style>""".replace("\n  :not", ":not")

# Keys press the buttons that stand on the page; where a slider, a box or a menu has the focus, the keys are its own.
KEYS = """<script>
if (!window.ropeLabStage) {
  window.ropeLabStage = true;
  const own = 'input, textarea, select, [contenteditable=true], [role=slider], [role=radiogroup], [role=combobox],' +
    '[role=listbox], [role=tablist], [role=menu], [role=grid], [role=dialog]';
  const press = name => {
    const button = document.querySelector('.st-key-' + name + ' button:not(:disabled)');
    if (button) button.click();
    return !!button;
  };
  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (!document.querySelector('.st-key-stage-leave')) return;
    const at = event.target.closest ? event.target.closest(own) : null;
    if (event.key === 'Escape') {
      if (document.querySelector('[role=dialog], [data-testid=stPopoverBody], [role=listbox]')) return;
      if (at) event.target.blur(); else press('stage-leave');
      return;
    }
    if (at) return;
    const back = event.key === 'ArrowLeft' || event.key === 'PageUp';
    if ((back || event.key === 'ArrowRight' || event.key === 'PageDown') &&
        press(back ? 'stage-previous' : 'stage-next')) event.preventDefault();
  });
}
</script>"""

LONG = 110
"""A sentence of more letters is written smaller; a Chinese letter counts double."""
HAN = "\u2e80"
LEADS = "stage.leads"
"""The session's parts in which the leading figures stand, by (page, figure's id; "" is the page's first)."""
OUTSIDE = ""
"""The name of the part of a page that is no part."""


class Stage:
    """One run of a page on the stage."""

    def __init__(self, page: Page) -> None:
        self.page, self.t = page, Words(page.t.lang, "stage")
        step = page.view.here()
        self.wanted = step.figure if step else ""
        self.leads: dict[tuple[str, str], str] = st.session_state.setdefault(LEADS, {})
        self.first: str | None = None
        self.drawn, self.led = OUTSIDE, False
        st.html(STYLE)
        st.html(KEYS, unsafe_allow_javascript=True)
        self._tools(step)
        self.open = bool(st.session_state.get("stage.open"))
        page.controls.folded = not self.open
        if not self.open:
            st.html(FOLDED)
        headline(page, self.t)
        self.top = st.container()
        self.lead = self.top

    def _tools(self, step: Step | None) -> None:
        """The title, small, and what a lecturer presses."""
        with st.container(horizontal=True, vertical_alignment="center", key="stage-tools"):
            st.title(self.page.t("title"), width="stretch")
            st.toggle(self.t("controls"), key="stage.open")
            if st.button(self.t("qr"), key="stage-code", icon=":material/qr_code_2:"):
                show_code(self.page, self.t)
            if step and step.notes:
                with st.popover(self.t("notes"), key="stage-notes"):
                    for line in step.notes.splitlines():
                        st.markdown(plain(line, 4000))
            with st.popover(self.t("talks"), key="stage-talks", on_change="rerun") as box:
                if box.open:
                    panel.panel(self.page)
            language_switch()
            st.button(
                self.t("leave"),
                key="stage-leave",
                help=self.t("leave_help"),
                icon=":material/close:",
                on_click=self.page.view.present,
                kwargs={"on": False},
            )

    def leading(self) -> str | None:
        """The name of the part that has the leading figure, as far as it is known."""
        return self.leads.get((self.page.name, self.wanted), self.first)

    def around(self, part: str) -> AbstractContextManager[object]:
        """Where a part of the page is drawn: above the others where it has the figure that leads."""
        self.first = self.first or part
        above = part == self.leading() and self.drawn == OUTSIDE
        return self.top if above else nullcontext()

    @contextmanager
    def part(self, part: str) -> Iterator[None]:
        """One run of a part: a place for the leading figure, the controls below it, then the rest."""
        before = self.drawn, self.page.controls.place
        self.drawn = part
        if part == self.leading():
            self.lead, self.led = st.container(), False
        if self.open:
            self.page.controls.place = st.container(horizontal=True, vertical_alignment="bottom")
        yield
        self.drawn, self.page.controls.place = before

    def _leads(self, figure: str) -> bool:
        """Whether this figure leads; a part that was not known to have it is put above the others by another run."""
        if self.led or self.wanted not in ("", figure):
            return False
        known = self.leading()
        self.leads[self.page.name, self.wanted] = self.drawn
        if self.drawn not in (known, OUTSIDE):
            st.rerun()
        self.led = True
        return True

    @contextmanager
    def placed(self, figure: str) -> Iterator[None]:
        """The place of a figure and its finding; the leading one stands above the rest of its part."""
        place = self.lead if self._leads(figure) else st.container()
        with place.container(key=f"stage-figure-{figure}"):
            yield


def headline(page: Page, t: Words) -> None:
    """The sentence of the step, large, between the buttons that the arrow keys press; the claim before the first."""
    view = page.view
    lesson, step = view.lesson(), view.here()
    with st.container(horizontal=True, vertical_alignment="center", key="stage-line"):
        if lesson:
            step_button(page, t, -1)
        said = step.say if step else page.t("claim")
        long = sum(2 if letter > HAN else 1 for letter in said) > LONG
        with st.container(key="stage-say-long" if long else "stage-say", width="stretch"):
            st.markdown(plain(said, 300) if step else said)
        if lesson:
            with st.container(key="stage-count", width="content"):
                st.markdown(t("count", number=view.number or 0, total=len(lesson.steps)))
            step_button(page, t, 1)
    ask(page, t)


def step_button(page: Page, t: Words, by: int) -> None:
    """A button that moves through the lesson, off at its ends."""
    view = page.view
    lesson = view.lesson()
    at, last = view.number or 0, len(lesson.steps) if lesson else 0
    st.button(
        t("next" if by > 0 else "previous"),
        key="stage-next" if by > 0 else "stage-previous",
        icon=":material/arrow_forward:" if by > 0 else ":material/arrow_back:",
        icon_position="right" if by > 0 else "left",
        disabled=not view.earliest() <= at + by <= last,
        on_click=view.move,
        args=(by,),
    )


def ask(page: Page, t: Words) -> None:
    """The question of the step; once it is answered the figure moves. In a talk, the way back to its page."""
    view = page.view
    lesson, step = view.lesson(), view.step()
    if lesson is None or step is None:
        return
    if step.page != page.name:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("elsewhere", number=step.number, page=page.t(f"page.{step.page}")))
            st.button(t("back_to_talk"), key="stage-back", on_click=view.move, args=(0,))
    elif step.predict:
        view.answer(page.store, out=predict.ask(page, step, lesson.id))


def strip(page: Page) -> None:
    """The lesson beside the normal display, for who follows on a screen of their own."""
    t, view = Words(page.t.lang, "stage"), page.view
    lesson, step = view.lesson(), view.here()
    if lesson is None:
        return
    with st.container(border=True, key="lesson"):
        st.caption(t("count_lesson", title=plain(lesson.title, 120), number=view.number, total=len(lesson.steps)))
        if step:
            st.markdown(f"**{plain(step.say, 300)}**")
        ask(page, t)
        with st.container(horizontal=True):
            step_button(page, t, -1)
            step_button(page, t, 1)
            st.button(t("end"), key="stage-end", on_click=view.end, type="tertiary")


def show_code(page: Page, t: Words) -> None:
    """The audience's QR code of this view, as large as the screen allows."""
    url = page.link(page.view.query(audience=True))
    code = qr.svg(url, t("qr_alt", url=url))

    @st.dialog(t("qr_title"), width="large")
    def dialog() -> None:
        if code is None:
            st.warning(t("qr_long"))
        else:
            with st.container(key="stage-qr"):
                st.html(code)
        if page.view.room:
            st.markdown(f"**{t('room_shown', room=plain(page.view.room))}**")
        st.code(url, language=None, wrap_lines=True)
        if local(url):
            st.caption(t("qr_local"))

    dialog()


def local(url: str) -> bool:
    """Whether an address leads to the computer itself.

    >>> local("http://127.0.0.1:8501/clock"), local("https://rope.example/clock")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
