"""Imports every module that a page run touches, so that the first visitor does not wait for them."""

# Where one session imports pandas for its first table, plotly finds the half of it in another session's figure.
import pandas  # noqa: F401
import plotly.graph_objects
import streamlit.elements.plotly_chart  # noqa: F401
from threadpoolctl import threadpool_limits

import rope_core  # noqa: F401
import ui.served.frame  # noqa: F401
from rope_core.lrpe.demo import LrpeExample, backward_steps
from ui.page.declaration import page_declaration
from ui.page.menu import SECTIONS

plotly.graph_objects.Figure([plotly.graph_objects.Scatter(), plotly.graph_objects.Heatmap()]).to_json()
for page in SECTIONS:
    page_declaration(page)

# The LRPE page compares its gradients with torch's, whose import takes seconds.
backward_steps(LrpeExample())

# A matrix product on all cores leaves its helpers spinning: for one visitor alone no faster, for the rest a loss.
threadpool_limits(1, "blas")
