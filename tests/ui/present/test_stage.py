"""The presentation display without a browser: steps and their states, talks across pages, links, codes."""

import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import zxingcpp
from streamlit.testing.v1 import AppTest

from tests.support import films
from tests.test_pages import opened
from ui.present import lessons, qr
from ui.present.addresses import is_local_address
from ui.present.view import GOING, LOADED, PageView

LESSON = b"""
title = "T"
minutes = 5
[[steps]]
say = "First **sentence**."
state = { m = 40, base = 500000 }
notes = "Only for the lecturer."
[[steps]]
say = "Second."
state = { width = 4 }
figure = "backward"
[steps.predict]
question = "Which?"
choices = ["this", "that"]
answer = 1
then = { position = 77 }
"""
TALK = b"""
title = "Talk"
minutes = 5
[[steps]]
page = "rotation"
say = "Here."
state = { m = 40 }
[[steps]]
page = "clock"
say = "There."
state = { factor = 8 }
"""


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """One lesson of two steps on the page rotation, in place of the shipped ones."""
    lesson = lessons.load_lesson(LESSON, "rotation", "rotation")
    monkeypatch.setattr(lessons, "page_lesson", lambda lang, page: lesson if page == "rotation" else None)


def values(at: AppTest) -> dict[str, object]:
    if "values" not in at.session_state:
        return {}
    result: dict[str, object] = at.session_state["values"]
    return result


def press(at: AppTest, key: str) -> AppTest:
    return at.button(key).click().run()


def with_menu(at: AppTest, name: str) -> AppTest:
    """Open what is behind the button beside the title."""
    at.session_state[f"menu.{name}"] = True
    return at.run()


def shown(at: AppTest) -> str:
    return " ".join(mark.value for mark in at.markdown)


def slider_names(at: AppTest) -> set[str]:
    moved = {name for film in films.shown(at).values() for name in film.sliders}
    return moved | {str(slider.key).split(".")[-1] for slider in at.slider}


def leading(at: AppTest) -> str:
    """Return the first figure of the stage."""
    places = (getattr(block.proto, "id", "") for block in at.get("flex_container"))
    return next(place.split("stage-figure-")[1] for place in places if "stage-figure-" in place)


def test_the_normal_display_has_nothing_of_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a lesson was read for nothing")

    monkeypatch.setattr(lessons, "page_lesson", never)
    monkeypatch.setattr(lessons, "shipped_talk", never)
    at = opened("rotation", lang="en", m="3", hide="apart")
    assert not any("stage" in (button.key or "") for button in at.button)
    assert not at.toggle
    assert slider_names(at) >= {"m", "before"}


def test_the_stage_folds_the_controls_and_one_switch_opens_them(own: None) -> None:
    at = opened("rotation", lang="en", display="stage", m="33")
    assert not at.slider and len(at.title) == 1
    assert values(at)["rotation.m"] == 33
    at.toggle("stage.open").set_value(True).run()
    assert slider_names(at) >= {"m", "before", "apart"}
    assert films.shown(at)["rotation.circle"].at["m"] == 33


def test_steps_take_their_whole_state_forth_and_back(own: None) -> None:
    at = opened("rotation", lang="en", display="stage", apart="9")
    assert "0 / 2" in shown(at) and at.button("stage-previous").disabled
    press(at, "stage-next")
    assert values(at) == {"rotation.m": 40, "base": 500_000.0}
    assert "1 / 2" in shown(at) and r"First \*\*sentence\*\*\." in shown(at)
    assert at.query_params["step"] == "1" and at.query_params["m"] == "40"
    press(at, "stage-next")
    assert values(at) == {"rotation.width": 4}
    assert at.button("stage-next").disabled
    press(at, "stage-previous")
    assert values(at) == {"rotation.m": 40, "base": 500_000.0}
    press(at, "stage-previous")
    assert "0 / 2" in shown(at) and "step" not in at.query_params


def test_presses_faster_than_the_network_lose_no_step(own: None) -> None:
    at = opened("rotation", lang="en", display="stage")
    first = dict(at.query_params)
    press(at, "stage-next")
    at.query_params = dict(first)
    press(at, "stage-next")
    assert at.query_params["step"] == "2" and values(at) == {"rotation.width": 4}
    press(at, "stage-previous")
    at.query_params = first | {"step": "2"}
    press(at, "stage-previous")
    assert "0 / 2" in shown(at) and "step" not in at.query_params


def test_a_press_that_is_handed_over_twice_is_one_step(own: None) -> None:
    """Streamlit calls a button's function again where a request comes in between the call and the page's run."""
    view = PageView("rotation", "en", {})
    view.begin_talk("")
    view.go_to_step(2)
    view.go_to_step(2)
    assert view.step_number == 2


