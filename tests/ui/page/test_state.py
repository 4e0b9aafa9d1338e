"""Values from links: read by type, clamped with a note, refused with the rule."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.page.state import Field, RefusedValue, checked_value, parse_url_value, values_from_query

DIM = Field("dim", "int", 128, 2, 1024, even=True)
BASE = Field("base", "float", 1e4, 1.0, 1e12, low_open=True)
KIND = Field("kind", "choice", "a", choices=("a", "b"))
ON = Field("on", "bool", False)
MAYBE = Field("maybe", "float", None, 0.0, 2.0, optional=True)
FIELDS = {field.name: field for field in (DIM, BASE, KIND, ON, MAYBE)}


@pytest.mark.parametrize(
    "field, value, rule",
    [
        (DIM, 7, "rule.even"),
        (DIM, 0, "rule.range"),
        (DIM, 10**6, "rule.range"),
        (DIM, 2.5, "rule.integer"),
        (DIM, None, "rule.number"),
        (BASE, 1.0, "rule.above"),
        (BASE, -3.0, "rule.above"),
        (BASE, math.nan, "rule.number"),
        (BASE, math.inf, "rule.number"),
        (BASE, 1e13, "rule.range"),
        (KIND, "c", "rule.choice"),
    ],
)
def test_a_refusal_names_the_rule(field: Field, value: object, rule: str) -> None:
    with pytest.raises(RefusedValue) as refused:
        checked_value(field, value)
    assert refused.value.rule == rule
    assert str(refused.value).startswith(f"{field.name} must be ")


@pytest.mark.parametrize(
    "field, text, used",
    [
        (DIM, "13", 12),
        (DIM, "1023", 1022),
        (DIM, "99999", 1024),
        (DIM, "-4", 2),
        (BASE, "1e300", 1e12),
        (BASE, "inf", 1e12),
        (MAYBE, "3", 2.0),
    ],
)
def test_a_number_out_of_range_is_clamped_with_a_note(field: Field, text: str, used: float) -> None:
    values, corrected = values_from_query(FIELDS, {field.name: text})
    assert values == {field.name: used}
    assert [(note.given, value) for note, value in corrected] == [(text, used)]


@pytest.mark.parametrize(
    "field, text",
    [(DIM, "abc"), (DIM, "nan"), (BASE, "0.5"), (MAYBE, "nan"), (KIND, "<b>"), (ON, "yes"), (DIM, ""), (MAYBE, "none")],
)
def test_what_is_no_value_is_left_out_with_a_note(field: Field, text: str) -> None:
    values, corrected = values_from_query(FIELDS, {field.name: text})
    assert values == {}
    assert [value for _, value in corrected] == [None]


@given(st.text(max_size=30))
def test_no_text_breaks_the_reader(text: str) -> None:
    for field in FIELDS.values():
        values, _ = values_from_query(FIELDS, {field.name: text})
        for value in values.values():
            checked_value(field, value)


def test_an_address_holds_as_many_letters_as_a_text_says_and_no_number_is_cut() -> None:
    assert parse_url_value(Field("factor", "float", 1.0, 0.0, 2.0), "1.2345") == 1.2345
    assert parse_url_value(Field("text", "text", ""), "x" * 300) == "x" * 200
    assert parse_url_value(Field("text", "text", "", high=250), "x" * 300) == "x" * 250
