"""The page of schemes: what runs and when, what a link holds, and that every odd value is a sentence."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from rope_core.comparisons import pasted
from rope_core.hf.catalogue import released_model
from tests.support import films
from tests.test_pages import opened
from ui.served import frame

CODE = "def f(dim, base, train_len, factor):\n    return base ** (-2 * np.arange(dim // 2) / dim) / 3, 1.0"
PAIR = "slow-down 3; up to 16,384 tokens"


def box(at: AppTest) -> str:
    return str(at.text_area(key="code.schemes").value)


def test_code_of_an_address_is_shown_and_runs_once_its_reader_presses() -> None:
    at = opened("schemes", lang="en", mine=pasted.pack(CODE), pair="3")
    assert box(at) == CODE and not at.exception
    assert any("has not run" in note.value for note in at.warning)
    assert PAIR not in films.shown(at)["schemes.by_pair"].finding
    at.button(key="run.schemes").click().run()
    assert PAIR in films.shown(at)["schemes.by_pair"].finding and not at.warning
    assert at.query_params["mine"] in (pasted.pack(CODE), [pasted.pack(CODE)])
    # Another length is answered without another press.
    at.number_input(key="w.schemes.seq_len.exact").set_value(32_768).run()
    assert "slow-down 3; up to 32,768" in films.shown(at)["schemes.by_pair"].finding
    at.text_area(key="code.schemes").set_value("def f(dim):\n    return 1 / 0").run()
    at.button(key="run.schemes").click().run()
    (note,) = at.warning
    assert "ZeroDivisionError" in note.value and "\n" not in note.value and not at.exception


def test_numbers_and_a_config_are_compared_without_running_anything() -> None:
    numbers = ", ".join(str(10_000.0 ** (-i / 64) / 2) for i in range(64))
    at = opened("schemes", lang="en", mine=pasted.pack(numbers))
    assert "slow-down 2;" in films.shown(at)["schemes.by_pair"].finding and not at.warning
    config = '{"model_type": "llama", "head_dim": 64, "rope_theta": 5e5, "max_position_embeddings": 4096}'
    at = opened("schemes", lang="en", mine=pasted.pack(config), pair="31")
    assert "Pair 31: slow-down 1; up to 4,096" in films.shown(at)["schemes.by_pair"].finding
    faulty = released_model("llama-3.1-8b").hf_config()
    faulty["rope_scaling"] |= {"low_freq_factor": 4.0, "high_freq_factor": 1.0}
    at = opened("schemes", lang="en", mine=pasted.pack(json.dumps(faulty)), trained_to="131072")
    assert any("✗ fault in the config" in each.value and "Exchange the two" in each.value for each in at.markdown)
    for bad in ("1, 2, 3", "{", "[1, x]"):
        at = opened("schemes", lang="zh", mine=pasted.pack(bad))
        assert at.warning and not at.exception and not at.error


def test_a_link_of_any_value_opens() -> None:
    odd = {"mine": "x" * 9000, "beside_1": "phi-3.5-mini", "trained_to": "-4", "allow_monotone": "nan", "check": "99"}
    for name, value in odd.items():
        at = opened("schemes", lang="en", **{name: value})
        assert not at.exception and not at.error, name
        assert films.shown(at), name
    at = opened("schemes", lang="en", model="custom", dim="2", base="1.5", train_len="16", mine="scheme_f")
    assert not at.exception and not at.error


def test_a_machine_that_cannot_hold_code_apart_runs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "is_confined", lambda: False)
    at = opened("schemes", lang="en", mine=pasted.pack(CODE), pair="3")
    at.button(key="run.schemes").click().run()
    assert any("rope compare mine.py" in each.value for each in at.code)
    assert PAIR not in films.shown(at)["schemes.by_pair"].finding and not at.exception
