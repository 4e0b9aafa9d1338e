"""The legend: every symbol of a page is a letter of its formulas, and every shape's symbol is in the legend."""

import pytest

from rope_core.comparisons.rows import checks
from rope_core.languages import LANGUAGES
from tests.ui.figures.test_every_film import FILMS
from ui.page import symbols
from ui.page.menu import PATH, SECTIONS
from ui.page.symbols import symbol_legend_html, symbol_meanings
from ui.text.words import SLOT, PageTexts, formulas, page_sections

GREEK = {
    "θ": r"\theta",
    "λ": r"\lambda",
    "ε": r"\varepsilon",
    "β": r"\beta",
    "γ": r"\gamma",
    "φ": r"\varphi",
    "δ": r"\delta",
    "ω": r"\omega",
}
PAGES = [name for name in PATH if name in SECTIONS and symbol_meanings(PageTexts("en", name))]


@pytest.mark.parametrize("page", PAGES)
def test_every_symbol_is_in_a_formula_of_its_page(page: str) -> None:
    used = [key for _, body in page_sections("en", page).values() for _, key in SLOT.findall(body)]
    latex = " ".join(formulas()[key] for key in used)
    assert [letter for letter in symbol_meanings(PageTexts("en", page)) if GREEK.get(letter, letter) not in latex] == []


@pytest.mark.parametrize("row", [row for row in FILMS if row.page in SECTIONS], ids=str)
def test_a_shape_names_a_symbol_of_its_page(row: object) -> None:
    film = row.built(PageTexts("en", row.page))  # type: ignore[attr-defined]
    shapes = [shape for panel in film.scene.panels for shape in panel.marks]
    named = {shape["symbol"] for shape in shapes if "symbol" in shape}
    # A check is named by its row, which says what it is.
    assert named <= symbol_meanings(PageTexts("en", row.page)).keys() | checks().keys()  # type: ignore[attr-defined]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_legend_escapes_and_says_each_meaning(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    t = PageTexts(lang, "rotation")
    html = symbol_legend_html(t)
    assert html.count('data-symbol="') == len(symbol_meanings(t)) > 5
    assert all(meaning in html for meaning in symbol_meanings(t).values())
    monkeypatch.setattr(symbols, "symbol_meanings", lambda t: {"q": "a < b's"})
    assert "a &lt; b&#x27;s" in symbol_legend_html(t) and "a <" not in symbol_legend_html(t)
