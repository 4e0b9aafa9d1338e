"""Lessons and talks in the book: a step's state and figure, its question, and the stage that has nothing else."""

import json
import re
from html import unescape
from importlib import import_module
from typing import Any

import pytest

from rope_core.languages import LANGUAGES
from tests.support import ROOT
from ui.book.frame import BookFrame
from ui.book.nodes import content_hashes_by_id
from ui.book.session import ReaderSession
from ui.figures.drawing import KEPT, Drawing
from ui.page.menu import ORDER
from ui.present import lessons
from ui.present.lessons import Lesson, LessonStep
from ui.present.steps import TWO_LINES, letter_width, slide_finding

PAGES = [name for names in ORDER.values() for name in names]


def staged(name: str, lang: str = "en", **query: str) -> BookFrame:
    return BookFrame(name, lang, {}, "../", {"display": "stage", "lang": lang} | query)


def kinds(book: BookFrame) -> list[str]:
    return [node.kind for node in book.places.root.children]


def pressed(book: BookFrame, name: str) -> None:
    """Press a button of the stage by the name that its keys press it by."""
    key = next(node.id for node in book.places.root.self_and_descendants() if node.kind == f"button {name}")
    book.act(key, "")


def text(book: BookFrame) -> str:
    return book.places.root.to_html()


def line(book: BookFrame) -> str:
    """Return the sentence in large letters."""
    return unescape(
        next(node.html for node in book.places.root.self_and_descendants() if node.kind.startswith("stage-say"))
    )


def step_of(number: int) -> LessonStep:
    lesson = lessons.page_lesson("en", "clock")
    assert lesson
    return lesson.step(number)


def test_a_step_has_its_state_and_its_figure_alone() -> None:
    book = staged("clock", step="6")
    assert [kind.split()[0] for kind in kinds(book)] == ["stage", "figure"]
    assert book.lead and book.lead.id.endswith("fig.reading") and step_of(6).figure == "reading"
    first = staged("clock", step="2").as_url_parameters()
    assert first == {"display": "stage", "step": "2", "lang": "en", "factor": "1", "beat": "2"}
    assert line(book) == f"<p>{step_of(6).say}</p>"
    pressed(book, "stage-previous")
    assert book.as_url_parameters() == {"display": "stage", "step": "5", "lang": "en"}
    assert step_of(5).notes in unescape(text(book).partition("hidden")[2])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_slide_s_finding_is_whole_sentences_on_two_lines(lang: str) -> None:
    """Step 20 of the lecture has a figure whose finding fills five lines."""
    book = staged("extrapolation", lang, talk="lecture", step="20")
    [shown] = [unescape(node.html) for node in book.places.root.self_and_descendants() if node.kind == "finding"]
    plain = re.sub(r"<[^>]*>|▸ ", "", shown).strip()
    [whole] = [each.finding for each in book.figures.values() if isinstance(each, Drawing)]
    assert 60 < letter_width(plain) <= TWO_LINES and plain.endswith((".", "。")) and whole.startswith(plain[:-1])
    short = "The window reads best. Others follow."
    assert slide_finding(short) == short


def test_a_question_is_judged_and_moves_the_figure() -> None:
    book, step = staged("clock", step="2"), step_of(2)
    factor = book.store.fields["factor"]
    assert step.predict and line(book) == f"<p>{step.predict.question}</p>" and book.store.get(factor) == 1.0
    choices = next(node.id for node in book.places.root.self_and_descendants() if node.kind == "choices")
    book.act(choices, "0")
    assert "✗" in text(book) and line(book) == f"<p>{step.say}</p>" and book.store.get(factor) == 4.0
    pressed(book, "stage-again")
    assert line(book) == f"<p>{step.predict.question}</p>" and book.store.get(factor) == 1.0


def test_a_step_has_its_film_played_and_its_controls_where_it_names_them() -> None:
    book = staged("clock", step="3")
    shown: dict[str, Any] = next(node.live for node in book.places.root.self_and_descendants() if node.kind == "film")
    assert shown["play"] == {"control": "factor", "to": 8.0, "seconds": 4.0, "step": 3} and shown["bare"]
    assert kinds(book) == ["stage", "film"]
    pressed(book, "stage-open")
    assert "control" in " ".join(kinds(book)[2:])
    pressed(book, "stage-leave")
    assert "part" in kinds(book) and "card lesson" in kinds(book) and "display" not in book.as_url_parameters()


