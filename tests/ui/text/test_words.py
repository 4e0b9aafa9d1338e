"""Labels, prose and formula slots."""

from itertools import pairwise

import pytest

from ui.text.words import SOFT_BREAK, TEXT, Words, fill, formulas, sections


def test_a_page_answers_its_own_label_before_the_shared_one() -> None:
    t = Words("en", "rotation")
    assert t("field.m") == "query position m"
    assert t("field.dim") == "Rotary width d"
    assert t("frame.refused", label="x", rule="even", given="7") == "x must be even, got 7. The previous view is kept."


def test_a_missing_label_is_an_error_and_not_an_empty_word() -> None:
    with pytest.raises(KeyError):
        Words("en", "rotation")("no.such.label")


def test_formulas_fill_their_slots() -> None:
    assert fill("a {{f:position_m}} b") == f"a ${formulas()['position_m']}$ b"
    assert "$$" in fill("{{formula:relative}}")
    with pytest.raises(KeyError):
        fill("{{f:no_such_formula}}")


@pytest.mark.parametrize("page", sorted(path.stem for path in (TEXT / "zh").glob("*.md")))
def test_a_line_s_end_leaves_no_gap_in_a_chinese_sentence(page: str) -> None:
    for title, body in sections("zh", page).values():
        for before, after in pairwise(body.split("\n")):
            if before and after:
                wide = [ord(letter) > 0x2E80 for letter in (before[-1], after[0])]
                assert not all(wide), f"{title}: {before[-20:]} / {after[:20]}"


def test_lists_and_tables_keep_their_lines() -> None:
    assert SOFT_BREAK.sub("", "甲，\n乙。\n\n- 丙；\n- 丁：\n1. 丁\n| 戊 |\n| 己 |\n1. 庚\nRoPE（\nQ 与\nK") == (
        "甲，乙。\n\n- 丙；\n- 丁：\n1. 丁\n| 戊 |\n| 己 |\n1. 庚\nRoPE（Q 与\nK"
    )


def test_prose_comes_with_its_title() -> None:
    title, body = Words("zh", "rotation").prose("backward")
    assert title == "反向传播不需要新公式" and "$$" in body
