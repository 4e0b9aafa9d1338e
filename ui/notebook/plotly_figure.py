"""A figure in a notebook that its export shows too."""

from __future__ import annotations

import plotly.graph_objects as go
import plotly.io


class NotebookFigure(go.Figure):  # type: ignore[misc]
    """A figure as JupyterLab draws it, with HTML beside it that moves where no notebook runs, without a network."""

    def _ipython_display_(self) -> None:
        plotly.io.show(self, renderer="plotly_mimetype+notebook")
