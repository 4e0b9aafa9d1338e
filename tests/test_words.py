"""Labels, prose and formula slots."""

from __future__ import annotations

import pytest

from ui.words import Words, fill, formulas


def test_a_page_answers_its_own_label_before_the_shared_one() -> None:
    t = Words("en", "rotation")
    assert t("field.m") == "query position m"
    assert t("field.dim") == "Rotary width d"
    assert t("frame.refused", label="x", rule="even", given="7") == "x must be even, got 7. The previous view is kept."


def test_a_missing_label_is_an_error_and_not_an_empty_word() -> None:
    with pytest.raises(KeyError):
        Words("en", "rotation")("no.such.label")


def test_formulas_fill_their_slots() -> None:
    assert fill("a {{f:theta_i}} b") == f"a ${formulas()['theta_i']}$ b"
    assert "$$" in fill("{{formula:relative}}")
    with pytest.raises(KeyError):
        fill("{{f:no_such_formula}}")


def test_prose_comes_with_its_title() -> None:
    title, body = Words("zh", "rotation").prose("backward")
    assert title == "反向传播不需要新公式" and "$$" in body
