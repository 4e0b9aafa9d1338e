"""Sentences on a column: its setting, how many checks it does not hold and why, the nearest scheme."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rope_core.comparisons.cells import limit_number, measured_text, number_text
from rope_core.comparisons.columns import UnreadableColumn
from rope_core.comparisons.rows import ColumnCheck, ComparedColumn, check_text, checks, runs_of
from rope_core.comparisons.scheme_variants import Difference, PublishedScheme
from rope_core.comparisons.source import takes_config
from rope_core.errors import error_sentence
from rope_core.languages import words
from rope_core.programs.engines import engine_sentences

NameScheme = Callable[[str], str]
"""What a scheme of SCHEMES is called."""


def table_words(lang: str, part: str) -> dict[str, str]:
    """Return a table of the languages' comparison.toml."""
    chosen: dict[str, str] = words(lang, "comparison")[part]
    return chosen


def spaced(text: str) -> str:
    """Return a text with a space between Chinese characters and Latin letters or digits.

    >>> spaced("与YaRN相同"), spaced("as YaRN")
    ('与 YaRN 相同', 'as YaRN')
    """
    return re.sub(r"(?<=[一-鿿])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[一-鿿])", " ", text)


def setting_sentence(compared: ComparedColumn, lang: str = "en") -> str:
    """Return what a column is judged at, and where its length comes from if its config leaves that out."""
    t, own = table_words(lang, "head"), compared.setting
    slots = {
        "dim": own.rope.dim,
        "base": number_text(own.rope.base, digits=9),
        "train_len": min(own.trained, own.rope.train_len),
        "length": own.length,
    }
    model = f"{own.model}{table_words(lang, 'table')['colon']}" if own.model else ""
    tuned = t["tuned" if own.trained > own.rope.train_len else "untuned"].format(trained=own.trained)
    stated = compared.column.stated[1].get("factor")
    factor = stated if isinstance(stated, float) and compared.column.rope else own.factor
    text = t["setting"].format(model=model, factor=factor, tuned=tuned, **slots)
    if compared.column.trained != own.trained:
        return text
    name, own_length = compared.column.name, compared.setting.rope.train_len
    gap = table_words(lang, "table")["gap"]
    return text + gap + t["meant"].format(trained=own.trained, name=name, train_len=own_length)


def shared_sentences(
    columns: Sequence[ComparedColumn], sentence: Callable[[ComparedColumn, str], str], lang: str = "en"
) -> list[str]:
    """Return the sentence that all columns share which have one, else each column's after its name."""
    colon, texts = table_words(lang, "table")["colon"], [sentence(column, lang) for column in columns]
    if len({*filter(None, texts)}) < 2:
        return [*dict.fromkeys(filter(None, texts))]
    return [f"{column.column.name}{colon}{text}" for column, text in zip(columns, texts, strict=True) if text]


def headline_sentence(compared: ComparedColumn, lang: str = "en", name: str = "") -> str:
    """Return how many of the required checks a column does not hold, and which."""
    t, broken = table_words(lang, "head"), compared.broken
    required = sum(row.required and row.holds is not None for row in compared.rows)
    titles = t["join"].join(row.text("fault", lang) for row in broken)
    key = "broken" if broken else "holds"
    text = t[key].format(name=name or compared.column.name, required=required, count=len(broken), titles=titles)
    warned = [row.text("fault", lang) for row in compared.rows if row.holds is False and row.excuse]
    if not warned or (compared.column.source and compared.column.rope is None):
        return text
    return text + table_words(lang, "table")["gap"] + t["warned"].format(titles=t["join"].join(warned))


def config_sentence(compared: ComparedColumn, lang: str = "en") -> str:
    """Return which lengths the config of a function states; "" of a function that takes none."""
    if not takes_config(compared.column.code, compared.column.function):
        return ""
    own, reach = compared.setting, compared.column.config_fields.get("reach", 1.0)
    key, train_len = "config" if reach else "config_trained", own.rope.train_len
    longest = round(train_len * (own.factor * reach or 1.0))
    text = table_words(lang, "head")[key]
    return text.format(longest=longest, train_len=train_len, factor=own.factor)


def unreadable_sentence(column: UnreadableColumn, lang: str = "en") -> str:
    """Return that a column is unreadable, and why."""
    return table_words(lang, "head")["unreadable"].format(name=column.name, error=error_sentence(column.error, lang))


def speed_text(ratio: float, lang: str = "en") -> str:
    """Return how many times slower or faster a pair turns than another.

    >>> speed_text(0.25), speed_text(1.5), speed_text(-1.0), speed_text(1.0)
    ('4 times slower', '1.5 times as fast', 'it turns backwards', 'as fast as unscaled')
    """
    t = table_words(lang, "nearest")
    if not ratio > 0:
        return t["still" if ratio == 0 else "back"]
    times = number_text(max(ratio, 1.0 / ratio))
    return t["as_unscaled"] if times == "1" else t["faster" if ratio > 1 else "slower"].format(times=times)


