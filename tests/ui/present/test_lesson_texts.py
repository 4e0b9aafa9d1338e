"""The shipped lessons: both languages alike, every state taken by its page, every number in its figure."""

import re
from collections.abc import Iterator
from functools import lru_cache

import pytest

from rope_core.languages import LANGUAGES
from tests.support import films
from tests.test_pages import opened
from ui.page.declaration import page_declaration
from ui.page.menu import ORDER, SECTIONS
from ui.page.state import FieldValue, url_value_text
from ui.page.tasks import ChoiceQuestion
from ui.present import lessons
from ui.present.lessons import Lesson, LessonStep
from ui.text.words import TEXT

# A list of terms has no figure to teach from.
BUILT = [name for names in ORDER.values() for name in names if name in SECTIONS and name != "glossary"]
# The seminar's steps are the lecture's.
LESSONS = [*BUILT, *(talk for talk in lessons.talk_names() if talk != "seminar")]
HAN = re.compile(r"[一-鿿]")
DOWN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
NUMBER = re.compile(r"(?<![A-Za-z\d.])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
SHARE = re.compile(r"\b(\d[\d,]*) of (?:the )?(\d[\d,]*)")
# Digits that are part of a name.
NAMES = ("Llama 3", "Llama 2", "Gemma 3", "Qwen3", "GPT-J", "i + d/2", "LLaMA2", "Qwen2.5")


def lesson(lang: str, name: str) -> Lesson:
    result = lessons.shipped_talk(lang, name) if name in lessons.talk_names() else lessons.page_lesson(lang, name)
    assert result is not None, f"no lesson for {name} in {lang}"
    return result


def texts(of: Lesson) -> Iterator[str]:
    yield of.title
    for step in of.steps:
        yield step.say
        yield step.notes
        if step.predict:
            yield step.predict.question
            yield from step.predict.choices


def numbers(text: str) -> list[float]:
    for name in NAMES:
        text = text.replace(name, "")
    text = re.sub(r"(?<![\d.])10(?=⁻)", "1·10", text).replace("·10⁻", "e-").translate(DOWN)
    return sorted(float(result.replace(",", "")) for result in NUMBER.findall(text))


def shares(text: str) -> dict[str, set[str]]:
    """Return the wholes that an English text names for each part, as 24 for 3 in "3 of 24"."""
    wholes: dict[str, set[str]] = {}
    for part, whole in SHARE.findall(text):
        wholes.setdefault(part, set()).add(whole)
    return wholes


def test_every_page_and_the_two_talks_have_a_lesson_in_both_languages() -> None:
    assert {"tour", "seminar", "lecture"} <= set(lessons.talk_names())
    for lang in ("en", "zh"):
        seminar, lecture = lesson(lang, "seminar"), lesson(lang, "lecture")
        assert [step.number for step in seminar.steps] == list(range(1, 16)) and seminar.minutes == 20
        sentences = [step.say for step in lecture.steps]
        places = [sentences.index(step.say) for step in seminar.steps]
        assert places == sorted(places) and places[0] == 0 and seminar.steps[3].predict == lecture.steps[4].predict
    for lang in LANGUAGES:
        assert {name for name in SECTIONS if lessons.page_lesson(lang, name)} == set(BUILT)
        assert {path.stem for path in (TEXT / lang / "talks").glob("*.toml")} == set(lessons.talk_names())


@pytest.mark.parametrize("name", LESSONS)
def test_both_languages_show_the_same(name: str) -> None:
    en, zh = (lesson(lang, name) for lang in LANGUAGES)
    assert en.minutes == zh.minutes and len(en.steps) == len(zh.steps)
    for first, other in zip(en.steps, zh.steps, strict=True):
        assert (first.page, first.state, first.figure, first.play) == (
            other.page,
            other.state,
            other.figure,
            other.play,
        ), first.number
        assert bool(first.notes) == bool(other.notes), first.number
        assert numbers(first.say) == numbers(other.say), first.number
        assert (first.predict is None) == (other.predict is None), first.number
        if first.predict and other.predict:
            assert (first.predict.answer, first.predict.then) == (other.predict.answer, other.predict.then)
            assert len(first.predict.choices) == len(other.predict.choices)
            assert numbers(first.predict.question) == numbers(other.predict.question), first.number


@pytest.mark.parametrize("name", LESSONS)
def test_english_is_english_and_chinese_is_chinese(name: str) -> None:
    for text in texts(lesson("en", name)):
        assert not HAN.search(text)
    for text in texts(lesson("zh", name)):
        assert not text or HAN.search(text)
        assert not re.search(r"[一-鿿]\s*[,;:?!]|[,;:?!]\s*[一-鿿]", text), f"punctuation in {text}"


@pytest.mark.parametrize("name", BUILT)
def test_a_page_s_lesson_has_three_to_seven_steps(name: str) -> None:
    steps = lesson("en", name).steps
    assert 3 <= len(steps) <= 7
    assert 3 <= lesson("en", name).minutes <= 15


@pytest.mark.parametrize("name, minutes, fewest, most, questions", [("tour", 10, 8, 10, 2), ("lecture", 45, 20, 28, 5)])
def test_a_talk_fits_its_time(name: str, minutes: int, fewest: int, most: int, questions: int) -> None:
    talk = lesson("en", name)
    assert talk.minutes == minutes and fewest <= len(talk.steps) <= most
    assert 45 <= 60 * minutes / len(talk.steps) <= 150, "seconds for each step"
    assert sum(step.predict is not None for step in talk.steps) >= questions
    for lang in LANGUAGES:
        assert all(step.notes for step in lesson(lang, name).steps), "each step of a talk says what may be said"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_each_step_shows_something_else(name: str, lang: str) -> None:
    before: tuple[object, ...] = ()
    for step in lesson(lang, name).steps:
        shown = (step.page, step.figure, step.end_state)
        assert shown != before, step.number
        assert step.predict is None or step.predict.then != step.state, "an answer moves the figure"
        before = shown


@pytest.mark.parametrize("name", LESSONS)
def test_a_sentence_reads_from_the_last_row(name: str) -> None:
    for step in lesson("en", name).steps:
        assert len(step.say) <= 140, step.say
        assert step.say[-1] in ".?"
    for step in lesson("zh", name).steps:
        assert len(step.say) <= 75, step.say
        assert step.say[-1] in "。？"


@lru_cache(maxsize=256)
def findings(page: str, lang: str, query: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Every figure's sentence by its id, as the page draws it for these values; of a film what it paints as well."""
    answered = {task.name: task.right for task in page_declaration(page).tasks if isinstance(task, ChoiceQuestion)}
    at = opened(page, lang=lang, open="all", **(answered | dict(query)))
    assert not at.exception
    assert not at.warning, [note.value for note in at.warning]
    charts = at.get("plotly_chart")
    drawings = {chart.proto.id.split(f"fig.{page}.")[-1]: chart.proto.alt for chart in charts}
    moving = {name: " ".join((film.finding, *film.painted)) for name, film in films.shown(at).items()}
    return drawings | {name.removeprefix(f"{page}."): text for name, text in moving.items()}


def shown(step: LessonStep, lang: str, state: dict[str, FieldValue]) -> str:
    query = {key: url_value_text(value) for key, value in state.items()}
    result = findings(step.page, lang, tuple(sorted(query.items())))
    assert step.figure in result, f"step {step.number}: no figure {step.figure} on {step.page}"
    return " ".join((result[step.figure], *query.values()))


@pytest.mark.long
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", LESSONS)
def test_the_figure_shows_every_number_of_the_sentence(name: str, lang: str) -> None:
    """``say`` by the view after the answer, the question by the view before it (or by what it asks to change)."""
    for step in lesson(lang, name).steps:
        before = shown(step, lang, step.state)
        after = shown(step, lang, step.end_state)
        assert set(numbers(step.say)) <= set(numbers(after)), f"step {step.number}: {step.say} / {after}"
        written = shares(after)
        for part, wholes in shares(step.say).items():
            assert wholes <= written.get(part, wholes), f"step {step.number}: {step.say} / {after}"
        if step.predict:
            wanted = set(numbers(step.predict.question))
            assert wanted <= set(numbers(f"{before} {after}")), f"step {step.number}: {step.predict.question}"
