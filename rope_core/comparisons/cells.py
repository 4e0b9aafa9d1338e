"""What a table says of a check: what was measured beside its limit, for a terminal, a page or a film."""

from __future__ import annotations

import unicodedata

from rope_core.comparisons.compare import ColumnCheck, checks, runs_of

SIGNS = {">=": "≥", "<=": "≤", "within": "≤"}
AT_LIMIT = {"en": ", at the limit by design", "zh": "，按设计恰在界上"}
RELATIONS = {"en": {"≥": "at least", "≤": "at most"}, "zh": {"≥": "至少", "≤": "至多"}}
COMMA, SEMICOLON, COLON = {"en": ", ", "zh": "，"}, {"en": "; ", "zh": "；"}, {"en": ": ", "zh": "："}
PAIRS = {"en": " (pairs {})", "zh": "（第 {} 对）"}


def number_text(value: float, unit: str = "", digits: int = 3) -> str:
    """Return a number with three digits and its unit.

    >>> number_text(0.59812), number_text(0.01, "%"), number_text(57.14), number_text(1e-20), number_text(64000.0)
    ('0.598', '1 %', '57.1', '≤ 0', '64,000')
    """
    if unit == "%":
        return f"{number_text(100 * value) if value > 1e-6 else '0'} %"
    if value < 1e-15:
        return "≤ 0"
    if value > 1e15:
        return "∞"
    short = float(f"{value:.{digits}g}")
    return (f"{short:,.0f}" if short >= 1000 else f"{short:g}") + (f" {unit}" if unit else "")


def limit_text(row: ColumnCheck | None) -> str:
    """Return the limit of what is measured, with its sign; "" where there is none."""
    if row is None or row.limit is None or row.key == "attention_factor":
        return ""
    return f"{SIGNS[row.text('relation')]} {number_text(row.limit, row.text('unit'))}"


def measured_text(row: ColumnCheck) -> str:
    """Return what was measured; "" of a check that holds or does not."""
    if row.key == "attention_factor" and row.measured is not None:
        return f"{row.measured:.4g}"
    return "" if row.measured is None else number_text(row.measured, row.text("unit"))


def cell(row: ColumnCheck | None) -> str:
    """Return whether a check holds, what was measured, and its pair where it does not hold; "−" where it is untried."""
    if row is None or row.holds is None:
        return "−"
    sign = "✗" if row.broken else "✓" if row.holds else "○"
    pair = f"@{row.pair}" if row.marked_pairs and not row.holds else ""
    text = measured_text(row)
    if row.measured is not None and row.text("unit") != "%" and row.measured < 0.1:
        # The unit is the limit's, and a column has room for two digits behind zeros.
        text = number_text(row.measured, digits=2)
    return " ".join(filter(None, (sign, text, pair)))


def measured_sentence(row: ColumnCheck, lang: str = "en") -> str:
    """Return what was measured beside its limit, "s = 0.598, at least 0.999"; "" of a check without a measure."""
    if row.measured is None or row.margin is None:
        return ""
    text = f"{row.text('measure', lang)} = {measured_text(row)}"
    if limit := limit_text(row):
        text += COMMA[lang] + f"{RELATIONS[lang][limit[0]]} {limit[2:]}"
    return text + (AT_LIMIT[lang] if is_at_limit(row) else "")


def cause_sentence(row: ColumnCheck, lang: str = "en") -> str:
    """Return what a check that does not hold comes from, as far as its code and numbers say; "" where they do not."""
    values, parts = row.values, []
    if row.key == "arguments":
        if values.get("error"):
            return row.text("error", lang).format_map(values)
        if unused := values.get("without_effect"):
            parts.append(row.text("unused", lang).format(names=", ".join(unused)))
        elif values.get("check"):
            check = checks()[values["check"]][lang]["fault"]
            parts.append(row.text("elsewhere", lang).format_map({**values, "check": check}))
    if values.get("line"):
        parts.append(row.text("cause", lang).format_map(values["line"]))
    if values.get("twice"):
        parts.append(row.text("cause", lang).format_map(values))
    elif values.get("published"):
        parts.append(row.text("published", lang).format_map(values))
    return SEMICOLON[lang].join(parts)


def fault_sentences(row: ColumnCheck, lang: str = "en") -> list[str]:
    """Return a check that does not hold as a line: the fault, its pairs, what was measured, where it comes from.

    A config has a line for each finding, and for each program that reads it otherwise.
    """
    head = row.text("fault", lang)
    if details := row.details(lang):
        return [f"{head}{COLON[lang]}{each}" for each in details]
    if len(row.by_pair) > 1:
        head += PAIRS[lang].format(runs_of(row.marked_pairs))
    parts = filter(None, (measured_sentence(row, lang), cause_sentence(row, lang)))
    return [COLON[lang].join(filter(None, (head, SEMICOLON[lang].join(parts))))]


def is_at_limit(row: ColumnCheck) -> bool:
    """Return whether a check holds with what it asks for and no more, as a scheme does that leaves a pair alone."""
    threshold = checks()[row.key].get("threshold", 0.0)
    return bool(row.holds) and 1.0 < threshold < 1.2 and row.measured is not None and abs(row.measured - 1.0) < 1e-3


def padded(text: str, width: int) -> str:
    """Return a text with spaces up to a width in a terminal, where Chinese characters take two columns.

    >>> padded("对", 4) + "|"
    '对  |'
    """
    taken = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return text + " " * max(0, width - taken)
