"""The glossary: every term is whole in both languages, occurs once, and is found by either name."""

import re
import tomllib

import pytest

from tests.test_pages import opened
from ui.film.scene import BEAT
from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS
from ui.text.glossary import glossary_table, glossary_terms, term_paragraphs
from ui.text.words import TEXT, PageTexts, page_labels, page_sections

HEADS = ("term", "meaning", "seen")


def test_every_term_stands_once_and_is_whole() -> None:
    known = glossary_terms()
    keys = [
        tomllib.loads((TEXT / name).read_text("utf-8")).keys()
        for name in ("glossary.toml", "en/terms.toml", "zh/terms.toml")
    ]
    assert len(known) >= 40 and keys[0] == keys[1] == keys[2]
    for lang in ("en", "zh"):
        names = [term.names[lang] for term in known]
        assert len(set(names)) == len(names)
        for term in known:
            assert term.says[lang].endswith("." if lang == "en" else "。"), term.names
    for term in known:
        assert re.search("[一-鿿]", term.says["zh"]) and not re.search("[一-鿿]", term.says["en"])
        assert "|" not in term.symbol + "".join(term.says.values()), "a cell of a Markdown table"


def test_a_terms_picture_is_a_beat_of_a_page() -> None:
    seen = [term.seen for term in glossary_terms() if term.seen[0]]
    assert len(seen) >= 25
    for page, beat in seen:
        (field,) = (field for field in page_declaration(page).fields if field.name == BEAT)
        assert 1 <= beat <= field.high, page
    shown = opened("glossary", lang="en", find="wavelength").markdown
    assert any("(frequencies?beat=2&lang=en)" in each.value for each in shown)


def test_a_term_is_found_by_either_name_whatever_the_case() -> None:
    for text in ("Wavelength", " 波长"):
        first = term_paragraphs("en", text, lambda page, beat: f"[{page} {beat}]")[0]
        assert first.startswith(r"**wavelength** $\lambda_i$ 波长") and first.endswith(" [frequencies 2]")
    (only,) = term_paragraphs("zh", "wavelength", lambda page, beat: page)
    assert only.startswith(r"**波长** $\lambda_i$ wavelength")
    assert term_paragraphs("en", "no such term", lambda page, beat: page) == []


def test_a_term_s_own_name_comes_first() -> None:
    paragraphs = term_paragraphs("en", "pair", lambda page, beat: page)
    assert len(paragraphs) > 5 and paragraphs[0].startswith("**pair**")


def test_the_table_holds_every_term() -> None:
    table = glossary_table("en", HEADS, lambda page, beat: page)
    assert tuple(table) == HEADS and {len(column) for column in table.values()} == {len(glossary_terms())}


@pytest.mark.parametrize(
    "lang, factor, temperature", [("en", "attention factor", "temperature"), ("zh", "注意力因子", "温度")]
)
def test_what_multiplies_cos_and_sin_is_the_attention_factor_on_every_page(
    lang: str, factor: str, temperature: str
) -> None:
    assert {term.names[lang]: term.symbol for term in glossary_terms()}.items() >= {
        factor: "a",
        temperature: "t",
    }.items()
    for page in SECTIONS:
        bodies = [body for _, body in page_sections(lang, page).values()]
        for written_text in re.split(
            r"(?<=[.!?。！？])\s*|\n\n", "\n\n".join([*bodies, *page_labels(lang, page).values()])
        ):
            assert temperature not in written_text or not re.search("cos|attention_a|a²", written_text), (
                page,
                written_text,
            )
    assert factor in page_sections(lang, "clock")["ideas"][1]


def test_the_page_lists_what_is_looked_for_and_says_where_there_is_nothing() -> None:
    result = opened("glossary", lang="en", find="slow-down")
    shown = [each.value for each in result.markdown if not each.value.startswith("|")]
    assert not result.exception and any(each.startswith("**slow-down**") for each in shown)
    assert not any("**bfloat16**" in each for each in shown)
    nothing = PageTexts("zh", "glossary")("nothing")
    assert nothing in [each.value for each in opened("glossary", lang="zh", find="no such term").markdown]


def test_every_term_can_be_pressed_and_is_explained_beside_the_picture() -> None:
    page = opened("glossary", lang="en")
    assert {term.names["en"] for term in glossary_terms()} <= {button.label for button in page.button}
    (button,) = (button for button in page.button if button.label == "YaRN")
    button.click().run()
    assert any(each.value.startswith("**YaRN**") for each in page.markdown)
    (back,) = (button for button in page.button if button.label == PageTexts("en", "glossary")("all_terms"))
    back.click().run()
    assert not any(each.value.startswith("**YaRN**") for each in page.markdown)
