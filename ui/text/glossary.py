"""The terms of the lab: one rendering in each language, a symbol where there is one, and what it means."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from rope_core.languages import LANGUAGES, other_language
from ui.text.words import TEXT


@dataclass(frozen=True)
class GlossaryTerm:
    """One term.

    Attributes:
        names: by language.
        symbol: LaTeX, "" where it has none.
        says: its meaning in one sentence, by language.
        seen: the page that shows it in a picture and the beat, from 1; ("", 0) for none.
        also: other words by which it is looked for, in any language.
    """

    names: dict[str, str]
    symbol: str
    says: dict[str, str]
    seen: tuple[str, int] = ("", 0)
    also: tuple[str, ...] = ()

    def contains_text(self, text: str) -> bool:
        """Return whether a text occurs in its names, its meaning or its other words, whatever the case."""
        known = *self.names.values(), *self.says.values(), *self.also
        return any(text.casefold() in each.casefold() for each in known)


@lru_cache(maxsize=1)
def glossary_terms() -> tuple[GlossaryTerm, ...]:
    """Return every term of ui/text/glossary.toml, in its order: what is first needed comes first."""
    texts = {lang: tomllib.loads((TEXT / lang / "terms.toml").read_text("utf-8")) for lang in LANGUAGES}
    return tuple(
        GlossaryTerm(
            {lang: terms[key]["name"] for lang, terms in texts.items()},
            row.get("symbol", ""),
            {lang: terms[key]["says"] for lang, terms in texts.items()},
            (row.get("seen", ""), row.get("beat", 0)),
            tuple(word for terms in texts.values() for word in terms[key].get("also", ())),
        )
        for key, row in tomllib.loads((TEXT / "glossary.toml").read_text("utf-8")).items()
    )


def _name_markdown(term: GlossaryTerm, lang: str) -> str:
    other = other_language(lang)
    symbol = f" ${term.symbol}$" if term.symbol else ""
    return f"**{term.names[lang]}**{symbol}" + (
        f" {term.names[other]}" if term.names[other] != term.names[lang] else ""
    )


def glossary_table(lang: str, heads: tuple[str, ...], link: Callable[[str, int], str]) -> dict[str, list[str]]:
    """Return every term as columns: name, symbol and other language's name in one, meaning, picture.

    ``link`` writes the link to a page's beat.

    >>> list(glossary_table("en", ("a", "b", "c"), lambda page, beat: page))
    ['a', 'b', 'c']
    """
    rows = [
        (_name_markdown(term, lang), term.says[lang], link(*term.seen) if term.seen[0] else "")
        for term in glossary_terms()
    ]
    return {head: list(column) for head, column in zip(heads, zip(*rows, strict=True), strict=True)}


def term_paragraphs(lang: str, text: str, link: Callable[[str, int], str]) -> list[str]:
    """Return a paragraph for each term that holds ``text``: names and symbol, meaning, link; by its own name first.

    >>> term_paragraphs("en", "YaRN", lambda page, beat: f"{page} {beat}")[0][:8]
    '**YaRN**'
    """
    wanted = text.strip()
    matches = sorted(
        (term for term in glossary_terms() if term.contains_text(wanted)),
        key=lambda term: wanted.casefold() not in (name.casefold() for name in term.names.values()),
    )
    return [
        f"{_name_markdown(term, lang)}  \n{term.says[lang]}" + (f" {link(*term.seen)}" if term.seen[0] else "")
        for term in matches
    ]
