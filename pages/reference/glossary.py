"""From a symptom to its name, its cause and the step that shows it; beside it every term, in both languages."""

from rope_core.lab import faults
from ui.figures import faults as figures
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import ChoiceQuestion
from ui.text.glossary import glossary_table, glossary_terms, term_paragraphs
from ui.text.words import markdown_table

FIND = Field("find", "text", "")
FAULT = Field("fault", "int", None, 1, len(faults.NAMES), optional=True)
FIELDS = (FIND, FAULT)
BATCH = ChoiceQuestion("batch", "c", ((FAULT, 4),))
TASKS = (BATCH,)
HEADS = ("term", "meaning", "seen_in")
SHOWN = {
    "mixed": ("verify", "layouts", 2),
    "long": ("check", "clock", 1),
    "stale": ("cache", "positions", 3),
    "padded": ("positions", "positions", 1),
    "rounded": ("verify", "precision", 2),
}
"""The command that finds each fault, and the page and step that show it."""


def link(page: PageFrame, name: str, beat: int) -> str:
    """Return a link to a step of a page."""
    return f"[{page.t.page_name(name)} · {beat}]({page.href(name, beat=str(beat))})"


def shown_step(page: PageFrame) -> None:
    """Draw the link to the step that shows the chosen fault."""
    _, name, beat = dict(enumerate(SHOWN.values(), 1))[page.get(FAULT) or figures.FIRST]
    page.draw_page_link(name, page.t("shown_in", page=page.t.page_name(name), beat=beat), beat=str(beat))


def symptoms(page: PageFrame) -> None:
    """Draw one fault from its trace to its command, four others to press, and the step that shows the chosen one."""
    page.show(
        figures.fault_traces_film(page.t),
        figures.fault_traces_film,
        faults.fault_traces,
        then=lambda: shown_step(page),
        ask=BATCH,
    )


def look_up(page: PageFrame) -> None:
    """Draw what the visitor looks for in words, else every term to press."""
    with page.card(key="terms"):
        page.write(f"**{page.t('terms_named', count=len(glossary_terms()))}**")
        page.controls.text(FIND)
        if not page.get(FIND).strip():
            with page.row():
                for name in (term.names[page.t.lang] for term in glossary_terms()):
                    page.button(name, f"term.{name}", page.store.put, FIND, name, look="quiet")
            return
        page.button(page.t("all_terms"), "term.all", page.store.put, FIND, "", look="quiet")
        given = page.t.lang, page.get(FIND), lambda name, beat: link(page, name, beat)
        for paragraph in term_paragraphs(*given) or [page.t("nothing")]:
            page.write(paragraph)


def in_words(page: PageFrame) -> None:
    """Draw what is seen of each fault, its name, its command and the step that shows it."""
    page.write(
        markdown_table(
            {
                page.t("head.symptom"): [page.t(f"fault.{name}.seen").replace("|", "") for name in SHOWN],
                page.t("head.called"): [f"**{page.t(f'fault.{name}.called')}**" for name in SHOWN],
                page.t("head.command"): [f"`rope {command}`" for command, _, _ in SHOWN.values()],
                page.t("head.seen_in"): [link(page, name, beat) for _, name, beat in SHOWN.values()],
            }
        )
    )
    page.caption(page.t("scale"))


def listed(page: PageFrame) -> None:
    """Draw all terms in one table."""
    page.write_section("terms")
    heads = tuple(page.t(f"head.{name}") for name in HEADS)
    columns = glossary_table(page.t.lang, heads, lambda name, beat: link(page, name, beat))
    page.write(markdown_table(columns))


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    left, right = page.columns(7, 2)
    with left:
        page.draw_live_part(symptoms, shared=False)
    with right:
        page.draw_live_part(look_up, shared=False)
    in_words(page)
    listed(page)
    page.write_section("more")
