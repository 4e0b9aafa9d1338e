"""A figure with its finding and, behind a button, its numbers, recipe, code and source."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import streamlit as st

from ui.figures.drawing import Drawing, Film, as_csv, saves
from ui.page.charts import sendable
from ui.text.words import Words

PLOT = {"displaylogo": False, "locale": "en"}


def figure(page: str, drawing: Drawing, *, stage: bool) -> None:
    """Draw a figure and write what it shows; on the ``stage`` as high as its place, without buttons over it."""
    chart = f"{page}.{drawing.id}"
    saved = {"format": "png", "scale": 2, "filename": f"{page}-{drawing.id}"}
    with st.container(key=f"wide-{chart}") if drawing.wide else nullcontext():
        st.plotly_chart(
            sendable(drawing.figure),
            key=f"fig.{chart}",
            height="stretch" if stage else "content",
            alt=drawing.finding,
            config=PLOT | {"toImageButtonOptions": saved} | ({"displayModeBar": False} if stage else {}),
        )
    st.markdown(f"▸ {drawing.finding}")


def details(
    page: str,
    drawing: Drawing | Film,
    finding: str,
    code: Iterable[Callable[..., Any]],
    t: Words,
    link: Callable[[], str],
) -> None:
    """Offer a figure's numbers as a file, the lines that make it again, the functions behind it, and how to cite it."""
    chart = f"{page}.{drawing.id}"
    with st.popover(t("frame.details"), type="tertiary", on_change="rerun", key=f"more.{chart}") as box:
        if not box.open:
            return
        if isinstance(drawing, Film):
            st.html(saves(chart, t))
        st.download_button(
            t("frame.csv"),
            data=lambda: as_csv(drawing.table()),
            file_name=f"{page}-{drawing.id}.csv",
            mime="text/csv",
            key=f"csv.{chart}",
            on_click="ignore",
        )
        st.markdown(f"**{t('frame.recipe')}**")
        st.code(textwrap.dedent(drawing.recipe).strip(), language="python")
        st.markdown(f"**{t('frame.code')}**")
        for function in code:
            st.code(inspect.getsource(inspect.unwrap(function)), language="python")
        st.markdown(f"**{t('frame.cite')}**")
        cite = t("frame.cite_line", page=t("title"), finding=finding, url=link())
        st.code(cite, language=None, wrap_lines=True)