def test_a_press_that_moves_no_value_keeps_the_step_whatever_address_it_comes_with(own: None) -> None:
    at = opened("rotation", lang="en", display="stage")
    first = dict(at.query_params)
    press(at, "stage-next")
    at.query_params = first
    at.toggle("stage.open").set_value(True).run()
    assert "1 / 2" in shown(at) and values(at) == {"rotation.m": 40, "base": 500_000.0}


def test_going_back_returns_to_all_that_the_address_says_and_nothing_else(
    own: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = opened("rotation", lang="en", display="stage", apart="9")
    first = dict(at.query_params)
    press(at, "stage-next")
    at.query_params = first
    monkeypatch.setattr("ui.served.address.is_history_navigation", lambda: True)
    at.run()
    assert "0 / 2" in shown(at) and values(at) == {"rotation.apart": 9}


def test_a_moved_control_stays_until_the_next_step_and_reset_returns_to_the_step(own: None) -> None:
    at = opened("rotation", lang="en", display="stage", step="1")
    at.toggle("stage.open").set_value(True).run()
    at.number_input("w.rotation.base.exact").set_value(1_000.0).run()
    assert values(at)["base"] == 1_000.0
    press(at, "reset.rotation")
    assert values(at) == {"rotation.m": 40, "base": 500_000.0}


def test_a_link_with_a_step_shows_its_state_and_a_link_with_values_shows_these(own: None) -> None:
    assert values(opened("rotation", lang="en", display="stage", step="1")) == {"rotation.m": 40, "base": 500_000.0}
    assert values(opened("rotation", lang="en", display="stage", step="1", m="3")) == {"rotation.m": 3}


def test_the_figure_moves_when_the_answer_is_out_and_asking_again_takes_it_back(own: None) -> None:
    at = opened("rotation", lang="en", display="stage", step="2")
    assert "Which?" in shown(at) and "Second" not in shown(at)
    assert values(at) == {"rotation.width": 4}
    press(at, "predict-choices-rotation/2.0")
    assert values(at) == {"rotation.width": 4, "rotation.position": 77}
    assert r"Second\." in shown(at)
    press(at, "predict.again.rotation/2")
    assert values(at) == {"rotation.width": 4}


def test_the_step_s_figure_leads(own: None) -> None:
    at = opened("rotation", lang="en", display="stage", step="1")
    assert leading(at) == "circle"
    press(at, "stage-next")
    assert leading(at) == "backward"


def written(at: AppTest) -> str:
    """Return what a page has of HTML, shown or hidden."""
    return " ".join(each.proto.body for each in at.get("html"))


def test_notes_are_the_lecturer_s_and_not_over_the_slide(own: None) -> None:
    stage = opened("rotation", lang="en", display="stage", step="1")
    assert '<p class="notes">Only for the lecturer.</p>' in written(stage) and "Only for" not in shown(stage)
    assert re.search(r'<div class="stage-notes-text" hidden ', written(stage))
    assert "Only for" not in written(opened("rotation", lang="en", step="1"))


def test_on_the_stage_only_the_part_with_the_leading_figure_is_drawn(own: None) -> None:
    at = opened("rotation", lang="en", display="stage")
    press(at, "stage-next")
    # An empty chart, which is not seen, has the browser read Plotly ahead.
    assert not at.header and not at.expander and [chart.key for chart in at.get("plotly_chart")] == ["stage.ahead"]


def test_a_value_between_stops_leads_as_it_is(own: None) -> None:
    at = opened("models", lang="en", display="stage", context="100000")
    assert leading(at) == "dozen" and at.query_params["context"] == "100000"


def test_the_address_follows_a_figure_that_is_folded_away_beside_the_stage() -> None:
    lesson = lessons.page_lesson("en", "clock")
    (step,) = (each.number for each in getattr(lesson, "steps", ()) if each.figure == "reading")
    at = opened("clock", lang="en", display="stage", step=str(step - 1))
    press(at, "stage-next")
    assert leading(at) == "reading" and at.query_params["step"] == str(step)


def test_who_follows_on_the_normal_display_has_the_sentence_and_the_controls(own: None) -> None:
    at = opened("rotation", lang="en", step="1", room="Hall-1")
    assert r"First \*\*sentence\*\*\." in shown(at) and slider_names(at) >= {"m"}
    assert at.query_params["room"] == "hall-1"
    press(at, "stage-end")
    assert "First" not in shown(at) and "step" not in at.query_params


def test_leaving_keeps_the_place(own: None) -> None:
    at = opened("rotation", lang="en", display="stage", step="1")
    press(at, "stage-leave")
    assert "display" not in at.query_params and at.query_params["step"] == "1"
    assert slider_names(at) >= {"m"}


def test_a_talk_moves_across_pages(own: None) -> None:
    at = opened("rotation", lang="zh", display="stage", room="hall")
    at.session_state[LOADED] = lessons.load_lesson(TALK, "own")
    at.session_state["view"] |= {"talk": "own", "step": 1}
    at.run()
    assert "1 / 2" in shown(at) and values(at) == {"rotation.m": 40}
    press(at, "stage-next")
    assert at.session_state["page"] == "clock"
    assert "2 / 2" in shown(at) and values(at)["factor"] == 8.0
    assert at.query_params["lang"] == "zh" and at.query_params["room"] == "hall"
    press(at, "stage-previous")
    assert at.session_state["page"] == "rotation" and values(at)["rotation.m"] == 40
    assert GOING not in at.session_state


@pytest.mark.parametrize(
    "query, words",
    [
        ({"display": "<b>x"}, "display in the link was"),
        ({"step": "9"}, "step in the link was 9, but must be between 1 and 2; 2 is shown"),
        ({"step": "0"}, "step in the link was 0, but must be between 1 and 2; 1 is shown"),
        ({"step": "two"}, "step in the link was two"),
        ({"talk": "../tour"}, "talk in the link was"),
        ({"talk": "own"}, "The link's talk is not loaded here"),
        ({"room": "a b<script>"}, "room in the link was"),
        ({"hide": "m,nonsense"}, "The link hides a control nonsense"),
    ],
)
def test_a_link_that_asks_too_much_is_answered_in_one_sentence(own: None, query: dict[str, str], words: str) -> None:
    at = opened("rotation", lang="en", **query)
    assert not at.exception
    assert [words in note.value.replace("\\", "") for note in at.warning] == [True]


def test_hidden_controls_keep_the_link_s_values(own: None) -> None:
    at = opened("rotation", lang="en", hide="m,factor,model,dim,base,train_len,layer", m="33", open="backward")
    assert not at.exception and not at.warning
    assert slider_names(at) == {"before", "apart", "width", "position"}
    assert not at.selectbox and values(at) == {"rotation.m": 33}
    assert at.query_params["hide"] == "m,factor,model,dim,base,train_len,layer"


LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("config", "block", "models", "encodings", "lrpe")]


