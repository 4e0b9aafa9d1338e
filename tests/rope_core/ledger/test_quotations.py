"""Quotations are the documents' own characters, and every sentence of a document is quoted or listed as undecidable.

The documents are not in the repository. Where a folder ``shared/sources`` lies beside the checkout, quotations are
compared with them; everywhere, each entry's quotations have the digest that was taken when they last were.
"""

import hashlib
import re
import tomllib
from pathlib import Path

from rope_core.ledger.entry import DOCUMENTS, claim_texts

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT.parent / "shared" / "sources").glob("*.txt"))
DIGESTS = Path(__file__).with_name("quotations.toml")
OPINIONS = tomllib.loads((ROOT / "rope_core/ledger/texts/opinions.toml").read_text("utf-8"))
KINDS = {"opinion", "attribution", "definition", "question", "structure"}
# A line of TeX environments, of a table's rule or of nothing.
BARE = re.compile(r"(\$\$|\\begin\{[a-z]+\}(\{[a-z]+\})?|\\end\{[a-z]+\}|\\\\|[\s&,.$]|</?p>|-{3,}|\|?( --- \|)+)*")
STOP = re.compile(r"(?<=[。！？；])|(?<=[.?!;]) +(?=[A-Z“\"*(])")


def normalised(text: str) -> str:
    """Return a text without white space and "&", as quotations are compared with their document."""
    return "".join(text.replace("&", "").split())


def digest(name: str) -> str:
    """Sixteen digits of the SHA-256 of an entry's quotations."""
    return hashlib.sha256("\n".join(normalised(quote) for quote in claim_texts()[name].quotes).encode()).hexdigest()[
        :16
    ]


def sentences(document: str, text: str) -> list[tuple[int, str]]:
    """Every sentence with its place in the text; of document 003's formulas the TeX, not its spoken copies."""
    result, start = [], 0
    for line in text.splitlines(keepends=True):
        words = document == "003" and (line.startswith(" ") or line.rstrip().endswith(r"\begin{equation}"))
        place = start
        for part in STOP.split(line):
            place = text.index(part, place)
            if not words and not BARE.fullmatch(part):
                result.append((place, part))
        start += len(line)
    return result


def uncovered(document: str, text: str, fragments: list[str]) -> list[str]:
    """Return the sentences that no fragment touches."""
    places = [place for place, c in enumerate(text) if not (c.isspace() or c == "&")]
    plain, touched = normalised(text), set()
    for fragment in map(normalised, fragments):
        for match in re.finditer(re.escape(fragment), plain):
            touched.update(places[match.start() : match.end()])
    return [part for place, part in sentences(document, text) if touched.isdisjoint(range(place, place + len(part)))]


def fragments(document: str) -> list[str]:
    """All that the entries of a document quote and all that is listed as undecidable."""
    quoted = [quote for name, text in claim_texts().items() if name[:3] == document for quote in text.quotes]
    return quoted + [line for lines in OPINIONS[document].values() for line in lines]


def test_no_quotation_changed_since_it_was_compared() -> None:
    kept = tomllib.loads(DIGESTS.read_text("utf-8"))
    assert {name: digest(name) for name in claim_texts()} == kept


def test_every_entry_quotes_its_document_or_links_its_paper() -> None:
    for name, text in claim_texts().items():
        if name.partition("-")[0] in DOCUMENTS:
            assert text.quotes and text.link is None, name
        else:
            assert re.fullmatch(r"https://arxiv\.org/abs/\d{4}\.\d{5}v\d", text.link or ""), name
            assert name.split("-")[1] == (text.link or "").rpartition("/")[2].partition("v")[0], name


def test_what_is_undecidable_is_listed_once_and_by_kind() -> None:
    assert set(OPINIONS) == set(DOCUMENTS)
    for document, kinds in OPINIONS.items():
        assert set(kinds) <= KINDS
        lines = [line for lines in kinds.values() for line in lines]
        assert len(lines) == len(set(lines)), document
        quoted = {quote for name, text in claim_texts().items() if name[:3] == document for quote in text.quotes}
        assert quoted.isdisjoint(lines), document


def test_quotations_are_the_document_s_characters() -> None:
    for source in SOURCES:
        plain, document = normalised(source.read_text("utf-8")), source.name[:3]
        assert [line for line in fragments(document) if normalised(line) not in plain] == [], document


def test_every_sentence_is_quoted_or_listed() -> None:
    for source in SOURCES:
        document = source.name[:3]
        assert uncovered(document, source.read_text("utf-8"), fragments(document)) == [], document


def test_a_sentence_that_nothing_quotes_is_seen() -> None:
    text = "# Head\nA is B. C is D.\n$$\nx = 1\n$$\n甲是乙。丙是丁。\n"
    assert uncovered("001", text, ["A is B", "x=1", "丙是丁"]) == ["# Head\n", "C is D.\n", "甲是乙。"]
