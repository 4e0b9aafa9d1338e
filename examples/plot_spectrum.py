"""Draw the wavelengths of every scheme beside the trained length, as a page that opens without a network.

Run: python -m examples.plot_spectrum spectrum.html
"""

import sys

import plotly.graph_objects as go

import rope_core as rc

rope = rc.Rope(dim=128, base=10_000.0, train_len=4096)
figure = go.Figure()
for name, scheme in rc.SCHEMES.items():
    params = {"factor": 8.0} if "factor" in {param.name for param in scheme.params} else {}
    spectrum = rc.spectrum(rc.Request(rope, name, params, seq_len=32_768))
    figure.add_scatter(y=rope.wavelength * spectrum.slowdown, name=name)
figure.add_hline(rope.train_len, line_dash="dot", annotation_text="trained length")
figure.update_yaxes(type="log", title="wavelength (tokens)")
figure.update_xaxes(title="pair i")
figure.write_html(sys.argv[1], include_plotlyjs=True)
