"""Every claim of the five source documents, and papers', checked live: verdict, residual, formula, corrected form."""

from rope_core import ledger
from rope_core.ledger.kit import elementwise_rotation
from ui.figures import ledger as figures
from ui.page.fields import beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import ChoiceQuestion
from ui.text.words import PageTexts

ANY = figures.ANY
UNOPENED = "unopened"
ENTRY = Field("entry", "choice", UNOPENED, choices=(UNOPENED, *figures.IDS))
THRESHOLD = Field("threshold", "float", 1e-9, 1e-17, 10.0, steps=figures.THRESHOLDS)
DOCUMENT = Field("document", "choice", ANY, choices=(ANY, *ledger.SOURCES))
STATUS = Field("status", "choice", ANY, choices=(ANY, *figures.KEYS.values()))
ERRATA = Field("errata", "choice", "003", choices=ledger.DOCUMENTS)

LOOKS = {"id": 170, "verdict": 150, "residual": "small", "claim": "large"}
CLAIM_IN_FILM = True
ANGLE = Field("angle", "int", 30, 0, 360, steps=figures.ANGLES)
STEPS = beat_field(2)
GONE = ChoiceQuestion("gone", "b", ((STEPS, 1), (ANGLE, 45)))
TASKS = (GONE,)
FIELDS = (STEPS, ANGLE, ENTRY, THRESHOLD, DOCUMENT, STATUS, ERRATA)


def document_name(choice: str, t: PageTexts) -> str:
    """How a row of buttons names a document."""
    return t("any") if choice == ANY else figures.document_title(choice, t)


def status_name(choice: str, t: PageTexts) -> str:
    """How a row of buttons names a status."""
    return t("any") if choice == ANY else t(f"verdict.{choice}")


def entry(page: PageFrame, result: ledger.ClaimResult, place: str) -> None:
    """One entry's card, its own address and the function that decides it."""
    page.write(figures.claim_card_markdown(result, page.t))
    with page.row():
        page.draw_page_link("ledger", page.t("link", id=result.id), entry=result.id)
        with page.details(page.t("function"), f"code.{place}.{result.id}", quiet=True) as wanted:
            if wanted:
                page.code(figures.claim_source_code(result) or page.t("undecided"), "python")


def top(page: PageFrame) -> None:
    """Draw the entry that the link asks for, else one claim and what is wrong with it."""
    selected = figures.find_claim(figures.checked_claims().results, page.get(ENTRY))
    if selected is not None:
        with page.card():
            entry(page, selected, "top")
            page.button(page.t("close"), "ledger.close", page.store.put, ENTRY, UNOPENED)
    else:
        page.show(
            figures.unswapped_formula_film(page.t), figures.unswapped_formula_film, elementwise_rotation, ask=GONE
        )
        page.caption(page.t("swapped_source", source=figures.document_title("003", page.t)))
        page.draw_page_link("ledger", page.t("link", id=figures.SWAPPED), entry=figures.SWAPPED)


def overview(page: PageFrame) -> None:
    """How many claims of each document got which verdict, and the whole run again on demand."""
    with page.row():
        again = page.button(page.t("again"), "ledger.again", icon="replay")
        run = figures.checked_claims(again)
        if again:
            page.caption(page.t("took", total=len(run.results), seconds=f"{run.seconds:.1f}"))
    page.show(figures.claim_status_chart(run.results, page.t), figures.claim_status_chart, ledger.check_claims)


def residuals(page: PageFrame) -> None:
    """Every residual, and what a threshold makes of it."""
    page.controls.slider(THRESHOLD)
    page.show(
        figures.residual_chart(figures.checked_claims().results, page.get(THRESHOLD), page.t),
        figures.residual_chart,
        ledger.ClaimCheck,
    )


def entries(page: PageFrame) -> None:
    """Draw the filtered list, errata first, and the selected entry in full."""
    page.write_section("entries")
    page.controls.segments(DOCUMENT, lambda choice: document_name(choice, page.t))
    page.controls.segments(STATUS, lambda choice: status_name(choice, page.t))
    shown = figures.filtered_claims(figures.checked_claims().results, page.get(DOCUMENT), page.get(STATUS))
    if not shown:
        page.note(page.t("nothing"))
        return
    picked = page.table(
        figures.claims_table(shown, page.t),
        f"ledger.table.{page.get(DOCUMENT)}.{page.get(STATUS)}",
        looks={page.t(f"col.{name}"): look for name, look in LOOKS.items()},
        height=300,
    )
    page.caption(page.t("shown", shown=len(shown)))
    with page.card():
        entry(page, shown[picked], "list")


def errata(page: PageFrame) -> None:
    """Draw what one document prints wrong, each with its proof and its corrected form."""
    page.controls.segments(ERRATA, lambda choice: document_name(choice, page.t))
    wrong = figures.filtered_claims(figures.checked_claims().results, page.get(ERRATA), figures.KEYS[ledger.WRONG])
    for result in wrong:
        with page.fold(figures.claim_headline(result, page.t), opened=result is wrong[0]):
            entry(page, result, "errata")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(top)
    page.draw_live_part(overview)
    page.draw_live_part(entries)
    page.draw_folded_section_below("threshold", residuals)
    page.draw_folded_section_below("errata", errata)
    page.draw_folded_section_below("why")
    page.draw_folded_section_below("how")
    page.draw_folded_section_below("undecided")
