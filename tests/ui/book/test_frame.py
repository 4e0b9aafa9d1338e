"""The book's frame beside the server's: the same figures at the same links; a move redraws what it touches."""

import json
import random
from html import unescape
from typing import Any

import pytest

from rope_core.grade import StageResult, starter_source
from tests.test_pages import opened
from ui.book.frame import BookFrame
from ui.book.nodes import content_hashes_by_id, script_data_by_id
from ui.book.session import ReaderSession
from ui.page.declaration import page_declaration
from ui.page.menu import ORDER
from ui.page.state import Field, url_value_text

NAMES = [name for names in ORDER.values() for name in names]
LIGHT = ("home", "rotation", "layouts", "clock", "config", "models")
"""Pages that are drawn in less than a second."""


def drawn(name: str, query: dict[str, str], session: dict[Any, Any] | None = None) -> BookFrame:
    return BookFrame(name, query.get("lang", "en"), {} if session is None else session, "../", query)


def figures(book: BookFrame) -> dict[str, Any]:
    """Return the figures that a page shows, by name."""
    kinds = [node for node in book.places.root.self_and_descendants() if node.kind == "plot"]
    return {node.id.rpartition("plot.")[2]: json.loads(node.data) for node in kinds}


def served(name: str, query: dict[str, str]) -> dict[str, Any]:
    """Return the figures that the server sends for a link, by name, without Streamlit's template."""
    at = opened(name, **query)
    assert not at.exception
    result = {}
    for chart in at.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        spec["layout"].pop("template")
        result[chart.proto.id.rpartition(f"fig.{name}.")[2]] = {"data": spec["data"], "layout": spec["layout"]}
    return result


def value(field: Field, draw: random.Random) -> Any:
    """Return a value that a field takes; near its lower end where it is a number, so that pages stay fast."""
    if field.kind == "choice":
        return draw.choice([choice for choice in field.choices if choice])
    if field.kind == "bool":
        return draw.random() < 0.5
    if field.steps:
        return draw.choice(field.steps[:8])
    step = field.step or 1
    return field.low + step * draw.randint(0, int(min((field.high - field.low) / step, 20)))


def link(name: str, seed: int) -> dict[str, str]:
    """Return a drawn link of a page."""
    draw = random.Random(f"{name}{seed}")
    own = [
        field
        for field in page_declaration(name).fields
        if field.kind != "text" and not field.optional and not field.shared
    ]
    chosen = draw.sample(own, min(len(own), 3))
    return {field.name: url_value_text(value(field, draw)) for field in chosen} | {"lang": draw.choice(["en", "zh"])}


STATES = [
    *((name, {"lang": "en"}) for name in LIGHT),
    *(pytest.param(name, {"lang": "en"}, marks=pytest.mark.long) for name in NAMES if name not in LIGHT),
    *((name, link(name, 0)) for name in LIGHT),
    *(pytest.param(name, link(name, seed), marks=pytest.mark.long) for name in NAMES for seed in (1, 2, 3)),
    ("clock", {"lang": "zh", "open": "all"}),
    *(pytest.param(name, {"lang": "en", "open": "all"}, marks=pytest.mark.long) for name in NAMES),
    *(pytest.param(name, link(name, 4) | {"open": "all"}, marks=pytest.mark.long) for name in NAMES),
]


@pytest.mark.parametrize(("name", "query"), STATES)
def test_figures_are_those_of_the_server(name: str, query: dict[str, str]) -> None:
    ours, theirs = figures(drawn(name, query)), served(name, query)
    assert list(ours) == list(theirs)
    for key in theirs:
        assert ours[key] == theirs[key], key


@pytest.mark.parametrize("name", LIGHT)
def test_a_page_has_one_name_for_each_node_and_reads_without_scripts(name: str) -> None:
    book = drawn(name, {"lang": "zh"})
    names = [node.id for node in book.places.root.self_and_descendants()]
    assert len(set(names)) == len(names)
    text = book.places.root.to_html()
    for section in ("why", "questions"):
        if section in text:
            assert book.t.section_title_and_text(section)[0] in text


OPENED = {"open": "heatmaps,reading,slowdowns"}


def moved(book: BookFrame, key: str, given: Any) -> set[str]:
    """Do what a control asks for; return the ids of the figures and films that changed."""
    before = script_data_by_id(book.places.root)
    book.act(key, given)
    after = script_data_by_id(book.places.root)
    return {id for id in after if before.get(id) != after[id]}


def test_a_control_redraws_its_own_part_and_the_address_follows() -> None:
    book = drawn("clock", OPENED)
    assert moved(book, "page/reading/w.slower", "8") == {"page/reading/plot.reading"}
    assert book.as_url_parameters() == {"slower": "8", "lang": "en"} | OPENED
    assert script_data_by_id(book.places.root) == script_data_by_id(
        drawn("clock", {"slower": "8"} | OPENED).places.root
    )


def test_a_shared_value_redraws_every_part() -> None:
    book = drawn("clock", OPENED)
    film = "page/hands/film.hands"
    changed = moved(book, film, {"at": {"factor": 8.0}, "count": 1})
    assert "page/slowdowns/plot.slowdowns" in changed and book.as_url_parameters()["factor"] == "8"
    shown = next(node.live for node in book.places.root.self_and_descendants() if node.id == film)
    assert shown["at"]["factor"] == 8.0 and shown["count"] == 1


def test_marks_after_a_part_are_those_of_the_whole_page() -> None:
    book = drawn("clock", OPENED)
    for key, given in (("page/reading/w.slower", "8"), ("page/heatmaps/w.axis", "even"), ("page/reading/w.error", "5")):
        book.act(key, given)
        assert content_hashes_by_id(book.places.root) == content_hashes_by_id(
            drawn("clock", book.as_url_parameters()).places.root
        )


