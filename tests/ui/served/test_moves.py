"""What a page takes of a message that claims to be a film's player."""

import json
from typing import Any

import pytest
import streamlit as st

from ui.served import film

ODD = ("5", '{"at": 5}', '{"at": {"a": [1]}, "count": {}}', '{"at": {"a": {"b": 1}}}', "null", '"x"', "[]")


@pytest.mark.parametrize("text", ODD)
def test_what_no_player_says_counts_as_nothing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    state: dict[str, Any] = {"film.clock.hands": {"moved": json.loads(text)}}
    monkeypatch.setattr(st, "session_state", state)
    assert film._moved("film.clock.hands") == {"at": {}, "count": 0}


def test_what_a_player_says_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = {"at": {"factor": 4.0, "beat": "2"}, "count": 3}
    monkeypatch.setattr(st, "session_state", {"film.clock.hands": {"moved": moved}})
    assert film._moved("film.clock.hands") == moved
