"""Imports every module that a page run touches, so that the first visitor does not wait for them."""

import importlib
import pkgutil

# Where one session imports pandas for its first table, plotly finds the half of it in another session's figure.
import pandas  # noqa: F401
import plotly.graph_objects
import streamlit.elements.plotly_chart  # noqa: F401

import rope_core  # noqa: F401
import ui.figures
import ui.frame
from rope_core.lrpe.demo import Case, backward_steps

plotly.graph_objects.Figure([plotly.graph_objects.Scatter(), plotly.graph_objects.Heatmap()]).to_json()
for module in pkgutil.iter_modules(ui.figures.__path__, "ui.figures."):
    importlib.import_module(module.name)

# The LRPE page compares its gradients with torch's, whose import takes seconds.
backward_steps(Case())