def scheme_text(scheme: PublishedScheme, lang: str = "en", named: NameScheme = str) -> str:
    """Return a scheme with the settings that it is computed with."""
    params = [
        f"{key} {str(value).lower() if isinstance(value, bool) else f'{value:g}'}"
        for key, value in scheme.params.items()
        if isinstance(value, bool | int | float)
    ]
    joined = words(lang, "language")["items"].join(params)
    frame = table_words(lang, "nearest")["setting"]
    return frame.format(scheme=named(scheme.name), params=joined) if params else named(scheme.name)


def attention_factors_of(a: ComparedColumn, b: ComparedColumn) -> tuple[float, float] | None:
    """Return the attention factors of two columns; None where one of them is numbers, which have none."""
    return None if {a.column.is_numbers, b.column.is_numbers} != {False} else (a.attention_factor, b.attention_factor)


def difference_sentence(
    key: str, name: str, scheme: str, apart: Difference, lang: str = "en", attention: tuple[float, float] | None = None
) -> str:
    """Return where a column differs from another, as [nearest] of comparison.toml says by ``key``.

    ``attention``: the factors of both; None where the column has none.
    """
    t = table_words(lang, "nearest")
    same = attention is not None and np.isclose(*attention, rtol=1e-4)
    a, b = (f"{each:.4g}" for each in attention or (1.0, 1.0))
    factors = t["attention_none"] if attention is None else t["attention_same" if same else "attention_apart"]
    slots: dict[str, Any] = {"name": name, "scheme": scheme, "attention": factors.format(a=a, b=b)}
    if apart.pair is None:
        return spaced(t["same"].format(pairs=len(apart.equal), **slots))
    equal = t["equal"].format(pairs=runs_of(apart.equal)) if apart.equal else t["equal_none"]
    ratio = speed_text(apart.ratio, lang)
    return spaced(t[key].format(equal=equal, pairs=runs_of(apart.other), pair=apart.pair, ratio=ratio, **slots))


def nearest_sentence(compared: ComparedColumn, lang: str = "en", name: str = "", named: NameScheme = str) -> str:
    """Return which published scheme a column is nearest to, or how it differs from the named.

    "" of a config, of what is near none, and of what is one with a mistake, which `mistake_sentence` names.
    """
    if compared.nearest is None or compared.nearest.mistake:
        return ""
    scheme = compared.nearest.scheme
    numbers = compared.column.is_numbers
    attention = None if numbers else (compared.attention_factor, scheme.attention_factor)
    key, title = "like" if compared.setting.like else "apart", scheme_text(scheme, lang, named)
    return difference_sentence(key, name or compared.column.name, title, compared.nearest.difference, lang, attention)


def mistake_sentence(compared: ComparedColumn, lang: str = "en", named: NameScheme = str) -> str:
    """Return the known mistake that gives a column's frequencies, how it was shown, what follows; "" for none."""
    t, nearest = table_words(lang, "nearest"), compared.nearest
    if nearest and nearest.fitted:
        own = scheme_text(nearest.fitted, lang, named)
        return spaced(t["fitted"].format(scheme=own, pairs=compared.inv_freq.size))
    if nearest is None or not nearest.mistake:
        return ""
    again, gap = t["again"] if nearest.again else "", table_words(lang, "table")["gap"]
    line = next((row.values["line"] for row in compared.consequences if row.values.get("line")), None)
    where = t["where"].format(line=table_words(lang, "table")["line"].format_map(line)) if line else ""
    slots = {"mistake": table_words(lang, "mistake")[nearest.mistake] + where, "scheme": named(nearest.scheme.name)}
    text = t["mistake"].format(pairs=compared.inv_freq.size, again=again, **slots)
    titles = table_words(lang, "head")["join"].join(
        _seen(row, lang) for row in compared.consequences if row.key != "like"
    )
    return spaced(text + (gap + t["follows"].format(titles=titles) if titles else ""))


def measured_sentence(row: ColumnCheck, lang: str = "en") -> str:
    """Return what was measured beside its limit, as "a jump of 300 %, at most 1 %"; "" without a measure."""
    if row.measured is None or row.margin is None:
        return ""
    t = table_words(lang, "table")
    text = row.text("measure", lang).format(value=measured_text(row))
    if limit := limit_number(row):
        text += t["at_least" if row.text("relation") == ">=" else "at_most"].format(limit=limit)
    return text + (t["at_limit"] if is_at_limit(row) else "")


def is_at_limit(row: ColumnCheck) -> bool:
    """Return whether a check holds with what it asks for and no more, as a scheme does that leaves a pair alone."""
    threshold = checks()[row.key].get("threshold", 0.0)
    return bool(row.holds) and 1.0 < threshold < 1.2 and row.measured is not None and abs(row.measured - 1.0) < 1e-3


