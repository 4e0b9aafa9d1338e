"""Labels, prose and formula slots."""

import re
from itertools import pairwise

import pytest

from ui.page.menu import SECTIONS
from ui.text.words import (
    SOFT_BREAK,
    TEXT,
    PageTexts,
    fill_counts,
    fill_formulas,
    formulas,
    page_sections,
    text_counts,
)


def test_a_page_answers_its_own_label_before_the_shared_one() -> None:
    t = PageTexts("en", "rotation")
    assert t("field.m") == "position of mat"
    assert t("field.dim") == "Rotary width d"
    assert t("frame.refused", label="x", rule="even", given="7") == "x must be even, got 7. The previous view is kept."


def test_a_missing_label_is_an_error_and_not_an_empty_word() -> None:
    with pytest.raises(KeyError):
        PageTexts("en", "rotation")("no.such.label")


def test_formulas_fill_their_slots() -> None:
    assert fill_formulas("a {{f:position_m}} b") == f"a ${formulas()['position_m']}$ b"
    assert "$$" in fill_formulas("{{formula:relative}}")
    with pytest.raises(KeyError):
        fill_formulas("{{f:no_such_formula}}")


def test_counts_fill_their_slots() -> None:
    assert fill_counts("{{n:claims}} claims") == f"{text_counts()['claims']} claims"
    assert fill_counts("{{f:position_m}}") == "{{f:position_m}}"
    with pytest.raises(KeyError):
        fill_counts("{{n:no_such_count}}")


# A part of the ledger or the catalogue, in words that texts count it by.
TYPED = re.compile(
    r"\d[\d,]*\d(?: of)?(?: the| those)?(?: catalogue's)? (?:claims|models|rows|families|errata)\b"
    r"|\d[\d,]*\d ?(?:个论断|条论断|个模型|个系列|行)"
)
OTHER_ROWS = ("64 rows", "512 rows", "512 行", "448 行", "12 rows", "12 行")


def test_no_count_of_the_ledger_or_the_catalogue_is_typed_by_hand() -> None:
    typed = []
    for path in TEXT.rglob("*.toml"):
        text = path.read_text("utf-8")
        for name in OTHER_ROWS:
            text = text.replace(name, "")
        typed += [f"{path.name}: {match[0]}" for match in TYPED.finditer(text)]
    assert typed == [], "name it as a slot, {{n:name}}, see ui/text/counts.toml"


@pytest.mark.parametrize("typed", ["254 claims", "109 of the catalogue's 111 models", "共有 254 个论断", "123 行中"])
def test_a_typed_count_is_seen(typed: str) -> None:
    assert TYPED.search(typed)


@pytest.mark.parametrize("page", sorted(SECTIONS))
def test_a_line_s_end_leaves_no_gap_in_a_chinese_sentence(page: str) -> None:
    for title, body in page_sections("zh", page).values():
        for before, after in pairwise(body.split("\n")):
            if before and after:
                wide = [ord(letter) > 0x2E80 for letter in (before[-1], after[0])]
                assert not all(wide), f"{title}: {before[-20:]} / {after[:20]}"


def test_lists_and_tables_keep_their_lines() -> None:
    assert SOFT_BREAK.sub("", "甲，\n乙。\n\n- 丙；\n- 丁：\n1. 丁\n| 戊 |\n| 己 |\n1. 庚\nRoPE（\nQ 与\nK") == (
        "甲，乙。\n\n- 丙；\n- 丁：\n1. 丁\n| 戊 |\n| 己 |\n1. 庚\nRoPE（Q 与\nK"
    )


def test_prose_comes_with_its_title() -> None:
    title, body = PageTexts("zh", "rotation").section_title_and_text("backward")
    assert title == "反向传播不需要新公式" and "$$" in body
