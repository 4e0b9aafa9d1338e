"""What a page's controls hold: typed fields, their values in the session, and the same in the URL.

A field's value is the explicit one where the visitor (or the link) set it, else its default, which for the shared
geometry comes from the chosen model. The URL carries the explicit values only, so a link is short and whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FieldValue = Any
MOST_LETTERS = 200


@dataclass(frozen=True)
class Field:
    """One value that a control sets.

    ``kind``: "int", "float", "bool", "choice" or "text". ``shared`` fields keep their value on every page.
    ``low`` of a text is its fewest letters, ``high`` how many an address may hold, MOST_LETTERS where it is none.
    ``even`` asks for parity; ``steps`` are the stops of a slider over uneven values.
    """

    name: str
    kind: str
    default: FieldValue = None
    low: float = -math.inf
    high: float = math.inf
    step: float | None = None
    steps: tuple[FieldValue, ...] = ()
    choices: tuple[str, ...] = ()
    even: bool = False
    shared: bool = False
    optional: bool = False
    low_open: bool = False

    def session_key(self, page: str) -> str:
        """Return the key under which the session keeps the value."""
        return self.name if self.shared else f"{page}.{self.name}"


class RefusedValue(ValueError):
    """A value that a field does not take: ``rule`` is a text key, ``detail`` fills its slots."""

    def __init__(self, field: Field, rule: str, given: object) -> None:
        super().__init__(f"{field.name} must be {rule}, got {given!r}")
        self.field, self.rule, self.given = field, rule, given


def url_value_text(value: FieldValue) -> str:
    """Write a value for the URL, shortest form that reads back the same."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def checked_value(field: Field, value: FieldValue) -> FieldValue:
    """Return ``value`` in the field's type, or raise Refused naming the broken rule."""
    if field.kind == "choice":
        if value not in field.choices:
            raise RefusedValue(field, "rule.choice", value)
        return value
    if field.kind == "text" and len(value) < field.low:
        raise RefusedValue(field, "rule.letters", value)
    if field.kind in ("bool", "text"):
        return value
    if value is None:
        if field.optional:
            return None
        raise RefusedValue(field, "rule.number", value)
    number = float(value)
    if not math.isfinite(number):
        raise RefusedValue(field, "rule.number", value)
    if field.kind == "int" and not number.is_integer():
        raise RefusedValue(field, "rule.integer", value)
    if not (field.low < number if field.low_open else field.low <= number) or number > field.high:
        raise RefusedValue(field, "rule.above" if field.low_open and number <= field.low else "rule.range", value)
    if field.even and int(number) % 2:
        raise RefusedValue(field, "rule.even", value)
    return int(number) if field.kind == "int" else number


def parse_url_value(field: Field, text: str) -> FieldValue:
    """Read a field from URL text; raises RefusedValue when the text is no value of the field."""
    has_own = field.kind == "text" and math.isfinite(field.high)
    text = text.strip()[: int(field.high) if has_own else MOST_LETTERS]
    if field.kind == "bool":
        if text not in ("0", "1"):
            raise RefusedValue(field, "rule.bool", text)
        return text == "1"
    if field.kind in ("choice", "text"):
        return checked_value(field, text)
    if field.optional and text == "auto":
        return None
    try:
        number = float(text)
    except ValueError:
        raise RefusedValue(field, "rule.number", text) from None
    return checked_value(field, number)


def nearest_allowed_value(field: Field, text: str) -> FieldValue:
    """Return the nearest value that the field takes to a URL number out of its range, or Refused when there is none."""
    try:
        number = float(text)
    except ValueError:
        raise RefusedValue(field, "rule.number", text) from None
    if math.isnan(number) or field.kind not in ("int", "float"):
        raise RefusedValue(field, "rule.number", text)
    low, high = field.low, field.high
    if field.low_open and number <= low:
        raise RefusedValue(field, "rule.above", text)
    number = min(max(number, low), high)
    if not math.isfinite(number):
        raise RefusedValue(field, "rule.number", text)
    if field.kind == "int":
        number = round(number)
        if field.even and number % 2:
            number -= 1
    return checked_value(field, number)


def values_from_query(
    fields: Mapping[str, Field], query: Mapping[str, str]
) -> tuple[dict[str, FieldValue], list[tuple[RefusedValue, FieldValue]]]:
    """Read all known fields from a query; returns values and what was corrected (with the value used, or None)."""
    values: dict[str, FieldValue] = {}
    corrected: list[tuple[RefusedValue, FieldValue]] = []
    for name, text in query.items():
        field = fields.get(name)
        if field is None:
            continue
        try:
            values[name] = parse_url_value(field, text)
        except RefusedValue as refused:
            refusal = RefusedValue(field, refused.rule, text)
            try:
                values[name] = nearest_allowed_value(field, text)
                corrected.append((refusal, values[name]))
            except RefusedValue:
                corrected.append((refusal, None))
    return values, corrected