def cause_sentence(row: ColumnCheck, lang: str = "en") -> str:
    """Return what a check that does not hold comes from, as far as its code and numbers say; "" where they do not."""
    values, parts = row.values, []
    if row.key == "arguments":
        if values.get("error"):
            return row.text("error", lang).format_map(values)
        if values.get("literal"):
            return row.text("literal", lang).format_map({**values["literal"], **values["line"]})
        if values.get("max_position"):
            parts.append(row.text("max_position", lang).format_map(values["max_position"]))
        elif values.get("constant"):
            parts.append(row.text("constant", lang).format_map(values))
        elif values.get("alike"):
            parts.append(row.text("unlike", lang).format_map(values))
        elif values.get("grown"):
            parts.append(row.text("grown", lang).format_map(values))
        elif unused := values.get("without_effect"):
            # What a scheme does without is no fault.
            names = [name for name in unused if name in ("dim", "factor")] or unused
            parts.append(row.text("unused", lang).format(names=", ".join(names)))
        elif values.get("check"):
            elsewhere = {**values, "check": check_text(values["check"], "fault", lang)}
            parts.append(row.text("elsewhere", lang).format_map(elsewhere))
    if row.key == "like" and row.holds is False and values["at"]:
        parts.append(row.text("at_length", lang).format_map(values))
    if row.key == "float32" and row.holds is False and values["type"]:
        parts.append(row.text("rounded", lang).format_map(values))
    if row.key == "continuity" and row.holds is False and values["below"]:
        how = "error" if values["error"] else "no_number" if row.measured is None else "below"
        parts.append(row.text(how, lang).format_map(values))
    if values.get("line"):
        frame = row.text("cause", lang) if row.key == "arguments" else table_words(lang, "table")["line"]
        parts.append(frame.format_map(values["line"]))
    if values.get("twice"):
        parts.append(row.text("cause", lang).format_map(values))
    elif values.get("softmax"):
        says = "softmax" if "softmax" in values["softmax"]["text"].lower() else "softmax_by_mscale"
        parts.append(row.text(says, lang).format_map({**values, **values["softmax"]}))
    elif values.get("published"):
        parts.append(row.text("published", lang).format_map(values))
    return table_words(lang, "table")["clause"].join(parts)


def detail_sentences(row: ColumnCheck, lang: str = "en") -> list[str]:
    """Return a sentence for each finding on a config, by field, and for each program that reads it otherwise."""
    slots: list[dict[str, Any]] = [
        {"field": each.field, "title": each.title(lang), "change": each.change(lang)}
        for each in row.values.get("findings") or ()
    ]
    slots += [each for each in _programs(row, lang) if not each["own_formula"]]
    return [row.text("detail", lang).format_map(each) for each in slots]


def note_sentences(row: ColumnCheck, lang: str = "en") -> list[str]:
    """Return a sentence for each program that computes another formula whatever the config says."""
    own = [each for each in _programs(row, lang) if each["own_formula"]]
    return [row.text("note", lang).format(detail=row.text("detail", lang).format_map(each)) for each in own]


def _programs(row: ColumnCheck, lang: str) -> list[dict[str, Any]]:
    """Return the slots of the sentence on each program."""
    clause, slots = words(lang, "language")["clauses"], []
    for each in row.values.get("programs") or ():
        why = clause.join(engine_sentences(each["result"], lang))
        slots.append({**each, "percent": number_text(each["difference"], "%"), "why": why})
    return slots


def fault_sentences(row: ColumnCheck, lang: str = "en") -> list[str]:
    """Return a check that does not hold as a line: the fault, its pairs, what was measured, where it comes from.

    A config has a line for each finding, and for each program that reads it otherwise.
    """
    t, head = table_words(lang, "table"), row.text("fault", lang)
    if details := detail_sentences(row, lang):
        return [f"{head}{t['colon']}{each}" for each in details]
    parts = filter(None, (measured_sentence(row, lang), cause_sentence(row, lang)))
    return [t["colon"].join(filter(None, (_seen(row, lang), t["clause"].join(parts))))]


def _seen(row: ColumnCheck, lang: str) -> str:
    """Return a fault with its pairs."""
    pairs = table_words(lang, "table")["pairs"].format(pairs=runs_of(row.marked_pairs)) if len(row.by_pair) > 1 else ""
    return row.text("fault", lang) + pairs


def headline_sentences(
    compared: ComparedColumn, lang: str = "en", name: str = "", named: NameScheme = str
) -> Sequence[str]:
    """Return the first cause of what a column does not hold, how many checks these are, and the other causes.

    A mistake comes first, then faults whose cause is known, then others. How many alone, where it holds them all.
    """
    count, folded = headline_sentence(compared, lang, name), [row.key for row in compared.consequences]
    rows = sorted((row for row in compared.broken if row.key not in folded), key=lambda row: not cause_sentence(row))
    causes = [line for row in rows for line in fault_sentences(row, lang)]
    if compared.broken and (mistake := mistake_sentence(compared, lang, named)):
        causes.insert(0, mistake)
    return [*causes[:1], count, *causes[1:]]
