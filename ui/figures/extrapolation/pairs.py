"""The extrapolation page: how large each pair of dimensions is in W_q and W_k, by wavelength."""

from __future__ import annotations

from rope_core.hf.types import LINEAR, LLAMA3
from rope_core.verification.pairs import PairSummary, pair_changes_by_scheme
from ui.figures.drawing import Drawing
from ui.figures.plot import LOG, line_trace, plotly_axis, plotly_figure, vertical_line
from ui.film.colours import BLUE, GREY, ORANGE
from ui.text.words import PageTexts

TICKS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def pair_norm_chart(model: str, summary: PairSummary, t: PageTexts) -> Drawing:
    """Norm of each pair's rows over the head's mean, against the pair's wavelength; dashed: the trained length."""
    weight = summary.q * summary.k
    most = int(weight.argmax())
    still = summary.trained_turns < 1.0
    by_scheme = pair_changes_by_scheme(summary)
    figure = plotly_figure(
        [
            line_trace(summary.wavelength, summary.q, BLUE, 3, t("pairs_q"), mode="lines+markers", marker={"size": 10}),
            line_trace(
                summary.wavelength, summary.k, ORANGE, 3, t("pairs_k"), mode="lines+markers", marker={"size": 10}
            ),
        ],
        height=380,
        shapes=[vertical_line(summary.rope.train_len, GREY, 3, "dash")],
        xaxis=plotly_axis(t("wavelength_axis"), **LOG, tickvals=TICKS, ticktext=[f"{tick:,}" for tick in TICKS]),
        yaxis=plotly_axis(t("norm_axis")),
        legend={"orientation": "h", "y": 1.12, "x": 0},
    )
    return Drawing(
        "pairs",
        figure,
        t(
            "pairs_finding",
            model=model,
            wavelength=f"{summary.wavelength[most]:,.3g}",
            most=f"{float(weight[most]) ** 0.5:.2f}",
            count=int(still.sum()),
            pairs=still.size,
            share=f"{100 * summary.score_share(still):.0f}",
            massive=int((summary.massive > 0).sum()),
            kept=f"{100 * by_scheme[LLAMA3].kept:.0f}",
            linear=f"{100 * by_scheme[LINEAR].kept:.0f}",
        ),
        lambda: {
            "wavelength": summary.wavelength,
            "q": summary.q,
            "k": summary.k,
            "massive": summary.massive,
            **{name: change.slowdown for name, change in by_scheme.items()},
        },
        f"""
        from rope_core.lab.pairs import shipped_pair_summary
        from rope_core.verification.pairs import pair_changes_by_scheme
        found = shipped_pair_summary({model!r})
        print(found.wavelength, found.q, found.k, (found.q * found.k).max() ** 0.5)
        still = found.trained_turns < 1
        print(still.sum(), "of", still.size, found.score_share(still), (found.massive > 0).sum())
        for name, change in pair_changes_by_scheme(found).items():
            print(name, change.kept)
        """,
    )
