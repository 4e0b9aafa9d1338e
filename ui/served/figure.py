"""A figure with its finding."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from ui.figures.drawing import Drawing
from ui.page.charts import sendable

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
