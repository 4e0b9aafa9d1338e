"""The encodings page's number system: what extension does to digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import rope_core as rc
from rope_core.theory.encodings import (
    changed_base,
    digit_phases,
    extended_digits,
    rope_beta,
)
from rope_core.theory.extension import Extension, compared, reach
from ui.figures.drawing import Drawing
from ui.figures.plot import axis, line, plot
from ui.film.colours import COLOURS
from ui.text.words import Words


def by_factor() -> tuple[str, ...]:
    """Return the schemes that stretch by a factor and nothing else, and the unscaled one."""
    return tuple(n for n in compared() if {param.name for param in rc.SCHEMES[n].params} <= {"factor"})


def effect(slowdown: np.ndarray) -> str:
    """Return what slow-downs do to the digits: "kept", "compressed", "rebased" (a geometric row) or "mixed".

    >>> effect(np.ones(3)), effect(np.full(3, 4.0)), effect(np.array([1.0, 2.0, 4.0]))
    ('kept', 'compressed', 'rebased')
    """
    steps = slowdown[1:] / slowdown[:-1]
    if np.allclose(slowdown, 1.0, rtol=1e-12):
        return "kept"
    if np.allclose(slowdown, slowdown[0], rtol=1e-12):
        return "compressed"
    return "rebased" if np.allclose(steps, steps[0], rtol=1e-9) else "mixed"


def stretched(rope: rc.Rope, factor: float, results: Sequence[Extension], t: Words) -> Drawing:
    """Draw the largest phase of each digit at the extended length, over the largest one that training showed."""
    length = reach(rope, factor)
    trained = digit_phases(rope.train_len, rope_beta(rope), rope.pairs)
    pairs = np.arange(rope.pairs)
    curves = {each.scheme: extended_digits(length, rope, each.spectrum.slowdown) / trained for each in results}
    effects = {each.scheme: effect(each.spectrum.slowdown) for each in results}
    data = []
    for k, ((name, curve), colour) in enumerate(zip(curves.items(), COLOURS, strict=False)):
        label = t(f"effect.{effects[name]}", scheme=t(f"scheme.{name}"))
        width, dash = 8 - 2 * min(k, 2), "solid" if k < 3 else "dot"
        data.append(line(pairs, curve, colour, width, label, dash, mode="lines+markers", marker={"size": 3}))
    figure = plot(
        data,
        height=380,
        margin={"t": 100},
        xaxis=axis(t("axis.pair")),
        yaxis=axis(t("stretch_axis"), range=[0, 1.12 * max(factor, 1.0)]),
    )
    base = t("rebased", beta=f"{changed_base(rope, factor):.3g}") if rope.dim >= 4 else t("no_base")
    sentence = t("semicolon").join(
        t("stretch_one", scheme=t(f"scheme.{name}"), first=f"{curve[0]:.3g}", last=f"{curve[-1]:.3g}")
        for name, curve in curves.items()
    )
    requested = [(each.scheme, dict(each.request.params), each.request.seq_len) for each in results]
    return Drawing(
        "stretched",
        figure,
        t("stretch_finding", beta=f"{rope_beta(rope):.3g}", length=f"{length:,}", each=sentence, base=base),
        lambda: {"pair": pairs} | curves,
        f"""
        import rope_core as rc
        from rope_core.theory.encodings import extended_digits, rope_beta
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        print(rope_beta(rope))
        for name, params, seq_len in {requested}:
            s = rc.spectrum(rc.Request(rope, name, params, seq_len))
            print(name, extended_digits({length}, rope, s.slowdown) / (rope.train_len * rope.theta))
        """,
    )
