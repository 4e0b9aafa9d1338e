"""A class in real browsers: a lecturer on the stage and a student on a phone meet at one question."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PHONE, Visit
from ui.present import lessons

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_a_class_predicts_waits_and_sees(browser: Browser, app: str) -> None:
    lesson = lessons.page_lesson("en", "rotation")
    assert lesson is not None
    step = next(each for each in lesson.steps if each.predict)
    assert step.predict is not None
    at = f"{app}/rotation?step={step.number}&room=Physik-2"
    lecturer, student = Visit(browser), Visit(browser, PHONE, "zh-CN")
    stage, phone = lecturer.page, student.page
    stage.goto(f"{at}&display=stage&lang=en")  # and no wait for rest: a stage with a room looks again and again
    expect(stage.get_by_text(step.predict.question)).to_be_visible()
    expect(stage.get_by_text("No answers yet.")).to_be_visible()
    assert not stage.get_by_text(step.say).is_visible(), "the sentence would give the answer away"

    phone.goto(f"{at}&lang=zh")
    phone.locator("[class*=st-key-predict-choices] button").first.click()
    expect(phone.get_by_text("已计入房间")).to_be_visible()
    expect(stage.get_by_text("1 answer: A 1, B 0, C 0.")).to_be_visible()
    assert "shift=" not in phone.url, "nothing has moved yet"

    stage.get_by_role("button", name="Show the answer", exact=True).click()
    expect(stage.get_by_text("B is right: 0 of 1 (0 %)")).to_be_visible()
    expect(stage.get_by_text(step.say)).to_be_visible()
    expect(phone.get_by_text("你选的是 A，正确的是 B")).to_be_visible()
    expect(stage.get_by_text("Query at 1,012, key at 1,005").first).to_be_visible()
    expect(phone.get_by_text("查询在 1,012，键在 1,005").first).to_be_visible()
    assert not lecturer.complaints and not student.complaints
