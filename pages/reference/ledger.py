"""Every claim of the five source documents, checked live: verdict, residual, formula and corrected form."""

import streamlit as st

from rope_core import ledger
from ui.figures import ledger as figures
from ui.page.frame import Page
from ui.page.state import Field

ANY = figures.ANY
UNOPENED = "unopened"
ENTRY = Field("entry", "choice", UNOPENED, choices=(UNOPENED, *figures.IDS))
THRESHOLD = Field("threshold", "float", 1e-9, 1e-17, 10.0, steps=figures.THRESHOLDS)
DOCUMENT = Field("document", "choice", ANY, choices=(ANY, *figures.DOCUMENTS))
STATUS = Field("status", "choice", ANY, choices=(ANY, *figures.KEYS.values()))
ERRATA = Field("errata", "choice", "003", choices=figures.DOCUMENTS)

page = Page("ledger", ENTRY, THRESHOLD, DOCUMENT, STATUS, ERRATA, geometry=False)
get, t = page.get, page.t


def document_name(choice: str) -> str:
    """How a row of buttons names a document."""
    return t("any") if choice == ANY else t("document_axis", document=choice)


def status_name(choice: str) -> str:
    """How a row of buttons names a status."""
    return t("any") if choice == ANY else t(f"verdict.{choice}")


def checked(again: bool = False) -> figures.Checked:
    """All claims, with a progress bar while they are being checked."""
    place = st.empty()
    found = figures.checked(lambda share, said: place.progress(share, t("checking", done=said)), again)
    place.empty()
    return found


def entry(result: ledger.Result, place: str) -> None:
    """One entry's card, its own address and the function that decides it."""
    st.markdown(figures.card(result, t))
    with st.container(horizontal=True):
        page.goto("ledger", t("link", id=result.id), entry=result.id)
        with st.popover(t("function"), type="tertiary", on_change="rerun", key=f"code.{place}.{result.id}") as box:
            if box.open:
                st.code(figures.source(result) or t("undecided"), language="python")


def top() -> None:
    """The entry that the link asks for, and the button that checks everything again."""
    page.bar()
    asked = figures.find(checked().results, get(ENTRY))
    if asked is not None:
        with st.container(border=True):
            entry(asked, "top")
            st.button(t("close"), on_click=page.store.try_put, args=(ENTRY, UNOPENED, page.fits))


def overview() -> None:
    """How many claims of each document got which verdict, and the whole run again on demand."""
    with st.container(horizontal=True, vertical_alignment="center"):
        again = st.button(t("again"), icon=":material/replay:")
        said = st.empty()
    found = checked(again)
    said.caption(t("took", total=len(found.results), seconds=f"{found.seconds:.1f}"), width="stretch")
    page.show(figures.overview(found.results, t), figures.overview, ledger.run)


def residuals() -> None:
    """Every residual, and what a threshold makes of it."""
    page.controls.slider(THRESHOLD)
    page.show(figures.residuals(checked().results, get(THRESHOLD), t), figures.residuals, ledger.Check)


def entries() -> None:
    """The filtered list, errata first, and the selected entry in full."""
    page.prose("entries")
    page.controls.segments(DOCUMENT, document_name)
    page.controls.segments(STATUS, status_name)
    shown = figures.chosen(checked().results, get(DOCUMENT), get(STATUS))
    if not shown:
        st.info(t("nothing"))
        return
    config = st.column_config
    table = st.dataframe(
        figures.listing(shown, t),
        key=f"ledger.table.{get(DOCUMENT)}.{get(STATUS)}",
        hide_index=True,
        height=300,
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            t("col.id"): config.TextColumn(width=170),
            t("col.verdict"): config.TextColumn(width=150),
            t("col.residual"): config.TextColumn(width="small"),
            t("col.claim"): config.TextColumn(width="large"),
        },
    )
    picked = next(iter(table.selection.rows), 0)
    st.caption(t("shown", shown=len(shown)))
    with st.container(border=True):
        entry(shown[picked], "list")


def errata() -> None:
    """What one document prints wrong, each with its proof and its corrected form."""
    page.prose("errata")
    page.controls.segments(ERRATA, document_name)
    wrong = figures.chosen(checked().results, get(ERRATA), figures.KEYS[ledger.WRONG])
    for result in wrong:
        with st.expander(figures.headline(result, t), expanded=result is wrong[0]):
            entry(result, "errata")


page.live(top)
left, right = st.columns(2)
with left:
    page.live(overview)
with right:
    page.live(residuals)
page.prose("why")
page.live(errata)
page.live(entries)
page.prose("how")
page.prose("undecided")
