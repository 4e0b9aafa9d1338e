"""Plain figures are what Plotly's own objects would send, for every call that the figure functions make."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from _plotly_utils.utils import to_typed_array_spec  # type: ignore[import-untyped]
from plotly.subplots import make_subplots

from ui.figures import plain

RNG = np.random.default_rng(8)
X, Y = RNG.integers(0, 900, 12), RNG.normal(size=12)
Z = RNG.integers(-127, 128, (5, 7)).astype(np.int8)


def told(figure: Any) -> Any:
    """What goes over the line."""
    return json.loads(figure.to_json())


def drawn(of: Any, subplots: Any) -> list[Any]:
    """Figures with every call, by Plotly's names from ``of``."""
    first = of.Figure(
        of.Scatter(x=X, y=Y, name=None, mode="lines", line={"width": 3}, error_y={"array": Y, "width": 2})
    )
    first.add_trace(of.Bar(x=["a", "b"], y=[1.5, None], marker={"color": ["red", "blue"]}, text=["α", "β"]))
    first.update_layout(title="one", font={"size": 11}, paper_bgcolor="white", legend={"orientation": "h", "y": 1})
    first.update_layout({"legend": {"x": 0.5}}, title_font_size=20, barmode="group", shapes=[{"type": "rect", "x0": 1}])
    first.update_layout(legend={"orientation": None}, yaxis2={"overlaying": "y", "side": "right"})
    first.update_xaxes(title_text="x", type="log", range=[0, 2], tickvals=np.array([1, 10, 100]))
    first.update_yaxes(title="y", zeroline=False)
    first.add_annotation(x=1, y=2, text="note", showarrow=False, font={"size": 9})
    first.update_annotations(font={"color": "red"}, xanchor="left")
    first.update_traces(opacity=0.5, marker={"line": {"width": 0}})
    first.add_shape(type="line", x0=0, x1=1, y0=0, y1=1, yref="paper", line={"dash": "dot"})
    first.add_vline(x=3, line={"color": "red"}, name="edge", showlegend=True)
    first.add_hline(y=-1.5, line_width=2)
    first.add_vrect(x0=1, x1=2, fillcolor="grey", opacity=0.2, line_width=0)
    first.add_hrect(0, 1, fillcolor="grey")
    play = {"frame": {"duration": 60, "redraw": False}}
    button = {"label": "play", "method": "animate", "args": [None, play]}
    first.update_layout(updatemenus=[{"type": "buttons", "buttons": [button]}], sliders=[{"active": 1, "x": None}])
    first.frames = [of.Frame(data=[{"type": "scatter", "y": [1.0, 2.0]}], traces=[0], name="1")]

    second = subplots(2, 2, subplot_titles=["p", "q", "r"], horizontal_spacing=0.06, shared_xaxes=True)
    second.add_trace(of.Heatmap(z=Z, colorscale="RdBu", zmid=0, colorbar={"title": "depth", "len": 0.5}), 1, 1)
    second.add_trace(of.Heatmap(z=Z.astype(float), x=np.arange(7), colorscale=[[0, "white"], [1, "black"]]), 2, 2)
    second.update_xaxes(title_text="below", row=2, col=2)
    second.update_yaxes(autorange="reversed", col=1)
    second.update_yaxes(nticks=3, row=1)
    second.update_xaxes(showgrid=False)
    second.add_annotation(x=0, y=0, text="here", row=2, col=2)
    second.add_shape(type="circle", x0=0, x1=1, y0=0, y1=1, row=1, col=1)
    second.add_vline(x=2, line={"dash": "dot"})
    second.update_layout(coloraxis={"colorscale": "Viridis", "cmin": 0}, margin={"t": 3})
    return [first, second]


@pytest.mark.parametrize("which", [0, 1])
def test_the_same_calls_send_what_plotly_sends(which: int) -> None:
    ours, theirs = drawn(plain, plain.make_subplots)[which], drawn(go, make_subplots)[which]
    assert told(ours) == told(theirs)


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">f8", "U3"])
@pytest.mark.parametrize("shape", [(12,), (3, 4), (2, 3, 2), (0,), (0, 3)])
def test_numbers_are_packed_as_plotly_packs_them(kind: str, shape: tuple[int, ...]) -> None:
    array = (RNG.normal(size=shape) * 50 + 100).astype(kind)
    for one in (array, array.T, array[::-1], array[..., :1]):
        theirs = to_typed_array_spec(one)
        got = plain.packed(one)
        assert np.array_equal(got, theirs) if isinstance(theirs, np.ndarray) else got == theirs


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_ready_is_sent_as_it_was_and_made_once(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = drawn(plain, plain.make_subplots)[which]
    wanted, ready = told(figure), figure.ready()
    monkeypatch.setattr(plain, "sent", None)
    assert told(ready) == wanted == told(ready)


def test_a_whole_figure_given_as_a_mapping_is_taken_apart() -> None:
    spec = {"data": [{"type": "bar", "y": [1, 2]}], "layout": {"title": "t", "xaxis": {"title": {"text": "x"}}}}
    assert told(plain.Figure(spec)) == told(go.Figure(spec))


def test_looking_at_a_figure_finds_what_plotly_does_not_know() -> None:
    figure = plain.Figure(plain.Scatter(x=[1], colour="red"))
    with pytest.raises(ValueError, match="colour"):
        _ = figure.data
    with pytest.raises(ValueError, match="tittle"):
        _ = plain.Figure().update_layout(tittle="t").layout


def test_what_was_given_is_not_changed_and_not_shared() -> None:
    look = {"line": {"width": 1}}
    trace = plain.Scatter(y=[1], **look)
    one, two = plain.Figure(trace), plain.Figure(trace)
    one.update_traces(line={"width": 9})
    assert look == {"line": {"width": 1}} and trace["line"] == {"width": 1}
    assert two.traces[0]["line"] == {"width": 1}
    first, second = (plain.make_subplots(1, 2, subplot_titles=["a", "b"]) for _ in range(2))
    first.update_annotations(font={"size": 40})
    assert told(second) == told(make_subplots(1, 2, subplot_titles=["a", "b"]))
