"""Both languages say everything: same keys, same sections, same formula slots, no forbidden rendering."""

import re
import tomllib
from pathlib import Path
from string import Formatter

import pytest

from rope_core.languages import LANGUAGES
from ui.page.menu import ORDER, SECTIONS
from ui.text.words import SLOT, TEXT, PageTexts, formulas, page_labels, page_sections

FILES = sorted(path.stem for path in (TEXT / "en").glob("*.toml") if path.stem != "terms")
PAGES = sorted(SECTIONS)


def slots(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


def formula_slots(body: str) -> list[str]:
    return sorted(f"{kind}:{key}" for kind, key in SLOT.findall(body))


def test_the_same_files_in_both_languages() -> None:
    files = {lang: {path.relative_to(TEXT / lang) for path in (TEXT / lang).rglob("*.*")} for lang in LANGUAGES}
    assert files["en"] and all(names == files["en"] for names in files.values())


@pytest.mark.parametrize("name", FILES)
def test_labels_have_the_same_keys_and_slots(name: str) -> None:
    en, zh = page_labels("en", name), page_labels("zh", name)
    assert en.keys() == zh.keys()
    for key in en:
        assert slots(en[key]) == slots(zh[key]), key
        assert en[key].strip() and zh[key].strip(), key


@pytest.mark.parametrize("name", PAGES)
def test_prose_has_the_same_sections_and_formulas(name: str) -> None:
    en, zh = page_sections("en", name), page_sections("zh", name)
    assert en and list(en) == list(zh)
    for key in en:
        assert formula_slots(en[key][1]) == formula_slots(zh[key][1]), key
        for lang in ("en", "zh"):
            PageTexts(lang, name).section_title_and_text(key)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_a_title_a_claim_and_a_place_in_the_menu(name: str) -> None:
    for lang in ("en", "zh"):
        t = PageTexts(lang, name)
        assert t("title") and t("claim") and t.page_name(name)
    assert any(name in pages for pages in ORDER.values())


def test_no_forbidden_rendering() -> None:
    own = TEXT / "zh" / "terms.toml"
    terms = tomllib.loads(own.read_text("utf-8"))
    # The ledger quotes its sources.
    paths = {*(TEXT / "zh").rglob("*.*"), *Path("rope_core/text/zh").glob("*.toml"), *Path("docs").glob("*.zh.md")} - {
        own
    }
    assert len(paths) > 40
    texts = {path: path.read_text("utf-8") for path in (*paths, Path("README.zh.md"))}
    texts[own] = "\n".join(term["says"] for term in terms.values())
    for path, text in texts.items():
        for term in terms.values():
            wrong = [each for each in term.get("forbidden", ()) if each in text]
            assert not wrong, f"{path}: {wrong}; use {term['name']}"


@pytest.mark.parametrize("name", PAGES)
def test_chinese_is_chinese_and_english_is_english(name: str) -> None:
    han = re.compile(r"[一-鿿]")
    for _, body in page_sections("zh", name).values():
        assert han.search(body)
    quoted = ("小明",)
    for key, text in page_labels("en", name).items():
        assert not han.search(text) or any(word in text for word in quoted), key


def test_formulas_carry_no_words_of_a_language() -> None:
    for key, latex in formulas().items():
        assert not re.search(r"[一-鿿]", latex), key
        assert latex.count("{") == latex.count("}"), key
        assert latex.count(r"\begin") == latex.count(r"\end"), key


def test_every_formula_is_used() -> None:
    used = {key for path in TEXT.glob("*/*.toml") for _, key in SLOT.findall(path.read_text("utf-8"))}
    assert used <= set(formulas())
    in_code = "".join(path.read_text("utf-8") for path in [*Path("ui").rglob("*.py"), *Path("pages").rglob("*.py")])
    assert [key for key in formulas() if key not in used and f'"{key}"' not in in_code] == []
