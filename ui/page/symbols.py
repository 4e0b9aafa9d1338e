"""The legend of a page's symbols: each with its meaning and unit, which appear where it is pointed at or focused.

A symbol is the letter that formulas have; a film's mark names it with `ui.film.marks.link_symbol`. All of one symbol
light up together (ui/film/assets/symbols.js).
"""

from __future__ import annotations

from html import escape

from ui.text.words import PageTexts


def symbol_meanings(t: PageTexts) -> dict[str, str]:
    """Return what each symbol of a page means, with its unit, by the letter; from the page's ``[symbol]``."""
    return t.table("symbol")


def symbol_legend_html(t: PageTexts) -> str:
    """Return the legend as HTML; whether shown or not, a meaning is read out with its symbol."""
    items = "".join(
        f'<span class="symbol" tabindex="0" role="note" data-symbol="{escape(letter)}" data-meaning="{escape(meaning)}"'
        f' aria-label="{escape(letter)}: {escape(meaning)}"><i>{escape(letter)}</i>'
        f'<span class="symbol-meaning" aria-hidden="true">{escape(meaning)}</span></span>'
        for letter, meaning in symbol_meanings(t).items()
    )
    return f'<p class="symbols">{escape(t("frame.symbols"))} {items}</p>'
