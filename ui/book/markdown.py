"""Markdown to HTML as the pages write it, formulas left in their own elements for KaTeX."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from markdown_it import MarkdownIt

FORMULA = re.compile(r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>[^$\n]+?)\$", re.DOTALL)
PLACE = re.compile("\ue000(\\d+)\ue001")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@cache
def markdown_to_html(markdown: str, *, is_one_line: bool = False) -> str:
    """Return HTML; without paragraphs where it is one ``is_one_line``.

    >>> markdown_to_html("*a* $x^2$", is_one_line=True)
    '<em>a</em> <span class="tex">x^2</span>'
    """
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        display = match["display"]
        look = "tex display" if display else "tex"
        formulas.append(f'<span class="{look}">{escape((display or match["inline"]).strip())}</span>')
        return f"\ue000{len(formulas) - 1}\ue001"

    text = FORMULA.sub(keep, markdown)
    rendered = _parser().renderInline(text) if is_one_line else _parser().render(text)
    return PLACE.sub(lambda match: formulas[int(match[1])], rendered)
