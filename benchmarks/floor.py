"""The floor: the least Streamlit page that one slider and one 256 x 512 heatmap need."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

base = st.slider("base", 1000, 1_000_000, 10_000, key="base")
angle = np.outer(np.arange(512), base ** (-np.arange(0, 512, 2) / 512)).T
figure = go.Figure(go.Heatmap(z=(np.cos(angle) * 127).astype(np.int8), zmid=0, colorscale="RdBu"))
st.plotly_chart(figure.update_layout(title=f"{base}"), key="fig")
