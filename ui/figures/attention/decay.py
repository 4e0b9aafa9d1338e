"""The score of a query and a key under the hand: the distance dragged along the curve, the base that shapes it."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.theory import attention
from ui.figures.attention.bins import bins
from ui.figures.attention.scores import FAR, STOPS, Pairing, recipe_vectors, text_or_never
from ui.figures.colours import BLUE, GREY, RED
from ui.figures.drawing import Film, kept
from ui.film.scene import Axis, Panel, Scene, Text, Texts, Track, control, sentence
from ui.film.shapes import handle, label, named, path
from ui.text.words import Words

LOW, HIGH = 1e3, 1e7
DECADES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def distances(at: int, reach: int) -> tuple[int, ...]:
    """Return the distances to drag to: eight an octave and the round ones, up to ``reach`` or ``at``, and ``at``."""
    steps = {*STOPS, *np.rint(np.geomspace(1, FAR, 137)).astype(int).tolist()}
    return tuple(sorted({at, *(step for step in steps if step <= max(reach, at))}))


@kept
def decaying(
    rope: rc.Rope,
    kind: str,
    pairing: Pairing,
    reach: int,
    bases: tuple[float, ...],
    at: tuple[int, ...],
    contexts: tuple[float, ...],
    t: Words,
) -> Film:
    """Return the score of one query and one key up to a reach, at every base, and at the distance dragged.

    The trained context is dragged as well; of the score nothing depends on it. Past the reach it is at its end.
    """
    q, k = pairing
    reach = max(reach, at[-1])
    base, far = control(t, "base", bases), control(t, "at", at)
    context = control(t, "train_len", contexts, slider=False)
    spectra = [rc.Spectrum.of(rc.Rope(rope.dim, each, rope.train_len).theta) for each in bases]
    d, middle, fold = bins(reach)
    scores = np.array([attention.score_curve(s, d, q, k) for s in spectra])
    mean, least, most = fold(scores)
    there_and_back = np.log10(np.concatenate([middle, middle[::-1]]))
    band = Track((base,), np.concatenate([least, most[:, ::-1]], axis=1))
    here = np.array([attention.score_curve(s, at, q, k) for s in spectra])
    zero = float(attention.score_curve(spectra[0], [0], q, k)[0])
    edge = np.log10(reach)
    mark = Track((far,), np.log10(at)[:, None])
    high = Track((base, far), here[..., None])
    low = min(-0.15, 1.1 * float(min(scores.min(), here.min())))
    top = max(1.05, 1.1 * float(max(scores.max(), here.max())))
    numbers = Texts((base, far), tuple(f"{value:.3f}" for value in here.ravel().tolist()))
    trained = np.log10(np.minimum(contexts, reach))[:, None]
    limit, limits = Track((context,), trained), Track((context,), trained.repeat(2, axis=1))
    lengths = Texts((context,), tuple(f"{each:,.0f}" for each in contexts))
    panel = Panel(
        Axis(0.0, edge, tuple((np.log10(x), f"{x:,}") for x in DECADES if x <= reach), t("distance_log")),
        Axis(low, top, ((0.0, "0"), (zero, f"{zero:.2g}")) if abs(zero) > 0.1 else ((0.0, "0"),), t("score_axis")),
        [
            path([0.0, edge], [0.0, 0.0], "ink", 1),
            named("L", path(limits, [low, top], GREY, 3, "2 6")),
            label(
                limit,
                top,
                sentence(lambda **length: t("trained", **length), length=lengths),
                GREY,
                anchor="end",
                dx=-12,
                dy=14,
            ),
            path(there_and_back, band, BLUE, 0, fill=BLUE) | {"opacity": 0.3},
            label(0.0, low, t("scores_band"), BLUE, anchor="start", dx=4, dy=-8),
            named("R", path(np.log10(middle), Track((base,), mean), BLUE, 3)),
            path(Track((far,), np.stack([np.log10(at)] * 2, axis=1)), [low, top], RED, 1.5, "2 4"),
            handle(context, limit, top, GREY, t("grab_trained"), r=8),
            handle(far, mark, high, RED, t("grab"), r=11),
            named("m", label(mark, high, numbers, RED, bold=True, size=18, dy=-20)),
        ],
        height=250,
    )
    slots: dict[str, Text] = {"here": numbers, "at": Texts((far,), far.texts)}
    if kind == "equal":
        first = [attention.first_negative(rope.dim, each, reach) for each in bases]
        slots |= {
            "negative": Texts((base,), tuple(text_or_never(each, reach, t) for each in first)),
            "base": Texts((base,), base.texts),
        }
    return Film(
        "decay",
        Scene(
            (panel,),
            (far, base, context),
            sentence(lambda **more: t(f"decay_{kind}", zero=f"{zero:.3f}", **more), **slots),
        ),
        lambda: {"distance": d} | {f"score, base {each:g}": row for each, row in zip(bases, scores, strict=True)},
        f"""
        import rope_core as rc
        from rope_core.theory import attention
        {recipe_vectors(pairing)}
        for base in {list(bases[:3])}:
            print(base, attention.score_curve(rc.Spectrum.of(rc.Rope({rope.dim}, base).theta), [0, 1, 100], q, k))
        """,
    )
