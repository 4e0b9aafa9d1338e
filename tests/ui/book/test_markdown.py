"""Markdown as the pages write it: formulas stay as they are, and nothing foreign becomes markup."""

import pytest

from rope_core.languages import LANGUAGES
from ui.book.markdown import markdown_to_html
from ui.page.menu import SECTIONS
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts, page_sections


def test_formulas_are_left_for_katex() -> None:
    assert markdown_to_html("a $x_1 * y_2$ *b*", is_one_line=True) == 'a <span class="tex">x_1 * y_2</span> <em>b</em>'
    assert markdown_to_html("$$\n\\theta_i < 1\n$$") == '<p><span class="tex display">\\theta_i &lt; 1</span></p>\n'


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "$x$ [a](javascript:alert(1))", "**b** `c` | d"])
def test_a_foreign_text_is_no_markup(text: str) -> None:
    built = markdown_to_html(escaped_markdown(text, 300))
    assert "<script" not in built and "href" not in built and "tex" not in built and "<strong>" not in built


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_formula_is_left_unread(lang: str) -> None:
    for page in SECTIONS:
        for section in page_sections(lang, page):
            built = markdown_to_html(PageTexts(lang, page).section_title_and_text(section)[1])
            assert "$" not in built and "{{" not in built, (page, section)
