"""The glossary: every term is whole in both languages, occurs once, and is found by either name."""

import re

import pytest

from tests.test_pages import opened
from ui.film.scene import BEAT
from ui.page.menu import SECTIONS, page_declaration
from ui.text.glossary import glossary_table, glossary_terms
from ui.text.words import page_labels, page_sections

HEADS = ("term", "meaning", "seen")


def test_every_term_stands_once_and_is_whole() -> None:
    known = glossary_terms()
    assert len(known) >= 40
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
    for text in ("Wavelength", "波长"):
        assert (
            r"**wavelength** $\lambda_i$ 波长"
            in glossary_table("en", "zh", text, HEADS, lambda page, beat: page)["term"]
        )
    assert glossary_table("zh", "en", "wavelength", HEADS, lambda page, beat: page)["term"] == [
        r"**波长** $\lambda_i$ wavelength"
    ]
    assert glossary_table("en", "zh", "no such term", HEADS, lambda page, beat: page)["term"] == []


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
    assert not result.exception and any("**slow-down**" in each.value for each in result.markdown)
    assert not any("**bfloat16**" in each.value for each in result.markdown)
    assert opened("glossary", lang="zh", find="no such term").info