def test_a_talk_goes_on_to_another_page_without_another_python() -> None:
    query = {"display": "stage", "talk": "tour", "lang": "zh"}
    page = ReaderSession("home", "zh", "../", "https://book/", {}, query, {})
    assert json.loads(page.answer())["page"] == "home"
    talk = lessons.shipped_talk("zh", "tour")
    assert talk
    for step in talk.steps[1:]:
        key = next(node.id for node in page.page.places.root.self_and_descendants() if node.kind == "button stage-next")
        answer = json.loads(page.act(key, '""'))
        assert answer["page"] == step.page and answer["query"]["step"] == str(step.number)
        assert answer["folder"] == ("zh/" if step.page == "home" else f"zh/{step.page}/")


@pytest.mark.parametrize("number", [2, 8])
def test_what_follows_is_drawn_while_a_step_is_shown(number: int) -> None:
    query = {"display": "stage", "talk": "tour", "step": str(number), "lang": "en"}
    talk = lessons.shipped_talk("en", "tour")
    assert talk
    page = ReaderSession(talk.step(number).page, "en", "../", "", {}, query, {})
    before = page.answer()
    KEPT.clear()
    page.draw_ahead()
    drawn = set(KEPT)
    assert drawn and json.loads(page.answer())["query"] == json.loads(before)["query"]
    nodes = {node.kind: node.id for node in page.page.places.root.self_and_descendants()}
    page.act(nodes.get("choices", nodes["button stage-next"]), "0")
    assert set(KEPT) == drawn


def test_a_figure_that_the_stage_takes_out_of_its_part_is_sent_again() -> None:
    page = ReaderSession("clock", "en", "../", "https://book/", {}, {"step": "3"}, {})
    film = "page/hands/film.hands"
    assert film in json.loads(page.answer())["tree"]["drawn"]
    key = next(key for key in page.page.places.acts if key.endswith("present"))
    page.act(key, "true")
    on = json.loads(page.act(next(key for key in page.page.places.acts if key.endswith("present.page")), '""'))
    assert on["query"]["display"] == "stage" and film in on["tree"]["drawn"]
    linked = ReaderSession(
        "clock", "en", "../", "", {}, {"display": "stage"}, content_hashes_by_id(page.page.places.root)
    )
    assert film in json.loads(linked.answer())["tree"]["drawn"]
    off = json.loads(page.act("page/stage-leave", '""'))
    assert "display" not in off["query"] and film in off["tree"]["drawn"]


def leads(lesson: Lesson, lang: str) -> list[str]:
    """Return the steps of a lesson whose figure is not drawn, by page and figure."""
    missing = []
    for step in lesson.steps:
        book = staged(step.page, lang, step=str(step.number), **({"talk": lesson.id} if lesson.id != step.page else {}))
        if not book.lead or not book.lead.id.endswith(f".{step.figure}" if step.figure else ""):
            missing.append(f"{step.page} {step.figure}")
    return missing


@pytest.mark.parametrize("name", ["clock", pytest.param("all", marks=pytest.mark.long)])
def test_every_step_shows_its_figure(name: str) -> None:
    pages = [lessons.page_lesson("en", page) for page in (PAGES if name == "all" else [name])]
    talks = [lessons.shipped_talk("en", talk) for talk in lessons.talk_names()] if name == "all" else []
    assert [missing for lesson in (*pages, *talks) if lesson for missing in leads(lesson, "en")] == []


def test_a_link_s_hidden_controls_and_open_sections_hold() -> None:
    book = BookFrame("clock", "en", {}, "../", {"hide": "factor,model", "open": "all"})
    assert "w.model" not in text(book) and "plot.heatmaps" in text(book)
    assert book.as_url_parameters() == {"lang": "en", "hide": "factor,model", "open": "all"}


def test_what_the_browsers_worker_calls_is_there() -> None:
    """JavaScript names the module, its function and the page's methods: a rename in Python alone breaks every page."""
    code = (ROOT / "ui/book/assets/worker.js").read_text("utf-8")
    (module,) = re.findall(r'pyimport\("([\w.]+)"\)', code)
    functions, methods = (set(re.findall(rf"\b{name}\.(\w+)\(", code)) for name in ("session", "page"))
    assert functions and all(callable(getattr(import_module(module), name)) for name in functions)
    assert len(methods) == 3 and methods <= set(dir(ReaderSession))
