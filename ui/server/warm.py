"""Imports every module that a page run touches, so that the first visitor does not wait for them."""

import importlib
import pkgutil

# Where one session imports pandas for its first table, plotly finds the half of it in another session's figure.
import pandas  # noqa: F401
import plotly.graph_objects
import streamlit.elements.plotly_chart  # noqa: F401
from threadpoolctl import threadpool_limits

import rope_core  # noqa: F401
import ui.figures
import ui.page.frame
from rope_core.lrpe.demo import Case, backward_steps

plotly.graph_objects.Figure([plotly.graph_objects.Scatter(), plotly.graph_objects.Heatmap()]).to_json()
for module in pkgutil.iter_modules(ui.figures.__path__, "ui.figures."):
    importlib.import_module(module.name)

# The LRPE page compares its gradients with torch's, whose import takes seconds.
backward_steps(Case())

# A matrix product on all cores leaves its helpers spinning: for one visitor alone no faster, for the rest a loss.
threadpool_limits(1, "blas")
