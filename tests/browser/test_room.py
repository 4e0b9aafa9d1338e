"""A class in real browsers: a lecturer on the stage by keyboard, and a student's phone that follows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PHONE, Visit
from tests.browser.test_stage import keys_answer
from ui.present import lessons

pytestmark = pytest.mark.browser


def test_a_phone_follows_votes_and_sees_no_answer_before_it_is_shown(browser: Browser, app: str) -> None:
    lesson = lessons.page_lesson("en", "rotation")
    assert lesson is not None
    at = next(k for k, each in enumerate(lesson.steps) if each.predict)
    step, before = lesson.steps[at], lesson.steps[at - 1]
    assert step.predict is not None and at > 0
    lecturer, student = Visit(browser), Visit(browser, PHONE, "zh-CN", touch=True)
    stage, phone = lecturer.page, student.page
    stage.goto(f"{app}/rotation?step={at}&room=Physik-2&display=stage&lang=en")
    headline = stage.locator("[class*=st-key-stage-say]")
    expect(headline).to_have_text(before.say)
    phone.goto(f"{app}/room/physik-2?lang=en")
    expect(phone.locator("h1")).to_have_text(before.say)
    keys_answer(lecturer)
    stage.keyboard.press("PageDown")
    expect(headline).to_have_text(step.predict.question)
    expect(phone.locator("h1")).to_have_text(step.predict.question)
    assert phone.locator("main").inner_text().count("\n") <= 2 + 2 * len(step.predict.choices), "and nothing else"
    expect(stage.get_by_text("0 answered")).to_be_visible()
    phone.get_by_role("button").nth(0).tap()
    expect(phone.get_by_text("Counted.")).to_be_visible()
    expect(stage.get_by_text("1 answered")).to_be_visible()
    assert headline.inner_text() != step.say and not phone.get_by_text(step.say).is_visible()

    stage.keyboard.press(" ")  # what goes on shows the answer first
    expect(phone.get_by_text("The right answer is B.")).to_be_visible()
    expect(stage.get_by_text("B is right: 0 of 1 (0 %)")).to_be_visible()
    assert all(phone.get_by_role("button").nth(k).is_disabled() for k in range(len(step.predict.choices)))
    stage.keyboard.press("b")
    expect(stage.locator("#stage-dark")).to_be_visible()
    stage.keyboard.press("b")
    expect(stage.locator("#stage-dark")).to_have_count(0)
    stage.keyboard.press("End")
    last = lesson.steps[-1]
    text = last.predict.question if last.predict else last.say
    expect(headline).to_have_text(text)
    expect(phone.locator("h1")).to_have_text(text)
    assert lecturer.complaints == student.complaints == []


def test_a_talk_starts_by_keyboard_alone(browser: Browser, app: str) -> None:
    visit = Visit(browser)
    page = visit.open(f"{app}/rotation?lang=en")
    page.keyboard.press("Alt+p")
    first = page.locator("[data-testid=stPopoverBody] button").first
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-testid=stDialog] .st-key-panel-page button")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**display=stage**")
