"""The hall's own page, for who has its key: the rooms, their votes, and the browsers that take most."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from rope_core.jobs import control
from ui.figures.drawing import as_csv
from ui.present.language import language
from ui.present.tally import Tally, Unavailable
from ui.text.escape import plain
from ui.text.words import Words
from ui.work.jobs import VISITOR

KEY, PAGE = "ROPE_LAB_OPERATOR", "hall"
SECONDS = 5.0
SHOWN = 30


def there() -> bool:
    """Whether this server has such a page: whoever started it gave it a key."""
    return bool(os.environ.get(KEY))


def draw() -> None:
    """Draw the page for who has the key, else one sentence."""
    t = Words(language(), PAGE)
    st.title(t("title"))
    given = str(st.query_params.get("key", ""))
    if not there() or not secrets.compare_digest(given.encode("utf-8", "replace"), os.environ[KEY].encode()):
        st.info(t("no_key"))
        return
    st.fragment(everything, run_every=SECONDS)(t)


def everything(t: Words) -> None:
    """Draw what is going on, anew every few seconds."""
    tally = Tally()
    try:
        _rooms(t, tally)
        _browsers(t, tally)
    except Unavailable as error:
        st.warning(Words(t.lang, "predict")(f"why.{error.reason}"))


def _rooms(t: Words, tally: Tally) -> None:
    rooms = sorted(tally.rooms(), key=lambda row: -row[1])
    st.header(t("rooms", count=len(rooms)))
    for name, votes, seconds in rooms[:SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("room", room=plain(name), votes=votes, minutes=round(seconds / 60)))
            st.button(t("close"), key=f"hall.close.{name}", on_click=_try, args=(tally.close, name))
    rows = tally.votes()
    if rows:
        names = ("room", "question", "choice", "votes")
        table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        table["choice"] = [choice + 1 for choice in table["choice"]]
        st.download_button(t("votes"), as_csv(table), "votes.csv", "text/csv", key="hall.votes", on_click="ignore")


def _browsers(t: Words, tally: Tally) -> None:
    here, out = control.visitors(), tally.blocked()
    st.header(t("browsers", count=len(here)))
    for row in sorted(here, key=lambda each: -each["seconds"])[:SHOWN]:
        name = str(row["visitor"])
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("browser", name=name[:8], tabs=row["sockets"], seconds=f"{row['seconds']:.1f}"))
            if name == st.session_state.get(VISITOR):
                st.markdown(t("yours"))
            elif name not in out:
                st.button(t("block"), key=f"hall.block.{name}", on_click=_try, args=(tally.block, name))
    for name in sorted(out)[:SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(t("blocked", name=name[:8]))
            st.button(t("unblock"), key=f"hall.unblock.{name}", on_click=_try, args=(tally.unblock, name))


def _try(call: Callable[[str], None], name: str) -> None:
    """Do what was pressed; where the file is busy, the list that is drawn next still holds the name."""
    with suppress(Unavailable):
        call(name)