@pytest.mark.parametrize("name", ["clock", *LONG])
def test_every_control_of_a_page_can_be_hidden(name: str) -> None:
    at = with_menu(opened(name, lang="en"), name)
    names = {w.key.split(".")[2] for w in (*at.slider, *at.select_slider, *at.selectbox) if w.key.startswith("w.")}
    assert names
    at = with_menu(opened(name, lang="en", hide=",".join(sorted(names))), name)
    assert not at.exception and not at.warning
    assert not [w.key for w in (*at.slider, *at.select_slider, *at.selectbox)]


def test_the_audience_gets_the_view_without_the_stage(own: None) -> None:
    view = PageView("rotation", "en", {})
    view.explicit_values.update({"display": "stage", "room": "hall", "step": 2, "talk": "tour", "hide": "m"})
    assert view.as_url_parameters(audience=True) == {"room": "hall", "step": "2", "talk": "tour", "hide": "m"}
    view.explicit_values["talk"] = "own"
    assert view.as_url_parameters(audience=True) == {"room": "hall", "hide": "m"}


def decoded(text: str) -> str:
    drawn = qr.qr_code(text)
    assert drawn is not None
    dark = np.kron(np.array(drawn.get_matrix()), np.ones((4, 4), bool))
    result = zxingcpp.read_barcodes(np.where(dark, 0, 255).astype(np.uint8))
    assert len(result) == 1
    return str(result[0].text)


@pytest.mark.parametrize("length", [1, 299, 301, 900])
def test_a_code_reads_back(length: int) -> None:
    url = "https://rope.example/clock?room=物理&step=3&x=" + "a" * length
    assert decoded(url) == url
    assert parse_qs(urlsplit(decoded(url)).query)["room"] == ["物理"]


def test_an_address_too_long_for_a_code_has_none() -> None:
    assert qr.qr_code_html("x" * 3000, "") is None


def test_a_code_s_text_alternative_is_escaped() -> None:
    assert '<img alt="&quot;&gt;&lt;b&gt;"' in str(qr.qr_code_html("x", '"><b>'))


@pytest.mark.parametrize(
    "url, here", [("http://[::1]:8501/", True), ("http://localhost/a", True), ("http://10.0.0.2/", False)]
)
def test_an_address_of_this_computer_is_known(url: str, here: bool) -> None:
    assert is_local_address(url) is here
