"""Every term and symbol of the lab in one table, in both languages."""

from ui.page.frame import Frame
from ui.page.state import Field
from ui.text.glossary import table
from ui.text.words import markdown_table

FIND = Field("find", "text", "")
FIELDS = (FIND,)
HEADS = ("term", "meaning", "seen")


def listed(page: Frame) -> None:
    """Draw the terms that hold what the visitor looks for."""
    page.controls.text(FIND)
    other = "en" if page.t.lang == "zh" else "zh"
    first, meaning, seen = (page.t(f"head.{name}") for name in HEADS)

    def link(name: str, beat: int) -> str:
        return f"[{page.t(f'page.{name}')} · {beat}]({page.href(name, beat=str(beat))})"

    columns = table(page.t.lang, other, page.get(FIND), (first, meaning, seen), link)
    if columns[first]:
        page.write(markdown_table(columns))
    else:
        page.note(page.t("nothing"))


def body(page: Frame) -> None:
    """Draw the page, part by part."""
    page.live(listed, shared=False)
    page.prose("more")