def test_what_is_done_is_counted_at_once_and_taken_from_the_browser() -> None:
    book = drawn("rotation", {})

    def line() -> str:
        return next(node.html for node in book.places.root.self_and_descendants() if node.kind == "progress")

    assert "0 of 4 on this page" in line()
    book.act(next(key for key in book.places.acts if key.endswith("choices-known")), 0)
    onward = next(node for node in book.places.root.self_and_descendants() if node.kind == "onward")
    assert "1 of 4 on this page" in line() and onward.live == {"done": ["rotation.known"]}
    book.act(onward.id, ["rotation.known", "rotation.twins", "<b>"])
    assert "2 of 4 on this page" in line()


def test_a_value_that_is_refused_is_answered_in_a_sentence() -> None:
    book = drawn("clock", {})
    book.act("page/w.dim", "13")
    notes = [node.html for node in book.places.root.self_and_descendants() if node.kind.startswith("note")]
    assert len(notes) == 1 and "even" in notes[0]
    assert book.as_url_parameters() == {"lang": "en"}


def test_a_link_with_bad_values_is_answered_in_sentences() -> None:
    book = drawn("rotation", {"dim": "13", "m": "<script>", "foo": "bar"})
    text = book.places.root.to_html()
    assert text.count('class="note warning"') == 3 and "<script" not in text


def test_a_config_is_pasted_and_stays_on_this_machine() -> None:
    book = drawn("config", {"lang": "en"})
    rope = {"rope_type": "yarn", "rope_theta": 5e5, "factor": 4.0, "original_max_position_embeddings": 8192}
    llama = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_parameters": rope}
    llama["max_position_embeddings"] = 131_072
    form = next(
        node.id for node in book.places.root.self_and_descendants() if node.kind == "form" and "textarea" in node.html
    )
    book.act(form, json.dumps(llama))
    cards = " ".join(node.html for node in book.places.root.self_and_descendants())
    assert "16" in cards and "factor" in cards
    assert "hidden_size" not in json.dumps(book.as_url_parameters())
    upload = next(key for key in book.places.acts if key.endswith("config.file"))
    book.act(upload, ["bad.json", list(b"no json")])
    assert any(node.kind == "note error" for node in book.places.root.self_and_descendants())


def test_details_are_drawn_when_they_are_opened() -> None:
    book = drawn("clock", OPENED)
    key = "page/reading/more.clock.reading"
    assert "page/reading/csv.clock.reading" not in book.places.acts
    book.act(key, True)
    saved = book.act("page/reading/csv.clock.reading", "")
    assert saved and saved.name == "clock-reading.csv" and saved.content.startswith(b"\xef\xbb\xbf")
    book.act(key, False)
    assert "page/reading/csv.clock.reading" not in book.places.acts


def test_a_reading_sends_what_has_changed_and_keeps_values_for_other_pages() -> None:
    built = drawn("clock", {})
    page = ReaderSession("clock", "en", "../", "https://book/", {}, {}, content_hashes_by_id(built.places.root))
    assert json.loads(page.answer())["tree"] == {"id": "page", "mark": built.places.root.content_hashes}
    answer = json.loads(page.act("page/reading/fold", "true"))
    assert "film.hands" not in json.dumps(answer["tree"]) and "plot.reading" in json.dumps(answer["tree"])
    answer = json.loads(page.act("page/reading/w.slower", '"8"'))
    assert answer["values"] == {"clock.slower": 8.0}
    assert answer["query"] == {"slower": "8", "lang": "en", "open": "reading"}
    later = ReaderSession("rotation", "en", "../", "https://book/", {"base": 5e5}, {}, {})
    assert json.loads(later.answer())["query"]["base"] == "500000"


def graded(
    book: BookFrame, source: str, *lines: dict[str, Any], ended: tuple[str, dict[str, Any]] = ("ended", {})
) -> str:
    """Hand a page what a worker gave for a student's code; return the page's text."""
    given = {"source": source, "lines": [json.dumps(line) for line in lines], "ended": ended}
    book.act("page/yours/grade.rotate", given)
    return unescape(book.places.root.to_html())


def test_a_student_s_code_is_judged_in_the_command_s_words() -> None:
    book = drawn("rotation", {"open": "yours", "lang": "zh"})
    passed, slots = (
        {"stage": "properties", "key": "", "slots": {}},
        {"mistake": "transposed", "call": "rotate(<b>)", "where": "[0]", "expected": "1", "got": "2"},
    )
    wrong = {"stage": "values", "key": "mistake", "slots": slots}
    text = graded(book, "def rotate(): ...", passed, wrong, ended=("endless", {"seconds": "20"}))
    expected = [
        StageResult("rotate", "values", 1.0, "mistake", slots),
        StageResult("rotate", "dtype", 1.0, "endless", {"seconds": 20}),
    ]
    assert all(result.sentence("zh") in text for result in expected)
    assert "1 分，满分 5 分" in text.replace("\u2060", "") and "rotate(<b>)" not in book.places.root.to_html()
    refused = graded(book, "def rotate(:")
    assert "Python 文件，第 1 行出错" in refused and "满分" not in refused
    assert starter_source("rotate") in text


def test_the_server_runs_nobody_s_code() -> None:
    at = opened("rotation", open="yours", lang="en")
    assert not at.exception
    codes = [block.value for block in at.code]
    assert starter_source("rotate").strip() in codes and "rope grade mine.py --only rotate --lang en" in codes
