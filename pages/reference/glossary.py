"""From a symptom to its name, its cause and the step that shows it; and every term of the lab, in both languages."""

from rope_core.lab import faults
from ui.figures import faults as figures
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import ChoiceQuestion
from ui.text.glossary import glossary_table
from ui.text.words import markdown_table

FIND = Field("find", "text", "")
FAULT = Field("fault", "int", None, 1, len(faults.NAMES), optional=True)
FIELDS = (FIND, FAULT)
BABBLES = ChoiceQuestion("babbles", "b", ((FAULT, 2),))
TASKS = (BABBLES,)
HEADS = ("term", "meaning", "seen")
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
    return f"[{page.t(f'page.{name}')} · {beat}]({page.href(name, beat=str(beat))})"


def symptoms(page: PageFrame) -> None:
    """Draw the traces of five faults, and below them where each is shown."""
    page.show(figures.fault_traces_film(page.t), figures.fault_traces_film, faults.fault_traces, ask=BABBLES)
    page.write(
        markdown_table(
            {
                page.t("head.symptom"): [page.t(f"fault.{name}.seen").replace("|", "") for name in SHOWN],
                page.t("head.called"): [f"**{page.t(f'fault.{name}.called')}**" for name in SHOWN],
                page.t("head.command"): [f"`rope {command}`" for command, _, _ in SHOWN.values()],
                page.t("head.seen"): [link(page, name, beat) for _, name, beat in SHOWN.values()],
            }
        )
    )


def listed(page: PageFrame) -> None:
    """Draw the terms that hold what the visitor looks for."""
    page.prose("terms")
    page.controls.text(FIND)
    other = "en" if page.t.lang == "zh" else "zh"
    first, meaning, seen = (page.t(f"head.{name}") for name in HEADS)
    columns = glossary_table(
        page.t.lang, other, page.get(FIND), (first, meaning, seen), lambda name, beat: link(page, name, beat)
    )
    if columns[first]:
        page.write(markdown_table(columns))
    else:
        page.note(page.t("nothing"))


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.live(symptoms, shared=False)
    page.live(listed, shared=False)
    page.prose("more")
