"""The choices of a question as buttons, in lessons and on pages alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ui.figures.tally import LETTERS

ABREAST = 4
"""So many choices stand beside each other, where the screen is wide; more stand in a list."""


def draw_choice_buttons(key: str, texts: Sequence[str], chosen: int | None, choose: Callable[[int], None]) -> None:
    """Draw the choices, none preselected; ``choose`` is called with the index of the one that is pressed."""
    with st.container(key=key):
        places = st.columns(len(texts)) if len(texts) <= ABREAST else [st.container() for _ in texts]
    for k, (place, text) in enumerate(zip(places, texts, strict=True)):
        place.button(
            f"**{LETTERS[k]}** {text if text != LETTERS[k] else ''}".strip(),
            key=f"{key}.{k}",
            width="stretch",
            type="primary" if chosen == k else "secondary",
            on_click=choose,
            args=(k,),
        )
