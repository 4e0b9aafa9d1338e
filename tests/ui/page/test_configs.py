"""Where the config page takes its config from: what is refused, what is kept, what a link carries."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import rope_core as rc
from rope_core.hf import hub
from tests.test_pages import opened
from ui.page import configs
from ui.page.state import Field
from ui.text.words import PageTexts

GOOD: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "max_position_embeddings": 4096,
    "rope_scaling": {"type": "dynamic", "factor": 2.0},
}
EN = PageTexts("en", "config")


@pytest.fixture
def at() -> AppTest:
    return opened("config", lang="en")


def pasted(at: AppTest, text: str) -> AppTest:
    at.text_area[0].set_value(text)
    next(button for button in at.button if button.label == EN("paste_button")).click()
    return at.run()


def complaint(at: AppTest) -> str:
    return " ".join(error.value for error in at.error)


def shown(at: AppTest) -> str:
    return "\n".join(each.value for each in [*at.markdown, *at.caption])


def test_pasted_text_is_shown_and_stays_out_of_the_link(at: AppTest) -> None:
    pasted(at, json.dumps(GOOD))
    assert not at.exception and not at.error
    assert "dynamic NTK" in shown(at) and EN("shown.paste") in shown(at)
    assert set(at.query_params) <= {"lang"}
    next(button for button in at.button if button.label == EN("back")).click()
    at.run()
    assert "YaRN" in shown(at) and EN("shown.paste") not in shown(at)


def test_reset_drops_the_text(at: AppTest) -> None:
    pasted(at, json.dumps(GOOD))
    assert EN("shown.paste") in shown(at)
    at.session_state["menu.config"] = True
    at.run().button(key="reset.config").click()
    at.run()
    assert not at.exception and EN("shown.paste") not in shown(at)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", json.dumps({"a": "x" * 5_000_000})])
def test_bad_text_is_one_sentence_and_keeps_the_view(at: AppTest, text: str) -> None:
    pasted(at, json.dumps(GOOD))
    pasted(at, text)
    assert not at.exception
    assert EN("kept", detail="").strip(". ") in complaint(at) and "\n" not in complaint(at)
    assert "dynamic NTK" in shown(at)
    assert "<script>" not in complaint(at) + shown(at)


@pytest.mark.parametrize("value", ["1e400", '"<script>"', "{}"])
def test_odd_bases_are_findings(at: AppTest, value: str) -> None:
    pasted(at, json.dumps(GOOD | {"rope_theta": 0.123}).replace("0.123", value))
    assert not at.exception
    assert "<script>" not in complaint(at) + shown(at)
    assert EN("shown.paste") in shown(at)


def test_hostile_names_are_plain_text(at: AppTest) -> None:
    nasty = ["<script>alert(1)</script>", "[x](javascript:alert(1))"]
    bases = {name: {"rope_type": "default", "rope_theta": 10.0**k} for k, name in enumerate(nasty, 4)}
    typed = {"model_type": "$$x$$ **b**", "num_hidden_layers": 2, "layer_types": nasty, "rope_parameters": bases}
    pasted(at, json.dumps({key: value for key, value in GOOD.items() if key != "rope_scaling"} | typed))
    assert not at.exception
    assert "<script>" not in shown(at) and "](javascript:" not in shown(at)
    options = [option.content for group in at.get("button_group") for option in group.proto.options]
    assert any("script" in option for option in options)
    assert not any("<script>" in option or "](javascript:" in option for option in options)


def test_hostile_types_are_plain_text(at: AppTest) -> None:
    nasty = "<script>x</script> [x](javascript:1) $$y$$"
    pasted(at, json.dumps(GOOD | {"rope_scaling": {"type": nasty, nasty: 1}}))
    assert not at.exception
    assert "script" in shown(at), "the finding names the type"
    assert "<script>" not in shown(at) + complaint(at) and "](javascript:" not in shown(at) + complaint(at)


def test_limit_is_in_bytes_not_characters() -> None:
    text = json.dumps({"a": "宽" * (configs.LIMIT // 3)}, ensure_ascii=False)
    assert len(text) < configs.LIMIT
    with pytest.raises(rc.ConfigError, match=r"at most 1,048,576 bytes"):
        configs.parse_config(text)


def test_hub_is_reached_once_and_is_in_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[str] = []

    def fetch(name: str) -> dict[str, Any]:
        wanted.append(name)
        return dict(GOOD)

    monkeypatch.setattr(hub, "fetch_config", fetch)
    at = opened("config", lang="en", hub="org/model@v1")
    assert "dynamic NTK" in shown(at) and at.query_params["hub"] in ("org/model@v1", ["org/model@v1"])
    at.run()
    assert wanted == ["org/model@v1"]


def test_a_hub_that_is_away_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str) -> dict[str, Any]:
        raise rc.ConfigError("the hub cannot be reached from this machine")

    monkeypatch.setattr(hub, "fetch_config", fetch)
    at = opened("config", lang="en", hub="org/model")
    assert not at.exception and "cannot be reached" in complaint(at) and "YaRN" in shown(at)
    assert "hub" not in at.query_params


@pytest.mark.parametrize(
    "query",
    [{"want": "5"}, {"want": "16777216"}, {"length": "1", "model": "phi-4-mini"}, {"layer": "<b>", "other": "x"}],
)
def test_odd_links_are_answered_in_sentences(query: dict[str, str]) -> None:
    at = opened("config", lang="zh", **query)
    assert not at.exception


def test_a_link_shows_its_layer_type_at_its_length() -> None:
    at = opened("config", lang="en", model="gemma-3-4b", layer="full_attention", want="262144")
    assert not at.exception and not at.warning
    assert "linear (PI)" in shown(at) and "linear (PI)" not in shown(opened("config", lang="en", model="gemma-3-4b"))


def test_a_counterpart_is_of_the_same_layer_type_else_of_the_first() -> None:
    layers = ("full_attention", "sliding_attention", None)
    assert [configs.catalogue_rope("gemma-3-4b", layer, None).base for layer in layers] == [1e6, 1e4, 1e4]


@pytest.mark.parametrize("model", [model.id for model in rc.models()][::17])
def test_models_of_the_catalogue_open(model: str) -> None:
    at = opened("config", lang="zh", model=model)
    assert not at.exception and not at.error and not at.warning


@pytest.mark.parametrize(
    "train, low, high, start", [(4096, 4097, 4_194_304, 8192), (16_000_000, 16_000_001, 2**24, 2**24)]
)
def test_wanted_lengths_lie_past_the_trained_one(train: int, low: int, high: int, start: int) -> None:
    field = configs.wanted_length_field(
        Field("want", "int", None, 1, 2**24, steps=(4096, 8192, 2**24)),
        {"model_type": "llama", "head_dim": 64, "max_position_embeddings": train},
    )
    assert field is not None and (field.low, field.high, field.default) == (low, high, start)
    assert all(low <= stop <= high for stop in field.steps)


def test_no_wanted_length_past_all_limits() -> None:
    config = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 2**24}
    assert configs.wanted_length_field(Field("want", "int", None, 1, 2**24), config) is None
    assert configs.wanted_length_field(Field("want", "int", None, 1, 2**24), {"model_type": "gptj"}) is None
