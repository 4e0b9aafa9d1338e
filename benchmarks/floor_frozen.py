"""The floor page served the way the app is: with its imports taken out of the garbage collector's sight."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
import streamlit.elements.plotly_chart


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Import what the page needs, then freeze it."""
    go.Figure([go.Heatmap()]).to_json()
    gc.collect()
    gc.freeze()
    yield


app = st.App(Path(__file__).with_name("floor.py"), lifespan=lifespan)
