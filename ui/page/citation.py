"""How a figure is cited: a line for a text, an entry for BibTeX."""

from __future__ import annotations

from rope_core.version import LICENCE, RELEASED, TITLE, __version__
from ui.text.words import PageTexts

YEAR = RELEASED.partition("-")[0]


def citation_line(t: PageTexts, finding: str, url: str) -> str:
    """Return author, version, year, page, sentence, address and licence of a figure; ``t``: its page's words."""
    given = {"page": t("title"), "finding": finding, "url": url, "year": YEAR, "version": __version__}
    return t("frame.cite_line", **given, licence=LICENCE)


def bibtex_entry(t: PageTexts, url: str) -> str:
    """Return the page as an entry for BibTeX, which keeps the capitals between two braces."""
    fields = {
        "author": "{RoPE Lab}",
        "title": f"{{{TITLE}. {t('title')}}}",
        "year": YEAR,
        "version": __version__,
        "url": url,
        "note": LICENCE,
    }
    return "\n".join((f"@misc{{rope-lab-{t.page},", *(f"  {name} = {{{text}}}," for name, text in fields.items()), "}"))
