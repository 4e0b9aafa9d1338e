"""The hall's own page: closed without the key; rooms, votes and browsers with it."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rope_core.jobs import control
from ui.present import operator
from ui.present.tally import Tally
from ui.text.words import Words


def opened(key: str, lang: str = "en") -> Any:
    at = AppTest.from_string("from ui.present.operator import draw\ndraw()")
    at.query_params.update({"key": key, "lang": lang})
    return at.run(timeout=60)


@pytest.fixture
def tally(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tally:
    monkeypatch.setenv("ROPE_LAB_ROOMS", str(tmp_path / "rooms.sqlite3"))
    monkeypatch.setenv(operator.KEY, "the key")
    here = [{"visitor": name * 32, "sockets": 2, "seconds": at / 2} for at, name in enumerate("abc")]
    monkeypatch.setattr(control, "visitors", lambda: here)
    tally = Tally()
    tally.host("physik", "lead")
    tally.answer("physik", "lecture/3", "c" * 32, 1)
    return tally


@pytest.mark.parametrize("key", ["", "the", "the key ", "钥"])
def test_without_the_key_nothing_is_shown(key: str, tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(key)
    assert [each.value for each in at.info] == [Words("en", "hall")("no_key")]
    assert not at.button and "physik" not in str(at.markdown)
    monkeypatch.delenv(operator.KEY)
    assert not opened("").button, "a server without a key has no such page"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_rooms_are_closed_and_browsers_shut_out(lang: str, tally: Tally) -> None:
    at, t = opened("the key", lang), Words(lang, "hall")
    assert not at.exception
    shown = [each.value for each in at.markdown]
    assert shown[0] == t("room", room="physik", votes=1, minutes=0)
    assert [text[1:9] for text in shown[1:]] == ["c" * 8, "b" * 8, "a" * 8], "who uses most comes first"
    at.button(key=f"hall.block.{'c' * 32}").click().run()
    assert tally.blocked() == {"c" * 32} and tally.votes() == []
    assert t("blocked", name="c" * 8) in [each.value for each in at.markdown]
    at.button(key=f"hall.unblock.{'c' * 32}").click().run()
    assert tally.blocked() == frozenset()
    at.button(key="hall.close.physik").click().run()
    assert tally.rooms() == [] and not at.exception
